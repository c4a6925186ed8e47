use std::collections::BTreeSet;

use cohab_model_api::{Message, ProviderData, ToolSpec};

use super::*;

const MODEL: &str = "gemini-3-x";

fn request(messages: Vec<Message>) -> ModelRequest {
    let spec = |name: &str, parameters: Value| ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters,
    };
    let parameters = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"command": {"type": "string"}}, "required": ["command"],
    });
    ModelRequest {
        system: "Be brief.".to_owned(),
        tools: vec![spec("bash", parameters), spec("now", json!({"type": "object", "properties": {}}))],
        ..ModelRequest::of(messages)
    }
}

fn build_for(model: &str, request: &ModelRequest, quirks: &[Quirk]) -> Value {
    let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
    body(request, &Options { model, quirks: &quirks, ..Options::default() })
}

fn build(messages: Vec<Message>) -> Value {
    build_for(MODEL, &request(messages), &[])
}

fn user(text: &str) -> Message {
    Message::user(text.to_owned())
}

fn assistant(text: &str, ids: &[&str], own: Option<Value>) -> Message {
    let args = json!({"command": "ls"}).as_object().cloned().expect("an object");
    let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "bash".to_owned(), args: Ok(args.clone().into()) };
    let provider_data = own.map(|json| ProviderData {
        wire: NAME.to_owned(),
        host: String::new(),
        model: MODEL.to_owned(),
        json: json.into(),
    });
    Message::Assistant(AssistantMessage {
        text: text.to_owned(),
        tool_calls: ids.iter().map(call).collect(),
        provider_data,
    })
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

fn signed_parts() -> Value {
    json!([
        {"text": "", "thought": true, "thoughtSignature": "dGhvdWdodA=="},
        {"text": "Lo"},
        {"text": "ok.", "thoughtSignature": "dGV4dA=="},
        {"functionCall": {"name": "bash", "args": {"command": "ls"}, "id": "a"}, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {"name": "bash", "args": {"command": "ls"}}},
    ])
}

#[test]
fn a_tool_loop_has_the_shape_of_the_wire() {
    let body = build(vec![user("hi"), assistant("Look.", &["a", "b"], None), results(&["b", "a"]), user("and?")]);
    let args = json!({"command": "ls"});
    assert_eq!(
        body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [
                {"text": "Look."},
                {"functionCall": {"name": "bash", "args": args}, "thoughtSignature": STAND_IN_SIGNATURE},
                {"functionCall": {"name": "bash", "args": args}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "bash", "response": {"output": "out"}}},
                {"functionResponse": {"name": "bash", "response": {"error": "out"}}}]},
            {"role": "user", "parts": [{"text": "and?"}]},
        ])
    );
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "Be brief."}]}));
    assert_eq!(
        body["tools"],
        json!([{"functionDeclarations": [
            {"name": "bash", "description": "Does it.", "parameters": {
                "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}},
            {"name": "now", "description": "Does it."}]}])
    );
    assert!(body.get("toolConfig").is_none() && body.get("generationConfig").is_none());
}

#[test]
fn signatures_come_back_on_their_own_parts_and_results_with_their_ids() {
    let messages =
        vec![user("hi"), assistant("Look.", &["a", "call_1"], Some(signed_parts())), results(&["a", "call_1"])];
    let body = build(messages);
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": signed_parts()}));
    let answered: Vec<&Value> = body["contents"][2]["parts"].as_array().expect("a list").iter().collect();
    assert_eq!(
        (&answered[0]["functionResponse"]["id"], answered[1]["functionResponse"].get("id")),
        (&json!("a"), None)
    );
}

#[test]
fn history_that_changed_or_is_another_model_s_gets_a_stand_in() {
    let own = Some(signed_parts());
    let sent = |model: &str, text: &str, quirks: &[Quirk]| {
        let messages = vec![user("hi"), assistant(text, &["a", "call_1"], own.clone()), results(&["a", "call_1"])];
        build_for(model, &request(messages), quirks)["contents"][1]["parts"].to_string()
    };
    for (model, text) in [(MODEL, "Other."), ("gemini-3-other", "Look."), ("gemini-flash-latest", "Look.")] {
        let parts = sent(model, text, &[]);
        assert_eq!(parts.matches(STAND_IN_SIGNATURE).count(), 1, "{parts}");
        assert_eq!(parts.matches("Signature").count(), 1, "{parts}");
    }
    assert!(!sent("gemini-2.5-flash", "Look.", &[]).contains("Signature"));
}

#[test]
fn refused_signatures_are_all_left_out() {
    let messages = || vec![user("hi"), assistant("Look.", &["a", "call_1"], Some(signed_parts())), results(&["a"])];
    let parts = |quirks: &[Quirk]| build_for(MODEL, &request(messages()), quirks)["contents"][1]["parts"].clone();
    let stripped = parts(&[Quirk::NoThoughtSignatures]);
    assert!(!stripped.to_string().contains("Signature"), "{stripped}");
    assert_eq!(stripped.as_array().map(Vec::len), Some(4), "the empty thought is gone: {stripped}");
    let both = parts(&[Quirk::NoThoughtSignatures, Quirk::StandInSignatures]);
    assert_eq!(both[2]["thoughtSignature"], STAND_IN_SIGNATURE);
    assert_eq!(both.to_string().matches("Signature").count(), 1);
    assert_eq!(parts(&[Quirk::StandInSignatures]), signed_parts(), "what is signed stays");
}

#[test]
fn forbidden_tools_are_still_described() {
    let body = build_for(MODEL, &ModelRequest { allow_tools: false, ..request(vec![user("hi")]) }, &[]);
    assert_eq!(body["toolConfig"], json!({"functionCallingConfig": {"mode": "NONE"}}));
    assert_eq!(body["tools"][0]["functionDeclarations"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_effort_is_a_level_or_tokens_by_the_age_of_the_model() {
    let config = |model: &str, effort: ReasoningEffort, quirks: &[Quirk]| {
        let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
        let options = Options {
            model,
            max_output_tokens: Some(99),
            reasoning_effort: Some(effort),
            quirks: &quirks,
            ..Options::default()
        };
        body(&request(vec![user("hi")]), &options)["generationConfig"].clone()
    };
    for (model, effort, thinking) in [
        ("gemini-3-pro", ReasoningEffort::High, json!({"thinkingLevel": "high", "includeThoughts": true})),
        ("models/gemini-10-pro", ReasoningEffort::Off, json!({"thinkingLevel": "low"})),
        ("gemini-flash-latest", ReasoningEffort::Medium, json!({"thinkingLevel": "medium", "includeThoughts": true})),
        ("models/gemini-2.5-pro", ReasoningEffort::Low, json!({"thinkingBudget": 1024, "includeThoughts": true})),
        ("gemini-2.5-flash", ReasoningEffort::Off, json!({"thinkingBudget": 0})),
    ] {
        assert_eq!(config(model, effort, &[]), json!({"maxOutputTokens": 99, "thinkingConfig": thinking}), "{model}");
    }
    let refused = config(MODEL, ReasoningEffort::High, &[Quirk::NoReasoningEffort]);
    assert_eq!(refused, json!({"maxOutputTokens": 99}));
}

#[test]
fn a_longer_conversation_starts_with_the_same_bytes() {
    let mut messages = vec![user("one")];
    let mut before = String::new();
    for turn in 0..10 {
        let body = build(messages.clone())["contents"].to_string();
        assert!(body.starts_with(before.trim_end_matches(']')), "turn {turn}");
        before = body;
        messages.extend([assistant("Look.", &["a", "call_1"], Some(signed_parts())), results(&["a", "call_1"])]);
        messages.push(user("more"));
    }
}
