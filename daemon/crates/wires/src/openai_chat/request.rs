//! Builds the body of a Chat Completions request from a neutral request.

use cohab_model_api::{AssistantMessage, Image, ModelRequest, ToolResult};
use cohab_types::image_format::ImageFormat;
use cohab_types::reasoning::ReasoningEffort;
use serde_json::{Map, Value, json};

use super::{NAME, SentIds};
use crate::{
    history::{self, HistoryEntry},
    wire::{ERROR_PREFIX, Options, Quirk},
};

/// Models that take cache breakpoints, at a service that passes them on.
const BREAKPOINT_MODELS: &str = "anthropic/";
/// Stands between results and a message of the user where a service requires an answer there.
const BETWEEN: &str = "Continuing.";

/// Builds the body.
pub(super) fn body(request: &ModelRequest, options: &Options<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    body.insert("messages".to_owned(), Value::Array(messages(request, options)));
    if !request.tools.is_empty() && !options.has(Quirk::NoTools) {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".to_owned(), tools.collect());
        if !request.allow_tools {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    if let Some(cap) = options.max_output_tokens {
        let field = if options.has(Quirk::MaxCompletionTokens) { "max_completion_tokens" } else { "max_tokens" };
        body.insert(field.to_owned(), json!(cap));
    }
    if let Some(temperature) = options.temperature() {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(effort) = options.effort() {
        let (field, value) = effort_field(effort, options);
        body.insert(field.to_owned(), value);
    }
    body.insert("stream".to_owned(), json!(true));
    if !options.has(Quirk::NoStreamOptions) {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if options.has(Quirk::CostOnRequest) {
        body.insert("usage".to_owned(), json!({"include": true}));
    }
    Value::Object(body)
}

fn effort_field(effort: ReasoningEffort, options: &Options<'_>) -> (&'static str, Value) {
    if options.has(Quirk::ThinkingSwitch) {
        let kind = if effort == ReasoningEffort::Off { "disabled" } else { "enabled" };
        return ("thinking", json!({"type": kind}));
    }
    let word = match effort {
        ReasoningEffort::Off => "none",
        ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
    };
    ("reasoning_effort", json!(word))
}

fn messages(request: &ModelRequest, options: &Options<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut ids = SentIds::new(options.has(Quirk::ShortCallIds));
    let mut preamble = None;
    if !request.system.trim().is_empty() {
        let role = if options.has(Quirk::DeveloperRole) { "developer" } else { "system" };
        match options.has(Quirk::NoSystemRole) {
            true => preamble = Some(&request.system),
            false => messages.push(json!({"role": role, "content": request.system})),
        }
    }
    for entry in history::entries(&request.messages, NAME, options) {
        match entry {
            HistoryEntry::User(text, images) => {
                let is_behind_results = messages.last().is_some_and(|last| last["role"] == "tool");
                if is_behind_results && options.has(Quirk::AnswerBehindResults) {
                    messages.push(json!({"role": "assistant", "content": BETWEEN}));
                }
                let text = preamble.take().map_or(text.clone(), |system| format!("{system}\n\n{text}"));
                messages.push(json!({"role": "user", "content": user_content(text, &images)}));
            }
            HistoryEntry::Assistant(assistant) => messages.push(assistant_message(assistant, options, &mut ids)),
            HistoryEntry::Results(rows) => messages.extend(rows.iter().map(|row| tool_message(row, &ids))),
        }
    }
    let has_breakpoints = options.has(Quirk::PassesCacheControl) && !options.has(Quirk::NoCacheControl);
    if has_breakpoints && options.model.starts_with(BREAKPOINT_MODELS) {
        set_breakpoints(&mut messages);
    }
    messages
}

/// Plain text where it shows no image: some services know nothing else.
fn user_content(text: String, images: &[&Image]) -> Value {
    if images.is_empty() {
        return text.into();
    }
    images.iter().map(|image| image_part(image)).chain([text_part(&text)]).collect()
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_part(image: &Image) -> Value {
    let data = history::data_url(image);
    match image.format {
        ImageFormat::Pdf => json!({"type": "file", "file": {"filename": image.name, "file_data": data}}),
        _ => json!({"type": "image_url", "image_url": {"url": data}}),
    }
}

/// Sets breakpoints on the system prompt, which covers the tools, and on the last question. Both kinds of messages then always have parts,
/// so that only the mark changes their bytes.
fn set_breakpoints(messages: &mut [Value]) {
    let last_question = messages.iter().rposition(|message| message["role"] == "user");
    for (at, message) in messages.iter_mut().enumerate() {
        let is_system = message["role"] == "system";
        if !is_system && message["role"] != "user" {
            continue;
        }
        if let Some(text) = message["content"].as_str() {
            message["content"] = json!([text_part(text)]);
        }
        let is_marked = is_system || Some(at) == last_question;
        if let Some(part) = message["content"].as_array_mut().and_then(|parts| parts.last_mut()).filter(|_| is_marked) {
            part["cache_control"] = json!({"type": "ephemeral"});
        }
    }
}

/// The message as the service wrote it if it has not changed since, so that the service's prompt cache and reasoning fields stay valid;
/// else rebuilt.
fn assistant_message(assistant: &AssistantMessage, options: &Options<'_>, ids: &mut SentIds) -> Value {
    let own = history::own_form(assistant, NAME, options).filter(|own| is_unchanged(own, assistant));
    let sent: Vec<String> = assistant.tool_calls.iter().map(|call| ids.claim(&call.id, own.is_some())).collect();
    let mut message = own.cloned().unwrap_or_else(|| neutral_message(assistant));
    for (at, id) in sent.iter().enumerate() {
        message["tool_calls"][at]["id"] = json!(id);
    }
    if !sent.is_empty() && options.has(Quirk::ReasoningInCalls) && message.get("reasoning_content").is_none() {
        message["reasoning_content"] = json!("");
    }
    message
}

fn is_unchanged(own: &Value, assistant: &AssistantMessage) -> bool {
    let calls = own.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    own.is_object()
        && own.get("content").and_then(Value::as_str).unwrap_or_default() == assistant.text
        && calls.len() == assistant.tool_calls.len()
        && calls
            .iter()
            .zip(&assistant.tool_calls)
            .all(|(own, call)| own.get("id").and_then(Value::as_str) == Some(&call.id))
}

fn neutral_message(assistant: &AssistantMessage) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = if assistant.text.is_empty() { Value::Null } else { json!(assistant.text) };
    message.insert("content".to_owned(), content);
    let calls = assistant.tool_calls.iter().map(|call| {
        // Broken arguments would break the service's own template; the result reports the error to the model.
        let args = call.args.as_ref().map_or_else(|_| "{}".to_owned(), |args| json!(args).to_string());
        call_value(&call.id, &call.name, &args)
    });
    if !assistant.tool_calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    Value::Object(message)
}

/// A call in history.
pub(super) fn call_value(id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({"name": history::sendable_name(name), "arguments": arguments});
    json!({"id": id, "type": "function", "function": function})
}

fn tool_message(result: &ToolResult, ids: &SentIds) -> Value {
    let prefix = if result.is_error { ERROR_PREFIX } else { "" };
    let content = format!("{prefix}{}", result.content);
    json!({"role": "tool", "tool_call_id": ids.of(&result.call_id), "content": content})
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
