//! A connection that breaks off in the middle of an answer.

use cohab_protocol::{Notice, NoticeKind, ResumePoint};
use cohab_types::{command::RelayError, refusal::Refusal};

use super::*;

/// In a turn that the daemon has begun and of which one chunk was seen.
fn begun() -> Bench {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "one ");
    bench
}

/// In a turn of which the daemon has said nothing.
fn asked() -> Bench {
    let mut bench = Bench::connected();
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    bench.shown();
    bench
}

fn resume(next_seq: u64) -> Effect {
    Effect::Resume(ResumePoint { turn_id: TURN, next_seq })
}

fn step(number: u32) -> DaemonMessage {
    let activity = StepActivity::ToolCall { tool: "read".into(), argument: "a.txt".into() };
    DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: number, activity })
}

#[test]
fn the_rest_of_the_answer_is_asked_for_and_shown_once() {
    let mut bench = begun();
    bench.daemon(step(1));
    assert_eq!(bench.event(Event::LinkLost), [resume(1)]);
    assert!(bench.attached(true).is_empty(), "the daemon knows what the user ran");
    bench.daemon(step(1));
    let summary = "3 lines".into();
    let finished = StepFinished {
        turn_id: TURN,
        step: 1,
        outcome: StepOutcome::Done,
        summary,
        elapsed_ms: 5,
        detail: None,
        only_reads: false,
    };
    bench.daemon(DaemonMessage::StepFinished(finished.clone()));
    bench.daemon(DaemonMessage::StepFinished(finished));
    bench.chunk(0, "one ");
    bench.chunk(1, "two");
    bench.daemon(ended(TurnEndReason::Answered));
    let above: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(above, "\none\n\n● read  a.txt\n  ✓ 3 lines · 5 ms\n\ntwo\n");
}

#[test]
fn what_was_reported_last_is_reported_again() {
    let mut bench = begun();
    bench.daemon(execute("ls", None));
    let started = bench.live(LiveEvent::CommandStarted { id: CALL.to_string() });
    bench.event(Event::LinkLost);
    assert_eq!(bench.attached(true), started);
    let id = CALL.to_string();
    let finished = bench.live(LiveEvent::CommandFinished { id, outcome: outcome(Ending::Exited) });
    bench.event(Event::LinkLost);
    let again = bench.attached(true);
    assert_eq!(result_in(&again), result_in(&finished));
    assert_eq!(again.len(), 1);
}

#[test]
fn a_daemon_that_does_not_know_the_turn_ends_it_and_a_command_that_has_not_begun() {
    let mut bench = begun();
    bench.daemon(execute("ls", None));
    bench.event(Event::LinkLost);
    assert_eq!(bench.attached(false), [Effect::WithdrawCommand(CALL.to_string())]);
    let error = RelayError::NotAtPrompt { refusal: Refusal::Cancelled, reason: String::new() };
    bench.live(LiveEvent::CommandRefused { id: CALL.to_string(), error });
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    assert!(bench.shown().contains("Error: the daemon ended in the middle of the answer"));
}

#[test]
fn a_command_that_runs_is_left_to_its_end_without_a_daemon() {
    let mut bench = begun();
    bench.daemon(execute("ls", None));
    bench.live(LiveEvent::CommandStarted { id: CALL.to_string() });
    bench.event(Event::LinkLost);
    let down = Event::LinkDown { message: "the daemon is not running".into(), hint: String::new() };
    assert!(bench.event(down).is_empty());
    bench.live(LiveEvent::CommandFinished { id: CALL.to_string(), outcome: outcome(Ending::Exited) });
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    let shown = bench.shown();
    assert!(shown.contains("the daemon ended in the middle of the answer"), "{shown}");
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.live(LiveEvent::PromptReady), [Effect::LookForDaemon]);
}

#[test]
fn a_turn_that_the_daemon_may_not_know_is_not_asked_for() {
    let mut bench = asked();
    assert_eq!(bench.event(Event::LinkLost), [Effect::EndAnswer]);
    assert!(bench.shown().contains("the daemon is gone"));
}

#[test]
fn a_prompt_looks_for_a_daemon_and_only_a_question_starts_one() {
    let mut bench = Bench::new();
    for _ in 0..2 {
        assert_eq!(bench.live(LiveEvent::PromptReady), [Effect::LookForDaemon]);
        assert_eq!(bench.event(Event::DaemonAbsent), [], "nothing is said and nothing is started");
    }
    assert_eq!(bench.enter("? why"), [Effect::DecideLine(LineDecision::Assistant), Effect::Connect]);
}

#[test]
fn a_question_that_was_asked_while_a_daemon_was_looked_for_starts_one() {
    let mut bench = Bench::new();
    bench.live(LiveEvent::PromptReady);
    assert_eq!(bench.enter("? why"), [Effect::DecideLine(LineDecision::Assistant)]);
    assert_eq!(bench.event(Event::DaemonAbsent), [Effect::Connect]);
    let effects = bench.link_up();
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Send(ClientMessage::UserQuery(_)))), "{effects:?}");
}

#[test]
fn a_daemon_that_does_not_take_the_question_is_told_of_once_within_5_s() {
    let mut bench = asked();
    let is_told = |bench: &mut Bench| bench.shown().contains("has not taken the question yet");
    let asked_at = bench.now;
    let late = Notice { turn_id: None, kind: NoticeKind::Info, text: "of the turn before".into() };
    bench.daemon(DaemonMessage::Notice(late));
    while !is_told(&mut bench) {
        bench.now = bench.app.deadline().expect("something is due");
        assert!(bench.now <= asked_at + Duration::from_secs(5), "it was not told: {}", bench.shown());
        assert_eq!(bench.event(Event::Deadline), []);
    }
    bench.pass(600_000);
    bench.event(Event::Deadline);
    assert!(!is_told(&mut bench), "it was told twice");
    bench.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
    bench.chunk(0, "late\n\n");
    assert!(bench.shown().contains("late"), "the answer may come all the same");
}

#[test]
fn a_daemon_that_has_taken_the_question_may_be_as_slow_as_its_model() {
    let mut bench = Bench::in_a_turn();
    bench.pass(600_000);
    bench.event(Event::Deadline);
    assert!(!bench.shown().contains("The daemon has not"));
}

#[test]
fn a_connection_that_breaks_again_and_again_ends_the_turn() {
    let mut bench = begun();
    for _ in 0..3 {
        assert_eq!(bench.event(Event::LinkLost), [resume(1)]);
        bench.attached(true);
    }
    assert_eq!(bench.event(Event::LinkLost), [Effect::EndAnswer]);
}

#[test]
fn a_question_after_one_that_was_stopped_without_a_connection_is_sent() {
    for is_resumed in [true, false] {
        let mut bench = begun();
        bench.event(Event::LinkLost);
        let effects = bench.live(LiveEvent::CancelRequested { is_escape: false });
        assert_eq!(effects[0], Effect::Send(ClientMessage::CancelTurn { turn_id: TURN }), "the link keeps it");
        bench.live(LiveEvent::AnswerEnded);
        bench.enter("? again");
        let mut effects = bench.attached(is_resumed);
        if is_resumed {
            assert!(effects.is_empty(), "the daemon has not ended the first one: {effects:?}");
            effects = bench.daemon(ended(TurnEndReason::Cancelled));
        }
        assert!(matches!(&effects[..], [Effect::Send(ClientMessage::UserQuery(query))] if query.text == "again"));
    }
}

#[test]
fn a_client_that_was_taken_over_says_so_and_comes_back_with_the_next_question_only() {
    let mut bench = begun();
    let reason = "another client took over this session";
    bench.event(Event::LinkDown { message: reason.into(), hint: "ask again".into() });
    assert!(bench.shown().contains(reason));
    bench.live(LiveEvent::AnswerEnded);
    assert!(bench.live(LiveEvent::PromptReady).is_empty(), "they would take the session from each other for ever");
    let effects = bench.enter("? mine");
    assert!(effects.contains(&Effect::Connect));
}

#[test]
fn what_an_ended_turn_of_here_never_began_is_known_and_of_another_turn_nothing_is() {
    let mut bench = begun();
    bench.event(Event::LinkLost);
    bench.attached(false);
    let DaemonMessage::ExecuteCommand(mine) = execute("ls", None) else { panic!("it is one") };
    assert_eq!(refusal_in(&bench.daemon(DaemonMessage::ExecuteCommand(mine.clone()))), "turn_over");
    let other = ExecuteCommand { turn_id: TurnId::fresh(), ..mine };
    assert_eq!(refusal_in(&bench.daemon(DaemonMessage::ExecuteCommand(other))), "unknown_turn");
}
