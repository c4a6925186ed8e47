//! The numbered cases that the relay must satisfy, each in every shell it applies to ([`table`]).
//!
//! `case!(case_NNN_name [shells] |kind| { .. })` makes one test a shell: `case_NNN_name::shell`. A shell in which the case cannot hold
//! is named after `except`, with the reason. A number may have several cases. Unless a case says otherwise the prompt is `$ `.

/// One case in several shells.
macro_rules! case {
    ($name:ident [$($shell:ident)+] $(except { $($missing:ident: $reason:literal),+ $(,)? })? |$kind:ident| $body:block) => {
        mod $name {
            use super::*;

            fn run($kind: crate::terminal::Kind) {
                if $kind.program().is_some() {
                    $body
                }
            }

            $(
                #[test]
                fn $shell() {
                    run($crate::cases::kind(stringify!($shell)));
                }
            )+
        }
    };
}

mod ahead;
mod background;
mod lines;
mod nested;
mod statuses;
mod table;

fn kind(name: &str) -> crate::terminal::Kind {
    use crate::terminal::Kind;
    match name {
        "bash" => Kind::Bash,
        "zsh" => Kind::Zsh,
        "fish" => Kind::Fish,
        "fish4" => Kind::Fish4,
        _ => panic!("no shell is called {name}"),
    }
}
