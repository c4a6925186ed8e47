//! Services that refuse, fail, stall or talk nonsense.

use super::*;

fn with_timeouts(timeouts: TimeoutSettings) -> ModelSettings {
    ModelSettings { timeouts, ..settings() }
}

fn good(wire: &dyn Wire) -> Reply {
    Reply::events(text_answer(wire, "ok", true).as_bytes())
}

#[tokio::test]
async fn a_stall_ends_with_the_name_of_its_limit() {
    for wire in wires() {
        let half = || Reply::events(text_answer(wire, "half", false).as_bytes());
        let base = settings().timeouts;
        let cases = [
            (TimeoutSettings { byte_idle_ms: Some(60), ..base }, half().then_stall(), "byte_idle_ms"),
            (TimeoutSettings { headers_ms: Some(60), ..base }, Reply::silence(), "headers_ms"),
            (
                TimeoutSettings { payload_idle_ms: Some(150), byte_idle_ms: Some(10_000), ..base },
                half().then_repeat(": keep-alive\n\n", Duration::from_millis(10)),
                "payload_idle_ms",
            ),
            (
                TimeoutSettings { payload_idle_ms: Some(150), byte_idle_ms: Some(10_000), ..base },
                half().then_repeat("data: {\"type\":\"ping\"}\n\n", Duration::from_millis(10)),
                "payload_idle_ms",
            ),
        ];
        for (timeouts, reply, name) in cases {
            let bench = bench_with(wire, &with_timeouts(timeouts), vec![reply]).await;
            let error = bench.fails().await;
            assert!(error.kind == ProviderErrorKind::Timeout && error.message.contains(name), "{}", error.message);
            assert_eq!(bench.server.seen().len(), 1);
        }
    }
}

#[tokio::test]
async fn the_service_s_wait_is_kept_before_the_next_try() {
    let cases = [
        (429, "retry-after: 2", vec![2000]),
        (429, "retry-after-ms: 300", vec![300]),
        (429, "retry-after: Wed, 21 Oct 2015 07:28:00 GMT", vec![30_000]),
        (429, "retry-after: 0", vec![500]),
        (529, "retry-after: soon", vec![2000]),
        (503, "x: y", vec![2000]),
        (500, "x: y", vec![500]),
        (408, "x: y", vec![500]),
        (400, "x-should-retry: true", vec![500]),
    ];
    for (status, header, waits) in cases {
        let bench = bench(anthropic(), vec![Reply::new(status, header, b"{}"), good(anthropic())]).await;
        let events = bench.ask().await;
        assert_eq!(text_of(&events), "ok", "{status} {header}");
        assert!(
            matches!(&events[0], ModelEvent::Retrying { after, discard_shown: false, .. } if after.as_millis() == waits[0]),
            "{events:?}"
        );
        assert_eq!(bench.waits_ms(), waits, "{status} {header}");
    }
}

#[tokio::test]
async fn a_wait_named_in_the_body_is_kept_too() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan",
        "details":[{"retryDelay":"0.4s"}]}}"#;
    let bench = bench(openai(), vec![Reply::json(429, body), good(openai())]).await;
    assert_eq!((text_of(&bench.ask().await).as_str(), bench.waits_ms()), ("ok", vec![400]));
}

#[tokio::test]
async fn two_failures_are_waited_out_and_the_third_is_told() {
    let failing = || Reply::new(500, "x: y", b"");
    let saved = bench(openai(), vec![failing(), failing(), good(openai())]).await;
    assert_eq!(text_of(&saved.ask().await), "ok");
    assert_eq!(saved.waits_ms(), [500, 1000]);
    let lost = bench(openai(), vec![failing(), failing(), failing(), good(openai())]).await;
    assert_eq!(lost.fails().await.kind, ProviderErrorKind::Server);
}

#[tokio::test]
async fn what_cannot_help_is_not_tried_again() {
    let quota = r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#;
    let cases = [
        (400, "", "{}"),
        (401, "", "{}"),
        (402, "", "{}"),
        (403, "", "{}"),
        (404, "", "{}"),
        (413, "", "{}"),
        (429, "x-should-retry: false", "{}"),
        (429, "", quota),
        (429, "retry-after: 3600", "{}"),
    ];
    for (status, header, body) in cases {
        let bench = bench(openai(), vec![Reply::new(status, header, body.as_bytes()), good(openai())]).await;
        let error = bench.fails().await;
        assert_eq!((bench.server.seen().len(), bench.waits_ms().len()), (1, 0), "{status} {header}");
        if header.contains("3600") {
            assert_eq!(
                (error.hint.as_deref(), error.retry_after),
                (Some("the service asks to wait 60 minutes"), Some(Duration::from_secs(3600)))
            );
        }
    }
}

#[tokio::test]
async fn a_connection_closed_before_any_byte_is_tried_again_at_once_and_once() {
    let none = ModelSettings { retries: Some(0), ..settings() };
    let saved = bench_with(openai(), &none, vec![Reply::nothing(), good(openai())]).await;
    let events = saved.ask().await;
    assert!(text_of(&events) == "ok" && saved.waits_ms().is_empty(), "{events:?}");
    let lost = bench_with(openai(), &none, vec![Reply::nothing(), Reply::nothing(), good(openai())]).await;
    assert_eq!(lost.fails().await.kind, ProviderErrorKind::Network);
}

#[tokio::test]
async fn a_refused_connection_names_the_host_and_asks_for_the_server() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        listener.local_addr().expect("it is bound").to_string()
    };
    let pace = Arc::new(NoWaiting::default());
    let provider = provider_at(&address, openai(), &settings(), Arc::clone(&pace));
    let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
    let Some(ModelEvent::Failed(error)) = events.last() else { panic!("{events:?}") };
    assert!(
        error.kind == ProviderErrorKind::Network
            && error.message.contains(&address)
            && error.message.contains("refused"),
        "{error:?}"
    );
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("running")));
    assert_eq!(pace.0.lock().expect("no test panics with it").len(), 2);
}

#[tokio::test]
async fn an_error_inside_the_stream_keeps_the_text_and_ends_the_answer() {
    for wire in wires() {
        let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "cannot go on"}});
        let body = text_answer(wire, "half", false) + "event: error\n" + &sse(&[error]);
        let bench = bench(wire, vec![Reply::events(body.as_bytes()), good(wire)]).await;
        let events = bench.ask().await;
        assert_eq!(text_of(&events), "half");
        assert!(
            matches!(events.last(), Some(ModelEvent::Failed(error)) if error.message.ends_with("cannot go on")),
            "{events:?}"
        );
    }
}

#[tokio::test]
async fn an_overload_before_any_text_is_waited_out() {
    let error = sse(&[json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})]);
    let bench = bench(anthropic(), vec![Reply::events(error.as_bytes()), good(anthropic())]).await;
    assert_eq!(text_of(&bench.ask().await), "ok");
    assert_eq!(bench.waits_ms(), [2000]);
}

#[tokio::test]
async fn a_cut_after_shown_text_takes_it_back_and_tries_once() {
    for wire in wires() {
        let half = || Reply::events(text_answer(wire, "half", false).as_bytes());
        let saved = bench(wire, vec![half(), good(wire)]).await;
        let events = saved.ask().await;
        let reset = events
            .iter()
            .position(|event| matches!(event, ModelEvent::Retrying { discard_shown: true, .. }))
            .expect("a reset");
        assert_eq!((text_of(&events[..reset]).as_str(), text_of(&events[reset..]).as_str()), ("half", "ok"));
        let lost = bench(wire, vec![half(), half(), good(wire)]).await;
        assert!(is_incomplete(&lost.ask().await));
        assert_eq!(lost.server.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_cut_after_a_tool_ran_is_told_and_not_repeated() {
    for wire in wires() {
        let bench = bench(wire, vec![Reply::events(text_answer(wire, "half", false).as_bytes()), good(wire)]).await;
        let events: Vec<ModelEvent> = bench.provider.stream(question_after_tool()).collect().await;
        assert!(text_of(&events) == "half" && is_incomplete(&events), "{events:?}");
        assert_eq!(bench.server.seen().len(), 1);
    }
}

#[tokio::test]
async fn an_empty_answer_is_asked_again_silently_and_then_told() {
    for wire in wires() {
        let empty = || Reply::events(text_answer(wire, "", true).as_bytes());
        let saved = bench(wire, vec![empty(), good(wire)]).await;
        let events = saved.ask().await;
        assert!(
            text_of(&events) == "ok" && !events.iter().any(|event| matches!(event, ModelEvent::Retrying { .. })),
            "{events:?}"
        );
        let lost = bench(wire, vec![empty(), empty()]).await;
        let error = lost.fails().await;
        assert!(error.kind == ProviderErrorKind::EmptyAnswer && error.hint.is_some());
    }
}

#[tokio::test]
async fn a_base_without_a_folder_is_tried_with_the_version_folder_and_without() {
    let page = b"<html>Not here</html>";
    let server =
        Server::start(vec![Reply::new(404, "content-type: text/html", page), good(openai()), good(openai())]).await;
    let pace = Arc::new(NoWaiting::default());
    let bench =
        Bench { provider: provider_at(&server.address, openai(), &settings(), Arc::clone(&pace)), server, pace };
    for _ in 0..2 {
        assert!(class_of(&bench.ask().await).is_some());
    }
    let paths: Vec<String> =
        bench.server.seen().iter().map(|seen| seen.head.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(paths, ["/v1/chat/completions", "/chat/completions", "/chat/completions"]);
}

#[tokio::test]
async fn what_is_no_answer_of_an_api_is_called_so() {
    let page = b"<!doctype html><html><body>Welcome</body></html>";
    let cases = [
        (Reply::new(200, "content-type: text/html", page), "web page"),
        (Reply::events(b"data: <html>\n\n"), "web page"),
        (Reply::new(200, "content-type: text/event-stream\ncontent-encoding: gzip", b"\x1f\x8b"), "compressed"),
        (Reply::new(302, "location: https://elsewhere.example/login?next=/v1", b""), "elsewhere.example"),
        (Reply::new(404, "content-type: text/html", page), "does not know this address"),
        (Reply::json(200, r#"{"error":{"message":"no capacity","type":"invalid_request_error"}}"#), "no capacity"),
        (Reply::new(422, "content-type: text/event-stream", br#"{"error":{"message":"wrong shape"}}"#), "wrong shape"),
        (Reply::events(b"data: nonsense\n\ndata: [DONE]\n\n"), "no JSON"),
    ];
    for (reply, expected) in cases {
        let bench = bench(openai(), vec![reply.clone()]).await;
        let error = bench.fails().await;
        assert!(error.message.contains(expected) && !error.message.contains('<'), "{expected}: {}", error.message);
        assert_eq!(bench.server.seen().len(), 1, "{expected}: a redirect or a page is not followed");
    }
}

#[tokio::test]
async fn long_and_empty_error_bodies_stay_readable() {
    let none = ModelSettings { retries: Some(0), ..settings() };
    for body in [Vec::new(), vec![b'x'; 1 << 20], b"<html><h1>Bad gateway</h1></html>".to_vec()] {
        let bench = bench_with(openai(), &none, vec![Reply::new(502, "x: y", &body)]).await;
        let error = bench.fails().await;
        assert!(error.kind == ProviderErrorKind::Server && error.message.len() < 500, "{}", error.message);
    }
}

#[tokio::test]
async fn a_key_shows_in_no_error_and_no_debug_output() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    for wire in wires() {
        let refused = bench(wire, vec![Reply::json(401, &echo)]).await;
        let none = ModelSettings { retries: Some(0), ..settings() };
        let in_stream = bench_with(wire, &none, vec![Reply::events(format!("data: {echo}\n\n").as_bytes())]).await;
        for error in [refused.fails().await, in_stream.fails().await] {
            assert!(error.message.contains("[key]") && !format!("{error:?}").contains(KEY), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_line_beyond_the_cap_ends_the_answer_and_the_connection() {
    let endless = Reply::events(b"data: ").then_repeat(&"x".repeat(1 << 20), Duration::ZERO);
    let mut bench = bench_with(openai(), &ModelSettings { retries: Some(0), ..settings() }, vec![endless]).await;
    let error = bench.fails().await;
    assert!(error.kind == ProviderErrorKind::Protocol && error.message.contains("8 MiB"), "{}", error.message);
    bench.server.until_open(0).await;
}
