//! Normalizes the conversation for all wires: neighbouring user messages are one, each call has exactly one result, nothing is empty.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cohab_model_api::{AssistantMessage, Image, Message, ToolResult};
use serde_json::Value;

use super::wire::Options;

/// Content for a call that never got a result; without a result the service refuses the whole conversation.
const NO_RESULT: &str = "cancelled: this call has no result";
/// Longest tool name that services accept.
const MAX_NAME_BYTES: usize = 64;

/// One message to send.
#[derive(Debug, PartialEq)]
pub(crate) enum HistoryEntry<'a> {
    /// From the user, never blank, with the images that it shows.
    User(String, Vec<&'a Image>),
    /// From the model, with text or calls.
    Assistant(&'a AssistantMessage),
    /// One row per call of the assistant entry before it, in the order of the calls.
    Results(Vec<Cow<'a, ToolResult>>),
}

/// Normalizes `messages`. A message without text and calls counts only if it holds blocks of the wire's own form.
pub(crate) fn entries<'a>(messages: &'a [Message], wire: &str, options: &Options<'_>) -> Vec<HistoryEntry<'a>> {
    let mut entries: Vec<HistoryEntry<'a>> = Vec::with_capacity(messages.len());
    let mut rest = messages.iter().peekable();
    while let Some(message) = rest.next() {
        match message {
            Message::User { text, .. } if text.trim().is_empty() => {}
            Message::User { text, images } => match entries.last_mut() {
                Some(HistoryEntry::User(before, shown)) => {
                    before.push_str("\n\n");
                    before.push_str(text);
                    shown.extend(images);
                }
                _ => entries.push(HistoryEntry::User(text.clone(), images.iter().collect())),
            },
            Message::Assistant(assistant) => {
                let has_blocks =
                    || own_form(assistant, wire, options).and_then(Value::as_array).is_some_and(|own| !own.is_empty());
                if !assistant.text.trim().is_empty() || !assistant.tool_calls.is_empty() || has_blocks() {
                    entries.push(HistoryEntry::Assistant(assistant));
                }
                if !assistant.tool_calls.is_empty() {
                    let given = match rest.peek() {
                        Some(Message::ToolResults(given)) => given.as_slice(),
                        _ => &[],
                    };
                    entries.push(HistoryEntry::Results(results_of(assistant, given)));
                }
            }
            // Results are taken with their calls; the service would refuse results without a call.
            Message::ToolResults(_) => {}
        }
    }
    entries
}

fn results_of<'a>(assistant: &AssistantMessage, given: &'a [ToolResult]) -> Vec<Cow<'a, ToolResult>> {
    let row = |call: &cohab_model_api::ToolCall| {
        given.iter().find(|result| result.call_id == call.id).map_or_else(
            || {
                Cow::Owned(ToolResult {
                    call_id: call.id.clone(),
                    tool: call.name.clone(),
                    content: NO_RESULT.to_owned(),
                    is_error: true,
                })
            },
            Cow::Borrowed,
        )
    };
    assistant.tool_calls.iter().map(row).collect()
}

/// Ids of all calls so far.
pub(crate) fn call_ids(messages: &[Message]) -> impl Iterator<Item = &str> {
    messages
        .iter()
        .flat_map(|message| match message {
            Message::Assistant(assistant) => assistant.tool_calls.as_slice(),
            _ => &[],
        })
        .map(|call| call.id.as_str())
}

/// The message in the wire's own form, if the same wire and model made it.
pub(crate) fn own_form<'a>(assistant: &'a AssistantMessage, wire: &str, options: &Options<'_>) -> Option<&'a Value> {
    assistant
        .provider_data
        .as_ref()
        .filter(|data| data.wire == wire && data.host == options.host && data.model == options.model)
        .map(|data| &*data.json)
}

/// The bytes of an image as base64.
pub(crate) fn base64(image: &Image) -> String {
    STANDARD.encode(&image.bytes)
}

/// An image as an address that holds it: `data:image/png;base64,...`.
pub(crate) fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.format.media_type(), base64(image))
}

/// Converts `name` to the form that services accept: `^[a-zA-Z0-9_-]{1,64}$`. Models invent other names, and history repeats them.
pub(crate) fn sendable_name(name: &str) -> String {
    let name = sendable_id(name);
    name.chars().take(MAX_NAME_BYTES).collect()
}

/// Reduces `id` to characters that all services accept; another vendor's ids may contain dots and colons.
pub(crate) fn sendable_id(id: &str) -> String {
    if id.is_empty() {
        return "unknown".to_owned();
    }
    id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use cohab_model_api::{ProviderData, ToolCall};

    use super::*;

    fn entries(messages: &[Message]) -> Vec<HistoryEntry<'_>> {
        super::entries(messages, "w", &Options { model: "m", host: "h", ..Options::default() })
    }

    fn user(text: &str) -> Message {
        Message::user(text.to_owned())
    }

    fn calls(ids: &[&str]) -> Message {
        let tool_calls = ids
            .iter()
            .map(|id| ToolCall {
                id: (*id).to_owned(),
                name: "bash".to_owned(),
                args: Ok(serde_json::Map::new().into()),
            })
            .collect();
        Message::Assistant(AssistantMessage { tool_calls, ..AssistantMessage::default() })
    }

    fn result(id: &str) -> ToolResult {
        ToolResult { call_id: id.to_owned(), tool: "bash".to_owned(), content: "ok".to_owned(), is_error: false }
    }

    #[test]
    fn neighbouring_user_messages_become_one_and_blank_ones_vanish() {
        let messages = [user("a"), user(" \n"), user("b"), Message::Assistant(AssistantMessage::default()), user("c")];
        assert_eq!(entries(&messages), [HistoryEntry::User("a\n\nb\n\nc".to_owned(), Vec::new())]);
    }

    #[test]
    fn every_call_has_one_result_in_the_order_of_the_calls() {
        let messages = [calls(&["1", "2", "3"]), Message::ToolResults(vec![result("3"), result("1"), result("9")])];
        let entries = entries(&messages);
        let HistoryEntry::Results(rows) = &entries[1] else { panic!("{entries:?}") };
        assert_eq!(
            rows.iter().map(|row| (row.call_id.as_str(), row.is_error)).collect::<Vec<_>>(),
            [("1", false), ("2", true), ("3", false)]
        );
    }

    #[test]
    fn results_without_a_call_are_left_out() {
        assert_eq!(
            entries(&[user("a"), Message::ToolResults(vec![result("1")])]),
            [HistoryEntry::User("a".to_owned(), Vec::new())]
        );
    }

    #[test]
    fn a_message_of_unseen_blocks_counts_only_for_the_service_and_model_that_made_it() {
        for (wire, host, model, count) in
            [("w", "h", "m", 1), ("other", "h", "m", 0), ("w", "other", "m", 0), ("w", "h", "other", 0)]
        {
            let (wire, host, model) = (wire.to_owned(), host.to_owned(), model.to_owned());
            let data = ProviderData { wire, host, model, json: serde_json::json!([{}]).into() };
            let message = AssistantMessage { provider_data: Some(data), ..AssistantMessage::default() };
            assert_eq!(entries(&[Message::Assistant(message)]).len(), count);
        }
    }

    #[test]
    fn names_are_made_sendable() {
        assert_eq!(sendable_name("functions.bash:0"), "functions_bash_0");
        assert_eq!(sendable_name(""), "unknown");
        assert_eq!(sendable_name(&"x".repeat(99)).len(), 64);
    }
}
