//! The messages of the Agent Client Protocol, version 1, as far as cohab uses them. What an agent sends is read leniently: a field that
//! is missing has a default, and an update of an unknown kind is none.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

/// The version of the protocol that cohab speaks.
pub(crate) const PROTOCOL_VERSION: u64 = 1;

/// JSON-RPC: the message is no request.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: the method does not exist.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: the parameters are wrong.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC: anything else.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// ACP: the agent has to be signed in first.
pub(crate) const AUTH_REQUIRED: i64 = -32000;

/// Longest id of a request or of a tool call; ids are kept until the answer.
pub(crate) const ID_MAX_BYTES: usize = 256;
/// The reason for a request whose id is not [short](is_short_id).
pub(crate) const WRONG_ID: &str = "the id of a request must be a number, or a text of at most 256 bytes";

/// Whether this can be the id of a request.
pub(crate) fn is_short_id(id: &Value) -> bool {
    id.is_number() || id.as_str().is_some_and(|id| id.len() <= ID_MAX_BYTES)
}

/// One line of the other side: a request, a notification or a response.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming {
    /// Absent for a notification.
    #[serde(default)]
    pub id: Option<Value>,
    /// Absent for a response.
    #[serde(default)]
    pub method: Option<String>,
    #[serde(default)]
    pub params: Value,
    #[serde(default)]
    pub result: Value,
    #[serde(default)]
    pub error: Option<RpcError>,
}

/// The error of a response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct RpcError {
    #[serde(default)]
    pub code: i64,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub data: Value,
}

impl RpcError {
    /// Its message, with the detail that some agents put beside it.
    pub(crate) fn text(&self) -> String {
        let detail = match &self.data {
            Value::String(text) => Some(text.as_str()),
            data => ["details", "message", "error"].iter().find_map(|name| data.get(name)?.as_str()),
        };
        match detail.filter(|detail| *detail != self.message) {
            Some(detail) => format!("{}: {detail}", self.message),
            None => self.message.clone(),
        }
    }
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn response(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The answer to `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Initialized {
    pub protocol_version: Value,
    #[serde(deserialize_with = "or_default")]
    pub agent_capabilities: Capabilities,
    #[serde(deserialize_with = "or_default")]
    pub auth_methods: Vec<AuthMethod>,
}

/// What an agent can do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Capabilities {
    /// Whether it has `session/load`.
    #[serde(deserialize_with = "or_default")]
    pub load_session: bool,
    #[serde(deserialize_with = "or_default")]
    pub session_capabilities: SessionCapabilities,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SessionCapabilities {
    /// Present if it has `session/resume`.
    pub resume: Option<Value>,
}

/// A way to sign in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuthMethod {
    pub id: String,
}

/// `session/update`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionNotification {
    #[serde(default)]
    pub session_id: String,
    pub update: Update,
}

/// What happened in the agent's session.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(crate) enum Update {
    /// Text of the answer.
    AgentMessageChunk {
        #[serde(default)]
        content: Content,
    },
    /// Text of its reasoning.
    AgentThoughtChunk {
        #[serde(default)]
        content: Content,
    },
    /// It began to use a tool.
    #[serde(rename = "tool_call")]
    ToolBegins(ToolCallFields),
    /// More of a tool that it uses.
    #[serde(rename = "tool_call_update")]
    ToolContinues(ToolCallFields),
    #[serde(other)]
    Other,
}

/// A block of content; only its text matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Content {
    pub text: Option<String>,
    /// Of a link.
    pub uri: Option<String>,
}

impl Content {
    pub(crate) fn into_text(self) -> Option<String> {
        self.text.or(self.uri)
    }
}

/// A tool that the agent uses or wants to use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ToolCallFields {
    pub tool_call_id: String,
    pub title: Option<String>,
    /// The name for programs, which newer agents send.
    pub name: Option<String>,
    pub kind: Option<ToolKind>,
    pub status: Option<ToolStatus>,
    pub content: Option<Vec<Value>>,
    pub locations: Option<Vec<Value>>,
    pub raw_input: Value,
}

/// What a tool of the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    #[serde(other)]
    Other,
}

/// How far a tool of the agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolStatus {
    Completed,
    Failed,
    #[serde(other)]
    Other,
}

/// The answer to `session/prompt`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptResponse {
    pub stop_reason: StopReason,
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// The reason why an agent stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopReason {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
    #[serde(other)]
    Other,
}

/// Tokens of a prompt, where an agent reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Usage {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cached_read_tokens: Option<u64>,
    pub cached_write_tokens: Option<u64>,
    pub thought_tokens: Option<u64>,
}

/// `session/request_permission`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PermissionRequest {
    #[serde(default)]
    pub tool_call: ToolCallFields,
    #[serde(default)]
    pub options: Vec<PermissionOption>,
}

/// An answer that an agent takes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PermissionOption {
    pub option_id: String,
    pub kind: OptionKind,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    #[serde(other)]
    Other,
}

/// `terminal/create`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateTerminal {
    pub command: String,
    #[serde(default, deserialize_with = "or_default")]
    pub args: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub env: Vec<EnvVariable>,
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    #[serde(default)]
    pub output_byte_limit: Option<usize>,
}

/// A variable for a program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct EnvVariable {
    pub name: String,
    pub value: String,
}

/// The other `terminal/*` methods.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OfTerminal {
    pub terminal_id: String,
}

/// `fs/read_text_file`.
#[derive(Debug, Deserialize)]
pub(crate) struct ReadFile {
    pub path: String,
    /// From 1.
    #[serde(default)]
    pub line: Option<u64>,
    #[serde(default)]
    pub limit: Option<u64>,
}

/// `fs/write_text_file`.
#[derive(Debug, Deserialize)]
pub(crate) struct WriteFile {
    pub path: String,
    pub content: String,
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_update_is_none_and_not_an_error() {
        let read =
            |update: Value| serde_json::from_value::<SessionNotification>(json!({"sessionId": "s", "update": update}));
        let plan = read(json!({"sessionUpdate": "plan", "entries": []})).expect("a plan");
        assert!(matches!(plan.update, Update::Other));
        let image = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "", "mimeType": "a/b"}});
        let Update::AgentMessageChunk { content } = read(image).expect("an image").update else { panic!("no chunk") };
        assert_eq!(content.into_text(), None);
        assert!(read(json!({"no": "kind"})).is_err());
    }

    #[test]
    fn null_is_as_good_as_missing_in_an_introduction() {
        let read = |text: Value| serde_json::from_value::<Initialized>(text).expect("an introduction");
        let nulls = json!({"protocolVersion": 1, "agentCapabilities": null, "authMethods": null});
        assert!(read(nulls).auth_methods.is_empty());
        let inner = json!({"agentCapabilities": {"loadSession": null, "sessionCapabilities": null}});
        assert!(!read(inner).agent_capabilities.load_session);
        let said = json!({"agentCapabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}}}});
        let Capabilities { load_session, session_capabilities } = read(said).agent_capabilities;
        assert!(load_session && session_capabilities.resume.is_some());
    }

    #[test]
    fn an_error_tells_its_detail_once() {
        let of = |error: Value| serde_json::from_value::<RpcError>(error).expect("an error").text();
        assert_eq!(
            of(json!({"code": 1, "message": "Internal error", "data": {"details": "no key"}})),
            "Internal error: no key"
        );
        assert_eq!(of(json!({"code": 1, "message": "no", "data": "no"})), "no");
        assert_eq!(of(json!({"message": "no", "data": [1]})), "no");
    }
}
