//! Messages of the daemon as `session/update` and `session/request_permission` of the Agent Client Protocol.

use cohab_protocol::{
    ApprovalRequest, ApprovalSubject, ChunkDelta, DaemonMessage, ProposedChange, ProposedCommand, StepActivity,
    StepDetail, StepOutcome, TurnId,
};
use serde_json::{Value, json};

/// The options of a question for consent.
pub const ONCE: &str = "once";
/// See [`ONCE`].
pub const SESSION: &str = "session";
/// See [`ONCE`].
pub const REFUSE: &str = "refuse";

/// The kind of a tool's calls, for the icon that the editor shows.
const KINDS: &[(&str, &str)] = &[
    ("bash", "execute"),
    ("bash_unconfined", "execute"),
    ("edit", "edit"),
    ("write", "edit"),
    ("read", "read"),
    ("skill", "read"),
    ("glob", "search"),
    ("grep", "search"),
    ("memory_search", "search"),
    ("conversation_search", "search"),
];

/// The kind of a tool's calls.
pub fn kind(tool: &str) -> &'static str {
    KINDS.iter().find(|(name, _)| *name == tool).map_or("other", |(_, kind)| kind)
}

/// The update that tells of this message; `None` if none does.
pub fn update(message: &DaemonMessage) -> Option<Value> {
    Some(match message {
        DaemonMessage::AgentStreamChunk(chunk) => match &chunk.delta {
            ChunkDelta::Text(text) => said(text),
            ChunkDelta::Reasoning(text) => thought(text),
            ChunkDelta::Reset => thought("\nThe answer begins again: the model service failed in its midst.\n"),
        },
        DaemonMessage::Notice(notice) => thought(&format!("{}\n", notice.text)),
        DaemonMessage::StepStarted(started) => match &started.activity {
            StepActivity::ToolCall { tool, argument } => json!({
                "sessionUpdate": "tool_call",
                "toolCallId": call_id(started.turn_id, started.step),
                "title": title(tool, argument),
                "kind": kind(tool),
                "status": "in_progress",
            }),
            StepActivity::Attachment { path } => json!({
                "sessionUpdate": "tool_call",
                "toolCallId": call_id(started.turn_id, started.step),
                "title": path,
                "kind": "read",
                "status": "in_progress",
            }),
            StepActivity::ModelCall { .. } | StepActivity::Shared | StepActivity::Compaction => return None,
        },
        DaemonMessage::StepFinished(finished) => {
            let status = match finished.outcome {
                StepOutcome::Done => "completed",
                StepOutcome::Failed | StepOutcome::Refused | StepOutcome::Cancelled => "failed",
            };
            let details = match &finished.detail {
                Some(StepDetail::Change(change)) => Some(fenced("diff", &change.diff)),
                Some(StepDetail::Output(output)) => Some(fenced("", output)),
                Some(StepDetail::Lines(_)) | None => None,
            };
            let content = details.or_else(|| (!finished.summary.is_empty()).then(|| finished.summary.clone()));
            json!({
                "sessionUpdate": "tool_call_update",
                "toolCallId": call_id(finished.turn_id, finished.step),
                "status": status,
                "content": content.iter().map(|text| content_of(text)).collect::<Vec<_>>(),
            })
        }
        _ => return None,
    })
}

/// A piece of the answer.
pub fn said(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

/// A piece of what is not the answer.
pub fn thought(text: &str) -> Value {
    json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}})
}

/// A question of the user.
pub fn asked(text: &str) -> Value {
    json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}})
}

/// The id of a step's tool call.
fn call_id(turn: TurnId, step: u32) -> String {
    format!("{turn}:{step}")
}

/// The title of a tool call.
pub fn title(tool: &str, argument: &str) -> String {
    match (kind(tool), argument) {
        (_, "") => tool.to_owned(),
        ("execute", argument) => argument.to_owned(),
        (_, argument) => format!("{tool} {argument}"),
    }
}

fn content_of(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

/// Text as a block of code, whatever it holds.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// The parameters of `session/request_permission`.
pub fn permission(session: &str, request: &ApprovalRequest) -> Value {
    let Shown { title, kind, details } = shown(&request.subject);
    let mut text: Vec<String> = request.reasons.clone();
    if request.is_dangerous {
        text.insert(0, "**This may do harm.**".to_owned());
    }
    text.extend(details);
    let mut options = vec![json!({"optionId": ONCE, "name": "Allow once", "kind": "allow_once"})];
    if !request.is_each_time {
        options.push(json!({"optionId": SESSION, "name": "Allow in this session", "kind": "allow_always"}));
    }
    options.push(json!({"optionId": REFUSE, "name": "Refuse", "kind": "reject_once"}));
    json!({
        "sessionId": session,
        "toolCall": {
            "toolCallId": request.approval_id.to_string(),
            "title": title,
            "kind": kind,
            "status": "pending",
            "content": text.iter().map(|text| content_of(text)).collect::<Vec<_>>(),
        },
        "options": options,
    })
}

/// A question as an editor shows it.
struct Shown {
    title: String,
    kind: &'static str,
    details: Vec<String>,
}

fn shown(subject: &ApprovalSubject) -> Shown {
    let one = |title: String, kind, details| Shown { title, kind, details };
    match subject {
        ApprovalSubject::Command { command, cwd, .. } => {
            one(command.clone(), "execute", vec![fenced("sh", command), format!("in {cwd}")])
        }
        ApprovalSubject::Commands(commands) => {
            let all = |command: &ProposedCommand| fenced("sh", &command.command);
            one(format!("{} commands", commands.len()), "execute", commands.iter().map(all).collect())
        }
        ApprovalSubject::FileChange { tool, path, diff } => {
            one(format!("{tool} {path}"), "edit", vec![fenced("diff", diff)])
        }
        ApprovalSubject::FileChanges(changes) => {
            let all = |change: &ProposedChange| fenced("diff", &change.diff);
            let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
            one(paths.join(", "), "edit", changes.iter().map(all).collect())
        }
        ApprovalSubject::FileRead { tool, path } => one(format!("{tool} {path}"), "read", Vec::new()),
        ApprovalSubject::Search { tool, path, pattern } => {
            one(format!("{tool} {pattern} in {path}"), "search", Vec::new())
        }
        ApprovalSubject::LocalServer { url, server, model } => {
            one(format!("Send the question to {model} on {server} at {url}"), "other", Vec::new())
        }
        ApprovalSubject::GoOn { what } => one(what.clone(), "other", Vec::new()),
        ApprovalSubject::Input { by, message, label, value } => {
            let value = value.iter().map(|value| fenced("", value));
            one(format!("{by}: {label}"), "other", [fenced("", message)].into_iter().chain(value).collect())
        }
        ApprovalSubject::Foreign { by, action, details } => {
            one(format!("{by}: {action}"), "other", vec![fenced("", details)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fenced("", "a"), "```\na\n```");
        assert_eq!(fenced("diff", "x ```` y\n"), "`````diff\nx ```` y\n`````");
    }
}
