//! Rows of ours between those of the shell, and what of a command's output is only the echo of the user's keys.

use super::*;

fn terminal(bench: &mut Bench) -> String {
    String::from_utf8_lossy(&std::mem::take(&mut bench.fx.terminal)).into_owned()
}

#[test]
fn a_greeting_stands_above_the_first_prompt_and_never_comes_again() {
    let mut bench = Bench::booting();
    bench.live.greet(b"hello\r\n".to_vec());
    bench.output(b"motd\r\n");
    bench.marks(&["D;;0;/"]);
    bench.output(b"$ ");
    bench.marks(&["B"]);
    assert_eq!(terminal(&mut bench), "motd\r\nhello\r\n$ ");
    bench.marks(&["C", "D;;0;/"]);
    bench.output(b"$ ");
    assert_eq!(terminal(&mut bench), "$ ");
}

#[test]
fn a_shell_without_marks_is_not_greeted() {
    let mut bench = Bench::booting();
    bench.live.greet(b"hello\r\n".to_vec());
    bench.output(b"$ ");
    bench.wait(60_000);
    bench.output(b"ls\r\n$ ");
    assert_eq!(terminal(&mut bench), "$ ls\r\n$ ");
}

#[test]
fn a_row_stands_above_the_output_of_the_line_that_runs() {
    let mut bench = Bench::at_prompt();
    bench.live.show_above_output(b"row\r\n".to_vec());
    bench.output(b"\r\n");
    bench.marks(&["C"]);
    bench.output(b"out\r\n");
    assert_eq!(terminal(&mut bench), "\r\nrow\r\nout\r\n");
    bench.marks(&["D;;0;/", "B"]);
    // This one is not run: the prompt that comes drops its row.
    bench.live.show_above_output(b"row\r\n".to_vec());
    bench.marks(&["D;;0;/", "B", "C"]);
    assert_eq!(terminal(&mut bench), "");
}

#[test]
fn keys_typed_while_a_command_runs_are_shown_and_are_no_output_of_it() {
    let mut bench = Bench::started("a1");
    bench.keys(b"ls\r");
    bench.output(b"ls\r\n");
    bench.output(b"done\r\n");
    assert_eq!(terminal(&mut bench), "ls\r\ndone\r\n");
    bench.marks(&["E;a1;0;/", "D;a1;0;/", "B"]);
    let output = bench.fx.events.iter().find_map(|event| match event {
        LiveEvent::CommandFinished { outcome, .. } => Some(outcome.output.as_str()),
        _ => None,
    });
    assert_eq!(output.map(str::trim_end), Some("done"));
}
