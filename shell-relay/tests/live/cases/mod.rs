//! The numbered cases of the relay, each in every shell it applies to ([`table`]).
//!
//! `case!(case_NNN_name [shells] |kind| { .. })` makes one test a shell: `case_NNN_name::shell`. A shell in which the case cannot hold
//! is named after `except`, with the reason. One shell alone takes a colon (`[zsh]: |kind|`), or it would be formatted as an
//! expression. A number may have several cases; those from 200 on were thought out to break the relay. Unless a case
//! says otherwise the prompt is `$ `.

/// One case in several shells.
macro_rules! case {
    ($name:ident [$($shell:ident)+] $(except { $($missing:ident: $reason:literal),+ $(,)? })? $(:)? |$kind:ident| $body:block) => {
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
mod changes;
mod citizenship;
mod ends;
mod frameworks;
mod gate;
mod hand_over;
mod history;
mod interrupt;
mod inventions;
mod jobs;
mod lines;
mod marks;
mod nested;
mod options;
mod output;
mod pagers;
mod programs;
mod prompts;
mod redirected;
mod remote;
mod statuses;
mod surroundings;
mod table;
mod terminal_state;
mod texts;
mod zsh_options;

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

/// The text for the shell at hand.
fn by<'a>(kind: crate::terminal::Kind, bash_and_zsh: &'a str, fish: &'a str) -> &'a str {
    if kind.is_fish() { fish } else { bash_and_zsh }
}

/// A terminal in which the user has typed half a line.
fn half_typed(kind: crate::terminal::Kind) -> crate::terminal::Terminal {
    let mut t = crate::terminal::Terminal::of(kind);
    t.keys("echo half");
    t.settle_for(std::time::Duration::from_millis(200));
    t
}

/// The half line stands at the prompt again, and nothing of ours was ever seen.
fn assert_line_is_back(t: &mut crate::terminal::Terminal) {
    t.wait("the half-typed line", |t| t.text().lines().last() == Some("$ echo half"));
    let shown = String::from_utf8_lossy(&t.shown);
    assert!(!shown.contains("7391") && !shown.contains("__cohab"), "{shown}");
}
