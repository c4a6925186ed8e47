use proptest::prelude::*;

use super::*;
use crate::agent::port::{AssistantMessage, ProviderData, ToolCall, ToolResult};

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn answer(text: &str, call: Option<usize>) -> Message {
    let call = call.map(|id| ToolCall { id: id.to_string(), name: "bash".into(), args: Ok(serde_json::Map::new()) });
    let json = serde_json::json!({ "thoughts": "long ".repeat(50) });
    let provider_data = ProviderData { wire: "w".into(), host: "h".into(), model: "m".into(), json };
    let tool_calls = call.into_iter().collect();
    Message::Assistant(AssistantMessage { text: text.into(), tool_calls, provider_data: Some(provider_data) })
}

fn result(id: usize, content: String) -> Message {
    Message::ToolResults(vec![ToolResult { call_id: id.to_string(), tool: "bash".into(), content, is_error: false }])
}

/// Turns that each call a tool once, which writes so many words.
fn conversation(words: &[usize]) -> Vec<Message> {
    let turn = |(id, words): (usize, &usize)| {
        let output = format!("head {} tail", "word ".repeat(*words));
        [user(&format!("question {id}")), answer("I look.", Some(id)), result(id, output), answer("Done.", None)]
    };
    words.iter().enumerate().flat_map(turn).collect()
}

#[test]
fn older_results_keep_head_and_tail_and_the_last_turn_stays_as_it_is() {
    let mut messages = conversation(&[6_000, 2_000]);
    let last_turn = messages[4..].to_vec();
    let (before, after) = compact(&mut messages);
    assert!(before > 8_000 && after < before / 2, "{before} {after}");
    assert_eq!(messages[4..], last_turn);
    let Message::ToolResults(results) = &messages[2] else { panic!("{messages:?}") };
    let text = &results[0].content;
    assert!(
        text.starts_with("head word") && text.contains("bytes left out]") && text.ends_with("word  tail"),
        "{text}"
    );
    assert!(matches!(&messages[1], Message::Assistant(message) if message.provider_data.is_none()));
}

#[test]
fn old_turns_go_when_their_words_are_too_many() {
    let mut messages: Vec<Message> = (0..6).map(|n| user(&format!("{n} {}", "word ".repeat(2_000)))).collect();
    let (before, after) = compact(&mut messages);
    assert!(after <= before / 2, "{before} {after}");
    assert!(matches!(messages.last(), Some(Message::User { text }) if text.starts_with("5 ")));
}

#[test]
fn a_short_conversation_stays() {
    let mut messages = conversation(&[10]);
    let whole = messages.clone();
    let (before, after) = compact(&mut messages);
    assert_eq!((before, &messages), (after, &whole));
    assert_eq!(compact(&mut Vec::new()), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_call_is_parted_from_its_result_and_it_never_grows(words in prop::collection::vec(0_usize..3_000, 0..8)) {
        let mut messages = conversation(&words);
        let (before, after) = compact(&mut messages);
        prop_assert!(after <= before);
        let begins_with_a_question = matches!(messages.first(), None | Some(Message::User { .. }));
        prop_assert!(begins_with_a_question);
        for pair in messages.windows(2) {
            if let Message::Assistant(message) = &pair[0] && let Some(call) = message.tool_calls.first() {
                let answered = matches!(&pair[1], Message::ToolResults(results) if results[0].call_id == call.id);
                prop_assert!(answered, "{pair:?}");
            }
            if matches!(pair[1], Message::ToolResults(_)) {
                let is_called = matches!(&pair[0], Message::Assistant(message) if !message.tool_calls.is_empty());
                prop_assert!(is_called, "{pair:?}");
            }
        }
    }
}
