use cohab_protocol::{
    ContextReport, ContextRoom, ContextSection, ErrorSubject, NamedCommand, NoticeKind, RequestId, SessionAction,
    SessionAnswer, SessionReply, SessionRequest, WireError, WireErrorKind,
};

use super::*;
use crate::{
    session_override::{ModelWish, SessionOverride},
    slash::own_output::{OwnOutput, ProgramEnding},
};

/// The command is entered and the terminal is ours; the other effects are returned.
pub(super) fn begin(bench: &mut Bench, line: &str) -> Vec<Effect> {
    let mut effects = bench.enter(line);
    assert_eq!(effects.remove(0), Effect::DecideLine(LineDecision::Assistant), "{line}");
    effects.extend(bench.live(LiveEvent::AnswerReady));
    effects
}

/// The output of a command that needs no daemon.
pub(super) fn said(bench: &mut Bench, line: &str) -> String {
    assert_eq!(begin(bench, line), [Effect::EndAnswer], "{line}");
    let shown = bench.shown();
    bench.live(LiveEvent::AnswerEnded);
    shown
}

pub(super) fn request(effects: &[Effect]) -> (RequestId, &SessionAction) {
    match effects {
        [Effect::Send(ClientMessage::SessionRequest(SessionRequest { request_id, action }))] => (*request_id, action),
        other => panic!("{other:?}"),
    }
}

pub(super) fn reply(bench: &mut Bench, request_id: RequestId, answer: SessionAnswer) -> Vec<Effect> {
    bench.daemon(DaemonMessage::SessionReply(SessionReply { request_id, answer }))
}

fn request_error(id: RequestId, message: &str) -> DaemonMessage {
    DaemonMessage::Error(WireError {
        about: ErrorSubject::Request(id),
        kind: WireErrorKind::Busy,
        message: message.into(),
        hint: Some("wait".into()),
    })
}

/// What a command says once the daemon has answered so.
fn answered(line: &str, action: &SessionAction, answer: SessionAnswer) -> String {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, line);
    let (id, sent) = request(&effects);
    assert_eq!(sent, action);
    // An answer to something else is not this one's.
    assert!(reply(&mut bench, RequestId(id.0 + 1), SessionAnswer::Done).is_empty());
    assert_eq!(reply(&mut bench, id, answer), [Effect::EndAnswer]);
    bench.shown()
}

fn answer_text(text: &str) -> Bench {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, text);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.shown();
    bench.live(LiveEvent::AnswerEnded);
    bench
}

#[test]
fn help_needs_nobody() {
    let mut bench = Bench::new();
    let shown = said(&mut bench, "? /help");
    assert!(shown.starts_with("? /help\n  ? /keys") && shown.contains("? /doctor"), "{shown}");
    assert!(!bench.app.owns_terminal() && bench.app.deadline().is_none());
    assert_eq!(bench.enter("ls"), [Effect::DecideLine(LineDecision::Shell)]);
}

#[test]
fn an_unknown_command_is_answered_with_the_nearest_and_never_sent() {
    let commands = SessionAction::Commands { cwd: Path::new(CWD).into() };
    let named =
        |name: &str| NamedCommand { name: name.into(), hint: String::new(), meaning: "x".into(), is_of_project: false };
    let said_with = |line: &str, names: &[&str]| {
        let names = names.iter().map(|name| named(name)).collect();
        answered(line, &commands, SessionAnswer::Commands(names))
    };
    let shown = said_with("? /modle gpt", &[]);
    assert_eq!(shown, "? /modle gpt\nThere is no /modle; did you mean /model? `? /help` lists them.\n----\n");
    assert!(said_with("? /modle gpt", &["modles"]).contains("did you mean /model or /modles?"));
    assert!(said_with("? /relaese", &["deploy", "release"]).contains("did you mean /release?"));
    assert!(said_with("?/xyzzy", &[]).contains("There is no /xyzzy; `? /help` lists the commands."));
    let mut bench = Bench::connected();
    let (id, _) = request(&begin(&mut bench, "? /xyzzy"));
    assert_eq!(bench.daemon(request_error(id, "no")), [Effect::EndAnswer]);
    let shown = bench.shown();
    assert!(shown.contains("There is no /xyzzy") && !shown.contains("wait"), "{shown}");
    let mut bench = Bench::connected();
    assert!(said(&mut bench, "? /new now").contains("/new takes no words behind it: `? /new`."));
    assert!(said(&mut bench, "? /model two words").contains("Usage: `? /model [NAME|TIER]`."));
}

#[test]
fn a_name_of_a_skill_is_asked_once_the_daemon_knows_it() {
    let mut bench = Bench::connected();
    let (id, _) = request(&begin(&mut bench, "? /release"));
    let named = NamedCommand {
        name: "release".into(),
        hint: "VERSION".into(),
        meaning: "How a release is made".into(),
        is_of_project: true,
    };
    let effects = reply(&mut bench, id, SessionAnswer::Commands(vec![named.clone()]));
    assert!(
        matches!(effects.as_slice(), [Effect::Send(ClientMessage::UserQuery(query))] if query.text == "/release"),
        "{effects:?}"
    );
    let mut bench = Bench::connected();
    let (id, _) = request(&begin(&mut bench, "? /help"));
    assert_eq!(reply(&mut bench, id, SessionAnswer::Commands(vec![named])), [Effect::EndAnswer]);
    let shown = bench.shown();
    assert!(
        shown.contains(&format!("Those of this project:\n  {:<35}  How a release is made", "? /release VERSION")),
        "{shown}"
    );
}

#[test]
fn a_question_about_a_path_is_a_question_and_a_path_alone_is_the_shells() {
    let mut bench = Bench::connected();
    for line in ["/usr/bin/ls", "/help", "/model"] {
        assert_eq!(bench.enter(line), [Effect::DecideLine(LineDecision::Shell)], "{line}");
    }
    let effects = bench.enter("? /usr/bin/ls what is this");
    assert!(matches!(&effects[1], Effect::Send(ClientMessage::UserQuery(query)) if query.text.starts_with("/usr")));
}

#[test]
fn the_hotkey_takes_commands_too() {
    let mut bench = Bench::connected();
    let effects = bench.live(LiveEvent::HotkeyPressed { text: "/keys".into(), cwd: CWD.into(), is_command: None });
    assert_eq!(effects, [Effect::DecideLine(LineDecision::Assistant)]);
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
}

#[test]
fn the_daemon_answers_requests_and_the_prompt_comes_back() {
    let new = answered("? /new", &SessionAction::Clear, SessionAnswer::Done);
    assert_eq!(new, "? /new\nNew conversation. Your shell, and the permissions you gave, are kept.\n----\n");
    let compacted = SessionAnswer::Compacted { before_tokens: 60_000, after_tokens: 20_000 };
    let shown = answered("? /compact", &SessionAction::Compact, compacted);
    assert!(shown.contains("about 20k tokens, it was 60k"), "{shown}");
    let usage = Usage { input_tokens: Some(10), ..Usage::default() };
    let shown = answered("? /cost", &SessionAction::Usage, SessionAnswer::Usage(usage));
    assert!(shown.contains("So far in this shell: 10 tokens in."), "{shown}");
    let sections = vec![ContextSection { name: "tools".into(), tokens: 7 }];
    let room = ContextRoom {
        max: 70,
        system: 7,
        messages: 0,
        response_reserve: 20,
        total: 7,
        available: 43,
        percent: 10,
        fits: true,
    };
    let context = SessionAnswer::Context(ContextReport { sections, room: Some(room) });
    let shown = answered("? /context", &SessionAction::Context, context);
    assert!(
        shown.contains("tools") && shown.contains("about 7 of 70 tokens (10 %)\nsystem 7, messages 0, kept for"),
        "{shown}"
    );
    let shown = answered("? /retry", &SessionAction::Rewind, SessionAnswer::Rewound { question: None });
    assert!(shown.contains("There is no question to ask again yet."), "{shown}");
}

#[test]
fn an_answer_that_is_there_before_the_terminal_is_ours_waits_for_it() {
    let mut bench = Bench::connected();
    let effects = bench.enter("? /new");
    let (id, _) = request(&effects[1..]);
    assert!(reply(&mut bench, id, SessionAnswer::Done).is_empty());
    assert!(!bench.app.wants_to_draw());
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
}

#[test]
fn retry_asks_the_forgotten_question_again_as_a_turn() {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /retry");
    let (id, _) = request(&effects);
    let effects = reply(&mut bench, id, SessionAnswer::Rewound { question: Some("why is it big".into()) });
    assert!(matches!(&effects[..], [Effect::Send(ClientMessage::UserQuery(query))] if query.text == "why is it big"));
    bench.chunk(0, "Because.\n\n");
    assert_eq!(bench.daemon(ended(TurnEndReason::Answered)), [Effect::EndAnswer]);
    assert_eq!(bench.shown(), "? /retry\n? why is it big\n\nBecause.\n----\n");
}

#[test]
fn a_refused_request_is_an_error_and_costs_no_prompt() {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /compact");
    let (id, _) = request(&effects);
    let effects = bench.daemon(request_error(id, "a question is being answered"));
    assert_eq!(effects, [Effect::EndAnswer]);
    assert_eq!(bench.shown(), "? /compact\nError: a question is being answered\nHint: wait\n----\n");
}

#[test]
fn a_daemon_that_is_down_is_started_for_a_request() {
    let mut bench = Bench::new();
    assert_eq!(begin(&mut bench, "? /context"), [Effect::Connect]);
    assert_eq!(bench.shown(), "? /context\n----\nstarting the assistant\n");
    let effects = bench.link_up();
    assert_eq!(request(&effects).1, &SessionAction::Context);
    let mut bench = Bench::new();
    begin(&mut bench, "? /new");
    let down = Event::LinkDown { message: "cohabd cannot be started".into(), hint: "install it".into() };
    assert_eq!(bench.event(down), [Effect::EndAnswer]);
    assert_eq!(bench.shown(), "? /new\nError: cohabd cannot be started\nHint: install it\n----\n");
}

#[test]
fn a_daemon_that_does_not_answer_is_not_waited_for_longer_than_ten_seconds() {
    for is_connected in [true, false] {
        let mut bench = if is_connected { Bench::connected() } else { Bench::new() };
        begin(&mut bench, "? /cost");
        assert_eq!(bench.app.deadline(), Some(bench.now + Duration::from_secs(10)));
        bench.pass(9_999);
        assert!(bench.event(Event::Deadline).is_empty());
        bench.pass(1);
        assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer]);
        assert!(bench.shown().contains("Error: the daemon has not answered within 10 s"));
        assert_eq!(bench.app.deadline(), None);
    }
}

#[test]
fn a_daemon_that_is_gone_or_a_user_who_has_enough_ends_the_wait() {
    let mut bench = Bench::connected();
    begin(&mut bench, "? /cost");
    assert_eq!(bench.event(Event::LinkLost), [Effect::EndAnswer]);
    assert!(bench.shown().contains("Error: the daemon is gone"));
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /cost");
    let (id, _) = request(&effects);
    assert_eq!(bench.live(LiveEvent::CancelRequested { is_escape: false }), [Effect::EndAnswer]);
    assert_eq!(bench.shown(), "? /cost\nStopped.\n----\n");
    // Its answer is then ignored.
    assert!(reply(&mut bench, id, SessionAnswer::Usage(Usage::default())).is_empty());
}

#[test]
fn behind_a_turn_that_was_stopped_a_request_waits_for_its_end() {
    let mut bench = Bench::in_a_turn();
    bench.live(LiveEvent::CancelRequested { is_escape: false });
    bench.live(LiveEvent::AnswerEnded);
    assert!(begin(&mut bench, "? /new").is_empty());
    let effects = bench.daemon(ended(TurnEndReason::Cancelled));
    assert_eq!(request(&effects).1, &SessionAction::Clear);
}

#[test]
fn a_shell_that_makes_no_room_forgets_the_command() {
    let mut bench = Bench::connected();
    bench.enter("? /sessions");
    let effects = bench.live(LiveEvent::AnswerRefused(cohab_types::command::RelayError::ShellGone));
    assert_eq!(effects, [Effect::StopProgram]);
    assert!(!bench.app.owns_terminal());
}

pub(super) fn attached_to(model: &str) -> SessionAnswer {
    let model = ModelIdentity {
        provider: "scripted".into(),
        model: model.into(),
        origin: "COHAB_MODEL".into(),
        is_offline: false,
    };
    SessionAnswer::Attached(Attached {
        session: SessionKey("shell:1".into()),
        model,
        approval: ApprovalMode::Ask,
        is_resumed: false,
        title: None,
        left: None,
        recap: None,
    })
}

#[test]
fn the_model_is_changed_for_this_shell_once_the_daemon_agrees() {
    let mut bench = Bench::connected();
    let wish = ModelWish::Named("other".into());
    let effects = begin(&mut bench, "? /model other");
    let [Effect::AttachAgain { request_id, change }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(*change, Some(SessionOverride::Model(wish.clone())));
    let effects = reply(&mut bench, *request_id, attached_to("other"));
    assert_eq!(effects, [Effect::KeepForAttach(SessionOverride::Model(wish)), Effect::EndAnswer]);
    assert!(bench.shown().contains("scripted/other answers from now on in this shell (COHAB_MODEL)."));
}

#[test]
fn a_model_that_cannot_be_is_not_kept() {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /model profile:none");
    let [Effect::AttachAgain { request_id, .. }] = &effects[..] else { panic!("{effects:?}") };
    let effects = bench.daemon(request_error(*request_id, "There is no profile none."));
    assert_eq!(effects, [Effect::EndAnswer]);
    assert!(bench.shown().contains("Error: There is no profile none."));
}

#[test]
fn the_mode_of_approval_is_shown_and_changed_on_both_sides() {
    let mut bench = Bench::connected();
    assert!(said(&mut bench, "? /approve").contains("▸ ask        commands that only read"));
    assert!(said(&mut bench, "? /approve yes").contains("Usage: `? /approve "));
    let effects = bench.enter("? /approve read-only");
    assert_eq!(effects[1], Effect::KeepForAttach(SessionOverride::Approval(ApprovalMode::ReadOnly)));
    let (id, action) = request(&effects[2..]);
    assert_eq!(action, &SessionAction::SetApproval { mode: ApprovalMode::ReadOnly });
    bench.live(LiveEvent::AnswerReady);
    assert_eq!(reply(&mut bench, id, SessionAnswer::Done), [Effect::EndAnswer]);
    assert!(bench.shown().contains("Mode `read-only`, from now on in this shell: commands that only read"));
    bench.live(LiveEvent::AnswerEnded);
    assert!(said(&mut bench, "? /approve").contains("▸ read-only  "));
}

#[test]
fn the_client_itself_holds_to_the_new_mode() {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /approve all");
    let (id, _) = request(&effects[1..]);
    reply(&mut bench, id, SessionAnswer::Done);
    bench.live(LiveEvent::AnswerEnded);
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    assert_eq!(runs(&bench.daemon(execute("rm x", None))), Some("rm x"));
}

#[test]
fn without_a_daemon_the_mode_is_changed_here_and_told_later() {
    let mut bench = Bench::new();
    let keep = Effect::KeepForAttach(SessionOverride::Approval(ApprovalMode::All));
    assert_eq!(begin(&mut bench, "? /approve all"), [keep, Effect::EndAnswer]);
}

#[test]
fn undo_is_the_undo() {
    let mut bench = Bench::connected();
    assert_eq!(begin(&mut bench, "? /undo"), [Effect::EndAnswer]);
    assert!(bench.shown().starts_with("? /undo\nNothing to undo"));
}

#[test]
fn a_block_of_the_last_answer_is_copied() {
    let mut bench = answer_text("Do\n```sh\nls\n```\nor\n```\none\ntwo\n```\n");
    let copied = |bench: &mut Bench, line: &str| {
        let effects = begin(bench, line);
        let shown = bench.shown();
        bench.live(LiveEvent::AnswerEnded);
        (effects, shown)
    };
    let (effects, shown) = copied(&mut bench, "? /copy");
    assert_eq!(effects, [Effect::Copy("one\ntwo".into()), Effect::EndAnswer]);
    assert!(shown.contains("Copied block 2 of 2: 2 lines."), "{shown}");
    assert_eq!(copied(&mut bench, "? /copy 1").0, [Effect::Copy("ls".into()), Effect::EndAnswer]);
    for (line, says) in [
        ("? /copy 3", "The last answer's code blocks have the numbers 1 to 2."),
        ("? /copy 0", "The last answer's code blocks have the numbers 1 to 2."),
        ("? /copy x", "Usage: `? /copy [N]`."),
    ] {
        assert!(said(&mut bench, line).contains(says), "{line}");
    }
    let mut bench = answer_text("no code");
    assert!(said(&mut bench, "? /copy").contains("The last answer has no code block."));
    let mut bench = answer_text(&format!("```\n{}\n```\n", "x".repeat(80_000)));
    assert!(said(&mut bench, "? /copy").contains("too large"));
}

#[test]
fn a_block_is_put_on_the_prompt_and_not_run() {
    let mut bench = answer_text("Do\n```sh\nls\n```\nor\n```\none\n\u{1b}[2Jtwo\n```\n");
    assert_eq!(begin(&mut bench, "? /insert"), [Effect::Insert("one\ntwo".into()), Effect::EndAnswer]);
    assert!(bench.shown().contains("Code block 2 of 2 is on your prompt."));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(begin(&mut bench, "? /insert 1"), [Effect::Insert("ls".into()), Effect::EndAnswer]);
    bench.shown();
    bench.live(LiveEvent::AnswerEnded);
    assert!(said(&mut bench, "? /insert 3").contains("the numbers 1 to 2"));
    let mut bench = answer_text(&format!("```\n{}\n```\n", "x".repeat(20_000)));
    assert!(said(&mut bench, "? /insert").contains("too large"));
}

#[test]
fn an_answer_that_began_anew_has_only_its_new_blocks() {
    let mut bench = Bench::in_a_turn();
    bench.chunk(0, "```\nold\n```\n");
    let reset = AgentStreamChunk { turn_id: TURN, seq: 1, delta: ChunkDelta::Reset };
    bench.daemon(DaemonMessage::AgentStreamChunk(reset));
    bench.chunk(2, "```\nnew\n```\n");
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerEnded);
    assert_eq!(begin(&mut bench, "? /copy 1")[0], Effect::Copy("new".into()));
}

#[test]
fn changes_are_those_of_this_conversation() {
    let mut bench = Bench::connected();
    for (line, args) in [("? /diff", vec!["diff"]), ("? /diff session", vec!["diff", "--all"])] {
        let effects = begin(&mut bench, line);
        let args = args.into_iter().chain(["--session", "shell:1"]).map(str::to_owned).collect();
        assert_eq!(effects, [Effect::RunProgram { args, cwd: CWD.into(), columns: 79 }]);
        let output = OwnOutput { text: "one\n".into(), ending: ProgramEnding::Exited(0) };
        bench.event(Event::ProgramEnded(output));
        bench.live(LiveEvent::AnswerEnded);
    }
    begin(&mut bench, "? /diff yesterday");
    assert!(bench.shown().contains("Usage: `? /diff [session]`"), "{}", bench.shown());
}

#[test]
fn our_own_programs_run_beside_the_shell_and_their_output_is_shown() {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /sessions  disk full");
    let args = ["sessions", "disk", "full"].map(str::to_owned).to_vec();
    assert_eq!(effects, [Effect::RunProgram { args, cwd: CWD.into(), columns: 79 }]);
    assert_eq!(bench.shown(), "? /sessions  disk full\n----\ncohab sessions disk full · Ctrl-C stops\n");
    let output = OwnOutput { text: "one\n\u{1b}[2Jtwo\n".into(), ending: ProgramEnding::Exited(0) };
    assert_eq!(bench.event(Event::ProgramEnded(output)), [Effect::EndAnswer]);
    assert_eq!(bench.shown(), "one\ntwo\n----\n");
    bench.live(LiveEvent::AnswerEnded);
    begin(&mut bench, "? /doctor");
    assert_eq!(bench.live(LiveEvent::CancelRequested { is_escape: false }), [Effect::StopProgram, Effect::EndAnswer]);
    assert!(bench.shown().contains("Stopped."));
}

/// The arguments of the program that this line runs in the shell's folder.
fn program_of(line: &str) -> Vec<String> {
    let effects = begin(&mut Bench::new(), line);
    let [Effect::RunProgram { args, cwd, columns: 79 }] = &effects[..] else { panic!("{line}: {effects:?}") };
    assert_eq!(cwd, Path::new(CWD), "{line}");
    args.clone()
}

#[test]
fn a_fact_reaches_the_program_as_it_was_typed() {
    for (line, fact) in [
        ("? /remember staging is on host blue", "staging is on host blue"),
        ("? /remember --all  \"two  blanks\" $(x) 'y'", "--all  \"two  blanks\" $(x) 'y'"),
        ("? remember that staging is on  host blue", "staging is on  host blue"),
        ("? Please remember: -x is a flag", "-x is a flag"),
    ] {
        assert_eq!(program_of(line), ["memory", "add", "--at-prompt", "--", fact], "{line}");
    }
    assert!(said(&mut Bench::new(), "? /remember").contains("Usage: `? /remember TEXT`."));
}

#[test]
fn facts_are_listed_and_forgotten_by_words_or_number() {
    assert_eq!(program_of("? /memory"), ["memory", "list"]);
    assert_eq!(program_of("? /forget 4"), ["memory", "forget", "--at-prompt", "4"]);
    assert_eq!(program_of("? /forget 4  17"), ["memory", "forget", "--at-prompt", "4", "17"]);
    assert_eq!(program_of("? /forget -4 'x y'"), ["memory", "forget", "--at-prompt", "--query=-4 'x y'"]);
    assert_eq!(program_of("? /forget port 80"), ["memory", "forget", "--at-prompt", "--query=port 80"]);
    assert!(said(&mut Bench::new(), "? /forget").contains("Usage: `? /forget WORDS`."));
}

#[test]
fn a_question_about_memory_is_sent_to_the_model() {
    let mut bench = Bench::connected();
    let effects = bench.enter("? remember what I did yesterday");
    assert!(matches!(&effects[1], Effect::Send(ClientMessage::UserQuery(_))), "{effects:?}");
}

#[test]
fn a_notice_of_the_daemon_meanwhile_does_not_matter() {
    let mut bench = Bench::connected();
    begin(&mut bench, "? /new");
    let notice = cohab_protocol::Notice { turn_id: None, kind: NoticeKind::Info, text: "x".into() };
    assert!(bench.daemon(DaemonMessage::Notice(notice)).is_empty());
    assert_eq!(bench.shown(), "? /new\n----\n");
}
