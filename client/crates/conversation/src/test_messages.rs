//! Messages of the daemon with a given text in any of their fields, for tests that no text reaches a terminal as more than letters.

use std::path::Path;

use cohab_protocol::{
    AgentStreamChunk, ApprovalId, ApprovalRequest, ApprovalSubject, ChunkDelta, DaemonMessage, ErrorSubject, Notice,
    NoticeKind, RunMode, StepActivity, StepStarted, TurnId, WireError, WireErrorKind, WirePath,
};
use uuid::Uuid;

use crate::event::Event;

/// The turn that the messages are about.
pub const TURN: TurnId = TurnId(Uuid::from_u128(7));
/// The question for consent in it.
pub const QUESTION: ApprovalId = ApprovalId(Uuid::from_u128(11));

/// A message with the text in one of its fields, or an event of the client's own.
pub type Field = (&'static str, fn(String) -> Event);

fn daemon(message: DaemonMessage) -> Event {
    Event::Daemon(Box::new(message))
}

fn chunk(delta: ChunkDelta) -> Event {
    daemon(DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TURN, seq: 0, delta }))
}

fn started(activity: StepActivity) -> Event {
    daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 0, activity }))
}

fn notice(kind: NoticeKind, text: String) -> Event {
    daemon(DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind, text }))
}

fn error(message: String, hint: String) -> Event {
    let about = ErrorSubject::Turn(TURN);
    daemon(DaemonMessage::Error(WireError { about, kind: WireErrorKind::Provider, message, hint: Some(hint) }))
}

/// A question for consent.
pub fn question(subject: ApprovalSubject, reason: String) -> Event {
    daemon(DaemonMessage::ApprovalRequest(ApprovalRequest {
        approval_id: QUESTION,
        turn_id: TURN,
        subject,
        is_dangerous: false,
        reasons: vec![reason],
        is_each_time: false,
    }))
}

fn path(text: &str) -> WirePath {
    Path::new(text).into()
}

/// A command that a question is about.
pub fn command(command: &str, cwd: &str) -> ApprovalSubject {
    ApprovalSubject::Command { command: command.into(), cwd: path(cwd), mode: RunMode::Live }
}

/// The fields with text.
pub const FIELDS: &[Field] = &[
    ("answer", |text| chunk(ChunkDelta::Text(text))),
    ("answer, closed", |text| chunk(ChunkDelta::Text(text + "\n\nnext"))),
    ("heading", |text| chunk(ChunkDelta::Text(format!("# {text}\n")))),
    ("code", |text| chunk(ChunkDelta::Text(format!("```{text}\n{text}\n```\n")))),
    ("inline code", |text| chunk(ChunkDelta::Text(format!("`{text}`\n\n")))),
    ("link", |text| chunk(ChunkDelta::Text(format!("[{text}](https://a.b/{text}) <https://a.b/{text}>\n\n")))),
    ("link in angles", |text| chunk(ChunkDelta::Text(format!("[x](<https://a.b/{text}>)\n\n")))),
    ("entities", |text| {
        let entities: String = text.chars().map(|c| format!("&#{};", u32::from(c))).collect();
        chunk(ChunkDelta::Text(format!("{entities}\n\n[{entities}](https://a.b/{entities})\n\n")))
    }),
    ("table", |text| chunk(ChunkDelta::Text(format!("|{text}|b|\n|-|-|\n|{text}|c|\n\n")))),
    ("formula", |text| chunk(ChunkDelta::Text(format!("$$\n{text}\n$$\nand \\({text}\\)\n\n")))),
    ("html", |text| chunk(ChunkDelta::Text(format!("<b {text}>{text}</b>\n\n<!-- {text} -->\n\n")))),
    ("reasoning", |text| chunk(ChunkDelta::Reasoning(text))),
    ("model", |model| started(StepActivity::ModelCall { model })),
    ("tool", |tool| started(StepActivity::ToolCall { tool, argument: "x".into() })),
    ("argument", |argument| started(StepActivity::ToolCall { tool: "read".into(), argument })),
    ("notice", |text| notice(NoticeKind::Info, text)),
    ("warning", |text| notice(NoticeKind::Warning, text)),
    ("retry", |text| notice(NoticeKind::Retry { after_ms: 5_000 }, text)),
    ("error", |text| error(text, "none".into())),
    ("hint", |text| error("failed".into(), text)),
    ("goodbye", |reason| daemon(DaemonMessage::Goodbye { reason })),
    ("lost link", |text| Event::LinkDown { message: text.clone(), hint: text }),
    ("command", |text| question(command(&text, "/"), "x".into())),
    ("folder", |text| question(command("ls", &text), "x".into())),
    ("reason", |text| question(command("ls", "/"), text)),
    ("path to read", |text| question(ApprovalSubject::FileRead { tool: "read".into(), path: path(&text) }, "x".into())),
    ("tool that reads", |tool| question(ApprovalSubject::FileRead { tool, path: path("/") }, "x".into())),
    ("change", |text| {
        let diff = format!("@@ {text}\n+{text}\n-{text}\n {text}");
        question(ApprovalSubject::FileChange { tool: "edit".into(), path: path(&text), diff }, "x".into())
    }),
    ("server", |text| {
        let subject = ApprovalSubject::LocalServer { url: text.clone(), server: text.clone(), model: text };
        question(subject, "x".into())
    }),
    ("other program", |text| {
        let subject = ApprovalSubject::Foreign { by: text.clone(), action: text.clone(), details: text };
        question(subject, "x".into())
    }),
];

/// A message for each field that holds this text.
pub fn messages(text: &str) -> impl Iterator<Item = (&'static str, DaemonMessage)> {
    FIELDS.iter().filter_map(move |(field, event)| match event(text.to_owned()) {
        Event::Daemon(message) => Some((*field, *message)),
        _ => None,
    })
}
