//! Tests of the features that only Gemini has.

use cohab_model_api::AssistantMessage;

use super::*;

fn gemini() -> &'static dyn Wire {
    wire("gemini")
}

fn chunk(part: &Value, reason: Option<&str>) -> String {
    let mut chunk = json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]});
    if let Some(reason) = reason {
        chunk["candidates"][0]["finishReason"] = json!(reason);
    }
    format!("data: {chunk}\r\n\r\n")
}

fn answer() -> Reply {
    Reply::events(chunk(&json!({"text": "Done."}), Some("STOP")).as_bytes())
}

fn refusal(text: &str) -> Reply {
    let error = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": text}});
    Reply::json(400, &json!([error]).to_string())
}

/// The question after a call that the service signed.
fn question_after_signed_call(bench: &Bench) -> ModelRequest {
    let mut request = question_after_tool();
    let part = json!({"functionCall": {"name": "bash", "args": {"command": "ls"}}, "thoughtSignature": "c2ln"});
    if let Some(Message::Assistant(AssistantMessage { provider_data, .. })) = request.messages.get_mut(1) {
        *provider_data = Some(cohab_model_api::ProviderData {
            wire: "gemini".to_owned(),
            host: bench.server.address.clone(),
            model: "m".to_owned(),
            json: json!([part]).into(),
        });
    }
    request
}

fn signature(bench: &Bench, request: usize) -> Value {
    bench.server.seen()[request].body["contents"][1]["parts"][0]["thoughtSignature"].clone()
}

#[tokio::test]
async fn a_call_and_its_signature_make_the_round() {
    let part = json!({"functionCall": {"name": "bash", "args": {"command": "ls"}}, "thoughtSignature": "c2ln"});
    let replies = vec![Reply::events(chunk(&part, Some("STOP")).as_bytes()), answer()];
    let bench = bench(gemini(), replies).await;
    let events = bench.ask().await;
    let Some(ModelEvent::Stop { class: StopClass::Tool, provider_data }) = events.last() else { panic!("{events:?}") };
    let mut request = question_after_tool();
    if let Some(Message::Assistant(message)) = request.messages.get_mut(1) {
        message.tool_calls = calls_of(&events);
        message.provider_data.clone_from(provider_data);
    }
    let events: Vec<ModelEvent> = bench.provider.stream(request).collect().await;
    assert_eq!((text_of(&events).as_str(), class_of(&events)), ("Done.", Some(StopClass::End)));
    let seen = bench.server.seen();
    assert_eq!(seen[1].body["contents"][1]["parts"], json!([part]));
    assert!(seen[0].head.starts_with("post /v1/models/m:streamgeneratecontent?alt=sse "), "{}", seen[0].head);
    assert!(seen[0].head.contains(&format!("x-goog-api-key: {KEY}")));
}

#[tokio::test]
async fn refused_signatures_are_left_out_once_and_from_then_on() {
    let bench = bench(gemini(), vec![refusal("Corrupted thought signature."), answer(), answer()]).await;
    for _ in 0..2 {
        let events: Vec<ModelEvent> = bench.provider.stream(question_after_signed_call(&bench)).collect().await;
        assert_eq!(text_of(&events), "Done.");
    }
    let sent = [signature(&bench, 0), signature(&bench, 1), signature(&bench, 2)];
    assert_eq!(sent, [json!("c2ln"), Value::Null, Value::Null]);
    assert_eq!(bench.waits_ms(), [] as [u128; 0]);
}

#[tokio::test]
async fn signatures_that_stay_refused_are_an_error() {
    let again = || refusal("Invalid thought signature.");
    let bench = bench(gemini(), vec![again(), again(), again()]).await;
    let events: Vec<ModelEvent> = bench.provider.stream(question_after_signed_call(&bench)).collect().await;
    assert!(matches!(events.last(), Some(ModelEvent::Failed(_))), "{events:?}");
    assert_eq!(bench.server.seen().len(), 2);
}

#[tokio::test]
async fn a_quota_is_waited_for_as_the_body_says() {
    let error = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.4s"}]}});
    let bench = bench(gemini(), vec![Reply::json(429, &json!([error]).to_string()), answer()]).await;
    assert_eq!(text_of(&bench.ask().await), "Done.");
    assert_eq!(bench.waits_ms(), [400]);
}

#[tokio::test]
async fn a_wrong_key_is_told_without_the_key() {
    let error = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": format!("API key {KEY} not valid."),
        "details": [{"reason": "API_KEY_INVALID"}]}});
    let bench = bench(gemini(), vec![Reply::json(400, &error.to_string())]).await;
    let error = bench.fails().await;
    assert_eq!(error.kind, ProviderErrorKind::Auth);
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
}

#[tokio::test]
async fn an_array_in_one_piece_is_one_answer() {
    let part = json!({"content": {"parts": [{"text": "Do"}]}});
    let last = json!({"content": {"parts": [{"text": "ne."}]}, "finishReason": "STOP"});
    let whole = json!([{"candidates": [part]}, {"candidates": [last]}]);
    let bench = bench(gemini(), vec![Reply::json(200, &whole.to_string())]).await;
    let events = bench.ask().await;
    assert_eq!((text_of(&events).as_str(), class_of(&events)), ("Done.", Some(StopClass::End)));
}
