//! Splits a conversation into turns: each question, and the results of the assistant's own calls since. Calls of another model are left
//! out, since plans cannot use them.

use cohab_model_api::{JsonObject, Message, ToolResult};

use super::context::Question;

/// The start of the id of every call that the assistant makes.
pub(super) const ID_PREFIX: &str = "offline_";

/// A call of the assistant and its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange<'a> {
    /// The arguments as requested.
    pub(super) args: &'a JsonObject,
    /// The tool's result.
    pub(super) result: &'a ToolResult,
}

/// A question and its exchanges.
#[derive(Debug)]
pub(super) struct PastTurn<'a> {
    /// The question.
    pub(super) question: Question,
    /// Calls and results, oldest first.
    pub(super) exchanges: Vec<Exchange<'a>>,
}

/// The last `count` turns, oldest first.
pub(super) fn last_turns(messages: &[Message], count: usize) -> Vec<PastTurn<'_>> {
    let mut starts: Vec<(usize, &str)> = messages
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(index, message)| match message {
            Message::User { text, .. } => Some((index, text.as_str())),
            _ => None,
        })
        .take(count)
        .collect();
    starts.reverse();
    let ends = starts.iter().skip(1).map(|(index, _)| *index).chain([messages.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((start, text), end)| PastTurn {
            question: Question::parse(text),
            exchanges: exchanges(&messages[*start..end]),
        })
        .collect()
}

fn exchanges(messages: &[Message]) -> Vec<Exchange<'_>> {
    let results: Vec<&ToolResult> = messages
        .iter()
        .flat_map(|message| if let Message::ToolResults(results) = message { results.as_slice() } else { &[] })
        .collect();
    let calls = messages
        .iter()
        .flat_map(|message| if let Message::Assistant(said) = message { said.tool_calls.as_slice() } else { &[] });
    calls
        .filter(|call| call.id.starts_with(ID_PREFIX))
        .filter_map(|call| {
            let result = results.iter().find(|result| result.call_id == call.id)?;
            Some(Exchange { args: call.args.as_ref().ok()?, result })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use cohab_model_api::{AssistantMessage, ToolCall};

    use super::*;

    fn exchange(id: &str) -> [Message; 2] {
        let call = ToolCall { id: id.into(), name: "bash".into(), args: Ok(JsonObject::new().into()) };
        let result = ToolResult { call_id: id.into(), tool: "bash".into(), content: id.into(), is_error: false };
        let said = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        [Message::Assistant(said), Message::ToolResults(vec![result])]
    }

    #[test]
    fn turns_hold_their_own_calls_and_none_of_another_model() {
        let user = |text: &str| [Message::user(text.into())];
        let messages: Vec<Message> = [
            user("one").to_vec(),
            exchange("offline_0").to_vec(),
            user("two").to_vec(),
            exchange("call_9").to_vec(),
            exchange("offline_1").to_vec(),
        ]
        .concat();
        let turns = last_turns(&messages, 5);
        let told: Vec<(&str, Vec<&str>)> = turns
            .iter()
            .map(|turn| {
                let results = turn.exchanges.iter().map(|exchange| exchange.result.content.as_str());
                (turn.question.text.as_str(), results.collect())
            })
            .collect();
        assert_eq!(told, [("one", vec!["offline_0"]), ("two", vec!["offline_1"])]);
        assert_eq!(last_turns(&messages, 1).len(), 1);
        assert!(last_turns(&[], 1).is_empty());
    }
}
