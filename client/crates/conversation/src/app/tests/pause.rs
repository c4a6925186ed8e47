use super::*;

fn pauses(effects: &[Effect]) -> Vec<bool> {
    let pause = |effect: &Effect| match effect {
        Effect::Send(ClientMessage::PauseTurn { turn_id, is_paused }) if *turn_id == TURN => Some(*is_paused),
        _ => None,
    };
    effects.iter().filter_map(pause).collect()
}

fn told(is_paused: bool) -> DaemonMessage {
    DaemonMessage::TurnPaused { turn_id: TURN, is_paused }
}

#[test]
fn the_key_holds_a_turn_after_its_step_and_lets_it_go_on() {
    let mut bench = Bench::in_a_turn();
    bench.shown();
    let effects = bench.live(LiveEvent::PauseKeyPressed);
    assert_eq!(pauses(&effects), [true]);
    let shown = bench.shown();
    assert!(
        shown.contains("thinking") && shown.contains("pausing after this step · Ctrl-Z or ? /resume continues"),
        "{shown}"
    );
    bench.daemon(told(true));
    assert_eq!(bench.shown(), "----\npaused · Ctrl-Z or ? /resume continues · Ctrl-C stops\n");
    assert_eq!(bench.app.deadline(), None, "nothing ticks while it holds");
    assert_eq!(pauses(&bench.live(LiveEvent::PauseKeyPressed)), [false]);
    bench.daemon(told(false));
    assert!(!bench.shown().contains("paused"));
}

#[test]
fn a_pause_that_was_taken_back_before_it_held_is_none() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::PauseKeyPressed);
    bench.live(LiveEvent::PauseKeyPressed);
    bench.daemon(told(true));
    assert!(!bench.shown().contains("paused"));
}

#[test]
fn a_held_turn_can_be_stopped_and_the_key_means_nothing_without_one() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::PauseKeyPressed);
    bench.daemon(told(true));
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: false });
    assert!(effects.contains(&Effect::Send(ClientMessage::CancelTurn { turn_id: TURN })));
    assert_eq!(pauses(&bench.live(LiveEvent::PauseKeyPressed)), [false; 0]);
}

#[test]
fn at_the_prompt_beside_the_turn_words_do_what_the_key_does() {
    let mut bench = background_turn::in_background();
    let effects = bench.enter("? /pause");
    assert_eq!(pauses(&effects), [true]);
    assert!(effects.contains(&Effect::DecideLine(LineDecision::Assistant)));
    bench.daemon(told(true));
    bench.live(LiveEvent::AnswerReady);
    let shown = bench.shown();
    assert!(shown.starts_with("Pausing after this step.\n") && shown.contains("paused · "), "{shown}");

    let mut bench = background_turn::in_background();
    assert_eq!(pauses(&bench.enter("? /resume")), [false; 0]);
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().starts_with("The answer is not paused.\n"));
}

#[test]
fn without_a_turn_there_is_nothing_to_hold() {
    let mut bench = Bench::new();
    bench.enter("? /pause");
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains("Nothing is being answered."));
}

#[test]
fn a_command_that_the_user_suspends_holds_the_turn_and_is_marked_as_such() {
    let mut bench = Bench::in_a_turn();
    let activity = StepActivity::ToolCall { tool: "bash".into(), argument: "ls".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
    bench.daemon(execute("ls", None));
    bench.live(LiveEvent::CommandStarted { id: CALL.to_string() });
    let effects = bench.live(LiveEvent::CommandFinished { id: CALL.to_string(), outcome: outcome(Ending::Stopped) });
    let place = |wanted: fn(&Effect) -> bool| effects.iter().position(wanted).expect("it is sent");
    let result = place(|effect| matches!(effect, Effect::Send(ClientMessage::CommandExecutionResult(_))));
    let hold = place(|effect| matches!(effect, Effect::Send(ClientMessage::PauseTurn { is_paused: true, .. })));
    assert!(hold < result, "the next step would begin: {effects:?}");
    bench.live(LiveEvent::AnswerReady);
    let (outcome, summary) = (StepOutcome::Done, "stopped, now a job".into());
    bench.daemon(DaemonMessage::StepFinished(StepFinished {
        turn_id: TURN,
        step: 1,
        outcome,
        summary,
        elapsed_ms: 5,
        detail: None,
        only_reads: false,
    }));
    bench.daemon(told(true));
    let shown = bench.shown();
    assert!(shown.contains("⏸ stopped, now a job of your shell: `fg` continues it"), "{shown}");
    assert!(shown.contains("paused") && !shown.contains('✓'), "{shown}");
}
