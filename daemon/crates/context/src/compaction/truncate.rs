//! The truncating strategy drops the oldest messages.

use async_trait::async_trait;
use cohab_model_api::Message;

use super::{Compactor, Shortened};
use crate::{
    elision::{Gap, Target},
    fit::fit,
};

/// Drops the oldest messages without a note.
pub struct Truncate;

#[async_trait]
impl Compactor for Truncate {
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened {
        let mut shortened = Shortened { messages: messages.to_vec(), ..Shortened::default() };
        if let Some(gap) = Gap::find(messages, target, 0, false) {
            shortened.shortened = gap.shortened;
            shortened.messages = gap.close("");
        }
        fit(&mut shortened.messages, target.tokens);
        shortened.dropped = messages.len() - shortened.messages.len();
        shortened
    }
}
