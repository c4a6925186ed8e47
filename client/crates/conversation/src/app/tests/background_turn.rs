use cohab_protocol::{Notice, SessionAnswer, SessionReply};
use cohab_shell_relay::live::UntouchedPrompt;

use super::*;

const HINT: &str = "Still thinking. Type commands; Ctrl-C on an empty line stops it.\n";

pub(super) fn user_ran(cwd: &str) -> LiveEvent {
    LiveEvent::UserCommandFinished(UserCommand {
        line: Some("make".into()),
        status: 1,
        cwd: cwd.into(),
        duration: Duration::ZERO,
        output_tail: String::new(),
        output_bytes: 0,
    })
}

/// A line that was typed while a command of ours ran, and that the shell did not know.
fn typed_ahead(line: &str, status: i32) -> LiveEvent {
    let LiveEvent::UserCommandFinished(command) = user_ran(CWD) else { panic!("no command") };
    LiveEvent::UserCommandFinished(UserCommand { line: Some(line.into()), status, ..command })
}

/// The user has typed while the model thinks, and has got the prompt.
pub(super) fn in_background() -> Bench {
    let mut bench = Bench::in_a_turn();
    assert_eq!(bench.live(LiveEvent::KeysWait), []);
    bench.pass(200);
    assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer]);
    assert_eq!(bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect::<String>(), HINT);
    assert_eq!(bench.live(LiveEvent::AnswerEnded), []);
    bench.live(LiveEvent::PromptReady);
    assert!(!bench.app.owns_terminal());
    bench
}

/// The relay has found a good moment.
fn back(bench: &mut Bench) -> (Vec<Effect>, String) {
    let effects = bench.live(LiveEvent::AnswerReady);
    (effects, bench.shown())
}

fn queries(effects: &[Effect]) -> Vec<&str> {
    let query = |effect: &'_ Effect| match effect {
        Effect::Send(ClientMessage::UserQuery(query)) => Some(query.text.clone().leak() as &str),
        _ => None,
    };
    effects.iter().filter_map(query).collect()
}

#[test]
fn whoever_types_while_the_model_thinks_gets_the_prompt() {
    let mut bench = in_background();
    assert_eq!(bench.app.deadline(), None, "nothing ticks at the user's prompt");
    assert_eq!(bench.enter("ls"), [Effect::DecideLine(LineDecision::Shell)]);
    assert!(!bench.app.wants_to_draw());
}

#[test]
fn a_model_that_answers_at_once_is_waited_for() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::KeysWait);
    bench.pass(199);
    assert_eq!(bench.event(Event::Deadline), []);
    bench.chunk(0, "Because.");
    bench.pass(200);
    assert_eq!(bench.event(Event::Deadline), [], "text is coming");
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.deadline(), None);
}

#[test]
fn a_text_that_stalls_in_its_middle_counts_as_waiting_and_is_shown_whole_later() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "Because it ");
    bench.live(LiveEvent::KeysWait);
    bench.pass(999);
    assert_eq!(bench.event(Event::Deadline), []);
    bench.pass(1);
    assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer]);
    bench.app.last_frame();
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.chunk(1, "is so."), [Effect::ComeBack]);
    assert_eq!(back(&mut bench).1, "… continuing: why\n----\nBecause it is so.\n");
}

#[test]
fn a_long_question_leaves_room_for_the_prompt_it_stands_behind() {
    let mut bench = in_background();
    assert_eq!(bench.enter(&format!("? {}", "word ".repeat(40))), [Effect::DecideLine(LineDecision::Assistant)]);
    let shown = back(&mut bench).1;
    let rows = || shown.lines().filter(|row| row.ends_with('…'));
    assert!(rows().count() == 1 && rows().all(|row| row.chars().count() <= 54), "{shown}");
}

#[test]
fn nobody_steps_aside_from_a_question_or_a_command() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch x", false));
    bench.live(LiveEvent::KeysWait);
    bench.pass(5_000);
    assert_eq!(bench.event(Event::Deadline), []);
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    bench.live(LiveEvent::KeysWait);
    bench.pass(5_000);
    assert_eq!(bench.event(Event::Deadline), []);
}

#[test]
fn text_brings_the_assistant_back_and_its_end_the_prompt() {
    let mut bench = in_background();
    assert_eq!(bench.chunk(0, "Because.\n\nThat "), [Effect::ComeBack]);
    assert_eq!(bench.chunk(1, "is all."), [], "asked for once");
    assert_eq!(back(&mut bench), (vec![], "… continuing: why\n\nBecause.\n----\n\nThat is all.\n".into()));
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.enter("? more").len(), 2, "the next question is asked as ever");
}

#[test]
fn steps_of_other_tools_wait_for_something_to_show() {
    let mut bench = in_background();
    let activity = StepActivity::ToolCall { tool: "read".into(), argument: "a.rs".into() };
    assert_eq!(bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity })), []);
    let summary = "12 lines".into();
    let finished = StepFinished {
        turn_id: TURN,
        step: 1,
        outcome: StepOutcome::Done,
        summary,
        elapsed_ms: 5,
        detail: None,
        only_reads: false,
    };
    assert_eq!(bench.daemon(DaemonMessage::StepFinished(finished)), []);
    let notice = Notice { turn_id: Some(TURN), kind: cohab_protocol::NoticeKind::Info, text: "shortened".into() };
    assert_eq!(bench.daemon(DaemonMessage::Notice(notice)), []);
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::ComeBack]);
    let (effects, shown) = back(&mut bench);
    assert_eq!(effects, [Effect::EndAnswer]);
    assert_eq!(shown, "… continuing: why\n● read  a.rs\n  ✓ 12 lines · 5 ms\nshortened\n----\n");
}

#[test]
fn a_command_of_the_agent_takes_the_terminal_first() {
    let mut bench = in_background();
    assert_eq!(bench.daemon(execute("ls", None)), [Effect::ComeBack]);
    assert_eq!(runs(&bench.live(LiveEvent::AnswerReady)), Some("ls"));
}

#[test]
fn a_command_that_was_judged_elsewhere_does_not_run() {
    let mut bench = in_background();
    bench.daemon(execute("ls", None));
    assert!(matches!(bench.live(user_ran("/etc"))[..], [Effect::Send(ClientMessage::ShellEvent(_))]));
    let effects = bench.live(LiveEvent::AnswerReady);
    assert_eq!((runs(&effects), refusal_in(&effects)), (None, "not_approved"));
    assert_eq!(result_in(&effects).cwd.to_string(), "/etc");
}

#[test]
fn a_command_that_cannot_have_the_terminal_is_given_up() {
    let mut bench = in_background();
    bench.daemon(execute("ls", None));
    bench.pass(30_000);
    assert_eq!(refusal_in(&bench.event(Event::Deadline)), "shell_busy");
}

#[test]
fn a_question_for_consent_gets_the_keyboard_only_with_the_terminal() {
    let mut bench = in_background();
    assert_eq!(bench.daemon(ask("touch x", false)), [Effect::ComeBack]);
    let (effects, shown) = back(&mut bench);
    assert_eq!(effects, [Effect::TakeKeyboard(true)]);
    assert!(shown.contains("touch x"), "{shown}");
    assert!(shown.contains("Tab or an arrow to answer"), "{shown}");
    bench.pass(300);
    assert_eq!(bench.key("d"), [], "meant for the shell");
    assert_eq!(bench.key("y"), [], "so is this one");
    bench.pass(1_000);
    assert_eq!(bench.key("\t"), []);
    bench.pass(300);
    assert_eq!(decision_in(&bench.key("y")), Some(&ApprovalDecision::Once));
}

#[test]
fn control_c_on_an_empty_line_stops_the_turn() {
    let mut bench = in_background();
    assert!(!bench.app.takes_stop_key(UntouchedPrompt::No) && !bench.app.takes_stop_key(UntouchedPrompt::Coming));
    assert!(bench.app.takes_stop_key(UntouchedPrompt::Stands));
    let effects = bench.event(Event::StopKeyPressed);
    assert_eq!(effects, [Effect::Send(ClientMessage::CancelTurn { turn_id: TURN }), Effect::ComeBack]);
    assert!(!bench.app.takes_stop_key(UntouchedPrompt::Stands), "once");
    assert_eq!(back(&mut bench), (vec![Effect::EndAnswer], "Stopped.\n----\n".into()));
    bench.live(LiveEvent::AnswerEnded);
    assert!(!bench.app.takes_stop_key(UntouchedPrompt::Stands), "no turn is on");
}

#[test]
fn questions_queue_up_and_are_asked_in_order() {
    let mut bench = in_background();
    let effects = bench.enter("? and then");
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    let (effects, shown) = back(&mut bench);
    assert_eq!(effects, []);
    assert_eq!(shown, "queued: and then\n… continuing: why\n----\n● thinking · scripted/m · Ctrl-C stops\n");

    bench.live(LiveEvent::KeysWait);
    bench.pass(200);
    assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer]);
    assert!(bench.app.last_frame().above.is_empty(), "the hint is given once");
    bench.live(LiveEvent::AnswerEnded);
    let effects = bench.live(LiveEvent::HotkeyPressed { text: "what else".into(), cwd: CWD.into(), is_command: None });
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    back(&mut bench);

    bench.chunk(0, "Because.");
    let effects = bench.daemon(ended(TurnEndReason::Answered));
    assert_eq!(queries(&effects), ["and then"]);
    assert!(!effects.contains(&Effect::EndAnswer), "{effects:?}");
    assert_eq!(bench.shown(), "\nBecause.\n\n? and then\n----\n● thinking · scripted/m · Ctrl-C stops\n");
    bench.chunk(0, "So.");
    assert_eq!(queries(&bench.daemon(ended(TurnEndReason::Failed))), ["what else"], "a failure stops no queue");
    bench.chunk(0, "That.");
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
}

#[test]
fn an_empty_question_only_brings_the_assistant_back() {
    let mut bench = in_background();
    assert_eq!(bench.enter("?"), [Effect::DecideLine(LineDecision::Assistant)]);
    assert_eq!(back(&mut bench).1, "… continuing: why\n----\n● thinking · scripted/m · Ctrl-C stops\n");
    bench.chunk(0, "Because.");
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
}

#[test]
fn the_queue_is_bounded() {
    let mut bench = in_background();
    for number in 0..9 {
        bench.enter(&format!("? {number}"));
        let shown = back(&mut bench).1;
        let expected = if number < 8 { "queued: " } else { "not queued (too many wait): " };
        assert!(shown.starts_with(&format!("{expected}{number}\n")), "{shown}");
        bench.live(LiveEvent::KeysWait);
        bench.pass(200);
        bench.event(Event::Deadline);
        bench.app.last_frame();
        bench.live(LiveEvent::AnswerEnded);
    }
}

#[test]
fn whoever_stops_the_turn_drops_the_queue() {
    let mut bench = in_background();
    bench.enter("? and then");
    back(&mut bench);
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: false });
    assert_eq!(effects, [Effect::Send(ClientMessage::CancelTurn { turn_id: TURN }), Effect::EndAnswer]);
    assert_eq!(bench.shown(), "Stopped. 1 queued question was dropped.\n----\n");
}

#[test]
fn without_a_daemon_nothing_queued_is_asked() {
    let mut bench = in_background();
    bench.enter("? and then");
    back(&mut bench);
    let down = Event::LinkDown { message: "cohabd is gone".into(), hint: "ask again".into() };
    assert_eq!(bench.event(down), [Effect::EndAnswer]);
    let expected = "1 queued question was dropped.\nError: cohabd is gone\nHint: ask again\n----\n";
    assert_eq!(bench.shown(), expected);
}

#[test]
fn a_terminal_that_cannot_be_had_is_asked_for_again() {
    let refused = || LiveEvent::AnswerRefused(cohab_types::command::RelayError::ShellGone);
    let mut bench = in_background();
    bench.chunk(0, "Because.");
    assert_eq!(bench.live(refused()), [Effect::ComeBack]);
    assert_eq!(back(&mut bench).1, "… continuing: why\n\n----\nBecause.\n");
    // The line stays as it was, so it is not queued either.
    let mut bench = in_background();
    bench.enter("? and then");
    assert_eq!(bench.live(refused()), []);
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::ComeBack]);
    assert_eq!(back(&mut bench), (vec![Effect::EndAnswer], "… continuing: why\n----\n".into()));
}

#[test]
fn of_a_flood_that_nobody_sees_the_head_is_kept_and_the_rest_counted() {
    let mut bench = in_background();
    let piece = format!("{}\n\n", "é".repeat(32 * 1024));
    for seq in 0..40 {
        bench.chunk(seq, &piece);
    }
    let left_out = 40 * piece.len() - 1024 * 1024;
    bench.live(LiveEvent::AnswerReady);
    let frame = bench.app.frame();
    let text: String = frame.above.iter().map(ToString::to_string).collect();
    let kept = text.matches('é').count() * 2;
    assert!((1_000_000..=1024 * 1024).contains(&kept), "{kept}");
    let last = frame.above.last().expect("a remark").to_string();
    let told: usize = last.split(' ').next().and_then(|count| count.parse().ok()).expect(&last);
    assert!((left_out..left_out + 4).contains(&told), "{last}, {left_out}");
    assert_eq!(bench.chunk(40, "What comes now is shown."), []);
    assert!(bench.shown().contains("What comes now is shown."));
}

#[test]
fn a_line_that_the_gate_takes_is_queued_like_a_question() {
    let mut bench = in_background();
    bench.app.options.gate = true;
    let effects = bench.enter("why is the sky blue");
    let [Effect::Judge(question)] = &effects[..] else { panic!("{effects:?}") };
    let crate::line_question::QuestionId::Enter(id) = question.id else { panic!("{question:?}") };
    let decision = cohab_line_classifier::Decision::Assistant;
    let effects = bench.event(Event::Judged { id, decision });
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    assert!(back(&mut bench).1.starts_with("queued: why is the sky blue\n"));
}

#[test]
fn escape_behind_a_prompt_of_the_users_brings_no_question_back() {
    let mut bench = in_background();
    bench.chunk(0, "Because");
    back(&mut bench);
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: true });
    assert_eq!(effects.last(), Some(&Effect::EndAnswer));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.line_put_back(), None);
}

#[test]
fn a_failure_is_asked_about_later() {
    let mut bench = in_background();
    bench.live(user_ran(CWD));
    let effects = bench.live(LiveEvent::HotkeyPressed { text: String::new(), cwd: CWD.into(), is_command: None });
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    assert!(back(&mut bench).1.starts_with("queued: Why did this fail: `make` (exit 1)?\n"));
}

#[test]
fn commands_to_the_assistant_queue_up_like_questions_and_never_go_to_a_model() {
    let mut bench = in_background();
    for line in ["? /copy", "? /hlep", "? and then"] {
        bench.enter(line);
        back(&mut bench);
        bench.live(LiveEvent::KeysWait);
        bench.pass(200);
        bench.event(Event::Deadline);
        bench.live(LiveEvent::AnswerEnded);
    }
    bench.live(LiveEvent::AnswerReady);
    bench.shown();
    bench.chunk(0, "```\nls\n```\n");
    let effects = bench.daemon(ended(TurnEndReason::Answered));
    assert!(effects.contains(&Effect::Copy("ls".into())), "{effects:?}");
    let request_id = effects.iter().find_map(|effect| match effect {
        Effect::Send(ClientMessage::SessionRequest(request)) => Some(request.request_id),
        _ => None,
    });
    let request_id = request_id.expect("the names of skills are asked for");
    let answer = SessionAnswer::Commands(Vec::new());
    let effects = bench.daemon(DaemonMessage::SessionReply(SessionReply { request_id, answer }));
    assert_eq!(queries(&effects), ["and then"]);
    let shown = bench.shown();
    assert!(shown.contains("? /copy\nCopied 1 line.\n\n? /hlep\nThere is no /hlep; did you mean /help?"), "{shown}");
    assert!(shown.contains("\n\n? and then\n"), "{shown}");
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
}

#[test]
fn a_long_question_is_named_in_a_part_of_the_prompts_row() {
    let mut bench = Bench::connected();
    bench.enter(&format!("? {}", "why ".repeat(50)));
    bench.live(LiveEvent::AnswerReady);
    bench.shown();
    bench.live(LiveEvent::KeysWait);
    bench.pass(200);
    bench.event(Event::Deadline);
    bench.app.last_frame();
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    bench.chunk(0, "Because.\n\n");
    let (_, shown) = back(&mut bench);
    let remark = shown.lines().next().expect("a line");
    assert!(remark.starts_with("… continuing: why why") && remark.ends_with('…'), "{shown}");
    assert_eq!(remark.chars().count(), 53, "of 80 columns");
}

#[test]
fn a_command_that_was_just_allowed_runs_before_the_assistant_steps_aside() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::KeysWait);
    bench.daemon(ask("touch a", false));
    bench.pass(5_000);
    assert_eq!(bench.key("y"), [], "the keys that wait may go on");
    bench.pass(1_000);
    bench.key("\t");
    bench.pass(300);
    let effects = bench.key("y");
    assert!(!effects.contains(&Effect::EndAnswer), "{effects:?}");
    bench.pass(199);
    assert_eq!(bench.event(Event::Deadline), []);
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), Some("touch a"));
}

#[test]
fn a_question_typed_ahead_is_asked_although_the_shell_got_it() {
    let mut bench = Bench::in_a_turn();
    let effects = bench.live(typed_ahead("?+ only in src", 127));
    let [Effect::Send(ClientMessage::ExtendTurn(added))] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((added.number, added.text.as_str()), (1, "only in src"));
    assert_eq!(bench.live(typed_ahead("? and why", 1)), []);
    let above: String = bench.app.last_frame().above.iter().map(ToString::to_string).collect();
    assert!(above.contains("added: only in src") && above.contains("queued: and why"), "{above}");
    // What ran, or is no question, is a command of the user's.
    for (line, status) in [("?+ more", 0), ("make it", 1), ("?", 127)] {
        let effects = bench.live(typed_ahead(line, status));
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Send(ClientMessage::ExtendTurn(_)))), "{line}");
    }
    let mut bench = Bench::connected();
    assert!(!format!("{:?}", bench.live(typed_ahead("?+ x", 127))).contains("ExtendTurn"), "no turn is on");
}
