//! OpenAI's Responses API.

use serde_json::{Value, json};

use super::{SentToolResult, Speech, data, pieces, result};
use crate::model_server::answer::{Answer, Call};

pub(super) struct OpenAiResponses;

impl Speech for OpenAiResponses {
    fn provider(&self) -> &'static str {
        "openai-responses"
    }

    fn base_path(&self) -> &'static str {
        "/v1"
    }

    fn call_path(&self) -> &'static str {
        "/v1/responses"
    }

    fn events<'a>(&self, answer: &'a Answer) -> Box<dyn Iterator<Item = String> + 'a> {
        let has_text = answer.text.count > 0;
        let created = std::iter::once_with(|| event("response.created", json!({ "response": response(&[], None) })));
        let open = has_text.then(|| {
            event("response.output_item.added", json!({ "output_index": 0, "item": message("in_progress", &[]) }))
        });
        let text = (0..answer.text.count).map(|index| {
            let delta = (answer.text.make)(index);
            let place = json!({ "output_index": 0, "item_id": "msg_1", "content_index": 0, "delta": delta });
            event("response.output_text.delta", place)
        });
        // The whole text is made only when it is needed: a long one is never held twice.
        let close = has_text.then_some(()).map(move |()| {
            let text: String = (0..answer.text.count).map(|index| (answer.text.make)(index)).collect();
            let part = json!({ "type": "output_text", "text": text, "annotations": [] });
            event("response.output_item.done", json!({ "output_index": 0, "item": message("completed", &[part]) }))
        });
        let calls = answer.calls.iter().enumerate();
        let calls = calls.flat_map(move |(number, call)| call_events(number + usize::from(has_text), call, answer));
        let end = std::iter::once_with(move || {
            let items: Vec<Value> = answer.calls.iter().enumerate().map(|(at, call)| item(at, call, true)).collect();
            event("response.completed", json!({ "response": response(&items, Some(answer)) }))
        });
        Box::new(created.chain(open).chain(text).chain(close).chain(calls).chain(end))
    }

    fn mark_events(&self) -> usize {
        1
    }

    fn error_event(&self) -> String {
        event("error", json!({ "code": "server_error", "message": "upstream broke" }))
    }

    fn tool_results(&self, body: &Value) -> Vec<SentToolResult> {
        let items = super::array(&body["input"]).filter(|item| item["type"] == "function_call_output");
        items.map(|item| result(&item["call_id"], &item["output"])).collect()
    }
}

fn event(kind: &str, fields: Value) -> String {
    let mut event = json!({ "type": kind });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    format!("event: {kind}\n{}", data(&event))
}

fn response(output: &[Value], answer: Option<&Answer>) -> Value {
    let status = if answer.is_some() { "completed" } else { "in_progress" };
    let usage = answer.map(|answer| {
        json!({
            "input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
        })
    });
    json!({ "id": "resp_1", "object": "response", "status": status, "output": output, "usage": usage })
}

fn message(status: &str, content: &[Value]) -> Value {
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content })
}

fn item(number: usize, call: &Call, is_done: bool) -> Value {
    let arguments = if is_done { call.arguments.as_str() } else { "" };
    json!({
        "id": format!("fc_{number}"), "type": "function_call", "status": if is_done { "completed" } else { "in_progress" },
        "call_id": call.id, "name": call.name, "arguments": arguments,
    })
}

fn call_events(index: usize, call: &Call, answer: &Answer) -> Vec<String> {
    let place = |more: Value| {
        let mut place = json!({ "output_index": index, "item_id": format!("fc_{index}") });
        if let (Some(place), Value::Object(more)) = (place.as_object_mut(), more) {
            place.extend(more);
        }
        place
    };
    let mut events =
        vec![event("response.output_item.added", json!({ "output_index": index, "item": item(index, call, false) }))];
    for delta in pieces(&call.arguments, answer.argument_piece_chars) {
        events.push(event("response.function_call_arguments.delta", place(json!({ "delta": delta }))));
    }
    events.push(event("response.function_call_arguments.done", place(json!({ "arguments": call.arguments }))));
    events.push(event("response.output_item.done", json!({ "output_index": index, "item": item(index, call, true) })));
    events
}
