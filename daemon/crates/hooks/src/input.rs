//! Writes the input of a hook: one JSON object per event. Pure.

use std::path::Path;

use cohab_agent::PlannedCall;
use cohab_model_api::JsonObject;
use serde_json::{Value, json};

use crate::{
    event::HookEvent,
    tool_names::{shown_input, shown_name},
};

/// Most bytes of an input. A guard lets nothing pass that is longer.
pub const MAX_INPUT_BYTES: usize = 8 * 1024 * 1024;

/// A call of a tool, as hooks see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// Id of the call.
    pub id: String,
    /// The tool's own name.
    pub tool: String,
    /// Its arguments under the names that hooks know.
    pub input: JsonObject,
}

impl ToolUse {
    /// A call that is about to run.
    #[must_use]
    pub fn of(call: &PlannedCall) -> Self {
        let input = shown_input(&call.tool, &call.args, &call.intent.effect, &call.cwd);
        Self { id: call.call_id.clone(), tool: call.tool.clone(), input }
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let Self { id, tool, input } = self;
        vec![
            ("tool_name", json!(shown_name(tool))),
            ("tool_input", Value::Object(input.clone())),
            ("tool_use_id", json!(id)),
        ]
    }
}

/// Something that hooks run for.
#[derive(Clone, Debug, PartialEq)]
pub enum Occasion {
    /// The first question of a conversation.
    SessionStart {
        /// `startup`, `resume` or `clear`.
        source: &'static str,
    },
    /// A conversation ends.
    SessionEnd {
        /// `clear` or `other`.
        reason: &'static str,
    },
    /// The user's words.
    UserPromptSubmit {
        /// The words.
        prompt: String,
    },
    /// A call that the model wants.
    PreToolUse(ToolUse),
    /// A call that ran.
    PostToolUse {
        /// The call.
        call: ToolUse,
        /// Its result for the model.
        result: String,
        /// Whether it failed.
        has_failed: bool,
    },
    /// A call about which the user is asked.
    PermissionRequest(ToolUse),
    /// The conversation is shortened.
    PreCompact {
        /// `auto` or `manual`.
        trigger: &'static str,
    },
    /// The model ends its answer.
    Stop {
        /// Whether a hook had it continue before.
        is_again: bool,
        /// Its last text.
        last: String,
    },
    /// A subagent ends its work.
    SubagentStop {
        /// Whether a hook had it continue before.
        is_again: bool,
        /// Its last text.
        last: String,
        /// Its kind.
        kind: String,
    },
    /// A question waits for the user.
    Notification {
        /// The question, one line.
        message: String,
    },
}

/// The type of notifications that cohab has.
const NOTIFICATION: &str = "permission_prompt";

impl Occasion {
    /// Its event.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        match self {
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::SessionEnd { .. } => HookEvent::SessionEnd,
            Self::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            Self::PreToolUse(_) => HookEvent::PreToolUse,
            Self::PostToolUse { has_failed: false, .. } => HookEvent::PostToolUse,
            Self::PostToolUse { has_failed: true, .. } => HookEvent::PostToolUseFailure,
            Self::PermissionRequest(_) => HookEvent::PermissionRequest,
            Self::PreCompact { .. } => HookEvent::PreCompact,
            Self::Stop { .. } => HookEvent::Stop,
            Self::SubagentStop { .. } => HookEvent::SubagentStop,
            Self::Notification { .. } => HookEvent::Notification,
        }
    }

    /// The names that a matcher is compared with. None if matchers play no part.
    #[must_use]
    pub fn subjects(&self) -> Vec<&str> {
        match self {
            Self::SessionStart { source } => vec![source],
            Self::SessionEnd { reason } => vec![reason],
            Self::PreToolUse(call) | Self::PermissionRequest(call) | Self::PostToolUse { call, .. } => {
                vec![shown_name(&call.tool), &call.tool]
            }
            Self::PreCompact { trigger } => vec![trigger],
            Self::SubagentStop { kind, .. } => vec![kind],
            Self::Notification { .. } => vec![NOTIFICATION],
            Self::UserPromptSubmit { .. } | Self::Stop { .. } => Vec::new(),
        }
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::SessionStart { source } => vec![("source", json!(source))],
            Self::SessionEnd { reason } => vec![("reason", json!(reason))],
            Self::UserPromptSubmit { prompt } => vec![("prompt", json!(prompt))],
            Self::PreToolUse(call) | Self::PermissionRequest(call) => call.fields(),
            Self::PostToolUse { call, result, has_failed } => {
                let mut fields = call.fields();
                fields.push(("tool_response", response(call, result, *has_failed)));
                fields.extend(has_failed.then(|| ("error", json!(result))));
                fields
            }
            Self::PreCompact { trigger } => vec![("trigger", json!(trigger)), ("custom_instructions", json!(""))],
            Self::Stop { is_again, last } => stop(*is_again, last),
            Self::SubagentStop { is_again, last, kind } => {
                let mut fields = stop(*is_again, last);
                fields.push(("agent_type", json!(kind)));
                fields
            }
            Self::Notification { message } => {
                vec![("message", json!(message)), ("notification_type", json!(NOTIFICATION))]
            }
        }
    }

    /// The object for the hook; `None` if it would be too long.
    #[must_use]
    pub fn json(&self, about: &Circumstances<'_>) -> Option<Vec<u8>> {
        let mut object = JsonObject::new();
        object.insert("session_id".into(), json!(about.session));
        // There is no such file: conversations are in a database, sealed.
        object.insert("transcript_path".into(), json!(""));
        object.insert("cwd".into(), json!(about.cwd.to_string_lossy()));
        object.insert("permission_mode".into(), json!(about.mode));
        object.insert("hook_event_name".into(), json!(self.event().name()));
        object.extend(self.fields().into_iter().map(|(name, value)| (name.to_owned(), value)));
        let mut bytes = serde_json::to_vec(&object).ok()?;
        bytes.push(b'\n');
        (bytes.len() <= MAX_INPUT_BYTES).then_some(bytes)
    }
}

fn stop(is_again: bool, last: &str) -> Vec<(&'static str, Value)> {
    vec![("stop_hook_active", json!(is_again)), ("last_assistant_message", json!(last))]
}

/// The result in the forms that hooks look for.
fn response(call: &ToolUse, result: &str, has_failed: bool) -> Value {
    let mut response = json!({"content": result, "success": !has_failed});
    if let Some(path) = call.input.get("file_path") {
        response["filePath"] = path.clone();
    }
    if shown_name(&call.tool) == "Bash" {
        response["stdout"] = json!(result);
        response["stderr"] = json!("");
        response["interrupted"] = json!(false);
    }
    response
}

/// What is the same for all events of a moment.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// Name of the session.
    pub session: &'a str,
    /// Its folder.
    pub cwd: &'a Path,
    /// The approval mode under the name that hooks know.
    pub mode: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(occasion: &Occasion) -> Value {
        let about = Circumstances { session: "shell:1", cwd: Path::new("/w"), mode: "default" };
        serde_json::from_slice(&occasion.json(&about).unwrap()).unwrap()
    }

    fn call(tool: &str, input: &Value) -> ToolUse {
        ToolUse { id: "c1".into(), tool: tool.into(), input: input.as_object().cloned().unwrap() }
    }

    #[test]
    fn a_call_is_shown_as_claude_code_tells_it() {
        let bash = call("bash", &json!({"command": "ls"}));
        assert_eq!(
            shown(&Occasion::PreToolUse(bash.clone())),
            json!({
                "session_id": "shell:1", "transcript_path": "", "cwd": "/w", "permission_mode": "default",
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1",
            })
        );
        let ran = shown(&Occasion::PostToolUse { call: bash.clone(), result: "a\n[exit 0]".into(), has_failed: false });
        assert_eq!(ran["hook_event_name"], "PostToolUse");
        assert_eq!(ran["tool_response"]["stdout"], "a\n[exit 0]");
        let failed = shown(&Occasion::PostToolUse { call: bash, result: "no".into(), has_failed: true });
        assert_eq!((&failed["hook_event_name"], &failed["error"]), (&json!("PostToolUseFailure"), &json!("no")));
        let write = call("write", &json!({"file_path": "/w/a", "content": "x"}));
        let wrote = shown(&Occasion::PostToolUse { call: write, result: "ok".into(), has_failed: false });
        assert_eq!(wrote["tool_response"], json!({"content": "ok", "success": true, "filePath": "/w/a"}));
    }

    #[test]
    fn each_event_has_its_fields_and_its_subjects() {
        let of = |occasion: Occasion| {
            let shown = shown(&occasion);
            let name = shown["hook_event_name"].as_str().unwrap().to_owned();
            assert_eq!(HookEvent::of(&name), Some(occasion.event()));
            format!("{} {:?}", shown, occasion.subjects())
        };
        let all = [
            of(Occasion::SessionStart { source: "startup" }),
            of(Occasion::UserPromptSubmit { prompt: "why?".into() }),
            of(Occasion::PermissionRequest(call("read", &json!({"file_path": "/w/a"})))),
            of(Occasion::Notification { message: "cohab needs your permission to use Bash".into() }),
            of(Occasion::PreCompact { trigger: "auto" }),
            of(Occasion::SubagentStop { is_again: false, last: "x".into(), kind: "explore".into() }),
            of(Occasion::Stop { is_again: true, last: "done".into() }),
            of(Occasion::SessionEnd { reason: "other" }),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn an_input_that_is_too_long_is_not_made() {
        let about = Circumstances { session: "s", cwd: Path::new("/w"), mode: "default" };
        let long = Occasion::UserPromptSubmit { prompt: "x".repeat(MAX_INPUT_BYTES) };
        assert_eq!(long.json(&about), None);
    }
}
