//! Cases without pagers while a command of the agent's runs: a user who asked a question did not ask for a pager. Afterwards the
//! settings are as before.

use super::by;
use crate::terminal::{Kind, Options, Terminal};

/// A user's shell with a pager that is exported, and another variable that is not.
fn with_pagers(kind: Kind) -> Terminal {
    let own =
        by(kind, "export PAGER='less -X'; GIT_PAGER=plain\n", "set -gx PAGER 'less -X'; set -g GIT_PAGER plain\n");
    Terminal::with(&Options { kind, rc: &format!("{}\n{own}", kind.plain_rc()), ..Options::default() })
}

/// Asserts the values of both that the user's own commands see.
fn assert_pagers(t: &mut Terminal, expected: &str) {
    t.line(r#"echo "$PAGER,$GIT_PAGER,"; sh -c 'echo "${PAGER-none},${GIT_PAGER-none}."'"#);
    t.wait_text(&format!("\n{expected}\n"));
    t.settle();
}

const SEEN: &str = r#"sh -c 'echo "$PAGER,$GIT_PAGER"'"#;

case!(case_312_nothing_pages [bash zsh fish fish4] |kind| {
    let mut t = with_pagers(kind);
    assert_eq!(t.run(SEEN).output, "cat,cat\n");
    assert_eq!(t.run(SEEN).output, "cat,cat\n");
    assert_pagers(&mut t, "less -X,plain,\nless -X,none.");
});

case!(case_312_who_has_none_has_none_again [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.run(SEEN).output, "cat,cat\n");
    assert_pagers(&mut t, ",,\nnone,none.");
});

case!(case_312_what_the_command_sets_stays [bash zsh fish fish4] |kind| {
    let mut t = with_pagers(kind);
    t.run(by(kind, "export PAGER=most; unset GIT_PAGER", "set -gx PAGER most; set -e GIT_PAGER"));
    assert_pagers(&mut t, "most,,\nmost,none.");
});

case!(case_312_after_an_interrupt [bash zsh fish fish4] |kind| {
    let mut t = with_pagers(kind);
    let id = t.begin(by(kind, "sleep 20; echo after", "sleep 20; and echo after"));
    t.wait_foreground("sleep");
    t.keys("\x03");
    t.result(&id).unwrap();
    t.settle();
    assert_pagers(&mut t, "less -X,plain,\nless -X,none.");
});

case!(case_312_read_only_pagers_are_left_alone [bash zsh] |kind| {
    let mut t = with_pagers(kind);
    t.line("readonly PAGER");
    let outcome = t.run(SEEN);
    assert_eq!((outcome.output.as_str(), outcome.status), ("less -X,cat\n", Some(0)));
    assert_pagers(&mut t, "less -X,plain,\nless -X,none.");
});
