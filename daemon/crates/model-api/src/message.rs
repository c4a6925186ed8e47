//! The messages of a conversation, independent of any provider.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::image::Image;

/// The content of a tool result whose call was refused because no client is attached. Approvers give it as their reason; the
/// built-in assistant adds a hint to results that contain it.
pub const NO_APPROVER: &str = "no client is attached to approve it";

/// A JSON object.
pub type JsonObject = Map<String, Value>;

/// One message of a conversation, independent of any provider.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// From the user, with the context that was added to it.
    User {
        /// The text in the form that the model gets.
        text: String,
        /// The images that it shows. They are not stored: after a restart of the daemon the text alone is left.
        #[serde(default, skip)]
        images: Vec<Image>,
    },
    /// From the model.
    Assistant(AssistantMessage),
    /// The results of all tool calls of the assistant message before it, in the order of the calls.
    ToolResults(Vec<ToolResult>),
}

impl Message {
    /// A message of the user without images.
    #[must_use]
    pub fn user(text: String) -> Self {
        Self::User { text, images: Vec::new() }
    }

    /// The images that it shows.
    #[must_use]
    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } => images,
            Self::Assistant(_) | Self::ToolResults(_) => &[],
        }
    }

    /// A number for its content: the same for equal messages, within one process.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// The content of one answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Hash, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Its text.
    pub text: String,
    /// Its tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The message verbatim in the provider's own form, sent back unchanged to the same wire and model.
    pub provider_data: Option<ProviderData>,
}

/// A provider's own form of an assistant message.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct ProviderData {
    /// Name of the wire that produced it, as in `ModelInfo::wire`.
    pub wire: String,
    /// Host and port of the service that produced it.
    pub host: String,
    /// Model that produced it.
    pub model: String,
    /// The message.
    pub json: Arc<Value>,
}

/// A request of the model to use a tool.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, or one made for it; unique in the conversation.
    pub id: String,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// Strictly parsed arguments, or their error. Shared, since they may be megabytes.
    pub args: Result<Arc<JsonObject>, BrokenArguments>,
}

/// Arguments that are not a JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BrokenArguments {
    /// As received.
    pub raw: String,
    /// The parser's complaint, for the model.
    pub error: String,
}

/// The answer to a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
