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
