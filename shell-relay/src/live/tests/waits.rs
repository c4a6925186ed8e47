//! Tests for a shell that does not answer in time, or not yet.

use super::*;

#[test]
fn a_stash_without_answer_gives_the_keys_back_and_a_late_one_the_line() {
    let mut bench = Bench::at_prompt();
    bench.run("a1");
    bench.keys(b"typed");
    bench.wait(2001);
    assert_eq!(bench.refusals(), ["not_ready"]);
    assert_eq!(bench.pty(), "\x1b[7391;1~typed");
    bench.marks(&["S;4"]);
    assert_eq!(bench.pty(), "\x1b[7391;4~");
}

#[test]
fn a_command_that_is_not_loaded_is_refused_and_the_line_comes_back() {
    let mut bench = Bench::at_prompt();
    bench.run("a1");
    bench.marks(&["S;4", "B"]);
    assert_eq!(bench.pty(), "\x1b[7391;1~\x1b[7391;2~");
    bench.wait(2001);
    assert_eq!(bench.refusals(), ["not_ready"]);
    assert_eq!(bench.pty(), "\x1b[7391;4~");
}

#[test]
fn a_hide_window_ends_even_if_the_command_never_starts() {
    let mut bench = Bench::at_prompt();
    bench.run("a1");
    bench.marks(&["S;0", "B", "L;a1", "B"]);
    bench.fx.terminal.clear();
    bench.output(b"stub\x1b[?2004l");
    assert_eq!(bench.fx.terminal, b"\x1b[?2004l");
    bench.wait(2001);
    assert_eq!(bench.refusals(), ["timed_out"]);
    bench.output(b"shown");
    assert!(bench.fx.terminal.ends_with(b"shown"));
    bench.marks(&["D;a1;0;/", "B"]);
    assert_eq!(bench.live.state(), ShellState::Prompt);
    assert!(bench.endings().is_empty());
}

#[test]
fn during_an_answer_the_shell_has_time_to_begin_a_command() {
    let mut bench = Bench::at_prompt();
    bench.live.begin_answer(&bench.probe, bench.now, &mut bench.fx);
    bench.marks(&["S;0", "B"]);
    bench.run("a1");
    bench.marks(&["L;a1", "B"]);
    let refusals = [9_900, 200].map(|ms| {
        bench.wait(ms);
        bench.refusals().len()
    });
    assert_eq!(refusals, [0, 1]);
}

#[test]
fn a_line_counts_as_interrupted_only_when_the_shell_answers_the_key() {
    let mut bench = Bench::at_prompt();
    bench.keys(b"echo x\x03");
    assert_eq!(bench.live.untouched_prompt(), UntouchedPrompt::No);
    bench.output(b"^C\r\n");
    assert_eq!(bench.live.untouched_prompt(), UntouchedPrompt::Stands);
    bench.keys(b"y");
    assert_eq!(bench.live.untouched_prompt(), UntouchedPrompt::No);
}
