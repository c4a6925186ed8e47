use cohab_line_classifier::Decision;

use super::*;
use crate::line_question::{ENTER_LIMIT, LineQuestion, QuestionId};

const SENTENCE: &str = "what is in here";

fn classifying() -> Bench {
    let mut bench = Bench::connected();
    bench.app.options.gate = true;
    bench
}

fn told(line: &str, is_command: bool, is_alone: bool) -> LiveEvent {
    LiveEvent::LineEntered { text: line.into(), cursor: 0, cwd: CWD.into(), is_command: Some(is_command), is_alone }
}

/// The question that Enter is held for.
fn asked(effects: &[Effect]) -> LineQuestion {
    match effects {
        [Effect::Judge(question)] => question.clone(),
        other => panic!("{other:?}"),
    }
}

fn judged(bench: &mut Bench, question: &LineQuestion, decision: Decision) -> Vec<Effect> {
    let QuestionId::Enter(id) = question.id else { panic!("{question:?}") };
    bench.event(Event::Judged { id, decision })
}

/// Enter on a line of which the classifier says that it is a question, and the terminal is ours.
fn taken(bench: &mut Bench, line: &str) {
    let question = asked(&bench.live(told(line, false, true)));
    judged(bench, &question, Decision::Assistant);
    bench.live(LiveEvent::AnswerReady);
    bench.shown();
}

#[test]
fn a_line_waits_for_the_gate_and_goes_where_it_says() {
    let mut bench = classifying();
    let question = asked(&bench.live(told(SENTENCE, false, true)));
    assert_eq!((question.line.as_str(), question.cwd.as_path()), (SENTENCE, Path::new(CWD)));
    assert_eq!(question.is_command, Some(false));
    let effects = judged(&mut bench, &question, Decision::Assistant);
    assert!(
        matches!(&effects[..], [Effect::DecideLine(LineDecision::Assistant), Effect::Send(ClientMessage::UserQuery(query))]
            if query.text == SENTENCE),
        "{effects:?}"
    );
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().starts_with("? what is in here\n"));

    let mut bench = classifying();
    let question = asked(&bench.live(told("make a cake", true, true)));
    assert_eq!(judged(&mut bench, &question, Decision::Shell), [Effect::DecideLine(LineDecision::Shell)]);
    assert_eq!(bench.app.deadline(), None);
}

#[test]
fn a_gate_that_does_not_answer_leaves_the_line_to_the_shell() {
    let mut bench = classifying();
    let question = asked(&bench.live(told(SENTENCE, false, true)));
    assert_eq!(bench.app.deadline(), Some(bench.now + ENTER_LIMIT));
    bench.now += ENTER_LIMIT - Duration::from_millis(1);
    assert_eq!(bench.event(Event::Deadline), []);
    bench.pass(1);
    assert_eq!(bench.event(Event::Deadline), [Effect::DecideLine(LineDecision::Shell)]);
    assert_eq!(judged(&mut bench, &question, Decision::Assistant), [], "too late");
}

#[test]
fn a_line_that_is_gone_is_not_asked() {
    let mut bench = classifying();
    let question = asked(&bench.live(told(SENTENCE, false, true)));
    bench.live(LiveEvent::PromptReady);
    assert_eq!(judged(&mut bench, &question, Decision::Assistant), []);
}

#[test]
fn some_lines_are_the_shells_without_a_judge() {
    for (line, is_command, is_alone) in [
        (SENTENCE, false, false),
        (" what is in here", false, true),
        ("\\what is in here", false, true),
        ("/usr/bin/ls what is in here", true, true),
        ("what is\nin here", false, true),
        ("ls", true, true),
    ] {
        assert_eq!(
            classifying().live(told(line, is_command, is_alone)),
            [Effect::DecideLine(LineDecision::Shell)],
            "{line:?}, alone: {is_alone}"
        );
    }
    let mut off = classifying();
    off.app.options.gate = false;
    assert_eq!(off.live(told(SENTENCE, false, true)), [Effect::DecideLine(LineDecision::Shell)]);
    let effects = classifying().live(told("? why", false, false));
    assert_eq!(effects[0], Effect::DecideLine(LineDecision::Assistant), "a prefix always asks");
}

#[test]
fn escape_brings_the_line_back_and_it_runs_unasked_and_for_good() {
    let mut bench = classifying();
    taken(&mut bench, SENTENCE);
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: true });
    assert_eq!(effects.last(), Some(&Effect::EndAnswerWithLine));
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    assert_eq!(bench.app.line_put_back(), Some(SENTENCE));
    assert_eq!(bench.app.look_at_typed(SENTENCE), Some(Decision::Shell), "no mark promises another question");
    let effects = bench.live(told(SENTENCE, false, true));
    assert!(
        matches!(&effects[..], [Effect::Learn(question, Decision::Shell), Effect::DecideLine(LineDecision::Shell)]
            if question.line == SENTENCE),
        "{effects:?}"
    );
    assert_eq!(bench.app.line_put_back(), None);
    asked(&bench.live(told(SENTENCE, false, true)));
}

#[test]
fn escape_at_a_question_about_a_command_brings_the_line_back_too() {
    for (key, end) in [("\x1b", Effect::EndAnswerWithLine), ("\x03", Effect::EndAnswer)] {
        let mut bench = classifying();
        taken(&mut bench, SENTENCE);
        bench.daemon(ask("rm x", false));
        bench.pass(1000);
        let mut effects = bench.keys(key);
        bench.pass(1000);
        effects.extend(bench.event(Event::Deadline));
        assert_eq!(effects.last(), Some(&end));
        bench.live(LiveEvent::AnswerEnded);
        assert_eq!(bench.app.line_put_back().is_some(), end == Effect::EndAnswerWithLine);
    }
}

#[test]
fn a_line_that_was_put_back_and_changed_is_judged_anew() {
    let mut bench = classifying();
    taken(&mut bench, SENTENCE);
    bench.live(LiveEvent::CancelRequested { is_escape: true });
    bench.live(LiveEvent::AnswerEnded);
    asked(&bench.live(told("what is in there", false, true)));
    assert_eq!(bench.app.line_put_back(), None);
}

#[test]
fn ctrl_c_and_an_answer_that_is_over_bring_no_line_back() {
    let mut bench = classifying();
    taken(&mut bench, SENTENCE);
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: false });
    assert_eq!(effects.last(), Some(&Effect::EndAnswer));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.line_put_back(), None);

    let mut bench = classifying();
    taken(&mut bench, SENTENCE);
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
    assert_eq!(bench.live(LiveEvent::CancelRequested { is_escape: true }), []);
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.line_put_back(), None);
}

#[test]
fn a_question_with_its_prefix_comes_back_as_one() {
    let mut bench = classifying();
    bench.live(told("? why", false, true));
    bench.live(LiveEvent::AnswerReady);
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: true });
    assert_eq!(effects.last(), Some(&Effect::EndAnswerWithLine));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.line_put_back(), Some("? why"));
    let effects = bench.live(told("? why", false, true));
    assert_eq!(effects.first(), Some(&Effect::DecideLine(LineDecision::Assistant)));
}

#[test]
fn the_hotkey_teaches_the_gate_a_line_but_never_one_word() {
    let press = |line: &str| LiveEvent::HotkeyPressed { text: line.into(), cwd: CWD.into(), is_command: Some(true) };
    let effects = classifying().live(press("find the largest file"));
    assert!(matches!(
        &effects[..],
        [Effect::Learn(_, Decision::Assistant), Effect::DecideLine(LineDecision::Assistant), ..]
    ));
    for line in ["who", "? who is it"] {
        let effects = classifying().live(press(line));
        assert_eq!(effects.first(), Some(&Effect::DecideLine(LineDecision::Assistant)), "{line}");
    }
}

#[test]
fn what_the_user_flipped_is_done_and_kept() {
    for (decision, done) in [(Decision::Assistant, LineDecision::Assistant), (Decision::Shell, LineDecision::Shell)] {
        let mut bench = classifying();
        bench.app.decide_ahead(Some(decision));
        let effects = bench.live(told("ls the files", true, false));
        assert!(
            matches!(&effects[0], Effect::Learn(question, kept) if question.line == "ls the files" && *kept == decision)
        );
        assert_eq!(effects[1], Effect::DecideLine(done));
    }
}

#[test]
fn an_answer_that_cannot_begin_leaves_no_line_behind() {
    let mut bench = classifying();
    let question = asked(&bench.live(told(SENTENCE, false, true)));
    judged(&mut bench, &question, Decision::Assistant);
    let (refusal, reason) = (cohab_types::refusal::Refusal::NotReady, String::new());
    let error = cohab_types::command::RelayError::NotAtPrompt { refusal, reason };
    bench.live(LiveEvent::AnswerRefused(error));
    assert_eq!(bench.app.line_put_back(), None);
    asked(&bench.live(told(SENTENCE, false, true)));
}

#[test]
fn of_lines_that_nobody_judges_no_mark_is_wanted() {
    let bench = classifying();
    for line in ["? why", " ls", "\\ls", "/bin/ls", "cohab undo"] {
        assert_eq!(bench.app.look_at_typed(line), Some(Decision::Shell), "{line}");
    }
    assert_eq!(bench.app.look_at_typed(SENTENCE), None);
    assert!(bench.app.is_fixed("? why") && !bench.app.is_fixed(SENTENCE));
}
