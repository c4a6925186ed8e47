//! Commands at the prompt: what they do, what comes back, what is seen.

use cohab_shell_relay::runner::{Ending, Mode};

use crate::terminal::Terminal;

#[test]
fn a_command_is_shown_runs_and_gives_its_status() {
    let mut t = Terminal::bash();
    for (text, status) in [("true", 0), ("false", 1), ("sh -c 'exit 42'", 42), ("sh -c 'exit 255'", 255), ("", 0)] {
        let outcome = t.run(text);
        assert_eq!(
            (outcome.status, outcome.output.as_str(), outcome.ending),
            (Some(status), "", Ending::Exited),
            "{text}"
        );
        assert_eq!(outcome.mode, Mode::Live);
    }
    assert_eq!(t.run("echo hi").output, "hi\n");
    t.wait_screen("$ true\n$ false\n$ sh -c 'exit 42'\n$ sh -c 'exit 255'\n$\n$ echo hi\nhi\n$");
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
}

#[test]
fn what_a_command_changes_in_the_shell_stays() {
    let mut t = Terminal::bash();
    assert_eq!(t.run("cd /usr/share").cwd.to_str(), Some("/usr/share"));
    assert_eq!(t.run("pwd").output, "/usr/share\n");
    t.run("export FOO='b ar'");
    assert!(t.run("env").output.contains("\nFOO=b ar\n"));
    t.line("echo \"<$FOO $PWD>\"");
    t.wait_text("<b ar /usr/share>");
    t.run("alias greet='echo hello'");
    assert_eq!(t.run("greet").output, "hello\n");
    t.run("f() { echo \"f $1\"; }");
    assert_eq!(t.run("f x").output, "f x\n");
    t.run("declare V=1");
    assert_eq!(t.run("echo $V").output, "1\n");
    t.run("pushd /usr >/dev/null; pushd /var >/dev/null");
    assert_eq!(t.run("dirs").output, "/var /usr /usr/share\n");
    t.run("umask 077");
    assert_eq!(t.run("umask").output, "0077\n");
}
