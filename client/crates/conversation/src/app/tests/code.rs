//! The code of the last answer is there to be copied.

use super::*;

fn sources(bench: &Bench) -> Vec<String> {
    bench.code_blocks().iter().map(|block| format!("{}|{}", block.language, block.text)).collect()
}

fn next_turn(bench: &mut Bench) {
    bench.daemon(ended(TurnEndReason::Answered));
    bench.shown();
    bench.live(LiveEvent::AnswerEnded);
}

#[test]
fn code_is_kept_as_it_was_written_until_the_next_answer() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "See\n\n```sh\necho \"a\"\n\n\techo b\n```\n\n1. x\n   ```\n   in an item\n   ```\n\n> ```py\n> quoted\n> ```\n");
    assert_eq!(sources(&bench)[..1], ["sh|echo \"a\"\n\n\techo b\n"]);
    next_turn(&mut bench);
    assert_eq!(sources(&bench), ["sh|echo \"a\"\n\n\techo b\n", "|in an item\n", "py|quoted\n"]);
}

#[test]
fn code_before_a_step_and_behind_it_belongs_to_one_answer() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "```sh\none\n```\n");
    let activity = StepActivity::ToolCall { tool: "read".into(), argument: "x".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 0, activity }));
    bench.chunk(1, "```sh\ntwo");
    next_turn(&mut bench);
    assert_eq!(sources(&bench), ["sh|one\n", "sh|two\n"]);
}

#[test]
fn code_that_the_model_took_back_is_gone() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "```sh\nwrong\n```\n");
    bench.daemon(DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TURN, seq: 1, delta: ChunkDelta::Reset }));
    bench.chunk(2, "```sh\nright\n```\n");
    assert_eq!(sources(&bench), ["sh|right\n"]);
}

#[test]
fn a_line_of_code_that_is_cut_for_the_screen_is_whole_when_it_is_copied() {
    let mut bench = Bench::in_a_turn();
    let line = "x".repeat(40_000);
    bench.chunk(0, &format!("```sh\n{line}\n```\n"));
    assert_eq!(sources(&bench), [format!("sh|{line}\n")]);
}
