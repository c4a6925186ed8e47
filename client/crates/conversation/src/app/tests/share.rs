use cohab_shell_relay::live::UntouchedPrompt;

use super::*;

/// A shell that is shared: its prompt stands although no key was pressed.
fn shared() -> Bench {
    let mut bench = Bench::in_a_turn();
    let activity = StepActivity::Shared;
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 0, activity }));
    bench.chunk(0, "This shell is shared.\n\n");
    bench.pass(200);
    assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer]);
    let shown = bench.shown();
    assert!(
        shown.contains("This shell is shared.\n") && !shown.contains("Still thinking"),
        "no hint is needed: {shown}"
    );
    assert_eq!(bench.live(LiveEvent::AnswerEnded), []);
    bench.live(LiveEvent::PromptReady);
    assert!(!bench.app.owns_terminal());
    bench
}

#[test]
fn the_prompt_comes_by_itself_and_nothing_ticks_there() {
    let mut bench = shared();
    assert_eq!(bench.app.deadline(), None);
    assert_eq!(bench.enter("ls"), [Effect::DecideLine(LineDecision::Shell)]);
}

#[test]
fn unshare_and_control_c_end_it() {
    let mut bench = shared();
    let effects = bench.enter("? /unshare");
    assert!(effects.contains(&Effect::DecideLine(LineDecision::Assistant)), "{effects:?}");
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Send(ClientMessage::CancelTurn { .. }))),
        "{effects:?}"
    );
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains("This shell is no longer shared.\n"));
    let bench = shared();
    assert!(bench.app.takes_stop_key(UntouchedPrompt::Stands));
}

#[test]
fn other_questions_are_not_asked() {
    let mut bench = shared();
    assert_eq!(bench.enter("? why"), [Effect::DecideLine(LineDecision::Assistant)]);
    bench.live(LiveEvent::AnswerReady);
    let shown = bench.shown();
    assert!(shown.starts_with("not asked; end it by ? /unshare: why\n") && !shown.contains("continuing"), "{shown}");
    bench.pass(200);
    assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer], "the prompt comes back");
}

#[test]
fn a_shell_that_is_not_shared_says_so() {
    let mut bench = Bench::new();
    bench.enter("? /unshare");
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains("This shell is not shared.\n"));
}

#[test]
fn it_can_be_ended_while_a_program_uses_the_shell_and_says_who_comes() {
    let mut bench = shared();
    let text = "`claude-code` uses this shell.".to_owned();
    let notice = cohab_protocol::Notice { turn_id: Some(TURN), kind: cohab_protocol::NoticeKind::Info, text };
    assert_eq!(bench.daemon(DaemonMessage::Notice(notice)), [Effect::ComeBack]);
    let activity = StepActivity::ToolCall { tool: "bash".into(), argument: "ls".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
    assert!(bench.app.takes_stop_key(UntouchedPrompt::Stands));
    bench.enter("?! why");
    let effects = bench.enter("? /unshare");
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Send(ClientMessage::CancelTurn { .. }))),
        "{effects:?}"
    );
}
