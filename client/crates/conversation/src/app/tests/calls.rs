//! One call id, one run; one command at a time in the shell.

use super::*;

fn id() -> String {
    CALL.to_string()
}

fn starts(bench: &mut Bench) -> Vec<Effect> {
    bench.live(LiveEvent::CommandStarted { id: id() })
}

fn finishes(bench: &mut Bench, ending: Ending) -> Vec<Effect> {
    bench.live(LiveEvent::CommandFinished { id: id(), outcome: outcome(ending) })
}

fn another(command: &str, number: u128) -> DaemonMessage {
    execute_as(CallId(Uuid::from_u128(number)), command, None)
}

#[test]
fn a_repeat_of_a_queued_or_running_call_is_answered_by_the_one_result() {
    let mut bench = Bench::connected();
    bench.enter("? why");
    bench.daemon(execute("ls", None));
    assert!(bench.daemon(execute("ls", None)).is_empty(), "it waits for the terminal");
    assert_eq!(runs(&bench.live(LiveEvent::AnswerReady)), Some("ls"));
    assert!(bench.daemon(execute("ls", None)).is_empty(), "it waits in the relay");
    let first = starts(&mut bench);
    assert_eq!(bench.daemon(execute("ls", None)), first, "it runs: only that is said again");
    result_in(&finishes(&mut bench, Ending::Exited));
}

#[test]
fn a_repeat_after_the_turn_gets_the_result_and_a_very_late_one_a_refusal() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    starts(&mut bench);
    bench.live(LiveEvent::CancelRequested { is_escape: false });
    assert_eq!(bench.daemon(execute("ls", None)).len(), 1, "it runs on, so it is not said that it did not run");
    let first = finishes(&mut bench, BY_USER);
    bench.live(LiveEvent::AnswerReady);
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(result_in(&bench.daemon(execute("ls", None))), result_in(&first));

    let mut bench = Bench::in_a_turn();
    for number in 100..200 {
        let effects = bench.daemon(another("ls", number));
        assert_eq!(runs(&effects), Some("ls"));
        let id = CallId(Uuid::from_u128(number)).to_string();
        bench.live(LiveEvent::CommandFinished { id, outcome: outcome(Ending::Exited) });
        bench.live(LiveEvent::AnswerReady);
    }
    assert_eq!(refusal_in(&bench.daemon(another("ls", 100))), "repeated");
}

#[test]
fn a_second_command_is_refused_while_one_is_on_its_way() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    assert_eq!(refusal_in(&bench.daemon(another("pwd", 100))), "shell_busy");
}

#[test]
fn behind_a_command_whose_time_was_up_the_next_one_waits_for_30_s_and_is_told_why_not() {
    let mut bench = Bench::in_a_turn();
    bench.app.options.approval = ApprovalMode::All;
    bench.daemon(execute("sleep 600\necho x", None));
    starts(&mut bench);
    assert_eq!(result_in(&finishes(&mut bench, Ending::StillRunning)).ending, CommandEnding::StillRunning);
    assert!(bench.daemon(another("pwd", 100)).is_empty());
    assert_eq!(bench.app.deadline(), Some(bench.now + Duration::from_secs(30)));
    bench.pass(29_999);
    assert!(bench.event(Event::Deadline).is_empty());
    bench.pass(1);
    let effects = bench.event(Event::Deadline);
    let CommandEnding::Refused { code, reason } = &result_in(&effects).ending else { panic!("{effects:?}") };
    assert_eq!(code, "shell_busy");
    assert_eq!(reason, "the shell is busy: `sleep 600` still has it; the command was not run");
    assert_eq!(bench.app.deadline(), None);
    assert_eq!(runs(&bench.live(LiveEvent::AnswerReady)), None, "it was given up");
    assert_eq!(runs(&bench.daemon(another("pwd", 101))), Some("pwd"), "the shell is free again");
}

#[test]
fn a_command_that_the_daemon_gave_up_on_never_runs() {
    let mut bench = Bench::connected();
    bench.enter("? why");
    bench.daemon(execute("ls", None));
    let effects = bench.daemon(DaemonMessage::InterruptCommand { call_id: CALL, by: wire::Interrupter::Turn });
    assert_eq!(refusal_in(&effects), "cancelled");
    assert_eq!(runs(&bench.live(LiveEvent::AnswerReady)), None);
}

#[test]
fn an_interrupt_is_always_answered() {
    let mut bench = Bench::in_a_turn();
    let interrupt = || DaemonMessage::InterruptCommand { call_id: CALL, by: wire::Interrupter::Turn };
    assert_eq!(refusal_in(&bench.daemon(interrupt())), "cancelled");
    bench.daemon(execute("ls", None));
    let first = finishes(&mut bench, Ending::Exited);
    assert_eq!(result_in(&bench.daemon(interrupt())), result_in(&first));
}

#[test]
fn the_daemon_learns_that_a_command_waits_for_the_user() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    starts(&mut bench);
    let waits = LiveEvent::WaitingForInput { id: id(), what: cohab_shell_relay::live::AwaitedInput::Password };
    assert_eq!(bench.live(waits), [Effect::Send(ClientMessage::CommandWaiting { call_id: CALL })]);
}

#[test]
fn what_the_shell_does_afterwards_is_told() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    let mut outcome = outcome(Ending::StillRunning);
    outcome.state_after = StateAfter::InFront { program: "vim".into(), is_full_screen: true };
    let effects = bench.live(LiveEvent::CommandFinished { id: id(), outcome });
    let expected = cohab_protocol::StateAfter::InFront { program: "vim".into(), is_full_screen: true };
    assert_eq!(result_in(&effects).state_after, expected);
}

#[test]
fn a_long_command_is_one_line_that_the_terminal_wraps() {
    let mut bench = Bench::in_a_turn();
    let command = format!("cat {}", "a/very/long/path ".repeat(20));
    bench.daemon(execute(&command, None));
    starts(&mut bench);
    let shown = bench.shown();
    assert!(shown.lines().any(|line| line == format!("❯ {command}")), "{shown}");
}

#[test]
fn escape_stops_the_turn_and_brings_the_line_back_if_it_ended_the_command() {
    for (ending, stops) in [(BY_USER, true), (Ending::Exited, false)] {
        let mut bench = Bench::in_a_turn();
        bench.daemon(execute("ls", None));
        starts(&mut bench);
        assert_eq!(bench.live(LiveEvent::EscapeInterrupts { id: id() }), []);
        let effects = finishes(&mut bench, ending);
        assert_eq!(effects.contains(&Effect::Send(ClientMessage::CancelTurn { turn_id: TURN })), stops, "{effects:?}");
        let effects = bench.live(LiveEvent::AnswerReady);
        assert_eq!(effects.contains(&Effect::EndAnswerWithLine), stops, "{effects:?}");
    }
}
