use cohab_protocol::{StartTask, SubagentProgress, SubagentState, TaskEnd, TaskEnded};

use super::{background_turn::in_background, *};

fn explorer(number: u32, state: SubagentState, elapsed_ms: u64) -> DaemonMessage {
    let (kind, label) = ("explore".into(), format!("part {number}"));
    let progress = SubagentProgress { turn_id: TURN, number, kind, label, state, tokens: 3_100, elapsed_ms };
    DaemonMessage::SubagentProgress(progress)
}

fn reading(path: &str) -> SubagentState {
    SubagentState::Working(StepActivity::ToolCall { tool: "read".into(), argument: path.into() })
}

fn over(id: u32, end: TaskEnd, has_changes: bool) -> DaemonMessage {
    DaemonMessage::TaskEnded(TaskEnded { id, question: "fix the test".into(), end, has_changes })
}

fn delegating(bench: &mut Bench) {
    let activity = StepActivity::ToolCall { tool: "delegate".into(), argument: "explore: part 1".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
}

#[test]
fn subagents_have_a_row_each_below_the_status_until_all_are_over() {
    let mut bench = Bench::in_a_turn();
    delegating(&mut bench);
    bench.daemon(explorer(1, reading("a.rs"), 0));
    bench.daemon(explorer(2, reading("b.rs"), 0));
    bench.now += Duration::from_secs(14);
    bench.event(Event::Deadline);
    bench.daemon(explorer(2, SubagentState::Ended(StepOutcome::Done), 9_000));
    insta::assert_snapshot!(bench.shown(), @r"
    ----
    ● step 2 · delegate explore: part 1 · 14 s · Ctrl-C stops
    ├ explore 1 · read a.rs · 14 s · 3.1k tokens
    └ ✓ explore 2 · part 2 · 9 s · 3.1k tokens
    ");
    bench.daemon(explorer(1, SubagentState::Ended(StepOutcome::Done), 15_000));
    assert_eq!(bench.shown(), "----\n● step 2 · delegate explore: part 1 · 14 s · Ctrl-C stops\n");
}

#[test]
fn news_of_another_turns_subagent_are_not_shown() {
    let mut bench = Bench::in_a_turn();
    delegating(&mut bench);
    let progress = explorer(1, reading("a.rs"), 0);
    let DaemonMessage::SubagentProgress(mut progress) = progress else { panic!("news") };
    progress.turn_id = TurnId(Uuid::from_u128(99));
    bench.daemon(DaemonMessage::SubagentProgress(progress));
    assert!(!bench.shown().contains("explore 1"));
}

#[test]
fn a_task_that_is_over_is_told_above_an_idle_prompt_and_the_prompt_comes_back() {
    let mut bench = Bench::connected();
    assert_eq!(bench.daemon(over(3, TaskEnd::Done, true)), [Effect::ComeBack]);
    assert!(!bench.app.owns_terminal(), "the relay waits for a good moment");
    let notification = Effect::Notify("task 3 is done: fix the test".into());
    assert_eq!(bench.live(LiveEvent::AnswerReady), [notification, Effect::EndAnswer]);
    let above: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(above, "\ntask 3 is done: fix the test\nit changed files · cohab tasks show 3\n");
    assert_eq!(bench.live(LiveEvent::AnswerEnded), []);
    assert!(!bench.app.owns_terminal());
}

#[test]
fn news_wait_for_the_end_of_the_turn() {
    let mut bench = in_background();
    assert!(
        !bench.daemon(over(4, TaskEnd::Failed, false)).contains(&Effect::ComeBack),
        "the turn has the terminal next"
    );
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.live(LiveEvent::AnswerEnded).contains(&Effect::ComeBack));
    bench.live(LiveEvent::AnswerReady);
    let above: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
    assert!(above.ends_with("task 4 failed: fix the test\ncohab tasks show 4\n"), "{above}");
}

#[test]
fn a_question_for_behind_the_prompt_is_handed_over_and_has_a_number() {
    for line in ["? /bg fix the test", "? fix the test &"] {
        let mut bench = Bench::connected();
        let effects = bench.enter(line);
        let sent = effects.iter().find_map(|effect| match effect {
            Effect::Send(ClientMessage::SessionRequest(request)) => Some(request.clone()),
            _ => None,
        });
        let request = sent.expect("a request");
        let wire::SessionAction::StartTask(StartTask { session, text, attempts, .. }) = request.action else {
            panic!("{line}")
        };
        assert_eq!((session, text.as_str(), attempts), (None, "fix the test", 1));
        bench.live(LiveEvent::AnswerReady);
        let answer = wire::SessionAnswer::TaskStarted { id: 7 };
        let reply = wire::SessionReply { request_id: request.request_id, answer };
        assert_eq!(bench.daemon(DaemonMessage::SessionReply(reply)), [Effect::EndAnswer]);
        let above: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
        assert!(above.ends_with("task 7 works on it · cohab tasks\n"), "{above}");
    }
}
