//! Stored conversations, as `cohabd sessions --json` prints them, in the words of the Agent Client Protocol.

use serde::Deserialize;
use serde_json::{Value, json};

use super::update::{asked, kind, said, thought, title};

/// Most conversations that `session/list` answers with.
const MAX_LISTED: usize = 200;

/// A row of the list of conversations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredSession {
    /// Its id.
    pub id: String,
    /// The daemon's name of it.
    pub name: String,
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// When something last happened in it.
    #[serde(default)]
    pub active_at: Option<String>,
    /// Its folder.
    #[serde(default)]
    pub cwd: String,
}

/// The rows of a list.
///
/// # Errors
/// It is not a list of conversations: a sentence.
pub fn rows(mut list: Value) -> Result<Vec<StoredSession>, String> {
    serde_json::from_value(list["sessions"].take())
        .map_err(|error| format!("the list of conversations is unreadable: {error}"))
}

/// The result of `session/list`: those of `cwd`, if that is given.
pub fn listed(rows: Vec<StoredSession>, cwd: Option<&str>) -> Value {
    let rows = rows.into_iter().filter(|row| cwd.is_none_or(|cwd| row.cwd == cwd)).take(MAX_LISTED);
    let sessions: Vec<Value> = rows
        .map(|row| json!({"sessionId": row.name, "cwd": row.cwd, "title": row.title, "updatedAt": row.active_at}))
        .collect();
    json!({ "sessions": sessions })
}

/// One thing that happened in a conversation. Kinds that say nothing to a reader are `Other`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StoredEvent {
    Question {
        text: String,
    },
    Added {
        text: String,
    },
    Reasoning {
        text: String,
    },
    Answer {
        text: String,
    },
    Call {
        tool: String,
        title: String,
    },
    Error {
        message: String,
    },
    #[serde(other)]
    Other,
}

/// The updates that tell a conversation again, in order.
pub fn updates(shown: &Value) -> Vec<Value> {
    let events = shown["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let event = |(number, event): (usize, &Value)| {
        Some(match serde_json::from_value::<StoredEvent>(event.clone()).ok()? {
            StoredEvent::Question { text } | StoredEvent::Added { text } => asked(&text),
            StoredEvent::Reasoning { text } => thought(&text),
            StoredEvent::Answer { text } => said(&text),
            StoredEvent::Error { message } => thought(&format!("{message}\n")),
            StoredEvent::Call { tool, title: argument } => json!({
                "sessionUpdate": "tool_call",
                "toolCallId": format!("past:{number}"),
                "title": title(&tool, &argument),
                "kind": kind(&tool),
                "status": "completed",
            }),
            StoredEvent::Other => return None,
        })
    };
    events.iter().enumerate().filter_map(event).collect()
}
