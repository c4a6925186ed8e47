use std::path::Path;

use cohab_policy::user_rules::{Loaded, RuleSource};
use cohab_policy_io::files::FileSystem;
use cohab_protocol::{
    self as wire, AgentStreamChunk, ApprovalDecision, ApprovalId, ApprovalMode, ApprovalReply, ApprovalRequest,
    ApprovalSubject, CallId, ChunkDelta, CommandEnding, CommandExecutionResult, DaemonMessage, ExecuteCommand,
    ModelIdentity, RunMode, SessionKey, StepActivity, StepFinished, StepOutcome, StepStarted, TurnEndReason, TurnEnded,
    Usage, WatcherFired,
};
use cohab_sandbox::lock;
use cohab_shell_relay::live::{LineDecision, UserCommand};
use cohab_shell_state::shell::Shell;
use cohab_term::output_style::OutputStyle;
use cohab_types::{
    client_settings::Reasoning,
    command::{CommandOutcome, Ending, EnvChange, Interrupter, Mode, StateAfter},
    confined_programs::ConfinedPrograms,
};
use uuid::Uuid;

use super::*;
use crate::approval::ApprovalEnvironment;

mod attention;
mod background_turn;
mod bench;
mod calls;
mod code;
mod consent;
mod countdown;
mod entered_line;
mod failure;
mod filling;
mod fired;
mod hardened_run;
mod hostile;
mod link;
mod local_approval;
mod name_resolution;
mod pause;
mod pick;
mod picked_line;
mod questions;
mod resume;
mod screens;
mod share;
mod slash;
mod status;
mod stopped;
mod teams;
mod undo;

use bench::*;

/// By Ctrl-C of the user.
const BY_USER: Ending = Ending::Interrupted { by: Interrupter::User };

/// When a test begins.
fn a_moment() -> Instant {
    Instant::now()
}

#[test]
fn a_line_without_the_prefix_is_the_shells() {
    let mut bench = Bench::connected();
    for line in ["ls", "", " ? x", "echo ?", "\\? x", "/usr/bin/ls"] {
        let effects = bench.enter(line);
        assert_eq!(effects, [Effect::DecideLine(LineDecision::Shell)], "{line:?}");
    }
}

#[test]
fn a_question_is_sent_before_anything_is_drawn() {
    let mut bench = Bench::connected();
    let effects = bench.enter("? why is it big ");
    let [Effect::DecideLine(LineDecision::Assistant), Effect::Send(ClientMessage::UserQuery(query))] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((query.text.as_str(), query.cwd.to_string().as_str()), ("why is it big", "/home/ann/src"));
    assert!(!bench.app.wants_to_draw());
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.app.wants_to_draw());
    assert_eq!(bench.shown(), "? why is it big\n----\n● thinking · scripted/m · Ctrl-C stops\n");
}

#[test]
fn nothing_is_sent_before_a_question_but_what_the_user_ran() {
    let mut bench = Bench::connected();
    let command = UserCommand {
        line: Some("cargo test".into()),
        status: 101,
        cwd: "/tmp".into(),
        duration: Duration::from_secs(1),
        output_tail: "error".into(),
        output_bytes: 5,
    };
    let effects = bench.live(LiveEvent::UserCommandFinished(command));
    assert!(matches!(&effects[..], [Effect::Send(ClientMessage::ShellEvent(event))] if event.exit_code == 101));
}

#[test]
fn what_the_user_ran_is_told_again_to_a_new_daemon() {
    let mut bench = Bench::new();
    let command = |status| UserCommand {
        line: None,
        status,
        cwd: "/tmp".into(),
        duration: Duration::ZERO,
        output_tail: "x".repeat(MAX_TAIL + 10),
        output_bytes: 0,
    };
    for status in 0..i32::try_from(KEPT_SHELL_EVENTS).unwrap() + 5 {
        assert!(bench.live(LiveEvent::UserCommandFinished(command(status))).is_empty());
    }
    let effects = bench.link_up();
    assert_eq!(effects.len(), KEPT_SHELL_EVENTS);
    assert!(
        effects.iter().all(|effect| matches!(effect,
        Effect::Send(ClientMessage::ShellEvent(event)) if event.output_tail.len() == MAX_TAIL && event.exit_code >= 5))
    );
}

const MAX_TAIL: usize = cohab_protocol::MAX_OUTPUT_TAIL_BYTES;

#[test]
fn a_question_waits_for_the_daemon() {
    let mut bench = Bench::new();
    let effects = bench.enter("? why");
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant), Effect::Connect]);
    assert!(bench.link_up().iter().any(|effect| matches!(effect, Effect::Send(ClientMessage::UserQuery(_)))));
}

#[test]
fn a_daemon_that_cannot_be_reached_costs_one_error_and_no_prompt() {
    let mut bench = Bench::new();
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    let down = Event::LinkDown { message: "cohabd cannot be started".into(), hint: "install it".into() };
    assert_eq!(bench.event(down), [Effect::EndAnswer]);
    assert_eq!(bench.shown(), "? why\nError: cohabd cannot be started\nHint: install it\n----\n");
    bench.live(LiveEvent::AnswerEnded);
    // The next prompt does not try again, the next question does.
    assert!(bench.live(LiveEvent::PromptReady).is_empty());
    let effects = bench.enter("? why");
    assert!(effects.contains(&Effect::Connect));
}

#[test]
fn a_lost_daemon_is_looked_for_at_the_next_prompt() {
    let mut bench = Bench::connected();
    assert!(bench.event(Event::LinkLost).is_empty());
    assert_eq!(bench.live(LiveEvent::PromptReady), [Effect::LookForDaemon]);
}

#[test]
fn an_empty_question_explains_itself() {
    let mut bench = Bench::connected();
    let effects = bench.enter("?");
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    assert!(bench.shown().contains("Type a question after ?"));
}

#[test]
fn the_hotkey_takes_the_line_as_it_stands() {
    let mut bench = Bench::connected();
    let effects = bench.live(LiveEvent::HotkeyPressed { text: "  ".into(), cwd: CWD.into(), is_command: None });
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Shell)]);
    let effects =
        bench.live(LiveEvent::HotkeyPressed { text: "what's new?".into(), cwd: CWD.into(), is_command: None });
    assert_eq!(effects[0], Effect::DecideLine(LineDecision::Assistant));
    assert!(matches!(&effects[1], Effect::Send(ClientMessage::UserQuery(query)) if query.text == "what's new?"));
}

#[test]
fn a_busy_shell_withdraws_the_question() {
    let mut bench = Bench::connected();
    bench.live(LiveEvent::HotkeyPressed { text: "why".into(), cwd: CWD.into(), is_command: None });
    let effects = bench.live(LiveEvent::AnswerRefused(cohab_types::command::RelayError::ShellGone));
    assert_eq!(effects, [Effect::Send(ClientMessage::CancelTurn { turn_id: TURN })]);
    assert!(!bench.app.owns_terminal());
}

#[test]
fn text_goes_to_the_scrollback_once_its_block_is_closed() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "First **bold** para");
    assert_eq!(bench.shown(), "\n----\nFirst bold para\n");
    bench.chunk(1, "graph.\n\nSecond");
    assert_eq!(bench.shown(), "First bold paragraph.\n----\n\nSecond\n");
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
    assert_eq!(bench.app.last_frame().above, [Line::raw(""), Line::raw("Second")]);
}

#[test]
fn a_chunk_that_comes_twice_is_shown_once() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "one ");
    bench.chunk(0, "one ");
    bench.chunk(1, "two");
    assert_eq!(bench.shown(), "\n----\none two\n");
}

#[test]
fn escapes_in_an_answer_are_text_or_nothing() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "a\u{1b}]52;c;aGk=\u{7}b\u{1b}[2Jc\u{9b}31md\n\n");
    let shown = bench.shown();
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(shown.contains('a') && shown.contains('d'));
}

#[test]
fn a_read_only_command_runs_unasked_and_its_result_is_sent() {
    let mut bench = Bench::in_a_turn();
    let activity = StepActivity::ToolCall { tool: "bash".into(), argument: "ls".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
    let effects = bench.daemon(execute("ls", None));
    assert_eq!(runs(&effects), Some("ls"));
    assert!(!bench.app.wants_to_draw(), "the command owns the terminal");

    let id = CALL.to_string();
    let effects = bench.live(LiveEvent::CommandStarted { id: id.clone() });
    assert!(matches!(&effects[..], [Effect::Send(ClientMessage::CommandOutput { bytes, .. })] if bytes.is_empty()));
    bench.live(undo::observed(
        &id,
        &[("FOO", None, Some("1")), ("MY_TOKEN", None, Some("x")), ("OLD", Some("y"), None)],
    ));
    let effects = bench.live(LiveEvent::CommandFinished { id, outcome: outcome(Ending::Exited) });
    let result = result_in(&effects);
    assert_eq!((result.exit_code, result.cwd.to_string().as_str()), (Some(0), "/home/ann/src/big"));
    assert_eq!(result.env_delta.set[1].value, None, "a secret value stays here");

    let finished = StepFinished {
        turn_id: TURN,
        step: 1,
        outcome: StepOutcome::Done,
        summary: "exit 0".into(),
        elapsed_ms: 9_000,
        detail: None,
        only_reads: false,
    };
    bench.daemon(DaemonMessage::StepFinished(finished));
    bench.live(LiveEvent::AnswerReady);
    // The time of the command, not of the wait for the terminal.
    let expected = "❯ ls\n  ↳ +FOO +MY_TOKEN -OLD\n  ✓ exit 0 · 5 ms\n----\n";
    assert_eq!(bench.shown(), expected);
}

#[test]
fn a_command_that_ran_in_a_subshell_is_said_to_have_changed_nothing() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    let outcome = CommandOutcome { mode: Mode::Subshell, ..outcome(Ending::Exited) };
    bench.live(LiveEvent::CommandFinished { id: CALL.to_string(), outcome });
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains("ls\n  ↳ ran in a subshell; your shell is as it was\n"));
}

#[test]
fn a_cancelled_turn_gives_the_prompt_back_without_waiting_for_the_daemon() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "half an ans");
    let effects = bench.live(LiveEvent::CancelRequested { is_escape: false });
    assert_eq!(effects, [Effect::Send(ClientMessage::CancelTurn { turn_id: TURN }), Effect::EndAnswer]);
    assert_eq!(bench.shown(), "\nhalf an ans\n\nStopped.\n----\n");
    assert_eq!(refusal_in(&bench.daemon(execute("ls", None))), "turn_over");
    assert!(bench.chunk(1, "wer").is_empty());
    assert_eq!(bench.shown(), "----\n");
}

#[test]
fn the_question_after_a_cancelled_one_waits_until_the_daemon_has_ended_that() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::CancelRequested { is_escape: false });
    bench.live(LiveEvent::AnswerEnded);
    let effects = bench.enter("? again");
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    let effects = bench.daemon(ended(TurnEndReason::Cancelled));
    assert!(matches!(&effects[..], [Effect::Send(ClientMessage::UserQuery(query))] if query.text == "again"));
}

#[test]
fn an_interrupt_of_the_agents_command_stops_the_turn_too() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    let id = CALL.to_string();
    let effects = bench.live(LiveEvent::CommandFinished { id, outcome: outcome(BY_USER) });
    assert_eq!(result_in(&effects).ending, CommandEnding::Interrupted { by: wire::Interrupter::User });
    assert_eq!(effects[0], Effect::Send(ClientMessage::CancelTurn { turn_id: TURN }), "before the next step can begin");
    assert!(!effects.contains(&Effect::EndAnswer), "the terminal is not ours yet");
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
}

#[test]
fn an_interrupt_that_the_daemon_asked_for_does_not_stop_the_turn() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    let id = CALL.to_string();
    for (by, passed_on) in
        [(wire::Interrupter::Turn, Interrupter::Turn), (wire::Interrupter::TimeLimit, Interrupter::TimeLimit)]
    {
        let effects = bench.daemon(DaemonMessage::InterruptCommand { call_id: CALL, by });
        assert_eq!(effects, [Effect::CancelCommand(id.clone(), passed_on)]);
    }
    let ending = Ending::Interrupted { by: Interrupter::TimeLimit };
    let effects = bench.live(LiveEvent::CommandFinished { id, outcome: outcome(ending) });
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert_eq!(result_in(&effects).ending, CommandEnding::Interrupted { by: wire::Interrupter::TimeLimit });
}

#[test]
fn what_the_daemon_interrupts_after_the_user_stopped_the_turn_is_the_users() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    bench.live(LiveEvent::CancelRequested { is_escape: true });
    let interrupt = DaemonMessage::InterruptCommand { call_id: CALL, by: wire::Interrupter::Turn };
    assert_eq!(bench.daemon(interrupt), [Effect::CancelCommand(CALL.to_string(), Interrupter::User)]);
}

#[test]
fn a_repeated_call_is_answered_and_not_run_again() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    let id = CALL.to_string();
    let first = bench.live(LiveEvent::CommandFinished { id, outcome: outcome(Ending::Exited) });
    let again = bench.daemon(execute("ls", None));
    assert_eq!(result_in(&first), result_in(&again));
    assert!(runs(&again).is_none());
}

#[test]
fn a_command_that_comes_before_the_terminal_is_ours_waits() {
    let mut bench = Bench::connected();
    bench.enter("? why");
    assert!(bench.daemon(execute("ls", None)).is_empty());
    assert_eq!(runs(&bench.live(LiveEvent::AnswerReady)), Some("ls"));
}

#[test]
fn a_long_command_is_shown_in_part_and_counted() {
    let mut bench = Bench::in_a_turn();
    bench.app.options.approval = ApprovalMode::All;
    let command: String = (0..15).map(|n| format!("echo {n}\n")).collect();
    bench.daemon(execute(&command, None));
    let above: Vec<String> = bench.app.last_frame().above.iter().map(ToString::to_string).collect();
    assert_eq!((above[0].as_str(), above[1].as_str()), ("❯ echo 0", "  echo 1"));
    assert_eq!(above.last().unwrap().trim(), "… and 5 more lines");
}

#[test]
fn an_idle_client_has_no_deadline() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "text");
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(bench.app.deadline(), None);
}

#[test]
fn keys_typed_before_a_question_is_on_the_screen_answer_nothing() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    assert_eq!(bench.daemon(ask("touch x", false)), [Effect::TakeKeyboard(true)]);
    bench.pass(1_000);
    assert_eq!(bench.keys("y"), []);
    bench.live(LiveEvent::AnswerReady);
    bench.pass(299);
    assert_eq!(bench.keys("y"), []);
    bench.pass(299);
    assert_eq!(bench.keys("y"), [], "it follows the other as fast as in a word");
    bench.pass(300);
    assert_eq!(bench.key("y").len(), 2);
}

#[test]
fn a_pasted_yes_answers_nothing() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch x", false));
    bench.pass(300);
    assert_eq!(bench.keys("\x1b[200~y\x1b[201~"), []);
    bench.pass(300);
    assert_eq!(bench.key("y").len(), 2);
}

#[test]
fn passwords_in_variables_stay_here() {
    let change = |name: &str, value: &str| EnvChange { name: name.into(), value: Some(value.into()) };
    let delta = wire_results::env_delta(vec![
        change("DATABASE_URL", "postgres://ann:pw@host:5432/db"),
        change("MYSQL_PWD", "pw"),
        change("API_TOKEN", "pw"),
        change("PAGE", "https://host:80/a@b:c"),
        change("REMOTE", "ssh://git@host/x"),
    ]);
    let values: Vec<_> = delta.set.iter().map(|change| change.value.as_deref()).collect();
    assert_eq!(values, [None, None, None, Some("https://host:80/a@b:c"), Some("ssh://git@host/x")]);
}
