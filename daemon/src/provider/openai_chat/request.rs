//! A neutral request as a Chat Completions body.

use serde_json::{Map, Value, json};

use super::NAME;
use crate::{
    agent::port::{AssistantMessage, ModelRequest, ToolResult},
    provider::{
        history::{self, Entry},
        wire::{ERROR_PREFIX, Options, Quirk},
    },
};

/// Builds the body.
pub(super) fn body(request: &ModelRequest, options: &Options<'_>) -> Value {
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        let role = if options.has(Quirk::DeveloperRole) { "developer" } else { "system" };
        messages.push(json!({"role": role, "content": request.system}));
    }
    for entry in history::entries(&request.messages, NAME, options) {
        match entry {
            Entry::User(text) => messages.push(json!({"role": "user", "content": text})),
            Entry::Assistant(assistant) => messages.push(assistant_message(assistant, options)),
            Entry::Results(rows) => messages.extend(rows.iter().map(|row| tool_message(row))),
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    body.insert("messages".to_owned(), Value::Array(messages));
    if !request.tools.is_empty() {
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
    body.insert("stream".to_owned(), json!(true));
    if !options.has(Quirk::NoStreamOptions) {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    Value::Object(body)
}

/// The message as the service wrote it where nothing has changed since, so that its prompt cache and its reasoning fields
/// hold; else built anew.
fn assistant_message(assistant: &AssistantMessage, options: &Options<'_>) -> Value {
    match history::own_form(assistant, NAME, options).filter(|own| is_unchanged(own, assistant)) {
        Some(own) => own.clone(),
        None => neutral_message(assistant),
    }
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
        // Broken arguments would break the service's own template; the result tells the model what was wrong.
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

fn tool_message(result: &ToolResult) -> Value {
    let prefix = if result.is_error { ERROR_PREFIX } else { "" };
    json!({"role": "tool", "tool_call_id": result.call_id, "content": format!("{prefix}{}", result.content)})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::agent::port::{BrokenArguments, Message, ProviderData, ToolCall, ToolSpec};

    fn request(messages: Vec<Message>) -> ModelRequest {
        let spec = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "Does it.".to_owned(),
            parameters: json!({"type": "object", "properties": {}}),
        };
        ModelRequest {
            system: "Be brief.".to_owned(),
            messages,
            tools: vec![spec("bash"), spec("read")],
            allow_tools: true,
        }
    }

    fn build(request: &ModelRequest, quirks: &[Quirk]) -> Value {
        let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
        body(request, &Options { model: "m", max_output_tokens: Some(9), quirks: &quirks, ..Options::default() })
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.to_owned() }
    }

    fn assistant(json: Option<Value>, args: Result<Map<String, Value>, BrokenArguments>) -> Message {
        Message::Assistant(AssistantMessage {
            text: "Look.".to_owned(),
            tool_calls: vec![ToolCall { id: "c1".to_owned(), name: "bash".to_owned(), args }],
            provider_data: json.map(|json| ProviderData {
                wire: NAME.to_owned(),
                host: String::new(),
                model: "m".to_owned(),
                json,
            }),
        })
    }

    fn result(is_error: bool) -> Message {
        let content = "out".to_owned();
        Message::ToolResults(vec![ToolResult { call_id: "c1".to_owned(), tool: "bash".to_owned(), content, is_error }])
    }

    #[test]
    fn a_tool_loop_has_the_shape_of_the_wire() {
        let args = json!({"command": "ls"}).as_object().cloned().expect("an object");
        let body = build(&request(vec![user("hi"), assistant(None, Ok(args)), result(true)]), &[]);
        assert_eq!(
            body["messages"],
            json!([
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "Look.", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "ERROR: out"},
            ])
        );
        assert_eq!(body["tools"][1]["function"]["name"], "read");
        assert_eq!(body["stream_options"], json!({"include_usage": true}));
        assert_eq!((&body["stream"], &body["max_tokens"]), (&json!(true), &json!(9)));
        assert!(body.get("tool_choice").is_none());
    }

    #[test]
    fn learned_quirks_change_the_fields() {
        let quirks = [Quirk::DeveloperRole, Quirk::MaxCompletionTokens, Quirk::NoStreamOptions];
        let body = build(&ModelRequest { allow_tools: false, ..request(vec![user("hi")]) }, &quirks);
        assert_eq!(body["messages"][0]["role"], "developer");
        assert_eq!((&body["max_completion_tokens"], body.get("max_tokens")), (&json!(9), None));
        assert_eq!((&body["tool_choice"], body.get("stream_options")), (&json!("none"), None));
        assert_eq!(body["tools"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn the_service_s_own_message_goes_back_verbatim_until_something_changed() {
        let own = json!({"role": "assistant", "content": "Look.", "reasoning_content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{ }"}}]});
        let sent = |own: Value| {
            build(&request(vec![user("hi"), assistant(Some(own), Ok(Map::new())), result(false)]), &[])["messages"][2]
                .clone()
        };
        assert_eq!(sent(own.clone()), own);
        let mut edited = own.clone();
        edited["content"] = json!("Look. More");
        assert!(sent(edited).get("reasoning_content").is_none());
        assert_eq!(sent(json!(["another wire's form"]))["content"], "Look.");
    }

    #[test]
    fn broken_arguments_are_sent_as_none() {
        let broken = BrokenArguments { raw: "{\"a".to_owned(), error: "eof".to_owned() };
        let body = build(&request(vec![user("hi"), assistant(None, Err(broken)), result(true)]), &[]);
        assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
    }

    #[test]
    fn a_longer_conversation_starts_with_the_same_bytes() {
        let mut messages = vec![user("one")];
        let mut before = String::new();
        for turn in 0..10 {
            let body = build(&request(messages.clone()), &[])["messages"].to_string();
            let stem = before.trim_end_matches(']');
            assert!(body.starts_with(stem), "turn {turn}");
            before = body;
            messages.extend([assistant(None, Ok(Map::new())), result(false), user("more")]);
        }
    }
}
