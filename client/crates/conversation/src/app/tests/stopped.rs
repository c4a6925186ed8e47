//! A command that the lock has stopped is asked about at once.

use super::hardened_run::{locked, locking_bench, see_shell, wish};
use super::*;

const ID: CallId = CallId(Uuid::from_u128(30));
const REFUSED: &str = "cat: cannot connect: Permission denied";
const WHY: &str = "it could only read, and probably wanted to reach the network or another program's service";

/// The first run of the command ends so, in the folder where it began.
fn ends(bench: &mut Bench, status: i32, output: &str) -> Vec<Effect> {
    ends_as(bench, ID.to_string(), status, output)
}

/// The second run; the shell takes an id only once.
fn ends_again(bench: &mut Bench, output: &str) -> Vec<Effect> {
    ends_as(bench, TURN.to_string(), 0, output)
}

fn ends_as(bench: &mut Bench, id: String, status: i32, output: &str) -> Vec<Effect> {
    bench.live(undo::observed(&id, &[]));
    let outcome = CommandOutcome {
        status: Some(status),
        output: output.into(),
        cwd: CWD.into(),
        env_delta: Vec::new(),
        ..outcome(Ending::Exited)
    };
    bench.live(LiveEvent::CommandFinished { id, outcome })
}

/// `command` ran locked and was refused something; the card is open, and keys count.
fn stopped(command: &str) -> Bench {
    let mut bench = locking_bench();
    assert!(locked(&wish(&mut bench, 30, command)).is_some());
    let effects = ends(&mut bench, 1, REFUSED);
    let waits = Effect::Send(ClientMessage::CommandWaiting { call_id: ID });
    assert_eq!(effects, [waits, Effect::TakeKeyboard(true)], "nothing runs, and nobody is told");
    bench.live(LiveEvent::AnswerReady);
    bench.pass(301);
    bench
}

fn first_output(after: &str) -> String {
    format!("{REFUSED}\n[lock: {WHY}; {after}]\n")
}

#[test]
fn a_yes_runs_it_once_more_without_the_lock() {
    let mut bench = stopped("cat a");
    let shown = bench.shown();
    for words in ["$ cat a", "in: ~/src", "it could only read, and probably wanted", "a yes runs it once more"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let effects = bench.key("y");
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::Run(run) if run.timeout == Duration::from_secs(1))),
        "it has all its time: {effects:?}"
    );
    assert_eq!(runs(&effects), Some("cat a"));
    assert!(wish(&mut bench, 30, "cat a").is_empty(), "a repeat runs nothing");
    let interrupt = DaemonMessage::InterruptCommand { call_id: ID, by: wire::Interrupter::Turn };
    assert_eq!(bench.daemon(interrupt), [Effect::CancelCommand(TURN.to_string(), Interrupter::Turn)]);
    let effects = ends_again(&mut bench, "text");
    let result = result_in(&effects);
    assert_eq!((result.exit_code, result.output.as_str(), result.first_run.as_deref()), (Some(0), "text", Some(WHY)));
    assert_eq!(result_in(&wish(&mut bench, 30, "cat a")), result);
    // It was a yes to that run.
    bench.live(LiveEvent::AnswerReady);
    see_shell(&mut bench, &[]);
    assert!(locked(&wish(&mut bench, 31, "cat a")).is_some());
}

#[test]
fn a_no_leaves_the_first_result() {
    for (keys, reason) in [
        (&["n", "\r"][..], "the user did not want it to run; it was not run"),
        (&["n", "use b\r"], "the user did not want it to run: use b"),
        (&["\u{1b}"], "the user did not agree to this command in this folder; it was not run"),
        (&["\u{3}"], "the user did not agree to this command in this folder; it was not run"),
    ] {
        let mut bench = stopped("cat a");
        let effects: Vec<_> = keys.iter().flat_map(|key| bench.key(key)).collect();
        assert!(runs(&effects).is_none());
        let result = result_in(&effects);
        assert_eq!(result.exit_code, Some(1));
        assert_eq!(result.output, first_output(&format!("it did not run once more: {reason}")), "{keys:?}");
        let place = |is_it: fn(&ClientMessage) -> bool| {
            effects.iter().position(|effect| matches!(effect, Effect::Send(message) if is_it(message)))
        };
        let cancelled = place(|message| *message == ClientMessage::CancelTurn { turn_id: TURN });
        let answered = place(|message| matches!(message, ClientMessage::CommandExecutionResult(_)));
        assert_eq!(cancelled.is_some(), keys.len() == 1, "{keys:?}");
        assert!(cancelled < answered, "the result would start the next step: {effects:?}");
    }
}

#[test]
fn nobody_is_asked_where_a_second_run_could_be_another_or_nothing_is_asked() {
    let told = |bench: &mut Bench, command: &str| {
        assert!(locked(&wish(bench, 30, command)).is_some(), "{command}");
        let effects = ends(bench, 1, REFUSED);
        assert!(runs(&effects).is_none());
        let told = result_in(&effects).output.clone();
        bench.live(LiveEvent::AnswerReady);
        assert!(!bench.shown().contains("Run this command?"), "{command}");
        told
    };
    for command in ["cd .. && cat a", "cat b; cd ../x; cat a"] {
        assert!(told(&mut locking_bench(), command).contains("; the user was not asked, since "), "{command}");
    }
    let mut bench = locking_bench();
    bench.app.options.approval = ApprovalMode::ReadOnly;
    assert_eq!(told(&mut bench, "cat a"), first_output("in this mode nothing runs without the lock"));
}

#[test]
fn a_shell_that_the_first_run_left_changed_gets_no_second_one() {
    let mut bench = locking_bench();
    assert!(locked(&wish(&mut bench, 30, "cat a")).is_some());
    bench.live(undo::observed(&ID.to_string(), &[("PATH", Some("/bin"), Some("/tmp"))]));
    let refused = CommandOutcome { status: Some(1), output: REFUSED.into(), ..outcome(Ending::Exited) };
    let effects = bench.live(LiveEvent::CommandFinished { id: ID.to_string(), outcome: refused });
    assert!(result_in(&effects).output.contains("the user was not asked"), "{effects:?}");
}

#[test]
fn a_daemon_that_interrupts_it_or_ends_the_turn_gets_the_first_result() {
    let interrupt = DaemonMessage::InterruptCommand { call_id: ID, by: wire::Interrupter::TimeLimit };
    let mut bench = stopped("cat a");
    let effects = bench.daemon(interrupt.clone());
    assert!(effects.contains(&Effect::TakeKeyboard(false)) && !bench.shown().contains("Run this command?"));
    assert_eq!(result_in(&effects).exit_code, Some(1));
    assert!(bench.key("y").is_empty());

    let mut bench = stopped("cat a");
    bench.daemon(ended(TurnEndReason::Cancelled));
    assert_eq!(result_in(&bench.daemon(interrupt)).output, first_output("it did not run once more: the turn ended"));
}

#[test]
fn a_connection_that_is_lost_meanwhile_leaves_the_question_open() {
    let mut bench = stopped("cat a");
    bench.event(Event::LinkLost);
    assert!(bench.shown().contains("Run this command?"));
    let effects = bench.attached(true);
    assert_eq!(effects, [Effect::Send(ClientMessage::CommandWaiting { call_id: ID })]);
    assert_eq!(runs(&bench.key("y")), Some("cat a"));
    assert_eq!(result_in(&ends_again(&mut bench, "text")).exit_code, Some(0));
}

#[test]
fn a_second_run_that_the_shell_does_not_take_leaves_the_first_result() {
    let mut bench = stopped("cat a");
    bench.key("y");
    let error = cohab_types::command::RelayError::ShellGone;
    let effects = bench.live(LiveEvent::CommandRefused { id: TURN.to_string(), error });
    assert!(result_in(&effects).output.starts_with(&format!("{REFUSED}\n[lock: {WHY}; it did not run once more: ")));
}
