//! An answer as the events of a wire, and a request of a wire as neutral facts. Pure.

use serde_json::{Value, json};

use super::answer::{Answer, Call};

/// Which API the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// `POST {base}/chat/completions`.
    OpenAiChat,
    /// `POST {base}/v1/messages`.
    Anthropic,
}

impl Wire {
    /// Both, for tests that hold for each.
    pub const ALL: [Self; 2] = [Self::OpenAiChat, Self::Anthropic];

    /// The provider's name in the settings.
    #[must_use]
    pub fn provider(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
        }
    }

    /// The path of the base URL.
    pub(super) fn base_path(self) -> &'static str {
        match self {
            Self::OpenAiChat => "/v1",
            Self::Anthropic => "",
        }
    }

    /// The path of a model call.
    #[must_use]
    pub fn call_path(self) -> &'static str {
        match self {
            Self::OpenAiChat => "/v1/chat/completions",
            Self::Anthropic => "/v1/messages",
        }
    }

    /// The whole answer, event by event; each is made when it is asked for.
    pub(super) fn events(self, answer: &Answer) -> Box<dyn Iterator<Item = String> + '_> {
        match self {
            Self::OpenAiChat => Box::new(openai_events(answer)),
            Self::Anthropic => Box::new(anthropic_events(answer)),
        }
    }

    /// An error in the middle of a stream.
    pub(super) fn error_event(self) -> String {
        match self {
            Self::OpenAiChat => data(&json!({ "error": { "message": "upstream broke", "code": 502 } })),
            Self::Anthropic => {
                anthropic("error", &json!({ "error": { "type": "api_error", "message": "upstream broke" } }))
            }
        }
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn pieces(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars.max(1)).map(|piece| piece.iter().collect()).collect()
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
