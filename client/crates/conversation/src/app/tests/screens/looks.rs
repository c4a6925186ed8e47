//! Screens of the bar left of answers, and of steps whose results are not shown.

use cohab_protocol::StepDetail;

use super::*;

const ANSWER: &str = "# Two files\n\nI changed `src/main.rs`, which is the first of the two files that the program reads when it starts:\n\n```rust src/main.rs\nfn main() {}\n```\n\n| file | lines |\n|---|---:|\n| main.rs | 1 |\n\nThat is";

#[test]
fn the_bar_left_of_answers() {
    let states: &[State] = &[
        ("text comes", |stage| {
            stage.bench.app.options.gutter = true;
            stage.ask("what did you change");
            stage.text(0, ANSWER);
        }),
        ("a step between, and the end", |stage| {
            stage.bench.app.options.gutter = true;
            stage.ask("what did you change");
            stage.text(0, "I look first.");
            stage.daemon(step(1, tool("read", "Cargo.toml")));
            stage.daemon(step_ended(1, StepOutcome::Done, "42 lines", 5));
            stage.text(1, ANSWER);
            stage.text(2, " all.");
            stage.end(TurnEndReason::Answered);
        }),
    ];
    insta::assert_snapshot!("gutter", seen_at(states, [100, 80, 60]));
}

#[test]
fn the_source_of_code_has_no_bar() {
    let mut stage = Stage::new(80, OutputStyle::Rich);
    stage.bench.app.options.gutter = true;
    stage.ask("what did you change");
    stage.text(0, ANSWER);
    let code: Vec<&str> = stage.bench.code_blocks().iter().map(|block| block.text.as_str()).collect();
    assert_eq!(code, ["fn main() {}\n"]);
}

fn folded(number: u32, summary: &str, lines: u32) -> DaemonMessage {
    DaemonMessage::StepFinished(StepFinished {
        turn_id: TURN,
        step: number,
        outcome: StepOutcome::Done,
        summary: summary.into(),
        elapsed_ms: 12,
        detail: Some(StepDetail::Lines(lines)),
        only_reads: true,
    })
}

#[test]
fn a_long_result_says_how_to_see_it() {
    let states: &[State] = &[
        ("steps whose result is not shown", |stage| {
            stage.ask("where is the port");
            stage.daemon(step(1, tool("read", "config/production/very/long/path/to/the/settings.toml")));
            stage.daemon(folded(1, "412 lines", 412));
            stage.daemon(step(2, tool("grep", "port")));
            stage.daemon(folded(2, "61 matches in 7 files", 68));
        }),
        ("a command that the shell has shown", |stage| {
            stage.ask("what is here");
            stage.daemon(step(1, tool("bash", "du -sh target")));
            stage.daemon(execute("du -sh target", None));
            stage.command_ran("41G\ttarget\n", 0, &[]);
            stage.daemon(folded(1, "exit 0", 30));
        }),
    ];
    insta::assert_snapshot!("long_results", seen_at(states, [100, 80, 60]));
}
