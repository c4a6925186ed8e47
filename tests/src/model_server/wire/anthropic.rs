//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::{SentToolResult, Speech, data, pieces, result};
use crate::model_server::answer::Answer;

pub(super) struct Anthropic;

impl Speech for Anthropic {
    fn provider(&self) -> &'static str {
        "anthropic"
    }

    fn base_path(&self) -> &'static str {
        ""
    }

    fn call_path(&self) -> &'static str {
        "/v1/messages"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn events<'a>(&self, answer: &'a Answer) -> Box<dyn Iterator<Item = String> + 'a> {
        Box::new(anthropic_events(answer))
    }

    fn mark_events(&self) -> usize {
        1
    }

    fn error_event(&self) -> String {
        anthropic("error", &json!({ "error": { "type": "api_error", "message": "upstream broke" } }))
    }

    fn tool_results(&self, body: &Value) -> Vec<SentToolResult> {
        let blocks = super::array(&body["messages"]).flat_map(|message| super::array(&message["content"]));
        let blocks = blocks.filter(|block| block["type"] == "tool_result");
        blocks.map(|block| result(&block["tool_use_id"], &block["content"])).collect()
    }
}

fn anthropic(kind: &str, fields: &Value) -> String {
    let mut value = json!({ "type": kind });
    if let (Some(all), Some(more)) = (value.as_object_mut(), fields.as_object()) {
        all.extend(more.clone());
    }
    format!("event: {kind}\n{}", data(&value))
}

fn anthropic_block(index: usize, start: &Value, deltas: impl Iterator<Item = Value>) -> Vec<String> {
    let mut events = vec![anthropic("content_block_start", &json!({ "index": index, "content_block": start }))];
    events.extend(deltas.map(|delta| anthropic("content_block_delta", &json!({ "index": index, "delta": delta }))));
    events.push(anthropic("content_block_stop", &json!({ "index": index })));
    events
}

fn anthropic_events(answer: &Answer) -> impl Iterator<Item = String> + '_ {
    let start = std::iter::once_with(|| {
        anthropic(
            "message_start",
            &json!({ "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
                "stop_reason": null, "stop_sequence": null,
                "usage": { "input_tokens": answer.input_tokens, "output_tokens": 1 },
            } }),
        )
    });
    let has_text = answer.text.count > 0;
    let open = has_text.then(|| {
        anthropic("content_block_start", &json!({ "index": 0, "content_block": { "type": "text", "text": "" } }))
    });
    let text = (0..answer.text.count).map(|index| {
        let delta = json!({ "type": "text_delta", "text": (answer.text.make)(index) });
        anthropic("content_block_delta", &json!({ "index": 0, "delta": delta }))
    });
    let close = has_text.then(|| anthropic("content_block_stop", &json!({ "index": 0 })));
    let calls = answer.calls.iter().enumerate().flat_map(move |(index, call)| {
        let start = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        let deltas = pieces(&call.arguments, answer.argument_piece_chars).into_iter();
        let deltas = deltas.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        anthropic_block(index + usize::from(has_text), &start, deltas)
    });
    let reason = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    let end = [
        anthropic(
            "message_delta",
            &json!({
                "delta": { "stop_reason": reason, "stop_sequence": null },
                "usage": { "output_tokens": answer.output_tokens },
            }),
        ),
        anthropic("message_stop", &json!({})),
    ];
    start.chain(open).chain(text).chain(close).chain(calls).chain(end)
}
