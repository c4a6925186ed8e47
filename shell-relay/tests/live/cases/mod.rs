//! The numbered cases that the relay must satisfy, each in every shell it applies to.
//!
//! `case!(number name [shells] |t| { .. })` makes one test a shell, `case_NNN_name::shell`, with `t` a fresh [`Terminal`] of a shell
//! with the prompt `$ `. A shell in which the case cannot hold is named after `except` with the reason.

/// One case in several shells.
macro_rules! case {
    ($name:ident [$($shell:ident)+] $(except { $($missing:ident: $reason:literal),+ $(,)? })? |$kind:ident| $body:block) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[cfg(test)]
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

mod statuses;

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
