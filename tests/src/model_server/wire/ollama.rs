//! Ollama's own `/api/chat`.

use serde_json::{Value, json};

use super::{SentToolResult, Speech, result};
use crate::model_server::answer::Answer;

pub(super) struct Ollama;

impl Speech for Ollama {
    fn provider(&self) -> &'static str {
        "ollama"
    }

    fn base_path(&self) -> &'static str {
        ""
    }

    fn call_path(&self) -> &'static str {
        "/api/chat"
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn events<'a>(&self, answer: &'a Answer) -> Box<dyn Iterator<Item = String> + 'a> {
        let first = std::iter::once_with(|| line(json!({ "content": "" })));
        let text = (0..answer.text.count).map(|index| line(json!({ "content": (answer.text.make)(index) })));
        let calls = answer.calls.iter().map(|call| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            line(
                json!({ "content": "", "tool_calls": [{ "function": { "name": call.name, "arguments": arguments } }] }),
            )
        });
        let end = std::iter::once_with(|| {
            let end = json!({
                "model": "scripted", "created_at": "2026-01-01T00:00:00Z", "done": true, "done_reason": "stop",
                "message": { "role": "assistant", "content": "" }, "total_duration": 1_000, "load_duration": 10,
                "prompt_eval_count": answer.input_tokens, "eval_count": answer.output_tokens,
            });
            format!("{end}\n")
        });
        Box::new(first.chain(text).chain(calls).chain(end))
    }

    fn mark_events(&self) -> usize {
        1
    }

    fn error_event(&self) -> String {
        format!("{}\n", json!({ "error": "upstream broke" }))
    }

    /// The wire has no ids: results stand in the order of the calls they answer.
    fn tool_results(&self, body: &Value) -> Vec<SentToolResult> {
        let mut results = Vec::new();
        let mut number = 0;
        for message in super::array(&body["messages"]) {
            if message["role"] != "tool" {
                number = 0;
                continue;
            }
            number += 1;
            results.push(result(&json!(format!("call_{number}")), &message["content"]));
        }
        results
    }
}

fn line(message: Value) -> String {
    let mut line = json!({ "model": "scripted", "created_at": "2026-01-01T00:00:00Z", "done": false });
    line["message"] = message;
    line["message"]["role"] = json!("assistant");
    format!("{line}\n")
}
