//! Builds the body of a generateContent request from a neutral request.

use cohab_model_api::{AssistantMessage, Image, ModelRequest, ToolCall, ToolResult};
use cohab_types::reasoning::ReasoningEffort;
use serde_json::{Map, Value, json};

use super::{NAME, schema};
use crate::{
    history::{self, HistoryEntry},
    wire::{Options, Quirk},
};

/// The signature for calls that another model made; "skip_thought_signature_validator" in base64.
const STAND_IN_SIGNATURE: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";
/// Both spellings of the field.
const SIGNATURE_KEYS: [&str; 2] = ["thoughtSignature", "thought_signature"];
/// First generation of models that think by levels and require signed calls within a turn.
const FIRST_SIGNING_GENERATION: u32 = 3;

/// Builds the body. The model is part of the address.
pub(super) fn body(request: &ModelRequest, options: &Options<'_>) -> Value {
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": request.system}]}));
    }
    body.insert("contents".to_owned(), Value::Array(contents(request, options)));
    if !request.tools.is_empty() {
        let declarations = request.tools.iter().map(|tool| {
            let mut declaration = json!({"name": tool.name, "description": tool.description});
            if let Some(parameters) = schema::parameters(&tool.parameters) {
                declaration["parameters"] = parameters;
            }
            declaration
        });
        body.insert("tools".to_owned(), json!([{"functionDeclarations": declarations.collect::<Vec<_>>()}]));
        if !request.allow_tools {
            body.insert("toolConfig".to_owned(), json!({"functionCallingConfig": {"mode": "NONE"}}));
        }
    }
    let mut generation = Map::new();
    if let Some(cap) = options.max_output_tokens {
        generation.insert("maxOutputTokens".to_owned(), json!(cap));
    }
    if let Some(temperature) = options.temperature() {
        generation.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(effort) = options.effort() {
        generation.insert("thinkingConfig".to_owned(), thinking(effort, options.model));
    }
    if !generation.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(generation));
    }
    Value::Object(body)
}

/// Newer models take a level, older ones a number of tokens. No level means "not at all".
fn thinking(effort: ReasoningEffort, model: &str) -> Value {
    let (level, budget_tokens) = match effort {
        ReasoningEffort::Off => ("low", 0),
        ReasoningEffort::Low => ("low", 1_024),
        ReasoningEffort::Medium => ("medium", 8_192),
        ReasoningEffort::High => ("high", 24_576),
    };
    let mut config =
        if signs_calls(model) { json!({"thinkingLevel": level}) } else { json!({"thinkingBudget": budget_tokens}) };
    if effort != ReasoningEffort::Off {
        config["includeThoughts"] = json!(true);
    }
    config
}

/// Decides by the number in the model's name; a name without a number counts as a new model.
fn signs_calls(model: &str) -> bool {
    let number = model.rsplit('/').next().and_then(|name| name.strip_prefix("gemini-"));
    let digits: Option<String> = number.map(|number| number.chars().take_while(char::is_ascii_digit).collect());
    digits.and_then(|digits| digits.parse().ok()).is_none_or(|generation: u32| generation >= FIRST_SIGNING_GENERATION)
}

fn image_part(image: &Image) -> Value {
    json!({"inlineData": {"mimeType": image.format.media_type(), "data": history::base64(image)}})
}

fn contents(request: &ModelRequest, options: &Options<'_>) -> Vec<Value> {
    let mut contents = Vec::new();
    // The calls as sent: results repeat their names, and their ids if they have any.
    let mut called: Vec<Value> = Vec::new();
    for entry in history::entries(&request.messages, NAME, options) {
        let (role, parts) = match entry {
            HistoryEntry::User(text, images) => {
                ("user", images.into_iter().map(image_part).chain([json!({"text": text})]).collect())
            }
            HistoryEntry::Assistant(assistant) => {
                let parts = model_parts(assistant, options);
                called = parts.iter().filter_map(|part| part.get("functionCall")).cloned().collect();
                ("model", parts)
            }
            HistoryEntry::Results(rows) => {
                ("user", rows.iter().zip(&called).map(|(row, call)| response_part(row, call)).collect())
            }
        };
        if !parts.is_empty() {
            contents.push(json!({"role": role, "parts": parts}));
        }
    }
    contents
}

/// The parts as the service wrote them if the message has not changed since, else rebuilt.
fn model_parts(assistant: &AssistantMessage, options: &Options<'_>) -> Vec<Value> {
    let own = history::own_form(assistant, NAME, options).and_then(Value::as_array);
    let own = own.filter(|own| is_unchanged(own, assistant));
    let mut parts = own.map_or_else(|| neutral_parts(assistant), Clone::clone);
    let is_refused = options.has(Quirk::NoThoughtSignatures);
    if is_refused {
        for key in SIGNATURE_KEYS {
            parts.iter_mut().filter_map(Value::as_object_mut).for_each(|part| drop(part.shift_remove(key)));
        }
        parts.retain(|part| !is_blank(part));
    }
    let is_foreign = own.is_none() && signs_calls(options.model) && !is_refused;
    if is_foreign || options.has(Quirk::StandInSignatures) {
        // A signature on the first call of an answer covers all of its calls.
        let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
        let unsigned = first.filter(|part| SIGNATURE_KEYS.iter().all(|key| part.get(*key).is_none()));
        if let Some(part) = unsigned {
            part[SIGNATURE_KEYS[0]] = json!(STAND_IN_SIGNATURE);
        }
    }
    parts
}

/// Whether a part holds only a signature, or means nothing without one.
fn is_blank(part: &Value) -> bool {
    let is_text = part.get("text").is_some();
    let has_text = part.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
    part.as_object().is_some_and(Map::is_empty) || is_thought || (is_text && !has_text)
}

fn is_unchanged(own: &[Value], assistant: &AssistantMessage) -> bool {
    let text: String = own
        .iter()
        .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
        .filter_map(|part| part.get("text").and_then(Value::as_str))
        .collect();
    let calls: Vec<&Value> = own.iter().filter_map(|part| part.get("functionCall")).collect();
    let is_same = |own: &Value, call: &ToolCall| {
        let field = |key: &str| own.get(key).and_then(Value::as_str);
        field("name").unwrap_or_default() == call.name && field("id").is_none_or(|id| id == call.id)
    };
    text.trim() == assistant.text.trim()
        && calls.len() == assistant.tool_calls.len()
        && calls.into_iter().zip(&assistant.tool_calls).all(|(own, call)| is_same(own, call))
}

fn neutral_parts(assistant: &AssistantMessage) -> Vec<Value> {
    let mut parts = Vec::new();
    if !assistant.text.trim().is_empty() {
        parts.push(json!({"text": assistant.text}));
    }
    for call in &assistant.tool_calls {
        let args = call.args.clone().unwrap_or_default();
        parts.push(json!({"functionCall": {"name": history::sendable_name(&call.name), "args": args}}));
    }
    parts
}

fn response_part(result: &ToolResult, call: &Value) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({"name": call["name"]});
    if let Some(id) = call.get("id") {
        response["id"] = id.clone();
    }
    response["response"][key] = json!(result.content);
    json!({"functionResponse": response})
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
