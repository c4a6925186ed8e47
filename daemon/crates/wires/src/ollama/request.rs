//! Builds the body of an Ollama chat request from a neutral request.

use cohab_model_api::{AssistantMessage, Image, ModelRequest, ToolResult};
use cohab_types::image_format::ImageFormat;
use cohab_types::reasoning::ReasoningEffort;
use serde_json::{Map, Value, json};

use super::{DEFAULT_CONTEXT_WINDOW_TOKENS, NAME};
use crate::{
    history::{self, HistoryEntry},
    wire::{ERROR_PREFIX, Options, Quirk},
};

/// Time that the model stays in memory after an answer. Users think between two questions.
const KEEP_ALIVE: &str = "30m";

/// Builds the body. Options that would make the server load the model again are the same in every request.
pub(super) fn body(request: &ModelRequest, options: &Options<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    body.insert("messages".to_owned(), Value::Array(messages(request, options)));
    // The API can omit tools, but cannot forbid calls.
    if request.allow_tools && !request.tools.is_empty() && !options.has(Quirk::NoTools) {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    body.insert("stream".to_owned(), json!(true));
    if let Some(effort) = options.effort() {
        body.insert("think".to_owned(), think(effort, options.model));
    }
    body.insert("keep_alive".to_owned(), json!(KEEP_ALIVE));
    let mut parameters = json!({"num_ctx": context_window_tokens(options)});
    if let Some(cap) = options.max_output_tokens {
        parameters["num_predict"] = json!(cap);
    }
    if let Some(temperature) = options.temperature() {
        parameters["temperature"] = json!(temperature);
    }
    body.insert("options".to_owned(), parameters);
    Value::Object(body)
}

/// Size of the context in every request.
pub(super) fn context_window_tokens(options: &Options<'_>) -> u64 {
    options.context_window_tokens.unwrap_or(DEFAULT_CONTEXT_WINDOW_TOKENS)
}

/// Only this family has levels, and older servers refuse a level where they expect yes or no.
fn think(effort: ReasoningEffort, model: &str) -> Value {
    match effort {
        ReasoningEffort::Off => json!(false),
        _ if !model.contains("gpt-oss") => json!(true),
        ReasoningEffort::Low => json!("low"),
        ReasoningEffort::Medium => json!("medium"),
        ReasoningEffort::High => json!("high"),
    }
}

/// Ollama takes images beside the text, and no PDFs.
fn user_message(mut text: String, images: &[&Image]) -> Value {
    let (left_out, shown): (Vec<&&Image>, Vec<&&Image>) =
        images.iter().partition(|image| image.format == ImageFormat::Pdf);
    for image in left_out {
        text += &format!("\n\n[{} is not shown: Ollama takes no PDFs]", image.name);
    }
    let mut message = json!({"role": "user", "content": text});
    if !shown.is_empty() {
        message["images"] = shown.into_iter().map(|image| history::base64(image)).collect();
    }
    message
}

fn messages(request: &ModelRequest, options: &Options<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for entry in history::entries(&request.messages, NAME, options) {
        match entry {
            HistoryEntry::User(text, images) => messages.push(user_message(text, &images)),
            HistoryEntry::Assistant(assistant) => messages.push(assistant_message(assistant, options)),
            HistoryEntry::Results(rows) => messages.extend(rows.iter().map(|row| tool_message(row))),
        }
    }
    messages
}

/// The message with the thoughts that led to its calls, if this model had them.
fn assistant_message(assistant: &AssistantMessage, options: &Options<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": assistant.text});
    if assistant.tool_calls.is_empty() {
        return message;
    }
    let own = history::own_form(assistant, NAME, options);
    if let Some(thinking) = own.and_then(|own| own.get("thinking")).filter(|thinking| thinking.is_string()) {
        message["thinking"] = thinking.clone();
    }
    let calls = assistant.tool_calls.iter().map(|call| {
        let arguments = call.args.clone().unwrap_or_default();
        json!({"id": call.id, "function": {"name": history::sendable_name(&call.name), "arguments": arguments}})
    });
    message["tool_calls"] = calls.collect();
    message
}

fn tool_message(result: &ToolResult) -> Value {
    let prefix = if result.is_error { ERROR_PREFIX } else { "" };
    json!({
        "role": "tool",
        "tool_name": history::sendable_name(&result.tool),
        "tool_call_id": result.call_id,
        "content": format!("{prefix}{}", result.content),
    })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
