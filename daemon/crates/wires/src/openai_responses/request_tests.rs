use std::collections::BTreeSet;

use cohab_model_api::{BrokenArguments, Message, ProviderData, ToolCall, ToolSpec};

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    let spec = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    ModelRequest {
        system: "Be brief.".to_owned(),
        tools: vec![spec("bash"), spec("read")],
        ..ModelRequest::of(messages)
    }
}

fn build_with(request: &ModelRequest, effort: Option<ReasoningEffort>, quirks: &[Quirk]) -> Value {
    let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
    let options = Options {
        model: "m",
        host: "h",
        max_output_tokens: Some(9),
        reasoning_effort: effort,
        quirks: &quirks,
        ..Options::default()
    };
    body(request, &options)
}

fn build(messages: Vec<Message>) -> Value {
    build_with(&request(messages), None, &[])
}

fn user(text: &str) -> Message {
    Message::user(text.to_owned())
}

fn assistant(args: Result<Map<String, Value>, BrokenArguments>, own: Option<Value>) -> Message {
    assistant_of("h", "m", args, own)
}

fn assistant_of(
    host: &str,
    model: &str,
    args: Result<Map<String, Value>, BrokenArguments>,
    own: Option<Value>,
) -> Message {
    let data = |json| ProviderData {
        wire: NAME.to_owned(),
        host: host.to_owned(),
        model: model.to_owned(),
        json: std::sync::Arc::new(json),
    };
    Message::Assistant(AssistantMessage {
        text: "Look.".to_owned(),
        tool_calls: vec![ToolCall { id: "c1".to_owned(), name: "bash".to_owned(), args: args.map(Into::into) }],
        provider_data: own.map(data),
    })
}

fn result(is_error: bool) -> Message {
    let content = "out".to_owned();
    Message::ToolResults(vec![ToolResult { call_id: "c1".to_owned(), tool: "bash".to_owned(), content, is_error }])
}

fn own() -> Value {
    json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": "Look.", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": "{ }", "status": "completed"},
    ])
}

/// The items between the question and the result in the next request.
fn sent(assistant: Message) -> Vec<Value> {
    let body = build(vec![user("hi"), assistant, result(false)]);
    let input = body["input"].as_array().cloned().expect("a list");
    assert_eq!((&input[0]["role"], &input[input.len() - 1]["call_id"]), (&json!("user"), &json!("c1")));
    input[1..input.len() - 1].to_vec()
}

#[test]
fn a_tool_loop_has_the_shape_of_the_wire() {
    let args = json!({"command": "ls"}).as_object().cloned().expect("an object");
    let body = build(vec![user("hi"), assistant(Ok(args), None), result(true)]);
    let expected = json!({
        "model": "m",
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{\"command\":\"ls\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "ERROR: out"},
        ],
        "tools": [
            {"type": "function", "name": "bash", "description": "Does it.", "parameters": {"type": "object", "properties": {}}, "strict": false},
            {"type": "function", "name": "read", "description": "Does it.", "parameters": {"type": "object", "properties": {}}, "strict": false},
        ],
        "max_output_tokens": 9,
        "include": ["reasoning.encrypted_content"],
        "store": false,
        "stream": true,
    });
    assert_eq!(body, expected);
}

#[test]
fn settings_and_refusals_change_the_fields() {
    let question = || ModelRequest { allow_tools: false, ..request(vec![user("hi")]) };
    let body = build_with(&question(), Some(ReasoningEffort::High), &[Quirk::NoEncryptedReasoning]);
    assert_eq!(body["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!(
        (&body["tool_choice"], body.get("include"), body["tools"].as_array().map(Vec::len)),
        (&json!("none"), None, Some(2))
    );
    let reasoning = |effort, quirks: &[Quirk]| build_with(&question(), Some(effort), quirks).get("reasoning").cloned();
    assert_eq!(reasoning(ReasoningEffort::Low, &[Quirk::NoReasoningSummary]), Some(json!({"effort": "low"})));
    assert_eq!(reasoning(ReasoningEffort::Off, &[]), Some(json!({"effort": "none"})));
    assert_eq!(reasoning(ReasoningEffort::Medium, &[Quirk::NoReasoningEffort]), None);
    assert!(build_with(&question(), None, &[Quirk::NoTools]).get("tools").is_none());
    let bare = ModelRequest { system: " ".to_owned(), tools: Vec::new(), ..question() };
    let body = build_with(&bare, None, &[]);
    assert!(["instructions", "tools", "tool_choice", "reasoning"].iter().all(|key| body.get(key).is_none()), "{body}");
}

#[test]
fn own_items_go_back_to_the_byte_and_in_place() {
    let items = sent(assistant(Ok(Map::new()), Some(own())));
    assert_eq!(json!(items).to_string(), own().to_string());
}

#[test]
fn own_items_of_a_changed_message_another_model_or_another_host_stay_away() {
    let neutral = sent(assistant(Ok(Map::new()), None));
    assert!(neutral.iter().all(|item| item["type"] != "reasoning" && item.get("id").is_none()));
    let mut other_text = own();
    other_text[1]["content"][0]["text"] = json!("Look. More.");
    let mut other_call = own();
    other_call[2]["call_id"] = json!("c9");
    for changed in [other_text, other_call, json!([]), json!({"role": "assistant"})] {
        assert_eq!(sent(assistant(Ok(Map::new()), Some(changed))), neutral);
    }
    for (host, model) in [("other", "m"), ("h", "other")] {
        assert_eq!(sent(assistant_of(host, model, Ok(Map::new()), Some(own()))), neutral);
    }
}

#[test]
fn ids_of_another_service_are_made_to_fit_in_call_and_result() {
    let foreign = format!("functions.bash:{}", "7".repeat(60));
    let call = ToolCall { id: foreign.clone(), name: "bash".to_owned(), args: Ok(Map::new().into()) };
    let asked = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
    let answered = ToolResult { call_id: foreign, tool: "bash".to_owned(), content: "out".to_owned(), is_error: false };
    let body = build(vec![user("hi"), Message::Assistant(asked), Message::ToolResults(vec![answered])]);
    let (call, output) = (&body["input"][1]["call_id"], &body["input"][2]["call_id"]);
    assert!(call == output && call.as_str().is_some_and(|id| id.len() <= 40), "{body}");
}

#[test]
fn reasoning_that_the_service_would_refuse_stays_away() {
    let mut at_the_end = own();
    let reasoning = at_the_end[0].clone();
    at_the_end.as_array_mut().expect("a list").push(reasoning);
    assert_eq!(json!(sent(assistant(Ok(Map::new()), Some(at_the_end)))), own());
    for unreadable in [json!(""), Value::Null] {
        let mut stored = own();
        stored[0]["encrypted_content"] = unreadable;
        assert_eq!(sent(assistant(Ok(Map::new()), Some(stored.clone()))), sent(assistant(Ok(Map::new()), None)));
        stored[0]["content"] = json!([{"type": "reasoning_text", "text": "hm"}]);
        assert_eq!(json!(sent(assistant(Ok(Map::new()), Some(stored.clone())))), stored);
    }
}

#[test]
fn broken_arguments_are_sent_as_none() {
    let broken = BrokenArguments { raw: "{\"a".to_owned(), error: "eof".to_owned() };
    assert_eq!(sent(assistant(Err(broken), None))[1]["arguments"], "{}");
}

#[test]
fn a_longer_conversation_starts_with_the_same_bytes() {
    let mut messages = vec![user("one")];
    let mut before = String::new();
    for turn in 0..10 {
        let input = build(messages.clone())["input"].to_string();
        assert!(input.starts_with(before.trim_end_matches(']')), "turn {turn}");
        before = input;
        messages.extend([assistant(Ok(Map::new()), (turn % 2 == 0).then(own)), result(false), user("more")]);
    }
}
