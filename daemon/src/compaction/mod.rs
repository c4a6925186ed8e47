//! Compaction shortens a conversation that outgrows its model, with one strategy per file; [`cohab_config::strategy::Strategy`] names
//! them. All strategies keep the messages that [`crate::context::gap`] keeps, and differ in the text that replaces the others. They do
//! not touch the system prompt and the tools, which are no part of a conversation.

mod sliding;
mod summarize;
mod summary;
mod truncate;

use async_trait::async_trait;

pub use self::{sliding::Sliding, summarize::Summarize, truncate::Truncate};
use cohab_model_api::Message;

use crate::context::{fit::message_tokens, gap::Target};

/// Most tokens of what stands for messages that were left out.
const BLOCK_TOKENS: u64 = 2_000;

/// A conversation after one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shortened {
    /// The conversation. It may be as it was.
    pub messages: Vec<Message>,
    /// Messages that went.
    pub dropped: usize,
    /// Results of the running turn that became shorter; all its calls stay.
    pub shortened: usize,
    /// What stands in their place, if a model wrote it.
    pub summary: Option<String>,
    /// Why no model wrote it although one should have, a few words.
    pub trouble: Option<String>,
}

/// Shortens conversations.
#[async_trait]
pub trait Compactor: Send + Sync {
    /// Shortens `messages` to `target`, if that can be. Order stays, no call is parted from its result, and what is short enough
    /// comes back as it is. Never fails.
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened;
}

/// The estimate of a conversation.
#[must_use]
pub fn tokens(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

/// Tokens for what stands in the place of what goes.
fn block_tokens(target: Target) -> u64 {
    BLOCK_TOKENS.min(target.tokens / 4)
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
