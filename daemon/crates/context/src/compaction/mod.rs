//! Shortens a conversation that outgrows its model. Each strategy is a file; the settings name one of them.
//!
//! All of them keep what [`crate::elision`] keeps; they differ in what they put in the place of the rest. The system prompt and the
//! tools are no part of a conversation and are never touched.

mod sliding;
mod summarize;
mod summary;
mod truncate;

use async_trait::async_trait;

pub use self::{sliding::Sliding, summarize::Summarize, truncate::Truncate};
use cohab_model_api::Message;

use crate::{elision::Target, fit::message_tokens};

/// Most tokens of the block that replaces dropped messages.
const BLOCK_TOKENS: u64 = 2_000;

/// A shortened conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shortened {
    /// The conversation, possibly unchanged.
    pub messages: Vec<Message>,
    /// Number of dropped messages.
    pub dropped: usize,
    /// Number of shortened results in the running turn; all its calls stay.
    pub shortened: usize,
    /// The summary that replaces them, if a model wrote one.
    pub summary: Option<String>,
    /// The reason for a missing summary, in a few words.
    pub trouble: Option<String>,
}

/// Shortens conversations.
#[async_trait]
pub trait Compactor: Send + Sync {
    /// Shortens `messages` to `target`, if possible. The order stays, no call is separated from its result, and a conversation that is
    /// short enough is returned unchanged. Never fails.
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened;
}

/// The estimate of a conversation.
#[must_use]
pub fn tokens(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

/// Tokens for the block that replaces dropped messages.
fn block_tokens(target: Target) -> u64 {
    BLOCK_TOKENS.min(target.tokens / 4)
}

#[cfg(test)]
mod tests;
