//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::{SentToolResult, Speech, data, pieces, result};
use crate::model_server::answer::{Answer, Call};

pub(super) struct OpenAiChat;

impl Speech for OpenAiChat {
    fn provider(&self) -> &'static str {
        "openai-chat"
    }

    fn base_path(&self) -> &'static str {
        "/v1"
    }

    fn call_path(&self) -> &'static str {
        "/v1/chat/completions"
    }

    fn events<'a>(&self, answer: &'a Answer) -> Box<dyn Iterator<Item = String> + 'a> {
        Box::new(openai_events(answer))
    }

    fn mark_events(&self) -> usize {
        3
    }

    fn error_event(&self) -> String {
        data(&json!({ "error": { "message": "upstream broke", "code": 502 } }))
    }

    fn tool_results(&self, body: &Value) -> Vec<SentToolResult> {
        let messages = super::array(&body["messages"]).filter(|message| message["role"] == "tool");
        messages.map(|message| result(&message["tool_call_id"], &message["content"])).collect()
    }
}

fn openai_delta(delta: &Value, finish_reason: Option<&str>) -> String {
    data(&json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }],
    }))
}

fn openai_events(answer: &Answer) -> impl Iterator<Item = String> + '_ {
    let first = std::iter::once_with(|| openai_delta(&json!({ "role": "assistant", "content": "" }), None));
    let text = (0..answer.text.count).map(|index| openai_delta(&json!({ "content": (answer.text.make)(index) }), None));
    let calls = answer.calls.iter().enumerate().flat_map(|(index, call)| openai_call(index, call, answer));
    let reason = if answer.calls.is_empty() { "stop" } else { "tool_calls" };
    let end = [
        openai_delta(&json!({}), Some(reason)),
        data(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [],
            "usage": {
                "prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens,
                "total_tokens": answer.input_tokens + answer.output_tokens,
            },
        })),
        "data: [DONE]\n\n".into(),
    ];
    first.chain(text).chain(calls).chain(end)
}

fn openai_call(index: usize, call: &Call, answer: &Answer) -> Vec<String> {
    let open = json!({ "tool_calls": [{
        "index": index, "id": call.id, "type": "function", "function": { "name": call.name, "arguments": "" },
    }] });
    let fragment = |piece: String| json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] });
    let arguments = pieces(&call.arguments, answer.argument_piece_chars).into_iter().map(fragment);
    std::iter::once(open).chain(arguments).map(|delta| openai_delta(&delta, None)).collect()
}
