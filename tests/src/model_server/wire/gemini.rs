//! Gemini's `streamGenerateContent`.

use serde_json::{Value, json};

use super::{SentToolResult, Speech, result};
use crate::model_server::answer::Answer;

pub(super) struct Gemini;

impl Speech for Gemini {
    fn provider(&self) -> &'static str {
        "gemini"
    }

    fn base_path(&self) -> &'static str {
        ""
    }

    fn call_path(&self) -> &'static str {
        "/v1beta/models/scripted-model:streamGenerateContent?alt=sse"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn is_call(&self, path: &str) -> bool {
        path.starts_with("/v1beta/models/") && path.ends_with(":streamGenerateContent?alt=sse")
    }

    fn events<'a>(&self, answer: &'a Answer) -> Box<dyn Iterator<Item = String> + 'a> {
        let first = std::iter::once_with(|| chunk(&json!({ "text": "" }), None));
        let text = (0..answer.text.count).map(|index| chunk(&json!({ "text": (answer.text.make)(index) }), None));
        let calls = answer.calls.iter().map(|call| {
            let args: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            chunk(&json!({ "functionCall": { "id": call.id, "name": call.name, "args": args } }), None)
        });
        let end = std::iter::once_with(|| {
            let usage = json!({
                "promptTokenCount": answer.input_tokens, "candidatesTokenCount": answer.output_tokens,
                "totalTokenCount": answer.input_tokens + answer.output_tokens,
            });
            chunk(&json!({ "text": "" }), Some(usage))
        });
        Box::new(first.chain(text).chain(calls).chain(end))
    }

    fn mark_events(&self) -> usize {
        1
    }

    fn error_event(&self) -> String {
        event(&json!({ "error": { "code": 500, "message": "upstream broke", "status": "INTERNAL" } }))
    }

    fn tool_results(&self, body: &Value) -> Vec<SentToolResult> {
        let parts = super::array(&body["contents"]).flat_map(|content| super::array(&content["parts"]));
        let responses = parts.map(|part| &part["functionResponse"]).filter(|response| response.is_object());
        responses.map(|response| result(&response["id"], &json!(response["response"].to_string()))).collect()
    }
}

/// The service ends its lines with CR and LF.
fn event(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}

fn chunk(part: &Value, usage: Option<Value>) -> String {
    let mut candidate = json!({ "content": { "role": "model", "parts": [part] }, "index": 0 });
    let mut chunk = json!({ "modelVersion": "scripted", "responseId": "r1" });
    if let Some(usage) = usage {
        candidate["finishReason"] = json!("STOP");
        chunk["usageMetadata"] = usage;
    }
    chunk["candidates"] = json!([candidate]);
    event(&chunk)
}
