//! Tests of the features that only the Messages API has: signed thoughts, pauses, cache marks.

use cohab_model_api::AssistantMessage;
use cohab_types::reasoning::ReasoningEffort;

use super::*;

fn reply(events: &[Value]) -> Reply {
    Reply::events(sse(events).as_bytes())
}

fn start(id: &str, input: u64) -> Value {
    json!({"type": "message_start", "message": {"id": id, "usage": {"input_tokens": input, "output_tokens": 1}}})
}

fn open(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn text(index: u64, text: &str) -> Value {
    delta(index, &json!({"type": "text_delta", "text": text}))
}

fn end(reason: &str, output: u64) -> [Value; 2] {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": output}});
    [delta, json!({"type": "message_stop"})]
}

fn thinking(effort: ReasoningEffort) -> ModelSettings {
    ModelSettings { reasoning_effort: Some(effort), ..settings() }
}

#[tokio::test]
async fn thoughts_go_back_with_the_same_bytes_in_the_same_place() {
    let mut events = vec![
        start("m", 9),
        open(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "First \u{e9} \\ \"look\"."})),
        delta(0, &json!({"type": "signature_delta", "signature": "c2ln+/=="})),
        open(1, &json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
        open(2, &json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        delta(2, &json!({"type": "input_json_delta", "partial_json": "{\"query\":\"x\"}"})),
        open(
            3,
            &json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": "e"}]}),
        ),
        open(4, &json!({"type": "text", "text": ""})),
        text(4, "Look."),
        open(5, &json!({"type": "tool_use", "id": "c1", "name": "bash"})),
        delta(5, &json!({"type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}"})),
    ];
    events.extend(end("tool_use", 20));
    let settings = thinking(ReasoningEffort::Low);
    let bench = bench_with(anthropic(), &settings, vec![reply(&events), fixture("anthropic").good()]).await;
    let events = bench.ask().await;
    let Some(ModelEvent::Stop { class: StopClass::Tool, provider_data }) = events.last() else { panic!("{events:?}") };
    let mut request = question();
    let answer = AssistantMessage {
        text: text_of(&events),
        tool_calls: calls_of(&events),
        provider_data: provider_data.clone(),
    };
    let result =
        ToolResult { call_id: "c1".to_owned(), tool: "bash".to_owned(), content: "out".to_owned(), is_error: false };
    request.messages.extend([Message::Assistant(answer), Message::ToolResults(vec![result])]);
    assert_eq!(text_of(&bench.ask_with(request).await), "ok");
    let sent = bench.server.seen().remove(1).body;
    let blocks = json!([
        {"type": "thinking", "thinking": "First \u{e9} \\ \"look\".", "signature": "c2ln+/=="},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": "e"}]},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
    ]);
    assert_eq!(sent["messages"][1]["content"].to_string(), blocks.to_string());
    assert_eq!(sent["thinking"], json!({"type": "enabled", "budget_tokens": 4000}));
    assert_eq!(sent["messages"][2]["content"][0]["type"], "tool_result");
}

#[tokio::test]
async fn a_refused_option_is_dropped_remembered_and_told_once() {
    let cases = [
        ("'m' does not support thinking", "thinking", "m does not support `reasoning_effort`; requests omit it"),
        (
            "cache_control: Extra inputs are not permitted",
            "cache_control",
            "m does not support cache marks; each question is read in full",
        ),
    ];
    for (refusal, option, told) in cases {
        let refused = json!({"type": "error", "error": {"type": "invalid_request_error", "message": refusal}});
        let good = || fixture("anthropic").good();
        let settings = thinking(ReasoningEffort::High);
        let replies = vec![Reply::json(400, &refused.to_string()), good(), good()];
        let bench = bench_with(anthropic(), &settings, replies).await;
        let first = bench.ask().await;
        assert_eq!((text_of(&first).as_str(), notices_of(&first)), ("ok", vec![told]), "{first:?}");
        let second = bench.ask().await;
        assert_eq!((text_of(&second).as_str(), notices_of(&second)), ("ok", Vec::new()));
        let has_option: Vec<bool> =
            bench.server.seen().iter().map(|seen| seen.body.to_string().contains(option)).collect();
        assert_eq!(has_option, [true, false, false]);
    }
}

#[tokio::test]
async fn an_option_that_is_refused_although_it_was_not_sent_is_a_refusal() {
    let refused = r#"{"type":"error","error":{"type":"invalid_request_error","message":"thinking is bad"}}"#;
    let bench = bench(anthropic(), vec![Reply::json(400, refused), fixture("anthropic").good()]).await;
    assert_eq!((bench.fails().await.kind, bench.server.seen().len()), (ProviderErrorKind::InvalidRequest, 1));
}

fn part(number: u64, reason: &str) -> Reply {
    let id = format!("s{number}");
    let mut events = vec![
        start(&format!("m{number}"), 100),
        open(0, &json!({"type": "server_tool_use", "id": id, "input": {}})),
        text(1, &number.to_string()),
    ];
    events.extend(end(reason, 10));
    reply(&events)
}

#[tokio::test]
async fn a_paused_answer_is_continued_five_times_and_then_told() {
    let paused = bench(anthropic(), (0..6).map(|number| part(number, "pause_turn")).collect()).await;
    let events = paused.ask().await;
    assert_eq!((text_of(&events).as_str(), class_of(&events)), ("012345", Some(StopClass::Pause)));
    let second = bench(anthropic(), vec![part(0, "pause_turn"), part(1, "end_turn")]).await;
    let events = second.ask().await;
    let Some(ModelEvent::Stop { class: StopClass::End, provider_data: Some(data) }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(data.json.as_array().map(Vec::len), Some(4));
    let sent = &second.server.seen()[1].body["messages"];
    assert_eq!((&sent[1]["role"], &sent[1]["content"][0]["id"]), (&json!("assistant"), &json!("s0")));
}

#[tokio::test]
async fn tokens_add_up_over_the_parts_of_an_answer_and_never_inside_one() {
    let tokens = |usage: Option<TokenUsage>| usage.map(|usage| (usage.input, usage.output, usage.cache_read));
    let three = bench(anthropic(), vec![part(0, "pause_turn"), part(1, "pause_turn"), part(2, "end_turn")]).await;
    assert_eq!(tokens(usage_of(&three.ask().await)), Some((Some(300), Some(30), None)));
    let cut = sse(&[start("m", 100), text(0, "half")]);
    let again = bench(anthropic(), vec![Reply::events(cut.as_bytes()), part(1, "end_turn")]).await;
    assert_eq!(tokens(usage_of(&again.ask().await)), Some((Some(200), Some(11), None)));
}

#[tokio::test]
async fn an_answer_that_a_full_context_ends_is_cut_by_its_length() {
    let mut events = vec![start("m", 9), text(0, "so far")];
    events.extend(end("model_context_window_exceeded", 3));
    let bench = bench(anthropic(), vec![reply(&events)]).await;
    let events = bench.ask().await;
    assert_eq!((text_of(&events).as_str(), class_of(&events)), ("so far", Some(StopClass::Length)));
}
