//! The sliding strategy drops the middle of a conversation.

use async_trait::async_trait;
use cohab_model_api::Message;
use cohab_text::{cut::cut_middle, tokens::estimate_tokens};

use super::{Compactor, Shortened, block_tokens};
use crate::{
    elision::{Gap, Target},
    fit::fit,
};

/// Replaces dropped messages.
const LEFT_OUT: &str =
    "[Messages before this were left out to make room. What they said is not known here: ask, or look again.]";
/// Fewest bytes of a summary's text per estimated token.
const BYTES_PER_TOKEN: u64 = 2;

/// Keeps the first question with its answer and the newest messages, and notes the gap between them.
pub struct Sliding;

/// The text that replaces dropped messages: the earlier replacement text, and a note that more is gone.
pub(super) fn note(gap: &Gap, target: Target) -> String {
    let Some(earlier) = gap.earlier() else { return LEFT_OUT.to_owned() };
    if earlier.contains(LEFT_OUT) {
        return earlier.to_owned();
    }
    let room = block_tokens(target).saturating_sub(estimate_tokens(LEFT_OUT)) * BYTES_PER_TOKEN;
    format!("{}\n{LEFT_OUT}", cut_middle(earlier, usize::try_from(room).unwrap_or(usize::MAX)))
}

#[async_trait]
impl Compactor for Sliding {
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened {
        let mut shortened = Shortened { messages: messages.to_vec(), ..Shortened::default() };
        if let Some(gap) = Gap::find(messages, target, block_tokens(target), true) {
            let note = note(&gap, target);
            shortened.shortened = gap.shortened;
            shortened.messages = gap.close(&note);
        }
        fit(&mut shortened.messages, target.tokens);
        shortened.dropped = messages.len() - shortened.messages.len();
        shortened
    }
}
