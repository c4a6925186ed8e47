//! Builds the body of a Messages request from a neutral request.

use cohab_model_api::{AssistantMessage, Image, ModelRequest, ToolResult};
use cohab_types::image_format::ImageFormat;
use cohab_types::reasoning::ReasoningEffort;
use serde_json::{Map, Value, json};

use super::NAME;
use crate::{
    history::{self, HistoryEntry},
    wire::{Options, Quirk},
};

/// Longest answer if the settings name none; the wire requires a number, and every current model accepts this one.
pub(super) const DEFAULT_MAX_TOKENS: u32 = 8_000;

/// Least number of tokens for the answer after the thinking.
const MIN_ANSWER_TOKENS: u32 = 4_000;
/// Highest temperature that the service accepts.
const MAX_TEMPERATURE: f64 = 1.0;

/// Builds the body. Cache breakpoints are on the last tool, the system prompt and the last user message.
pub(super) fn body(request: &ModelRequest, options: &Options<'_>) -> Value {
    let mut messages = messages(request, options);
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}))
        .collect();
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(json!({"type": "text", "text": request.system}));
    }
    if !options.has(Quirk::NoCacheControl) {
        // Never on a block of the assistant: those blocks go back unchanged, also after a pause.
        let last_question = messages.iter_mut().rfind(|message| message["role"] == "user");
        let last_block =
            last_question.and_then(|message| message["content"].as_array_mut()).and_then(|blocks| blocks.last_mut());
        for place in [tools.last_mut(), system.last_mut(), last_block].into_iter().flatten() {
            place["cache_control"] = json!({"type": "ephemeral"});
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    let thinking_tokens = thinking_budget(options).filter(|_| may_think(&messages));
    let least = thinking_tokens.map_or(0, |budget| budget + MIN_ANSWER_TOKENS);
    body.insert("max_tokens".to_owned(), json!(options.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS).max(least)));
    if let Some(budget) = thinking_tokens {
        body.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": budget}));
    } else if let Some(temperature) = options.temperature() {
        // A thinking model chooses its words by itself; the range ends at 1 here.
        body.insert("temperature".to_owned(), json!(temperature.min(MAX_TEMPERATURE)));
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), Value::Array(system));
    }
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
        if !request.allow_tools {
            body.insert("tool_choice".to_owned(), json!({"type": "none"}));
        }
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    body.insert("stream".to_owned(), json!(true));
    Value::Object(body)
}

/// Number of tokens that the model may think. Without an effort in the settings the request names no budget, and the model does not think.
fn thinking_budget(options: &Options<'_>) -> Option<u32> {
    match options.reasoning_effort.filter(|_| !options.has(Quirk::NoReasoningEffort))? {
        ReasoningEffort::Off => None,
        ReasoningEffort::Low => Some(4_000),
        ReasoningEffort::Medium => Some(12_000),
        ReasoningEffort::High => Some(24_000),
    }
}

/// Thinking cannot begin inside a turn: if tools ran, the turn's first answer must begin with a thought that goes back.
fn may_think(messages: &[Value]) -> bool {
    let is_question = |message: &Value| message["role"] == "user" && message["content"][0]["type"] != "tool_result";
    let turn_start = messages.iter().rposition(is_question).map_or(0, |at| at + 1);
    let first_answer = messages.iter().skip(turn_start).find(|message| message["role"] == "assistant");
    let is_thought = |block: &Value| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
    first_answer.is_none_or(|answer| is_thought(&answer["content"][0]))
}

fn image_block(image: &Image) -> Value {
    let kind = if image.format == ImageFormat::Pdf { "document" } else { "image" };
    let (media_type, data) = (image.format.media_type(), history::base64(image));
    json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}})
}

fn messages(request: &ModelRequest, options: &Options<'_>) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for entry in history::entries(&request.messages, NAME, options) {
        let (role, blocks) = match entry {
            HistoryEntry::User(text, images) => {
                let shown = images.into_iter().map(image_block);
                ("user", shown.chain([json!({"type": "text", "text": text})]).collect())
            }
            HistoryEntry::Assistant(assistant) => ("assistant", assistant_blocks(assistant, options)),
            HistoryEntry::Results(rows) => ("user", rows.iter().map(|row| result_block(row)).collect()),
        };
        // Roles alternate: a question right after results is appended to their message.
        match messages.last_mut().filter(|message| message["role"] == role).map(|message| &mut message["content"]) {
            Some(Value::Array(content)) => content.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => messages.push(json!({"role": role, "content": blocks})),
        }
    }
    messages
}

/// The blocks as the service wrote them, if the message has not changed since: signatures must go back byte for byte.
fn assistant_blocks(assistant: &AssistantMessage, options: &Options<'_>) -> Vec<Value> {
    let own = history::own_form(assistant, NAME, options).and_then(Value::as_array);
    if let Some(own) = own.filter(|own| is_unchanged(own, assistant)) {
        return own.clone();
    }
    let mut blocks = Vec::new();
    if !assistant.text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": assistant.text}));
    }
    for call in &assistant.tool_calls {
        let input = call.args.clone().unwrap_or_default();
        let (id, name) = (history::sendable_id(&call.id), history::sendable_name(&call.name));
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    blocks
}

fn is_unchanged(own: &[Value], assistant: &AssistantMessage) -> bool {
    let texts = |kind: &'static str, key: &'static str| {
        own.iter().filter(move |block| block["type"] == kind).filter_map(move |block| block[key].as_str())
    };
    let text: String = texts("text", "text").collect();
    text.trim() == assistant.text.trim()
        && texts("tool_use", "id").eq(assistant.tool_calls.iter().map(|call| call.id.as_str()))
}

fn result_block(result: &ToolResult) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": history::sendable_id(&result.call_id)});
    if !result.content.trim().is_empty() {
        block["content"] = json!(result.content);
    }
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cohab_model_api::{Message, ProviderData, ToolCall, ToolSpec};

    use super::*;

    fn request(messages: Vec<Message>) -> ModelRequest {
        let spec = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "Does it.".to_owned(),
            parameters: json!({"type": "object"}),
        };
        ModelRequest {
            system: "Be brief.".to_owned(),
            tools: vec![spec("bash"), spec("read")],
            ..ModelRequest::of(messages)
        }
    }

    fn build(request: &ModelRequest, quirks: &[Quirk]) -> Value {
        let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
        body(request, &Options { model: "m", quirks: &quirks, ..Options::default() })
    }

    fn user(text: &str) -> Message {
        Message::user(text.to_owned())
    }

    fn assistant(text: &str, ids: &[&str], own: Option<Value>) -> Message {
        let tool_calls = ids
            .iter()
            .map(|id| ToolCall { id: (*id).to_owned(), name: "bash".to_owned(), args: Ok(Map::new().into()) })
            .collect();
        let provider_data = own.map(|json| ProviderData {
            wire: NAME.to_owned(),
            host: String::new(),
            model: "m".to_owned(),
            json: json.into(),
        });
        Message::Assistant(AssistantMessage { text: text.to_owned(), tool_calls, provider_data })
    }

    fn results(ids: &[&str]) -> Message {
        let result = |id: &&str| ToolResult {
            call_id: (*id).to_owned(),
            tool: "bash".to_owned(),
            content: "out".to_owned(),
            is_error: *id == "b",
        };
        Message::ToolResults(ids.iter().map(result).collect())
    }

    #[test]
    fn results_of_one_turn_are_one_user_message_with_the_next_question_behind() {
        let messages = vec![user("hi"), assistant("Look.", &["a", "b"], None), results(&["a", "b"]), user("and?")];
        let body = build(&request(messages), &[Quirk::NoCacheControl]);
        assert_eq!(
            body["messages"],
            json!([
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "Look."},
                    {"type": "tool_use", "id": "a", "name": "bash", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "bash", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "out"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "out", "is_error": true},
                    {"type": "text", "text": "and?"}]},
            ])
        );
        assert_eq!(body["system"], json!([{"type": "text", "text": "Be brief."}]));
        assert_eq!((&body["max_tokens"], body.get("tool_choice")), (&json!(8000), None));
    }

    #[test]
    fn three_breakpoints_stand_on_last_tool_system_and_last_message() {
        let body = build(&request(vec![user("hi"), assistant("x", &["a"], None), results(&["a"])]), &[]);
        assert_eq!(body.to_string().matches("cache_control").count(), 3);
        for path in ["/tools/1/cache_control", "/system/0/cache_control", "/messages/2/content/0/cache_control"] {
            assert_eq!(body.pointer(path), Some(&json!({"type": "ephemeral"})), "{path}");
        }
    }

    #[test]
    fn a_paused_answer_goes_back_last_and_unchanged() {
        let own = json!([{"type": "thinking", "thinking": "", "signature": "c2ln"}]);
        let body = build(&request(vec![user("hi"), assistant("", &[], Some(own.clone()))]), &[]);
        assert_eq!(body["messages"][1], json!({"role": "assistant", "content": own}));
        assert!(body.pointer("/messages/0/content/0/cache_control").is_some());
    }

    #[test]
    fn forbidden_tools_are_still_described() {
        let body = build(&ModelRequest { allow_tools: false, ..request(vec![user("hi")]) }, &[]);
        assert_eq!((body["tools"].as_array().map(Vec::len), &body["tool_choice"]), (Some(2), &json!({"type": "none"})));
    }

    #[test]
    fn signed_thinking_goes_back_verbatim_until_the_message_changes() {
        let own = json!([
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "eA=="},
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "a", "name": "bash", "input": {}},
        ]);
        let sent = |message: Message| {
            build(&request(vec![user("hi"), message, results(&["a"])]), &[])["messages"][1]["content"].clone()
        };
        assert_eq!(sent(assistant("Look.", &["a"], Some(own.clone()))), own);
        assert_eq!(sent(assistant("Other.", &["a"], Some(own.clone())))[0]["type"], "text");
        assert_eq!(sent(assistant("Look.", &["b"], Some(own)))[0]["type"], "text");
    }

    #[test]
    fn thinking_has_a_budget_below_the_cap_and_off_sends_none() {
        let sent = |effort: Option<ReasoningEffort>, cap: Option<u32>, quirks: &[Quirk]| {
            let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
            let options =
                Options { reasoning_effort: effort, max_output_tokens: cap, quirks: &quirks, ..Options::default() };
            let body = body(&ModelRequest { allow_tools: false, ..request(vec![user("hi")]) }, &options);
            assert_eq!(body["tool_choice"], json!({"type": "none"}));
            (body.pointer("/thinking/budget_tokens").and_then(Value::as_u64), body["max_tokens"].as_u64())
        };
        assert_eq!(sent(Some(ReasoningEffort::Low), None, &[]), (Some(4_000), Some(8_000)));
        assert_eq!(sent(Some(ReasoningEffort::Medium), None, &[]), (Some(12_000), Some(16_000)));
        assert_eq!(sent(Some(ReasoningEffort::High), Some(60_000), &[]), (Some(24_000), Some(60_000)));
        assert_eq!(sent(Some(ReasoningEffort::High), Some(500), &[]), (Some(24_000), Some(28_000)));
        assert_eq!(sent(Some(ReasoningEffort::High), None, &[Quirk::NoReasoningEffort]), (None, Some(8_000)));
        assert_eq!(sent(Some(ReasoningEffort::Off), Some(500), &[]), (None, Some(500)));
        assert_eq!(sent(None, None, &[]), (None, Some(8_000)));
    }

    #[test]
    fn thinking_does_not_begin_inside_a_turn() {
        let thought = json!([{"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "tool_use", "id": "a", "name": "bash", "input": {}}]);
        let thinks = |messages: Vec<Message>| {
            let options = Options { model: "m", reasoning_effort: Some(ReasoningEffort::Low), ..Options::default() };
            body(&request(messages), &options).get("thinking").is_some()
        };
        let turn = |own: Option<Value>| vec![user("hi"), assistant("", &["a"], own), results(&["a"])];
        assert!(thinks(turn(Some(thought.clone()))));
        assert!(!thinks(turn(None)));
        let second_step = [assistant("", &["b"], None), results(&["b"])];
        assert!(thinks(turn(Some(thought)).into_iter().chain(second_step).collect()));
        assert!(thinks(turn(None).into_iter().chain([assistant("So.", &[], None), user("and?")]).collect()));
    }

    #[test]
    fn foreign_ids_are_made_valid_in_call_and_result_alike() {
        let body = build(
            &request(vec![user("hi"), assistant("", &["functions.bash:0"], None), results(&["functions.bash:0"])]),
            &[],
        );
        assert_eq!(body["messages"][1]["content"][0]["id"], "functions_bash_0");
        assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "functions_bash_0");
    }

    #[test]
    fn a_longer_conversation_starts_with_the_same_bytes() {
        let mut messages = vec![user("one")];
        let mut before = String::new();
        for turn in 0..10 {
            let body = build(&request(messages.clone()), &[]);
            assert!(body.to_string().matches("cache_control").count() <= 4);
            let bytes = body["messages"].to_string().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            assert!(bytes.starts_with(before.trim_end_matches(']').trim_end_matches("]}")), "turn {turn}");
            before = bytes;
            messages.extend([assistant("x", &["a"], None), results(&["a"]), user("more")]);
        }
    }
}
