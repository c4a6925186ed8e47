//! The interface of a model: takes a request and returns a stream of events.

use std::time::Duration;

use cohab_secrets::PersonalData;
use futures::{future::BoxFuture, stream::BoxStream};
use serde_json::Value;

use super::{Message, ModelService, ProviderData, ProviderError, TokenUsage, ToolCall};

/// Answers requests with a stream of events.
pub trait ModelProvider: Send + Sync {
    /// Describes the model that answers.
    fn info(&self) -> ModelInfo;

    /// Describes the place where the model runs and its limits.
    fn service(&self) -> ModelService {
        ModelService::default()
    }

    /// Sends a request. Events come in order; exactly one terminal event (`Stop`, `Failed`, `Incomplete`) comes last. Dropping the stream
    /// cancels the request. Retries happen inside and appear as `Retrying`.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent>;
}

/// The model that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name of the wire; `offline` or `scripted` without one.
    pub wire: String,
    /// Model name as sent.
    pub model: String,
    /// Origin of the choice, for people.
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
    /// Whether the model may call tools now. If not, the specs are still sent (a history with calls needs them).
    pub allow_tools: bool,
    /// Personal data that is removed before sending.
    pub withheld: PersonalData,
}

impl ModelRequest {
    /// Makes a request of these messages alone: without a system prompt, without tools, with nothing withheld.
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
    /// Purpose of the tool and when to use it.
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
    /// Tokens so far. Per field the last value wins; values are not added up.
    Usage(TokenUsage),
    /// A notice for the user, one sentence. The answer continues.
    Notice(String),
    /// The request failed before anything was shown, or the shown text is void (`discard_shown`), and is repeated.
    Retrying {
        /// The reason, one sentence.
        reason: String,
        /// Wait before the next attempt.
        after: Duration,
        /// Whether text was already delivered that the next attempt will deliver again.
        discard_shown: bool,
    },
    /// Terminal: the answer is complete by the wire's own mark.
    Stop {
        /// Class of the stop.
        class: StopClass,
        /// The message in the provider's own form.
        provider_data: Option<ProviderData>,
    },
    /// Terminal: the provider refused or failed.
    Failed(ProviderError),
    /// Terminal: the stream ended without the wire's mark. Text is kept, calls are void.
    Incomplete {
        /// The cause, one sentence.
        reason: String,
    },
}

/// Classes of stop reasons. A turn has tool calls if calls arrived, for any class.
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
    /// The service paused the answer, and the provider has continued it as often as it may.
    Pause,
}

/// Lets another model take over when the one that answers gets nowhere.
pub trait Escalate: Send + Sync {
    /// Lets a model take over that is trusted with more, if there is one: the name of the model before, and of the one after.
    fn escalate(&self) -> BoxFuture<'_, Option<(String, String)>>;
}
