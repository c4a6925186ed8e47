//! Tests for Enter: whose it is, and which line it accepts.

use super::*;

#[test]
fn enter_is_the_users_own_byte_and_the_line_is_accepted_by_our_key() {
    let mut bench = Bench::at_prompt();
    bench.keys(b"ls\rnext");
    assert_eq!(bench.pty(), "ls\r");
    bench.output(b"\r\x1b[K\r");
    bench.marks(&["N;2;ls"]);
    bench.output(b"$ ");
    bench.marks(&["B"]);
    bench.output(b"ls");
    assert_eq!(bench.fx.terminal, b"", "the line is on the screen already");
    bench.live.decide_line(LineDecision::Shell, &bench.probe, bench.now, &mut bench.fx);
    bench.output(b"\r\n\x1b[?2004l\r");
    assert_eq!((bench.pty().as_str(), &*bench.fx.terminal), ("\x1b[7391;6~next", &b"\r\n\x1b[?2004l\r"[..]));
}

#[test]
fn enter_that_is_the_users_takes_effect_if_the_editor_does_not_tell_its_line_and_no_line_is_asked_for_again() {
    let mut bench = Bench::at_prompt();
    bench.marks(&["K;1"]);
    bench.keys(b"ls\rnext");
    assert_eq!(bench.pty(), "ls\x1b[7391;5~");
    bench.wait(999);
    assert_eq!(bench.pty(), "");
    bench.wait(2);
    assert_eq!(bench.pty(), "\rnext");
    bench.marks(&["C", "D;;0;/", "B"]);
    bench.wait(2_000);
    bench.keys(b"pwd\r");
    assert_eq!(bench.pty(), "pwd\r");
    let reasons = bench.fx.events.iter().filter(|event| matches!(event, LiveEvent::NotIntegrated { .. })).count();
    assert_eq!(reasons, 1);
}

#[test]
fn a_line_typed_before_its_prompt_was_reported_is_judged_if_its_enter_came_later() {
    let is_alone = |early: &[&[u8]], late: &[&[u8]]| {
        let mut bench = Bench::at_prompt();
        bench.marks(&["C", "D;;0;/"]);
        early.iter().for_each(|keys| bench.keys(keys));
        bench.marks(&["B"]);
        late.iter().for_each(|keys| bench.keys(keys));
        bench.marks(&["N;4;what"]);
        let told = bench.fx.events.iter().find_map(|event| match event {
            LiveEvent::LineEntered { is_alone, .. } => Some(*is_alone),
            _ => None,
        });
        told.expect("a line")
    };
    assert!(is_alone(&[b"wh"], &[b"at", b"\r"]));
    assert!(!is_alone(&[b"what\r"], &[]), "it may have been meant for a program");
    assert!(!is_alone(&[b"what"], &[b"\rls\r"]), "several lines in one piece");
}

#[test]
fn enter_is_not_held_in_a_search_or_while_another_is_pending() {
    let mut bench = Bench::at_prompt();
    bench.keys(b"\x12ab\r");
    assert_eq!(bench.pty(), "\x12ab\r");
    bench.keys(b"cd\r");
    assert_eq!(bench.pty(), "cd\r");
}

#[test]
fn escape_and_enter_in_one_piece_are_two_keys_in_vi_mode() {
    for (is_vi, sent) in [("", ""), (";vi", "\x1b\r")] {
        let mut bench = Bench::at_prompt();
        bench.keys(b"ls\x1b\r");
        assert_eq!(bench.pty(), "ls\x1b[7391;5~");
        bench.marks(&[&format!("Q;2;ls;1{is_vi}")]);
        assert_eq!(bench.pty(), sent);
        let is_asked = bench.fx.events.iter().any(|event| matches!(event, LiveEvent::HotkeyPressed { .. }));
        assert_eq!(is_asked, is_vi.is_empty());
    }
}

#[test]
fn enter_behind_f_and_r_of_vi_is_enter() {
    for (keys, mark, sent) in [
        ("0f\r", "V;1", "0f\r"),
        ("0f\r", "V;0", "0f\x1b[7391;5~"),
        ("0fa\r", "V;1", "0fa\x1b[7391;5~"),
        ("\r", "V;2", "\r"),
    ] {
        let mut bench = Bench::at_prompt();
        bench.marks(&["K;1", mark]);
        bench.keys(keys.as_bytes());
        assert_eq!(bench.pty(), sent, "{mark}");
    }
}
