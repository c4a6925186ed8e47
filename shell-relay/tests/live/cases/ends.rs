//! Cases with texts that would end, stop or leave the shell.

use std::time::Duration;

use cohab_types::command::{Ending, Mode};

use crate::terminal::{Kind, Terminal};

case!(case_076_the_shell_exits [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin_as("exit 3", Mode::Live);
    let outcome = t.result(&id).expect("it runs");
    assert_eq!((outcome.ending, outcome.status), (Ending::ShellExited, Some(3)));
    t.wait("its end", |t| t.ended);
    assert_eq!(t.refused("true"), "shell_gone");
});

case!(case_076_an_exit_is_contained [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("exit 3");
    assert_eq!((outcome.mode, outcome.status, outcome.ending), (Mode::Subshell, Some(3), Ending::Exited));
    assert_eq!(t.run("echo alive").output, "alive\n");
});

case!(case_076_an_exit_is_refused [fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.refused("exit 3"), "ends_shell");
    assert_eq!(t.run("echo alive").output, "alive\n");
});

case!(case_076_suspend_is_refused [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    for text in ["suspend", "true; suspend", "if true; suspend; end"] {
        assert_eq!(t.refused(text), "ends_shell", "{text}");
    }
    assert_eq!(t.run("echo suspend").output, "suspend\n");
});

case!(case_001_return_at_top_level [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo half");
    t.settle_for(Duration::from_millis(200));
    let outcome = t.run("cd /usr; echo a; return 3");
    // In bash this is an error.
    let (status, output) = match kind {
        Kind::Bash => (2, "a\nbash: return: can only `return' from a function or sourced script\n"),
        _ => (3, "a\n"),
    };
    assert_eq!((outcome.status, outcome.output.as_str(), outcome.cwd.to_str()), (Some(status), output, Some("/usr")));
    assert_eq!(outcome.ending, Ending::Exited);
    t.wait("the line", |t| t.text().ends_with("\n$ echo half"));
    t.keys("-typed\r");
    t.wait_text("\nhalf-typed\n$");
    let outcome = t.run("return 0");
    assert_eq!(outcome.status, Some(if kind == Kind::Bash { 2 } else { 0 }));
    assert!(!t.run(if kind == Kind::Zsh { "fc -l -20" } else { "history" }).output.contains("__cohab"));
});
