//! Cases of forged marks, secrets, and the terminal of a command.

use cohab_shell_relay::live::LiveEvent;

use super::{assert_line_is_back, half_typed};
use crate::terminal::Terminal;

/// Prints a mark and more, and ends with 5.
fn printing(nonce: &str, pid: u32, rest: &str) -> String {
    format!("printf '\\033]7391;{nonce};{pid};{rest}\\007'; echo after; sh -c 'exit 5'")
}

case!(case_035_mark_with_a_wrong_nonce [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let zeros = "0".repeat(32);
    let outcome = t.run(&printing(&zeros, t.pty.child_pid(), "E;99;0;/forged"));
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(5), "after\n"));
    assert_eq!(outcome.cwd, t.home_path());
    let raw: Vec<&[u8]> = t.events.iter().filter_map(|event| match event {
        LiveEvent::CommandOutput { bytes, .. } => Some(bytes.as_slice()),
        _ => None,
    }).collect();
    let mark = format!("\x1b]7391;{zeros};{};E;99;0;/forged\x07after\r\n", t.pty.child_pid());
    assert_eq!(String::from_utf8_lossy(&raw.concat()), mark);
});

case!(case_036_mark_with_a_wrong_process_or_id [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let (nonce, pid) = (t.nonce.clone(), t.pty.child_pid());
    for (pid, id) in [(pid + 1, "3"), (pid, "99"), (pid, "")] {
        for verb in ["E", "D"] {
            let outcome = t.run(&printing(&nonce, pid, &format!("{verb};{id};0;/forged")));
            assert_eq!((outcome.status, outcome.output.as_str()), (Some(5), "after\n"), "{verb} {id}");
            assert_eq!((outcome.cwd, t.live.cwd()), (t.home_path(), t.home_path().as_path()));
        }
    }
});

case!(case_036_unexpected_marks_while_a_command_runs [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let (nonce, pid) = (t.nonce.clone(), t.pty.child_pid());
    for rest in ["B", "P", "C", "X;start", "S;3", "S;0", "L;2", "O;2", "Q;0;x", "N;0;x", "L;99", "O;99", "nonsense", "E;;;"] {
        let outcome = t.run(&printing(&nonce, pid, rest));
        assert_eq!((outcome.status, outcome.cwd.as_path()), (Some(5), t.home.path()), "{rest}");
        assert!(outcome.output.ends_with("after\n"), "{rest}: {outcome:?}");
        t.wait("the half-typed line", |t| t.text().lines().last() == Some("$ echo half"));
    }
    let odd = |event: &LiveEvent| matches!(event, LiveEvent::LineEntered { .. } | LiveEvent::UserCommandStarted);
    assert!(!t.events.iter().any(odd), "{:?}", t.events);
});

case!(case_036_marks_of_a_subshell [bash]: |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("(__cohab_e 9 x); echo \"${PS1@P}\" >/dev/null; printf %s \"${PS1@P}\"; echo on");
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.output.ends_with("on\n"), "{}", outcome.output);
});

case!(case_037_prompt_marks_of_others [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let marks = "printf '\\033]133;D;77\\007\\033]633;D;77\\007'";
    let outcome = t.run(&format!("{marks}; false"));
    assert_eq!((outcome.status, outcome.total_bytes), (Some(1), 22));
    assert_line_is_back(&mut t);
    t.keys("\x15");
    t.line(marks);
    let bytes = b"\x1b]133;D;77\x07\x1b]633;D;77\x07";
    assert!(t.shown.windows(bytes.len()).any(|window| window == bytes), "the user's own bytes pass");
});

case!(case_038_the_nonce_is_redacted [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let nonce = t.nonce.clone();
    let listing = match kind.is_fish() {
        true => "set; set --show",
        false => "set; declare -p",
    };
    let outcome = t.run(listing);
    assert!(outcome.status == Some(0) && !outcome.output.contains(&nonce));
    let told = t.events.iter().any(|event| match event {
        LiveEvent::CommandOutput { bytes, .. } => String::from_utf8_lossy(bytes).contains(&nonce),
        _ => false,
    });
    assert!(!told);
    assert_eq!(t.run("echo $__cohab_nonce").output, "[redacted]\n");
    assert_eq!(t.line("echo $__cohab_nonce").output_tail, "[redacted]\n");
});

case!(case_039_the_nonce_is_not_in_the_environment [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let nonce = t.nonce.clone();
    let outcome = t.run("env; ls -R ~; grep -rl $__cohab_nonce ~ || echo nowhere");
    assert!(outcome.output.ends_with("\nnowhere\n") && !outcome.output.contains("[redacted]"), "{}", outcome.output);
    let environment = std::fs::read(format!("/proc/{}/environ", t.pty.child_pid())).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains(&nonce));
    assert!(!String::from_utf8_lossy(&t.shown).contains(&nonce));
});

case!(case_040_a_real_terminal [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("test -t 0 && test -t 1 && test -t 2 && stty size");
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(0), "24 80\n"));
    assert_line_is_back(&mut t);
});
