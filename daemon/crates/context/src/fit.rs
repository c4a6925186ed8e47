//! Makes a conversation fit a number of tokens. The oldest turns go first, then the older tool output of the running turn, then the
//! ends of long arguments of its older calls; at last long outputs and questions lose their middle. A call is never separated from its
//! result, no call of the running turn is removed, and the end of the question stays.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use cohab_model_api::{AssistantMessage, JsonObject, Message, ModelRequest, ToolSpec};
use cohab_text::{
    cut::{cut_middle, head},
    tokens::estimate_tokens,
};
use serde_json::Value;

use super::{query_text::running_question, short_result};

/// Longer arguments lose their end, in bytes.
const LONG_ARGUMENT_BYTES: usize = 256;
/// Kept start of such an argument, in bytes: the model must recognize its own call.
const ARGUMENT_HEAD_BYTES: usize = 128;
/// Least kept part of a text that loses its middle, in bytes.
const MIN_KEPT_BYTES: usize = 2048;
/// Most tokens of the mark that replaces a middle.
const CUT_MARK_TOKENS: u64 = 16;
/// Estimate for one image: services take about as much for a screenshot.
const IMAGE_TOKENS: u64 = 1_600;
/// Messages whose estimates are remembered, on each thread: a question asks for those of the whole conversation several times.
const MAX_SIZES: usize = 16_384;

/// Rounds of cutting, since the kept parts may count more than the average.
const MAX_CUT_ROUNDS: usize = 4;

thread_local! {
    /// The estimates of messages, by their digests.
    static SIZES: RefCell<HashMap<u64, u64>> = RefCell::default();
}

/// The estimate of a whole request.
#[must_use]
pub fn request_tokens(request: &ModelRequest) -> u64 {
    fixed_tokens(request) + request.messages.iter().map(message_tokens).sum::<u64>()
}

/// Shortens a request to at most `budget_tokens` by the estimate, if possible, and returns its size.
pub fn fit_request(request: &mut ModelRequest, budget_tokens: u64) -> u64 {
    let fixed = fixed_tokens(request);
    fixed + fit(&mut request.messages, budget_tokens.saturating_sub(fixed))
}

fn fixed_tokens(request: &ModelRequest) -> u64 {
    estimate_tokens(&request.system) + request.tools.iter().map(spec_tokens).sum::<u64>()
}

/// The estimate of a tool's description.
#[must_use]
pub fn spec_tokens(tool: &ToolSpec) -> u64 {
    estimate_tokens(&tool.description) + estimate_tokens(&tool.parameters.to_string())
}

/// Shortens until the estimate is at most `budget_tokens`, or nothing removable is left. Returns the estimate.
pub fn fit(messages: &mut Vec<Message>, budget_tokens: u64) -> u64 {
    let mut sizes: Vec<u64> = messages.iter().map(message_tokens).collect();
    let mut total: u64 = sizes.iter().sum();
    let is_user = |message: &Message| matches!(message, Message::User { .. });
    let mut question = running_question(messages).unwrap_or_default();
    while total > budget_tokens && question > 0 {
        let turns = messages[1..question].iter().position(is_user);
        let next_turn = turns.map_or(question, |index| index + 1);
        question -= next_turn;
        messages.drain(..next_turn);
        total -= sizes.drain(..next_turn).sum::<u64>();
    }
    for omit in [shorten_results, cut_arguments] {
        let older = messages.len().saturating_sub(1);
        for (message, size) in messages.iter_mut().zip(&mut sizes).take(older) {
            if total <= budget_tokens {
                return total;
            }
            omit(message);
            let smaller = message_tokens(message);
            total = total - *size + smaller;
            *size = smaller;
        }
    }
    for _ in 0..MAX_CUT_ROUNDS {
        if total <= budget_tokens {
            break;
        }
        cut_longest(messages, total - budget_tokens);
        total = messages.iter().map(message_tokens).sum();
    }
    total
}

fn shorten_results(message: &mut Message) {
    short_result::shorten(message);
}

fn cut_arguments(message: &mut Message) {
    let Message::Assistant(message) = message else { return };
    let mut has_changed = false;
    for args in message.tool_calls.iter_mut().filter_map(|call| call.args.as_mut().ok()) {
        // The arguments may be shared: a long text is not copied just to be cut.
        if args.values().any(is_long) {
            *args = Arc::new(args.iter().map(|(name, value)| (name.clone(), cut_argument(value))).collect());
            has_changed = true;
        }
    }
    if has_changed {
        // The provider's data holds the arguments, too; and signed data must not go back changed.
        message.provider_data = None;
    }
}

fn is_long(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() > LONG_ARGUMENT_BYTES)
}

fn cut_argument(value: &Value) -> Value {
    match value.as_str().filter(|_| is_long(value)) {
        Some(text) => {
            let start = head(text, ARGUMENT_HEAD_BYTES);
            format!("{start}… [{} more bytes left out]", text.len() - start.len()).into()
        }
        None => value.clone(),
    }
}

/// Removes about `excess_tokens` from the middle of the longest texts.
fn cut_longest(messages: &mut [Message], mut excess_tokens: u64) {
    let mut texts: Vec<(u64, &mut String)> = messages
        .iter_mut()
        .flat_map(|message| match message {
            Message::User { text, .. } => vec![text],
            Message::ToolResults(results) => results.iter_mut().map(|result| &mut result.content).collect(),
            Message::Assistant(_) => Vec::new(),
        })
        .filter(|text| text.len() > MIN_KEPT_BYTES)
        .map(|text| (estimate_tokens(text), text))
        .collect();
    texts.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
    for (tokens, text) in texts {
        if excess_tokens == 0 {
            return;
        }
        let share = tokens.saturating_sub(excess_tokens + CUT_MARK_TOKENS) as f64 / tokens as f64;
        let kept_bytes = ((text.len() as f64 * share) as usize).max(MIN_KEPT_BYTES);
        *text = cut_middle(text, kept_bytes);
        excess_tokens = excess_tokens.saturating_sub(tokens.saturating_sub(estimate_tokens(text)));
    }
}

/// The estimate of one message.
#[must_use]
pub fn message_tokens(message: &Message) -> u64 {
    SIZES.with_borrow_mut(|sizes| {
        if sizes.len() >= MAX_SIZES {
            sizes.clear();
        }
        *sizes.entry(message.digest()).or_insert_with(|| estimated(message))
    })
}

fn estimated(message: &Message) -> u64 {
    match message {
        Message::User { text, images } => estimate_tokens(text) + IMAGE_TOKENS * images.len() as u64,
        Message::Assistant(message) => assistant_tokens(message),
        Message::ToolResults(results) => results.iter().map(|result| estimate_tokens(&result.content)).sum(),
    }
}

fn assistant_tokens(message: &AssistantMessage) -> u64 {
    let own_form = message.provider_data.as_ref().map_or(0, |data| estimate_tokens(&data.json.to_string()));
    let calls = message.tool_calls.iter().map(|call| match &call.args {
        Ok(args) => arguments_tokens(args),
        Err(broken) => estimate_tokens(&broken.raw),
    });
    own_form.max(estimate_tokens(&message.text) + calls.sum::<u64>())
}

fn arguments_tokens(args: &JsonObject) -> u64 {
    let value_tokens =
        |value: &Value| value.as_str().map_or_else(|| estimate_tokens(&value.to_string()), estimate_tokens);
    args.iter().map(|(name, value)| estimate_tokens(name) + value_tokens(value)).sum()
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
