//! What the next question would send to the model.

use serde::{Deserialize, Serialize};

/// The parts that the model would be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextReport {
    /// Sections in the order sent.
    pub sections: Vec<ContextSection>,
    /// The use of the model's context; `None` without a model.
    pub room: Option<ContextRoom>,
}

/// The use of a model's context, in its own tokens as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRoom {
    /// The whole context.
    pub max: u64,
    /// Tokens sent in addition to the conversation: system prompt and tools.
    pub system: u64,
    /// The conversation.
    pub messages: u64,
    /// Tokens kept free for the answer, and for errors of the estimate.
    pub response_reserve: u64,
    /// Tokens sent, together.
    pub total: u64,
    /// Tokens that may be sent in addition.
    pub available: u64,
    /// The share of the whole context that is sent. More than 100 if the request is larger.
    pub percent: u64,
    /// Whether what is sent leaves the reserve free.
    pub fits: bool,
}

/// One part of what the model would be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSection {
    /// A name of one or a few words.
    pub name: String,
    /// Estimated tokens.
    pub tokens: u64,
}
