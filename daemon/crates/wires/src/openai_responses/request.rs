//! Builds the body of a Responses request from a neutral request.

use cohab_model_api::{AssistantMessage, Image, ModelRequest, ToolResult};
use cohab_types::image_format::ImageFormat;
use cohab_types::reasoning::ReasoningEffort;
use serde_json::{Map, Value, json};

use super::{NAME, items};
use crate::{
    history::{self, HistoryEntry},
    openai_chat::SentIds,
    wire::{ERROR_PREFIX, Options, Quirk},
};

/// Builds the body.
pub(super) fn body(request: &ModelRequest, options: &Options<'_>) -> Value {
    let mut input = Vec::new();
    let mut ids = SentIds::new(false);
    for entry in history::entries(&request.messages, NAME, options) {
        match entry {
            HistoryEntry::User(text, images) => {
                let mut message = message("user", "input_text", &text);
                if let Some(parts) = message["content"].as_array_mut() {
                    parts.splice(..0, images.into_iter().map(image_part));
                }
                input.push(message);
            }
            HistoryEntry::Assistant(assistant) => input.extend(assistant_items(assistant, options, &mut ids)),
            HistoryEntry::Results(rows) => input.extend(rows.iter().map(|row| output_item(row, &ids))),
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    if !request.system.trim().is_empty() {
        body.insert("instructions".to_owned(), json!(request.system));
    }
    body.insert("input".to_owned(), Value::Array(input));
    if !request.tools.is_empty() && !options.has(Quirk::NoTools) {
        // Without an explicit `strict` the service applies rules to the schema that ours do not follow.
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.parameters, "strict": false})
        });
        body.insert("tools".to_owned(), tools.collect());
        if !request.allow_tools {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    if let Some(cap) = options.max_output_tokens {
        body.insert("max_output_tokens".to_owned(), json!(cap));
    }
    if let Some(temperature) = options.temperature() {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(reasoning) = reasoning(options) {
        body.insert("reasoning".to_owned(), reasoning);
    }
    if !options.has(Quirk::NoEncryptedReasoning) {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    body.insert("store".to_owned(), json!(false));
    body.insert("stream".to_owned(), json!(true));
    Value::Object(body)
}

fn reasoning(options: &Options<'_>) -> Option<Value> {
    let effort = options.effort()?;
    let word = match effort {
        ReasoningEffort::Off => return Some(json!({"effort": "none"})),
        ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
    };
    let mut reasoning = json!({"effort": word});
    if !options.has(Quirk::NoReasoningSummary) {
        reasoning["summary"] = json!("auto");
    }
    Some(reasoning)
}

/// The items as the service wrote them if nothing has changed since, with reasoning in its place; else rebuilt without reasoning.
fn assistant_items(assistant: &AssistantMessage, options: &Options<'_>, ids: &mut SentIds) -> Vec<Value> {
    let own = history::own_form(assistant, NAME, options).and_then(Value::as_array);
    let own = own.and_then(|own| items::to_send_back(own, assistant));
    let sent: Vec<String> = assistant.tool_calls.iter().map(|call| ids.claim(&call.id, own.is_some())).collect();
    let mut items = own.map_or_else(|| neutral_items(assistant), <[Value]>::to_vec);
    for (call, id) in items.iter_mut().filter(|item| item["type"] == items::CALL).zip(sent) {
        call["call_id"] = json!(id);
    }
    items
}

fn neutral_items(assistant: &AssistantMessage) -> Vec<Value> {
    let text = (!assistant.text.trim().is_empty()).then(|| message("assistant", "output_text", &assistant.text));
    let calls = assistant.tool_calls.iter().map(|call| {
        let arguments = call.args.as_ref().map_or_else(|_| "{}".to_owned(), |args| json!(args).to_string());
        let name = history::sendable_name(&call.name);
        json!({"type": "function_call", "call_id": call.id, "name": name, "arguments": arguments})
    });
    text.into_iter().chain(calls).collect()
}

fn image_part(image: &Image) -> Value {
    let data = history::data_url(image);
    match image.format {
        ImageFormat::Pdf => json!({"type": "input_file", "filename": image.name, "file_data": data}),
        _ => json!({"type": "input_image", "image_url": data}),
    }
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn output_item(result: &ToolResult, ids: &SentIds) -> Value {
    let prefix = if result.is_error { ERROR_PREFIX } else { "" };
    let output = format!("{prefix}{}", result.content);
    json!({"type": "function_call_output", "call_id": ids.of(&result.call_id), "output": output})
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
