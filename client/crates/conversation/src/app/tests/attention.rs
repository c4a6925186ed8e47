use cohab_term::program_status::{Need, ProgramStatus};

use super::*;

fn rings(effects: &[Effect]) -> Option<&str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Notify(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The turn has taken so long, with these reports of the terminal, and ends so.
fn end_after(ms: u64, reports: &[bool], reason: TurnEndReason) -> Vec<Effect> {
    let mut bench = Bench::in_a_turn();
    assert!(bench.app.watches_focus());
    for report in reports {
        assert_eq!(bench.live(LiveEvent::FocusChanged(*report)), []);
    }
    bench.pass(ms);
    let effects = bench.daemon(ended(reason));
    assert!(!bench.app.watches_focus());
    effects
}

#[test]
fn a_long_turn_that_ends_while_the_user_looks_elsewhere_rings() {
    let answered = end_after(10_000, &[false], TurnEndReason::Answered);
    assert_eq!(rings(&answered), Some("answered: why"));
    assert_eq!(answered.last(), Some(&Effect::EndAnswer));
    assert_eq!(rings(&end_after(10_000, &[true, false], TurnEndReason::Failed)), Some("failed: why"));
}

#[test]
fn nothing_else_rings() {
    for (ms, reports, reason) in [
        (9_999, &[false][..], TurnEndReason::Answered),
        (60_000, &[], TurnEndReason::Answered),
        (60_000, &[true], TurnEndReason::Answered),
        (60_000, &[false, true], TurnEndReason::Answered),
        (60_000, &[false], TurnEndReason::Cancelled),
    ] {
        assert_eq!(rings(&end_after(ms, reports, reason)), None, "{ms} {reports:?} {reason:?}");
    }
}

#[test]
fn the_focus_is_not_asked_for_at_the_users_prompt_nor_in_a_command() {
    let mut bench = Bench::connected();
    assert!(!bench.app.watches_focus());
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.app.watches_focus());
    bench.daemon(execute("ls", None));
    assert!(!bench.app.watches_focus());
}

/// Whether a question rings that comes after these reports of the terminal.
fn asked_after(reports: &[bool]) -> Vec<Effect> {
    let mut bench = Bench::in_a_turn();
    for report in reports {
        bench.live(LiveEvent::FocusChanged(*report));
    }
    let effects = bench.daemon(ask("touch x", false));
    assert_eq!(rings(&bench.daemon(ask("touch x", false))), None, "the same, told again");
    effects
}

#[test]
fn a_question_for_consent_rings_at_once_where_nobody_looks() {
    assert_eq!(rings(&asked_after(&[false])), Some("needs your answer: why"));
    for reports in [&[][..], &[true], &[false, true]] {
        assert_eq!(rings(&asked_after(reports)), None, "{reports:?}");
    }
}

#[test]
fn a_question_that_waits_for_the_terminal_rings_when_it_is_seen() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::FocusChanged(false));
    bench.daemon(execute("ls", None));
    assert_eq!(rings(&bench.daemon(ask("touch x", false))), None, "a command has the terminal");
    assert_eq!(rings(&bench.live(LiveEvent::AnswerReady)), Some("needs your answer: why"));
}

#[test]
fn who_answers_looks() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::FocusChanged(false));
    bench.daemon(ask("touch x", false));
    bench.pass(301);
    bench.key("y");
    bench.pass(60_000);
    assert_eq!(rings(&bench.daemon(ended(TurnEndReason::Answered))), None);
}

#[test]
fn the_user_sets_how_long_a_turn_is_that_rings() {
    for (least_s, ms, expected) in
        [(0, 5, Some("answered: why")), (30, 29_000, None), (30, 30_000, Some("answered: why"))]
    {
        let mut bench = Bench::in_a_turn();
        bench.app.options.notify_after = Duration::from_secs(least_s);
        bench.live(LiveEvent::FocusChanged(false));
        bench.pass(ms);
        assert_eq!(rings(&bench.daemon(ended(TurnEndReason::Answered))), expected, "{least_s} {ms}");
    }
}

#[test]
fn the_terminal_learns_what_cohab_does() {
    let mut bench = Bench::connected();
    assert_eq!(bench.app.status(), ProgramStatus::Idle);
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    assert_eq!(bench.app.status(), ProgramStatus::Working);
    bench.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
    bench.daemon(ask("touch x", false));
    assert_eq!(bench.app.status(), ProgramStatus::Blocked(Need::Permission));
    bench.pass(301);
    bench.key("y");
    assert_eq!(bench.app.status(), ProgramStatus::Working);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.status(), ProgramStatus::Done);
    bench.live(background_turn::user_ran(CWD));
    assert_eq!(bench.app.status(), ProgramStatus::Idle);
}

#[test]
fn a_turn_that_failed_or_was_stopped_says_so() {
    for (reason, expected) in
        [(TurnEndReason::Failed, ProgramStatus::Error), (TurnEndReason::Cancelled, ProgramStatus::Idle)]
    {
        let mut bench = Bench::in_a_turn();
        bench.daemon(ended(reason));
        assert_eq!(bench.app.status(), expected, "{reason:?}");
    }
}

#[test]
fn a_program_inside_that_waits_calls_the_user_once() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::FocusChanged(false));
    bench.daemon(execute("ls", None));
    let id = CALL.to_string();
    bench.live(LiveEvent::CommandStarted { id: id.clone() });
    let mut wrote = |bytes: &[u8]| {
        let effects = bench.live(LiveEvent::CommandOutput { id: id.clone(), bytes: bytes.to_vec() });
        (rings(&effects).map(str::to_owned), bench.app.status())
    };
    let blocked = ProgramStatus::Blocked(Need::Auth);
    assert_eq!(wrote(b"built\n"), (None, ProgramStatus::Working));
    let call = Some("needs your answer: why".to_owned());
    assert_eq!(wrote(b"\x1b]7501;state=blocked:app=make:kind=auth\x1b\\"), (call, blocked));
    assert_eq!(wrote(b"\x1b]7501;state=blocked:app=make:kind=auth\x1b\\"), (None, blocked));
    assert_eq!(wrote(b"\x1b]7501;state=working:app=make\x1b\\"), (None, ProgramStatus::Working));
    assert_eq!(wrote(b"\x1b]7501;state=blocked:app=make:kind=auth\x1b\\").1, blocked);
    bench.live(LiveEvent::CommandFinished { id: CALL.to_string(), outcome: outcome(Ending::Exited) });
    assert_eq!(bench.app.status(), ProgramStatus::Working);
}
