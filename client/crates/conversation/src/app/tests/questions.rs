//! The kinds of questions: plain, private, and words that are added to a running turn.

use cohab_protocol::{ExtendTurn, UserQuery};

use super::{background_turn::in_background, *};

fn query(effects: &[Effect]) -> Option<UserQuery> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send(ClientMessage::UserQuery(query)) => Some(query.clone()),
        _ => None,
    })
}

fn added(effects: &[Effect]) -> Vec<(u32, String)> {
    let words = |effect: &Effect| match effect {
        Effect::Send(ClientMessage::ExtendTurn(ExtendTurn { turn_id: TURN, number, text })) => {
            Some((*number, text.clone()))
        }
        _ => None,
    };
    effects.iter().filter_map(words).collect()
}

#[test]
fn a_private_question_is_private_at_the_daemon_and_in_the_shell() {
    let mut bench = Bench::connected();
    let effects = bench.enter("?! why");
    assert_eq!(effects[0], Effect::DecideLine(LineDecision::Unrecorded));
    let query = query(&effects).unwrap();
    assert_eq!((query.text.as_str(), query.is_private), ("why", true));
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().starts_with("?! why\nprivate: nothing of this is kept\n"));
}

#[test]
fn the_sign_counts_only_directly_behind_the_prefix() {
    for (line, text, is_private) in [("? ! why", "! why", false), ("?why!", "why!", false), ("?!why", "why", true)] {
        let mut bench = Bench::connected();
        let query = query(&bench.enter(line)).unwrap();
        assert_eq!((query.text.as_str(), query.is_private), (text, is_private), "{line}");
    }
}

#[test]
fn a_command_to_the_assistant_is_none_behind_a_private_prefix() {
    let mut bench = Bench::connected();
    assert_eq!(query(&bench.enter("?! /help")).unwrap().text, "/help");
}

#[test]
fn a_private_question_that_the_daemons_end_interrupts_is_not_offered_again() {
    let mut bench = Bench::connected();
    bench.enter("?! why");
    bench.live(LiveEvent::AnswerReady);
    bench.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
    bench.shown();
    bench.event(Event::LinkLost);
    bench.event(Event::LinkDown { message: "no daemon".into(), hint: "h".into() });
    let shown = bench.shown();
    assert!(shown.contains("nothing of a private question is kept") && !shown.contains("/resume"), "{shown}");
}

#[test]
fn a_private_question_in_the_queue_stays_private() {
    let mut bench = in_background();
    assert_eq!(bench.enter("?! and why"), [Effect::DecideLine(LineDecision::Unrecorded)]);
    bench.live(LiveEvent::AnswerReady);
    let effects = bench.daemon(ended(TurnEndReason::Answered));
    assert!(query(&effects).is_some_and(|query| query.is_private && query.text == "and why"), "{effects:?}");
}

#[test]
fn words_are_added_to_the_turn_that_is_on_and_only_once() {
    let mut bench = in_background();
    let effects = bench.enter("?+ only in src");
    assert_eq!(added(&effects), [(1, "only in src".to_owned())]);
    assert_eq!(effects.last(), Some(&Effect::DecideLine(LineDecision::Assistant)));
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().starts_with("added: only in src\n"));
    bench.daemon(DaemonMessage::TurnExtended { turn_id: TURN, number: 1 });
    let effects = bench.daemon(ended(TurnEndReason::Answered));
    assert_eq!(query(&effects), None, "they were read");
}

#[test]
fn words_that_were_not_read_are_the_next_question_before_those_that_wait() {
    let mut bench = in_background();
    bench.enter("? and then");
    bench.live(LiveEvent::AnswerReady);
    bench.live(LiveEvent::KeysWait);
    bench.pass(200);
    bench.event(Event::Deadline);
    bench.live(LiveEvent::AnswerEnded);
    bench.enter("?+ only in src");
    bench.live(LiveEvent::AnswerReady);
    let effects = bench.daemon(ended(TurnEndReason::Answered));
    assert_eq!(query(&effects).unwrap().text, "only in src");
    let effects = bench.daemon(ended(TurnEndReason::Answered));
    assert_eq!(query(&effects).unwrap().text, "and then");
}

#[test]
fn words_are_sent_again_over_a_new_connection_until_they_are_read() {
    let mut bench = in_background();
    bench.enter("?+ one");
    bench.live(LiveEvent::AnswerReady);
    bench.event(Event::LinkLost);
    assert_eq!(added(&bench.attached(true)), [(1, "one".to_owned())]);
    bench.daemon(DaemonMessage::TurnExtended { turn_id: TURN, number: 1 });
    bench.event(Event::LinkLost);
    assert_eq!(added(&bench.attached(true)), []);
}

#[test]
fn words_for_a_question_that_waits_for_the_daemon_go_behind_it() {
    let mut bench = Bench::new();
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    bench.live(LiveEvent::KeysWait);
    bench.pass(200);
    bench.event(Event::Deadline);
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(added(&bench.enter("?+ one")), []);
    let effects = bench.link_up();
    assert_eq!(query(&effects).unwrap().text, "why");
    assert_eq!(added(&effects), [(1, "one".to_owned())]);
}

#[test]
fn words_without_a_turn_are_a_question() {
    let mut bench = Bench::connected();
    let query = query(&bench.enter("?+ why")).unwrap();
    assert_eq!((query.text.as_str(), query.is_private), ("why", false));
}
