//! What the agent needs from the world: traits and the neutral types they speak. No provider, tool, store or wire is named
//! here or anywhere in `agent/`.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_secrets::PersonalData;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::agent::runner::CommandRunner;

pub use super::{
    consent::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Lasts},
    usage::{ModelService, Overflow, TokenUsage},
};

/// A JSON object.
pub type JsonObject = Map<String, Value>;

// --- conversation -----------------------------------------------------------------------------------------------------

/// One message of a conversation, independent of any provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// From the user, with the context that was added to it.
    User {
        /// The text as the model gets it.
        text: String,
    },
    /// From the model.
    Assistant(AssistantMessage),
    /// The results of all tool calls of the assistant message before it, in the order of the calls.
    ToolResults(Vec<ToolResult>),
}

/// What the model said in one answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Its text.
    pub text: String,
    /// Its tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The message verbatim in the provider's own form, to be sent back unchanged to the same wire and model.
    pub provider_data: Option<ProviderData>,
}

/// A provider's own form of an assistant message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderData {
    /// Name of the wire that produced it, as in `ModelInfo::wire`.
    pub wire: String,
    /// Host and port of the service that produced it.
    pub host: String,
    /// Model that produced it.
    pub model: String,
    /// The message.
    pub json: Value,
}

/// A request of the model to use a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, or one made for it; unique in the conversation.
    pub id: String,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// Strictly parsed arguments, or what is wrong with them. Shared by all that hold the call: they may be megabytes.
    pub args: Result<Arc<JsonObject>, BrokenArguments>,
}

/// Arguments that are no JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenArguments {
    /// As received.
    pub raw: String,
    /// The parser's complaint, for the model.
    pub error: String,
}

/// The answer to a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the call.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Text for the model.
    pub content: String,
    /// Whether the tool failed or was refused.
    pub is_error: bool,
}

// --- model ------------------------------------------------------------------------------------------------------------

/// Answers requests with a stream of events.
pub trait ModelProvider: Send + Sync {
    /// Which model answers.
    fn info(&self) -> ModelInfo;

    /// Where it runs and how much it takes.
    fn service(&self) -> ModelService {
        ModelService::default()
    }

    /// Sends a request. Events come in order, exactly one terminal event (`Stop`, `Failed`, `Incomplete`) comes last. Dropping
    /// the stream cancels the request. Retries happen inside and show as `Retrying`.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent>;
}

/// Which model answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name of the wire; `offline` or `scripted` where there is none.
    pub wire: String,
    /// Model name as sent.
    pub model: String,
    /// Where the choice came from, for people.
    pub origin: String,
    /// True for the assistant without a language model.
    pub is_offline: bool,
}

/// One request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The system prompt: stable bytes, no time, no cwd.
    pub system: String,
    /// The conversation; ends with `User` or `ToolResults`.
    pub messages: Vec<Message>,
    /// Tools on offer, sorted by name.
    pub tools: Vec<ToolSpec>,
    /// Whether the model may call tools now. When not, the specs are still sent (a history with calls needs them).
    pub allow_tools: bool,
    /// Personal data that does not leave with it.
    pub withheld: PersonalData,
}

impl ModelRequest {
    /// A request of these messages alone: without a system prompt, without tools, with nothing withheld.
    #[must_use]
    pub fn of(messages: Vec<Message>) -> Self {
        let withheld = PersonalData::default();
        Self { system: String::new(), messages, tools: Vec::new(), allow_tools: true, withheld }
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of its arguments, an object.
    pub parameters: Value,
}

/// One event of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More text.
    TextDelta(String),
    /// More visible reasoning.
    ReasoningDelta(String),
    /// More text of a refusal.
    RefusalDelta(String),
    /// A tool call is complete. Never executed before `Stop`.
    ToolCallDone(ToolCall),
    /// Tokens so far; per field the last value wins, never add up.
    Usage(TokenUsage),
    /// Something the user should know, one sentence. The answer goes on.
    Notice(String),
    /// The request failed before anything was shown, or what was shown is void (`discard_shown`), and is repeated.
    Retrying {
        /// Why, one sentence.
        reason: String,
        /// Wait before the next try.
        after: Duration,
        /// Whether text was already delivered that the next try will deliver again.
        discard_shown: bool,
    },
    /// Terminal: the answer is complete by the wire's own mark.
    Stop {
        /// What the stop means.
        class: StopClass,
        /// The message in the provider's own form.
        provider_data: Option<ProviderData>,
    },
    /// Terminal: the provider refused or failed.
    Failed(ProviderError),
    /// Terminal: the stream ended without the wire's mark. Text is kept, calls are void.
    Incomplete {
        /// What happened, one sentence.
        reason: String,
    },
}

/// Classes of stop reasons. A turn has tool calls if calls arrived, whatever this says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopClass {
    /// The answer is done.
    End,
    /// Tools are called.
    Tool,
    /// The length limit cut it.
    Length,
    /// The model refused, or a filter stopped it.
    Refusal,
    /// The service paused the answer, and the provider has continued it as often as it does.
    Pause,
}

/// A provider's failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// Its family.
    pub kind: ProviderErrorKind,
    /// One sentence for the user: provider, host and cause; never a key, never JSON.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
    /// The provider's own wish.
    pub retry_after: Option<Duration>,
    /// What it said of sizes, when the conversation is too long for the model.
    pub overflow: Option<Overflow>,
}

/// Families of provider failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The model wrote a call that the provider rejected: show the model, one retry.
    ToolUseFailed,
    /// The conversation is too long for the model.
    ContextOverflow,
    /// No money.
    Billing,
    /// Key missing or wrong.
    Auth,
    /// No such model, or a wrong base URL.
    ModelNotFound,
    /// Too many requests.
    RateLimit,
    /// The service is overloaded.
    Overloaded,
    /// The service failed.
    Server,
    /// No connection.
    Network,
    /// A time limit passed; the message names which.
    Timeout,
    /// The request is wrong.
    InvalidRequest,
    /// The answer breaks the protocol.
    Protocol,
    /// No text, no call.
    EmptyAnswer,
}

impl ProviderErrorKind {
    /// Whether another try may help.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded | Self::Server | Self::Network)
    }

    /// Its name for programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ToolUseFailed => "tool_use_failed",
            Self::ContextOverflow => "context_overflow",
            Self::Billing => "billing",
            Self::Auth => "auth",
            Self::ModelNotFound => "model_not_found",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::InvalidRequest => "invalid_request",
            Self::Protocol => "protocol",
            Self::EmptyAnswer => "empty_answer",
        }
    }
}

// --- tools ------------------------------------------------------------------------------------------------------------

/// Something the model can use. One file each in `tool/`.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// What this call would do, so that the gate can judge and show it before it happens. Reads nothing but what the preview
    /// needs (an edit's diff).
    ///
    /// # Errors
    /// Text for the model, when the arguments make no sense.
    fn intent(&self, args: &JsonObject, cwd: &std::path::Path) -> Result<Intent, String>;

    /// Does it. `Err` is text for the model, too; neither ends the turn. Arguments passed `intent` before.
    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String>;
}

/// What a tool call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its main argument in one line, for the step line: the command, the path, the pattern.
    pub title: String,
    /// What it touches.
    pub effect: Effect,
}

/// What a tool call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Runs a shell line.
    RunCommand {
        /// The exact text. Stands in argument `command`. Shared: it may be megabytes.
        command: Arc<str>,
    },
    /// Reads a file or below a folder.
    Read {
        /// Absolute.
        path: PathBuf,
    },
    /// Writes a file.
    Write {
        /// Absolute.
        path: PathBuf,
        /// Unified diff.
        diff: Arc<str>,
    },
    /// Nothing but the session's own notes, or texts that the user keeps for the assistant.
    Internal,
}

/// What a tool may use while it runs.
pub struct ToolContext<'a> {
    /// The shell: live where there is one, else isolated.
    pub runner: &'a dyn CommandRunner,
    /// Consent for exactly this call, if it was needed; goes to the client with the command.
    pub approval: Option<String>,
    /// `PlannedCall::run_id`.
    pub run_id: String,
    /// Fires when the turn is cancelled.
    pub cancel: &'a CancellationToken,
}

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// Text for the model.
    pub content: String,
    /// A few words for the step line: `12 lines`, `exit 1`, `3 files`.
    pub summary: String,
    /// Whether the step is shown as failed (a command with exit status != 0 is still a result).
    pub is_failure: bool,
}

// --- the user ---------------------------------------------------------------------------------------------------------

/// Takes what happens in a turn, in order. Never waits longer than its bounded queue is full.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Delivers one event.
    async fn emit(&self, event: TurnEvent);
}

/// What happens in a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    /// Text of the answer.
    Text(String),
    /// Visible reasoning.
    Reasoning(String),
    /// The text since the last step is void.
    Reset,
    /// A step begins.
    StepStarted {
        /// Number in the turn, from 0.
        step: u32,
        /// What it is.
        activity: Activity,
    },
    /// A step is over.
    StepFinished {
        /// Number in the turn.
        step: u32,
        /// How it went.
        outcome: StepResult,
        /// A few words.
        summary: String,
        /// How long it took.
        elapsed: Duration,
    },
    /// What the turn took until now, after a model call that took anything.
    Spent {
        /// Summed over its model calls.
        usage: TokenUsage,
        /// Whether a call cost something that is not known, beside what is.
        is_cost_partial: bool,
    },
    /// Something to know.
    Notice(String),
    /// A request will be repeated.
    Retry {
        /// Why.
        reason: String,
        /// Wait before it.
        after: Duration,
    },
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Waits for the model `wire/model`.
    ModelCall {
        /// `wire/model`.
        model: String,
    },
    /// Runs a tool.
    ToolCall {
        /// Its name.
        tool: String,
        /// `Intent::title`, or a remark when the call cannot be run.
        title: String,
    },
    /// Makes the conversation shorter.
    Compaction,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepResult {
    /// As asked.
    Done,
    /// The tool or the model failed.
    Failed,
    /// The user or the policy said no.
    Refused,
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// Asks the person at the keyboard.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the answer. Nobody there, or a lost connection: `Refused`.
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer;

    /// Asks about several things at once; an answer each, in order. `CancelTurn` among them ends it.
    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        let mut answers = Vec::new();
        for question in questions {
            let answer = self.ask(question).await;
            let is_last = answer == ApprovalAnswer::CancelTurn;
            answers.push(answer);
            if is_last {
                break;
            }
        }
        answers
    }
}
