//! After commands that changed what the shell runs nothing runs there unasked.

use super::*;

/// A turn in which a command of the agent changed these variables, and the next command is on its way.
fn after_changes(changes: &[(&str, Option<&str>, Option<&str>)]) -> Bench {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    let id = CALL.to_string();
    bench.live(undo::observed(&id, changes));
    bench.live(LiveEvent::CommandFinished { id, outcome: outcome(Ending::Exited) });
    bench.live(LiveEvent::AnswerReady);
    bench
}

const NEXT: CallId = CallId(Uuid::from_u128(77));

pub(super) fn next(command: &str) -> DaemonMessage {
    execute_as(NEXT, command, None)
}

fn waits(effects: &[Effect]) -> bool {
    effects.contains(&Effect::Send(ClientMessage::CommandWaiting { call_id: NEXT }))
}

#[test]
fn a_plain_command_is_asked_about_after_a_change_of_the_path_and_yes_confirms_it() {
    let mut bench = after_changes(&[("PATH", Some("/bin"), Some("/tmp:/bin"))]);
    let effects = bench.daemon(next("ls -l"));
    assert!(runs(&effects).is_none() && waits(&effects), "{effects:?}");
    let shown = bench.shown();
    assert!(shown.contains("commands of the assistant changed what this shell runs: `PATH`"), "{shown}");
    assert!(waits(&bench.daemon(next("ls -l"))), "a repeat is not refused");
    bench.pass(301);
    let effects = bench.key("y");
    assert_eq!(runs(&effects), Some("ls -l"));
    assert!(decision_in(&effects).is_none(), "the daemon asked nothing");
    bench.live(LiveEvent::CommandFinished { id: NEXT.to_string(), outcome: outcome(Ending::Exited) });
    bench.live(LiveEvent::AnswerReady);
    let third = execute_as(CallId(Uuid::from_u128(78)), "pwd", None);
    assert_eq!(runs(&bench.daemon(third)), Some("pwd"), "the list was confirmed");
}

#[test]
fn no_and_a_cancel_run_nothing() {
    for keys in [&["n", "\r"][..], &["\u{1b}"]] {
        let mut bench = after_changes(&[("LD_PRELOAD", None, Some("/tmp/x.so"))]);
        bench.daemon(next("ls"));
        bench.pass(301);
        let effects: Vec<_> = keys.iter().flat_map(|key| bench.key(key)).collect();
        assert!(runs(&effects).is_none());
        assert_eq!(refusal_in(&effects), "not_approved", "{keys:?}");
    }
}

#[test]
fn changes_that_decide_nothing_ask_nothing() {
    let mut bench = after_changes(&[("RUST_LOG", None, Some("debug"))]);
    assert_eq!(runs(&bench.daemon(next("ls"))), Some("ls"));
}

#[test]
fn a_command_that_the_daemon_interrupts_takes_its_question_along() {
    let mut bench = after_changes(&[("PATH", Some("/bin"), Some("/tmp:/bin"))]);
    bench.daemon(next("ls"));
    let effects = bench.daemon(DaemonMessage::InterruptCommand { call_id: NEXT, by: wire::Interrupter::Turn });
    assert_eq!(refusal_in(&effects), "cancelled");
    assert!(effects.contains(&Effect::TakeKeyboard(false)));
    assert!(!bench.shown().contains("assistant changed"));
}

#[test]
fn a_question_of_the_daemon_tells_what_was_changed_and_confirms_nothing() {
    let mut bench = after_changes(&[("GIT_PAGER", None, Some("less"))]);
    bench.daemon(ask("touch a", false));
    assert!(bench.shown().contains("`GIT_PAGER`"));
    bench.pass(301);
    bench.key("y");
    let effects = bench.daemon(next("ls"));
    assert!(runs(&effects).is_none() && waits(&effects));
}
