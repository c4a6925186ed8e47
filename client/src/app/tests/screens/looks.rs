//! Screens of settings that change how answers look.

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
    let code: Vec<&str> = stage.bench.app.code_blocks().iter().map(|block| block.text.as_str()).collect();
    assert_eq!(code, ["fn main() {}\n"]);
}
