//! Forged marks, secrets, dangerous sequences.

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::Terminal;

#[test]
fn forged_marks_are_output() {
    let mut t = Terminal::bash();
    let nonce = t.nonce.clone();
    let pid = t.pty.child_pid();
    let zeros = "0".repeat(32);
    for (mark_nonce, mark_pid, id) in [(&zeros, pid, 99), (&nonce, pid + 1, 99), (&nonce, pid, 99)] {
        let forged =
            format!("printf '\\033]7391;{mark_nonce};{mark_pid};E;{id};0;/forged\\007'; echo after; sh -c 'exit 5'");
        let outcome = t.run(&forged);
        assert_eq!((outcome.status, outcome.output.as_str()), (Some(5), "after\n"));
        assert_eq!(outcome.cwd, t.home_path());
    }
    // What other programs use for prompt marks means nothing here.
    let outcome = t.run("printf '\\033]133;D;77\\007\\033]633;D;77\\007'; false");
    assert_eq!((outcome.status, outcome.total_bytes), (Some(1), 22));
    t.line("printf '\\033]133;D;77\\007'");
    assert!(t.shown.windows(11).any(|window| window == b"\x1b]133;D;77\x07"), "the user's own bytes pass");
}

#[test]
fn a_subshell_of_ours_cannot_end_a_command() {
    let mut t = Terminal::bash();
    let outcome = t.run("(__cohab_e 9 x); echo \"${PS1@P}\" >/dev/null; printf %s \"${PS1@P}\"; echo on");
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.output.ends_with("on\n"), "{}", outcome.output);
}

#[test]
fn the_nonce_is_nowhere_to_be_seen() {
    let mut t = Terminal::bash();
    let nonce = t.nonce.clone();
    let outcome = t.run("set; declare -p");
    assert!(outcome.output.contains("__cohab_nonce=[redacted]") && !outcome.output.contains(&nonce));
    let told = t.events.iter().any(|event| match event {
        LiveEvent::CommandOutput { bytes, .. } => String::from_utf8_lossy(bytes).contains(&nonce),
        _ => false,
    });
    assert!(!told);
    let pid = t.pty.child_pid();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains(&nonce));
    let users_own = t.line("set | grep -a __cohab_nonce=").output_tail;
    assert_eq!(users_own, "__cohab_nonce=[redacted]\n");
    assert!(!t.run("env; ls -R ~; grep -rl $__cohab_nonce ~ || echo nowhere").output.contains("[redacted]"));
}

#[test]
fn dangerous_sequences_of_a_command_do_not_reach_the_terminal() {
    let mut t = Terminal::bash();
    t.shown.clear();
    t.run("printf '\\033]52;c;aGk=\\007\\033]0;t\\007\\033P$qm\\033\\\\\\033[21t\\033[c\\033[6nred \\033[31mx\\033[0m\\n'");
    let shown = String::from_utf8_lossy(&t.shown).into_owned();
    assert!(shown.contains("red \x1b[31mx\x1b[0m\r\n"), "{shown:?}");
    for part in ["]52;", "]0;", "\x1bP", "[21t", "[c", "[6n"] {
        assert!(!shown.contains(&format!("\x1b{}", part.trim_start_matches('\x1b'))), "{part} in {shown:?}");
    }
    t.shown.clear();
    t.line("printf '\\033]52;c;aGk=\\007'");
    assert!(String::from_utf8_lossy(&t.shown).contains("\x1b]52;c;aGk=\x07"), "the user's own commands are free");
}
