//! Makes a request fit the model's context: the oldest turns go first, then the older tool output of the running turn. A call
//! is never parted from its result.

use async_trait::async_trait;

use crate::{
    agent::{
        Middleware,
        port::{Message, ModelRequest},
    },
    context::tokens::estimate_tokens,
};

/// Share of the context kept free for the answer and for errors of the estimate, in percent.
const RESERVE_PERCENT: u64 = 20;
/// Tool output shorter than this is never left out, in bytes.
const MIN_OMITTED_BYTES: usize = 256;

/// Fits requests into a context of a known size.
pub struct Window {
    budget_tokens: u64,
}

impl Window {
    /// For a model with this context.
    #[must_use]
    pub fn new(context_window_tokens: u64) -> Self {
        Self { budget_tokens: context_window_tokens / 100 * (100 - RESERVE_PERCENT) }
    }
}

#[async_trait]
impl Middleware for Window {
    async fn before_model(&self, request: &mut ModelRequest) {
        let specs: u64 = request
            .tools
            .iter()
            .map(|tool| estimate_tokens(&tool.description) + estimate_tokens(&tool.parameters.to_string()))
            .sum();
        let fixed = specs + estimate_tokens(&request.system);
        fit(&mut request.messages, self.budget_tokens.saturating_sub(fixed));
    }
}

/// Drops what is oldest until the estimate is at most `budget_tokens`, or nothing is left that may go.
pub fn fit(messages: &mut Vec<Message>, budget_tokens: u64) {
    let mut sizes: Vec<u64> = messages.iter().map(message_tokens).collect();
    let mut total: u64 = sizes.iter().sum();
    let is_user = |message: &Message| matches!(message, Message::User { .. });
    while total > budget_tokens {
        let Some(next_turn) = messages.iter().skip(1).position(is_user).map(|index| index + 1) else { break };
        messages.drain(..next_turn);
        total -= sizes.drain(..next_turn).sum::<u64>();
    }
    let last = messages.len().saturating_sub(1);
    for (message, size) in messages.iter_mut().zip(sizes).take(last) {
        if total <= budget_tokens {
            return;
        }
        if let Message::ToolResults(results) = message {
            for result in results.iter_mut().filter(|result| result.content.len() > MIN_OMITTED_BYTES) {
                result.content = format!("[{} bytes of older output left out]", result.content.len());
            }
            total = total.saturating_sub(size) + message_tokens(message);
        }
    }
}

fn message_tokens(message: &Message) -> u64 {
    match message {
        Message::User { text } => estimate_tokens(text),
        Message::Assistant(message) => {
            let own_form = message.provider_data.as_ref().map_or(0, |data| estimate_tokens(&data.json.to_string()));
            let calls: u64 = message
                .tool_calls
                .iter()
                .map(|call| match &call.args {
                    Ok(args) => args.iter().map(|(name, value)| json_tokens(name, value)).sum(),
                    Err(broken) => estimate_tokens(&broken.raw),
                })
                .sum();
            own_form.max(estimate_tokens(&message.text) + calls)
        }
        Message::ToolResults(results) => results.iter().map(|result| estimate_tokens(&result.content)).sum(),
    }
}

fn json_tokens(name: &str, value: &serde_json::Value) -> u64 {
    estimate_tokens(name) + value.as_str().map_or_else(|| estimate_tokens(&value.to_string()), estimate_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::port::{AssistantMessage, ToolResult};

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn assistant(text: &str) -> Message {
        Message::Assistant(AssistantMessage { text: text.into(), ..AssistantMessage::default() })
    }

    fn output(bytes: usize) -> Message {
        let content = "word ".repeat(bytes / 5);
        Message::ToolResults(vec![ToolResult { call_id: "1".into(), tool: "bash".into(), content, is_error: false }])
    }

    #[test]
    fn a_conversation_that_fits_is_left_alone() {
        let mut messages = vec![user("one"), assistant("two"), user("three")];
        let before = messages.clone();
        fit(&mut messages, 1000);
        assert_eq!(messages, before);
    }

    #[test]
    fn the_oldest_turns_go_as_a_whole() {
        let long = "word ".repeat(500);
        let mut messages = vec![
            user(&long),
            assistant("a"),
            output(2500),
            assistant("b"),
            user("second"),
            assistant("c"),
            user("now"),
        ];
        fit(&mut messages, 100);
        assert_eq!(messages, vec![user("second"), assistant("c"), user("now")]);
    }

    #[test]
    fn older_output_of_the_running_turn_is_left_out_but_its_call_keeps_a_result() {
        let mut messages = vec![user("now"), assistant("a"), output(50_000), assistant("b"), output(500)];
        fit(&mut messages, 1000);
        assert_eq!(messages.len(), 5);
        let Message::ToolResults(results) = &messages[2] else { panic!("the results are gone") };
        assert_eq!(results[0].content, "[50000 bytes of older output left out]");
        assert_eq!(messages[4], output(500));
    }

    #[test]
    fn the_last_question_is_never_dropped() {
        let long = "word ".repeat(5000);
        let mut messages = vec![user("old"), assistant("x"), user(&long)];
        fit(&mut messages, 10);
        assert_eq!(messages, vec![user(&long)]);
    }
}
