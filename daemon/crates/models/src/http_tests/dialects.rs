//! Tests of the facts that the provider learns about a service while it is used.

use cohab_types::reasoning::ReasoningEffort;

use super::*;

/// A whole answer on the wire.
fn answer(wire: &str, text: &str) -> Reply {
    let fixture = fixture(wire);
    fixture.stream(&fixture.answer(text))
}

#[tokio::test]
async fn an_effort_that_a_model_refuses_is_dropped_and_told_once() {
    let refused = r#"{"error":{"message":"Unsupported parameter: 'reasoning_effort' or 'reasoning.effort' here."}}"#;
    for name in ["openai-chat", "openai-responses"] {
        let settings = ModelSettings { reasoning_effort: Some(ReasoningEffort::High), ..settings() };
        let bench =
            bench_with(wire(name), &settings, vec![Reply::json(400, refused), answer(name, "a"), answer(name, "a")])
                .await;
        let (first, second) = (bench.ask().await, bench.ask().await);
        assert_eq!((class_of(&first), class_of(&second)), (Some(StopClass::End), Some(StopClass::End)));
        assert!(matches!(notices_of(&first)[..], [notice] if notice.contains("reasoning_effort")), "{first:?}");
        assert_eq!(notices_of(&second), Vec::<&str>::new());
        let asked = |body: &Value| body.get("reasoning_effort").or_else(|| body.get("reasoning")).is_some();
        let sent: Vec<bool> = bench.server.seen().iter().map(|seen| asked(&seen.body)).collect();
        assert_eq!(sent, [true, false, false], "{name}");
    }
}

#[tokio::test]
async fn a_temperature_is_sent_on_every_wire_and_dropped_where_it_is_refused() {
    let refused = r#"{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model."}}"#;
    for name in ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"] {
        let settings = ModelSettings { temperature: Some(0.25), ..settings() };
        let replies = vec![answer(name, "a"), Reply::json(400, refused), answer(name, "a")];
        let bench = bench_with(wire(name), &settings, replies).await;
        let (first, second) = (bench.ask().await, bench.ask().await);
        assert_eq!((notices_of(&first), text_of(&second).as_str()), (Vec::new(), "a"), "{name}");
        assert!(
            matches!(notices_of(&second)[..], [notice] if notice.contains("does not support `temperature`")),
            "{second:?}"
        );
        let places = ["/temperature", "/generationConfig/temperature", "/options/temperature"];
        let sent = |body: &Value| places.iter().find_map(|place| body.pointer(place)).and_then(Value::as_f64);
        let sent: Vec<Option<f64>> = bench.server.seen().iter().map(|seen| sent(&seen.body)).collect();
        assert_eq!(sent, [Some(0.25), Some(0.25), None], "{name}");
    }
}

#[tokio::test]
async fn a_think_tag_that_a_template_swallows_is_known_from_the_second_answer_on() {
    let answer = || {
        let text = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        Reply::events(sse(&[text("reasons\n</thi"), text("nk>\n\nAnswer"), end]).as_bytes())
    };
    let bench = bench(openai(), vec![answer(), answer()]).await;
    assert_eq!(text_of(&bench.ask().await), "reasons\nAnswer");
    let second = bench.ask().await;
    assert_eq!(text_of(&second), "Answer");
    assert!(second.contains(&ModelEvent::ReasoningDelta("reasons\n".to_owned())), "{second:?}");
}

#[tokio::test]
async fn a_call_written_as_text_is_shown_told_once_and_not_run() {
    let text = "{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}";
    let bench = bench(openai(), vec![answer("openai-chat", text), answer("openai-chat", text)]).await;
    for told in [1, 0] {
        let events = bench.ask().await;
        assert_eq!((text_of(&events).as_str(), calls_of(&events).len(), notices_of(&events).len()), (text, 0, told));
    }
}

#[tokio::test]
async fn a_model_without_tools_is_asked_without_them_and_says_so() {
    let refused = r#"{"error":{"message":"m does not support tools"}}"#;
    let good = || answer("openai-chat", "a");
    let bench = bench(openai(), vec![Reply::json(400, refused), good(), good()]).await;
    assert!(notices_of(&bench.ask().await)[0].contains("cannot call tools"));
    bench.ask().await;
    let sent: Vec<bool> = bench.server.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_failure_sent_as_an_event_is_told_in_its_words() {
    let body = b"data: {\"error\":{\"message\":\"The upstream broke.\",\"code\":\"500\"}}\n\ndata: [DONE]\n\n";
    let reply = || Reply::new(500, "content-type: text/event-stream", body);
    let bench = bench_with(openai(), &no_retries(), vec![reply()]).await;
    let error = bench.fails().await;
    assert_eq!(error.kind, ProviderErrorKind::Server);
    assert!(error.message.ends_with("The upstream broke.") && !error.message.contains('{'), "{error:?}");
}
