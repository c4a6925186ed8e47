//! Shortens a conversation because the user wants it shorter. Pure.

use super::fit::{fit, message_tokens};
use crate::{agent::port::Message, safety::cut_middle};

/// Of each older result of a tool so much stays, half of it the head and half the tail, in bytes.
const KEPT_RESULT_BYTES: usize = 1024;
/// A conversation of at most this many tokens is short enough.
const SHORT_TOKENS: u64 = 2_000;

/// Shortens to at most half of what it was, or to what is short enough; at the price of old turns if need be. A call is never
/// parted from its result. Returns the estimated tokens before and after.
pub fn compact(messages: &mut Vec<Message>) -> (u64, u64) {
    let tokens = |messages: &[Message]| messages.iter().map(message_tokens).sum::<u64>();
    let before = tokens(messages);
    let last_turn = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
    messages.iter_mut().take(last_turn).for_each(shorten);
    let target = (before / 2).max(SHORT_TOKENS);
    fit(messages, target);
    (before, tokens(messages))
}

/// Takes the middle of long results out, and the thoughts that a service keeps in its own form.
fn shorten(message: &mut Message) {
    match message {
        Message::User { .. } => {}
        Message::Assistant(message) => message.provider_data = None,
        Message::ToolResults(results) => {
            for result in results.iter_mut().filter(|result| result.content.len() > KEPT_RESULT_BYTES) {
                result.content = cut_middle(&result.content, KEPT_RESULT_BYTES);
            }
        }
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
