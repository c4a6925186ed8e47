//! The methods of `cohab rpc`, as types: what a request may say, and what it is answered. The JSON Schema is made of them.

use cohab_protocol::ApprovalMode;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::{EventEndReason, EventError, EventQuestion, EventUsage, JsonEvent};

/// The version of these methods. It is raised when one changes so that an older program would misread it.
pub const VERSION: u32 = 1;

/// A request of the other program. A request is answered when it is done: `questions/ask` at the end of its turn.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "method", content = "params")]
#[schemars(rename = "Call")]
pub enum RpcCall {
    /// Says who answers. Not needed before other requests.
    #[serde(rename = "initialize")]
    Initialize(InitializeParams),
    /// Opens a session: a new conversation, or an older one.
    #[serde(rename = "sessions/open")]
    SessionsOpen(OpenParams),
    /// Closes a session. Its conversation stays.
    #[serde(rename = "sessions/close")]
    SessionsClose(SessionParams),
    /// Forgets the conversation of a session.
    #[serde(rename = "sessions/clear")]
    SessionsClear(SessionParams),
    /// Forgets the last turn of a session, question and answer.
    #[serde(rename = "sessions/rewind")]
    SessionsRewind(SessionParams),
    /// Makes the conversation of a session shorter.
    #[serde(rename = "sessions/compact")]
    SessionsCompact(SessionParams),
    /// Tells what a session has taken.
    #[serde(rename = "sessions/usage")]
    SessionsUsage(SessionParams),
    /// Changes what a session may do unasked.
    #[serde(rename = "sessions/set_approval")]
    SessionsSetApproval(ApprovalParams),
    /// Asks a question. Its events come as notifications `event`, its questions for consent as requests `approval/ask`.
    #[serde(rename = "questions/ask")]
    QuestionsAsk(AskParams),
    /// Adds words to the question that is being answered.
    #[serde(rename = "questions/add")]
    QuestionsAdd(AddParams),
    /// Cancels the question that is being answered.
    #[serde(rename = "questions/cancel")]
    QuestionsCancel(SessionParams),
}

/// Names of all methods.
pub const METHODS: &[&str] = &[
    "initialize",
    "sessions/open",
    "sessions/close",
    "sessions/clear",
    "sessions/rewind",
    "sessions/compact",
    "sessions/usage",
    "sessions/set_approval",
    "questions/ask",
    "questions/add",
    "questions/cancel",
];

/// Parameters of `initialize`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InitializeParams {
    /// Who asks, for logs.
    pub client: Option<String>,
}

/// Parameters of `sessions/open`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenParams {
    /// The folder of its questions; that of `cohab rpc` without.
    pub cwd: Option<String>,
    /// The conversation to continue, by the start of its id.
    pub resume: Option<String>,
    /// What may be done unasked; by the environment and the settings without.
    pub approval: Option<Approval>,
    /// The profile of the settings that chooses the model.
    pub profile: Option<String>,
    /// The model as its service calls it.
    pub model: Option<String>,
}

/// What may be done unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// What is plainly read-only runs, the rest is refused.
    ReadOnly,
    /// What is not plainly read-only is asked.
    Ask,
    /// Danger is asked, and what is written outside the folder.
    Auto,
    /// Everything runs.
    All,
}

impl From<Approval> for ApprovalMode {
    fn from(approval: Approval) -> Self {
        match approval {
            Approval::ReadOnly => Self::ReadOnly,
            Approval::Ask => Self::Ask,
            Approval::Auto => Self::Auto,
            Approval::All => Self::All,
        }
    }
}

impl From<ApprovalMode> for Approval {
    fn from(mode: ApprovalMode) -> Self {
        match mode {
            ApprovalMode::ReadOnly => Self::ReadOnly,
            ApprovalMode::Ask => Self::Ask,
            ApprovalMode::Auto => Self::Auto,
            ApprovalMode::All => Self::All,
        }
    }
}

/// Parameters of requests about a session.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionParams {
    /// The session, as `sessions/open` named it.
    pub session: String,
}

/// Parameters of `sessions/set_approval`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalParams {
    /// The session.
    pub session: String,
    /// What it may do unasked from now on.
    pub approval: Approval,
}

/// Parameters of `questions/ask`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskParams {
    /// The session.
    pub session: String,
    /// The question.
    pub text: String,
    /// More for the model to read, such as a file or an output.
    #[serde(default)]
    pub piped_input: Option<String>,
    /// The folder, from this question on.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Whether nothing of it is to be stored.
    #[serde(default)]
    pub private: bool,
}

/// Parameters of `questions/add`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The session.
    pub session: String,
    /// The words.
    pub text: String,
}

/// Result of `initialize`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitializeResult {
    /// [`VERSION`].
    pub version: u32,
    /// The release of cohab.
    pub cohab: String,
    /// Names of all methods.
    pub methods: Vec<String>,
}

/// Result of `sessions/open`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenResult {
    /// The session, for other requests.
    pub session: String,
    /// The daemon's name of it.
    pub key: String,
    /// The model that answers, as `provider/model`.
    pub model: String,
    /// Whether the built-in assistant answers, without a language model.
    pub is_offline: bool,
    /// What it may do unasked.
    pub approval: Approval,
    /// The title of the older conversation that it continues.
    pub title: Option<String>,
}

/// Result of `sessions/rewind`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RewindResult {
    /// The question that is forgotten; `null` if there was none.
    pub question: Option<String>,
}

/// Result of `sessions/compact`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct CompactResult {
    /// Estimated tokens before.
    pub before_tokens: u64,
    /// Estimated tokens after.
    pub after_tokens: u64,
}

/// Result of `questions/ask`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AskResult {
    /// The turn.
    pub turn: String,
    /// Why it ended.
    pub reason: EventEndReason,
    /// The model's last message: markdown.
    pub answer: String,
    /// Whether the answer is longer than a result may be; the events have had all of it.
    pub is_answer_cut: bool,
    /// What it took.
    pub usage: EventUsage,
    /// What went wrong.
    pub error: Option<EventError>,
}

/// The notification `event`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EventParams {
    /// The session.
    pub session: String,
    /// What happened.
    pub event: JsonEvent,
}

/// The request `approval/ask` to the other program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApprovalAsk {
    /// The session.
    pub session: String,
    /// The turn that waits.
    pub turn: String,
    /// What is asked.
    #[serde(flatten)]
    pub question: EventQuestion,
    /// Whether only `once` counts, and not `session`.
    pub is_each_time: bool,
}

/// The answer to `approval/ask`. Anything else, an error included, is a refusal.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// Do it, this once.
    Once,
    /// Do it, and the same again as long as the session lives.
    Session,
    /// Run this command, or send this value, instead.
    Edited {
        /// The command or the value.
        command: String,
    },
    /// Do not do it. The model is told and may continue.
    Refused {
        /// A note to the model.
        #[serde(default)]
        note: String,
    },
    /// Do not do it, and end the turn.
    Cancel,
}

/// The JSON Schema of everything that is said: `calls` to cohab with the `results` by method, `event` notifications, and the request
/// `approval/ask` of cohab with its answer.
#[must_use]
pub fn schema() -> Value {
    /// Gathers the types under one root, so that their definitions are shared.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is wanted")]
    #[schemars(title = "cohab rpc")]
    struct Rpc {
        /// Requests: method and parameters.
        calls: RpcCall,
        /// Results by method; of other methods it is `null`.
        results: Results,
        /// Parameters of the notification `event`.
        event: EventParams,
        /// Parameters of the request `approval/ask`.
        approval: ApprovalAsk,
        /// Its answer.
        approval_answer: ApprovalAnswer,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is wanted")]
    struct Results {
        #[schemars(rename = "initialize")]
        initialize: InitializeResult,
        #[schemars(rename = "sessions/open")]
        open: OpenResult,
        #[schemars(rename = "sessions/rewind")]
        rewind: RewindResult,
        #[schemars(rename = "sessions/compact")]
        compact: CompactResult,
        #[schemars(rename = "sessions/usage")]
        usage: EventUsage,
        #[schemars(rename = "questions/ask")]
        ask: AskResult,
    }
    let schema: Schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Rpc>();
    let mut schema = schema.to_value();
    if let Some(root) = schema.as_object_mut() {
        root.insert("version".into(), json!(VERSION));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_listed() {
        let schema = schema();
        let calls = schema["$defs"]["Call"]["oneOf"].as_array().unwrap();
        let named: Vec<&str> =
            calls.iter().map(|call| call["properties"]["method"]["const"].as_str().unwrap()).collect();
        assert_eq!(named, METHODS);
    }

    #[test]
    fn the_schema_changes_only_on_purpose() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&schema()).unwrap());
    }
}
