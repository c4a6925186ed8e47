use std::collections::BTreeSet;

use cohab_model_api::{BrokenArguments, Message, ProviderData, ToolCall, ToolSpec};

use super::*;

fn request(messages: Vec<Message>) -> ModelRequest {
    let tool = ToolSpec {
        name: "bash".to_owned(),
        description: "Does it.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    ModelRequest { system: "Be brief.".to_owned(), tools: vec![tool], ..ModelRequest::of(messages) }
}

fn build(request: &ModelRequest, quirks: &[Quirk]) -> Value {
    let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
    body(request, &Options { model: "m", quirks: &quirks, ..Options::default() })
}

fn user(text: &str) -> Message {
    Message::user(text.to_owned())
}

fn assistant(args: Result<Map<String, Value>, BrokenArguments>) -> Message {
    Message::Assistant(AssistantMessage {
        text: "Look.".to_owned(),
        tool_calls: vec![ToolCall { id: "c1".to_owned(), name: "bash".to_owned(), args: args.map(Into::into) }],
        provider_data: Some(ProviderData {
            wire: NAME.to_owned(),
            host: String::new(),
            model: "m".to_owned(),
            json: json!({"thinking": "Hm."}).into(),
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
    let body = build(&request(vec![user("hi"), assistant(Ok(args)), result(true)]), &[]);
    assert_eq!(
        body,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "Look.", "thinking": "Hm.", "tool_calls": [
                    {"id": "c1", "function": {"name": "bash", "arguments": {"command": "ls"}}}]},
                {"role": "tool", "tool_name": "bash", "tool_call_id": "c1", "content": "ERROR: out"}],
            "tools": [{"type": "function", "function": {
                "name": "bash", "description": "Does it.", "parameters": {"type": "object", "properties": {}}}}],
            "stream": true,
            "keep_alive": "30m",
            "options": {"num_ctx": 32_768},
        })
    );
}

#[test]
fn thoughts_and_arguments_that_make_no_sense_stay_away() {
    let broken = BrokenArguments { raw: "{\"a".to_owned(), error: "eof".to_owned() };
    let request = request(vec![user("hi"), assistant(Err(broken)), result(true)]);
    let sent = body(&request, &Options { model: "another", ..Options::default() });
    assert_eq!(sent["messages"][2]["tool_calls"][0]["function"]["arguments"], json!({}));
    assert!(sent["messages"][2].get("thinking").is_none());
}

#[test]
fn the_context_is_as_large_as_it_is_set_in_every_request() {
    for (window, sent) in [(None, 32_768), (Some(8_192), 8_192), (Some(131_072), 131_072)] {
        let options =
            Options { context_window_tokens: window, max_output_tokens: Some(7), model: "m", ..Options::default() };
        for messages in [vec![user("a")], vec![user("a"), assistant(Ok(Map::new())), result(false)]] {
            let body = body(&request(messages), &options);
            assert_eq!(body["options"], json!({"num_ctx": sent, "num_predict": 7}));
        }
    }
}

#[test]
fn tools_are_offered_only_where_they_may_and_can_be_called() {
    let ask = || request(vec![user("hi")]);
    assert!(build(&ask(), &[]).get("tools").is_some());
    assert!(build(&ask(), &[Quirk::NoTools]).get("tools").is_none());
    assert!(build(&ModelRequest { allow_tools: false, ..ask() }, &[]).get("tools").is_none());
}

#[test]
fn only_one_family_knows_levels_of_thinking() {
    let think = |model: &str, effort: Option<ReasoningEffort>, quirks: &[Quirk]| {
        let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
        let options = Options { model, reasoning_effort: effort, quirks: &quirks, ..Options::default() };
        body(&request(vec![user("hi")]), &options).get("think").cloned()
    };
    assert_eq!(think("qwen3", None, &[]), None);
    assert_eq!(think("qwen3", Some(ReasoningEffort::Off), &[]), Some(json!(false)));
    assert_eq!(think("qwen3", Some(ReasoningEffort::Low), &[]), Some(json!(true)));
    assert_eq!(think("gpt-oss:20b", Some(ReasoningEffort::Medium), &[]), Some(json!("medium")));
    assert_eq!(think("qwen3", Some(ReasoningEffort::High), &[Quirk::NoReasoningEffort]), None);
}

#[test]
fn a_longer_conversation_starts_with_the_same_bytes() {
    let mut messages = vec![user("one")];
    let mut before = String::new();
    for turn in 0..10 {
        let body = build(&request(messages.clone()), &[])["messages"].to_string();
        assert!(body.starts_with(before.trim_end_matches(']')), "turn {turn}");
        before = body;
        messages.extend([assistant(Ok(Map::new())), result(false), user("more")]);
    }
}
