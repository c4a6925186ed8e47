//! Tests of the requests sent: headers, and a conversation that grows only at its end.

use std::collections::BTreeSet;

use cohab_model_api::AssistantMessage;
use cohab_wires::wire::Options;

use super::*;

#[tokio::test]
async fn requests_carry_the_headers_of_their_wire_and_no_others() {
    for fixture in fixtures() {
        let bench = bench(fixture.wire(), vec![fixture.good()]).await;
        bench.ask().await;
        let head = &bench.server.seen()[0].head;
        assert!(head.starts_with("post /") && head.contains("content-type: application/json"), "{head}");
        assert!(!head.contains("accept-encoding") && !head.contains("cookie"), "{head}");
        assert_eq!(head.matches(KEY).count(), 1, "{head}");
        let (line, _) = head.split_once("\r\n").expect("headers follow");
        assert!(!line.contains(KEY), "a key in the address ends in logs: {line}");
    }
    let heads = |name: &'static str| async move {
        let bench = bench(wire(name), vec![fixture(name).good()]).await;
        bench.ask().await;
        bench.server.seen()[0].head.clone()
    };
    let openai = heads("openai-chat").await;
    assert!(openai.contains(&format!("authorization: bearer {KEY}")) && openai.contains(" /v1/chat/completions "));
    let anthropic = heads("anthropic").await;
    assert!(anthropic.contains("anthropic-version: 2023-06-01") && anthropic.contains(&format!("x-api-key: {KEY}")));
    assert!(anthropic.contains(" /v1/messages ") && !anthropic.contains("authorization"));
}

#[tokio::test]
async fn without_a_key_nothing_is_sent_in_its_place() {
    for fixture in fixtures() {
        let server = Server::start(vec![fixture.good()]).await;
        let endpoint = Endpoint { key: None, ..endpoint(&format!("http://{}/v1", server.address), fixture.wire()) };
        let provider = provider_with(endpoint, &settings(), Arc::new(NoWaiting::default()));
        let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
        assert_eq!(text_of(&events), "ok");
        let head = &server.seen()[0].head;
        assert!(!head.contains("authorization") && !head.contains("key"), "{head}");
    }
}

#[tokio::test]
async fn a_refused_option_is_dropped_once_and_for_good() {
    let refused = r#"{"error":{"code":"unsupported_value","message":"'messages[0].role' does not support 'system' with this model."}}"#;
    let good = || fixture("openai-chat").good();
    let bench = bench(openai(), vec![Reply::json(400, refused), good(), good()]).await;
    for _ in 0..2 {
        assert_eq!(class_of(&bench.ask().await), Some(StopClass::End));
    }
    let roles: Vec<Value> = bench.server.seen().iter().map(|seen| seen.body["messages"][0]["role"].clone()).collect();
    assert_eq!(roles, [json!("system"), json!("developer"), json!("developer")]);
}

#[tokio::test]
async fn two_questions_that_are_refused_for_the_same_option_at_once_are_both_asked_again() {
    let refused = r#"{"error":{"message":"Use 'max_completion_tokens' instead."}}"#;
    let server = Server::answering(|seen| {
        let is_new = seen.body.get("max_completion_tokens").is_some();
        Some(if is_new { fixture("openai-chat").good() } else { Reply::json(400, refused) })
    })
    .await;
    let settings = ModelSettings { max_output_tokens: Some(9), ..settings() };
    let base = format!("http://{}/v1", server.address);
    let provider = provider_with(endpoint(&base, openai()), &settings, Arc::new(NoWaiting::default()));
    let both = (0..2).map(|_| provider.stream(question()).collect::<Vec<ModelEvent>>());
    for events in futures::future::join_all(both).await {
        assert_eq!(text_of(&events), "ok", "{events:?}");
    }
}

/// A conversation of `turns` questions, each with a call, its result and an answer.
fn conversation(turns: usize) -> ModelRequest {
    let mut request = question();
    request.messages.clear();
    for turn in 0..turns {
        let id = format!("call_{turn:04}");
        let call = ToolCall { id: id.clone(), ..call() };
        let calling = AssistantMessage { text: "Look.".to_owned(), tool_calls: vec![call], provider_data: None };
        let result =
            ToolResult { call_id: id, tool: "bash".to_owned(), content: format!("out {turn}"), is_error: false };
        let answer = AssistantMessage { text: format!("So {turn}."), ..AssistantMessage::default() };
        request.messages.extend([
            Message::user(format!("question {turn}")),
            Message::Assistant(calling),
            Message::ToolResults(vec![result]),
            Message::Assistant(answer),
        ]);
    }
    request.messages.push(Message::user("and now?".to_owned()));
    request
}

#[test]
fn a_longer_conversation_starts_with_the_same_bytes() {
    let quirks = BTreeSet::new();
    let options = Options { model: "m", quirks: &quirks, ..Options::default() };
    for fixture in fixtures() {
        let mut before: Option<(Value, Vec<String>)> = None;
        for turns in 0..10 {
            let mut body = fixture.wire().body(&conversation(turns), &options);
            assert!(body.to_string().matches("cache_control").count() <= 4);
            let list =
                ["messages", "contents", "input"].into_iter().find(|key| body[*key].is_array()).expect("messages");
            let items = body.as_object_mut().and_then(|body| body.remove(list)).unwrap_or_default();
            // The mark of the cache moves to the end; it is not part of the cached text.
            let plain = |item: &Value| item.to_string().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            let items: Vec<String> = items.as_array().expect("a list").iter().map(plain).collect();
            if let Some((rest, earlier)) = before {
                assert_eq!(rest.to_string(), body.to_string(), "{} {turns}", fixture.wire);
                assert!(items.starts_with(&earlier[..earlier.len() - 1]), "{} {turns}", fixture.wire);
            }
            before = Some((body, items));
        }
    }
}

#[test]
fn each_call_has_one_result_also_when_none_came() {
    let options = Options { model: "m", ..Options::default() };
    for fixture in fixtures() {
        let mut request = conversation(2);
        request.messages.retain(|message| !matches!(message, Message::ToolResults(rows) if rows[0].content == "out 0"));
        let sent = fixture.wire().body(&request, &options).to_string();
        assert_eq!(sent.matches("cancelled: this call has no result").count(), 1, "{sent}");
        assert_eq!(sent.matches("out 1").count(), 1, "{sent}");
    }
}
