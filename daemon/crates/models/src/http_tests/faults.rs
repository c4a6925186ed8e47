//! Services that refuse, fail or send nonsense, and the reaction to each.

use super::*;

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
        (409, "x: y", vec![500]),
        (400, "x-should-retry: true", vec![500]),
    ];
    for fixture in fixtures() {
        for (status, header, waits) in &cases {
            let bench = bench(fixture.wire(), vec![Reply::new(*status, header, b"{}"), fixture.good()]).await;
            let events = bench.ask().await;
            assert_eq!(text_of(&events), "ok", "{} {status} {header}", fixture.wire);
            assert!(
                matches!(&events[0], ModelEvent::Retrying { after, discard_shown: false, .. } if after.as_millis() == waits[0]),
                "{events:?}"
            );
            assert_eq!(&bench.waits_ms(), waits, "{} {status} {header}", fixture.wire);
        }
    }
}

#[tokio::test]
async fn a_wait_named_in_the_body_is_kept_too() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan",
        "details":[{"retryDelay":"0.4s"}]}}"#;
    for fixture in fixtures() {
        let bench = bench(fixture.wire(), vec![Reply::json(429, body), fixture.good()]).await;
        assert_eq!((text_of(&bench.ask().await).as_str(), bench.waits_ms()), ("ok", vec![400]), "{}", fixture.wire);
    }
}

#[tokio::test]
async fn two_failures_are_waited_out_and_the_third_is_told() {
    for fixture in fixtures() {
        for (status, waits) in [(500, [500, 1000]), (503, [2000, 4000]), (529, [2000, 4000])] {
            let failing = || Reply::new(status, "x: y", b"");
            let saved = bench(fixture.wire(), vec![failing(), failing(), fixture.good()]).await;
            assert_eq!(text_of(&saved.ask().await), "ok", "{} {status}", fixture.wire);
            assert_eq!(saved.waits_ms(), waits);
            let lost = bench(fixture.wire(), vec![failing(), failing(), failing(), fixture.good()]).await;
            let kind = if status == 500 { ProviderErrorKind::Server } else { ProviderErrorKind::Overloaded };
            assert_eq!(lost.fails().await.kind, kind);
        }
    }
}

#[tokio::test]
async fn what_cannot_help_is_not_tried_again() {
    let quota = r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#;
    let spent = r#"{"error":{"code":"enforced_spend_limit_reached","message":"Limit reached"}}"#;
    let low = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#;
    let google_key = r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#;
    let grok_key = r#"{"code":"x","error":"Incorrect API key provided"}"#;
    let (billing, auth, model) =
        (ProviderErrorKind::Billing, ProviderErrorKind::Auth, ProviderErrorKind::ModelNotFound);
    let cases = [
        (400, "", "{}", ProviderErrorKind::InvalidRequest),
        (401, "", "{}", auth),
        (403, "", r#"{"message":"The security token is invalid."}"#, auth),
        (400, "", google_key, auth),
        (400, "", grok_key, auth),
        (402, "", "{}", billing),
        (429, "", quota, billing),
        (403, "", spent, billing),
        (400, "", low, billing),
        (404, "", r#"{"error":{"message":"no such model","code":"model_not_found"}}"#, model),
        (400, "", r#"{"error":{"message":"x","code":"model_not_found"}}"#, model),
        (
            404,
            "",
            r#"{"error":{"code":"DeploymentNotFound","message":"The deployment of the model is not there"}}"#,
            model,
        ),
        (413, "", "{}", ProviderErrorKind::ContextOverflow),
        (429, "x-should-retry: false", "{}", ProviderErrorKind::RateLimit),
        (429, "retry-after: 3600", "{}", ProviderErrorKind::RateLimit),
    ];
    for fixture in fixtures() {
        for (status, header, body, kind) in cases {
            let reply = Reply::new(status, header, body.as_bytes());
            let bench = bench(fixture.wire(), vec![reply, fixture.good()]).await;
            let error = bench.fails().await;
            assert_eq!((error.kind, bench.waits_ms().len()), (kind, 0), "{} {status} {body}", fixture.wire);
            assert_eq!(bench.server.seen().len(), 1, "{} {status} {body}", fixture.wire);
            let hint = error.hint.unwrap_or_default();
            match kind {
                ProviderErrorKind::Auth => assert!(hint.contains("Test") && hint.contains("TEST_API_KEY"), "{hint}"),
                ProviderErrorKind::Billing => assert!(hint.contains("Billing"), "{hint}"),
                ProviderErrorKind::ModelNotFound => assert!(hint.contains("COHAB_MODEL"), "{hint}"),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn a_wait_beyond_two_minutes_is_told_and_not_slept() {
    for (wait, words) in [("3600", "in 60 minutes"), ("121", "in 3 minutes"), ("86400", "in 24 hours")] {
        let bench = bench(openai(), vec![Reply::new(429, &format!("retry-after: {wait}"), b"{}")]).await;
        let error = bench.fails().await;
        assert!(error.hint.as_deref().is_some_and(|hint| hint.ends_with(words)), "{error:?}");
        assert_eq!(error.retry_after.map(|wait| wait.as_secs().to_string()).as_deref(), Some(wait));
        assert_eq!(bench.waits_ms().len(), 0);
    }
}

#[tokio::test]
async fn a_call_that_the_service_rejected_is_its_own_class_with_the_words_for_the_model() {
    let rejected = json!({"error": {"code": "tool_use_failed", "message": "Failed to call a function.", "failed_generation": "<x>"}});
    let fixture = fixture("openai-chat");
    let in_stream = fixture.half("half") + "event: error\n" + &fixture.bytes(std::slice::from_ref(&rejected));
    for reply in [Reply::json(400, &rejected.to_string()), fixture.stream(&in_stream)] {
        let bench = bench(fixture.wire(), vec![reply, fixture.good()]).await;
        let error = bench.fails().await;
        assert_eq!((error.kind, bench.server.seen().len()), (ProviderErrorKind::ToolUseFailed, 1));
        assert!(error.message.ends_with("Failed to call a function."), "{}", error.message);
    }
}

#[tokio::test]
async fn a_filter_in_front_of_the_model_refuses_and_does_not_fail() {
    let moderated = r#"{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"]}}}"#;
    let filtered = r#"{"error":{"code":"content_filter","message":"The prompt was filtered"}}"#;
    for fixture in fixtures() {
        for (status, body, words) in
            [(403, moderated, "Your input was flagged"), (400, filtered, "The prompt was filtered")]
        {
            let bench = bench(fixture.wire(), vec![Reply::json(status, body), fixture.good()]).await;
            let events = bench.ask().await;
            assert_eq!((refusal_of(&events).as_str(), class_of(&events)), (words, Some(StopClass::Refusal)));
            assert_eq!(bench.server.seen().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_connection_closed_before_any_byte_is_tried_again_at_once_and_once() {
    for fixture in fixtures() {
        let saved = bench_with(fixture.wire(), &no_retries(), vec![Reply::nothing(), fixture.good()]).await;
        let events = saved.ask().await;
        assert!(text_of(&events) == "ok" && saved.waits_ms().is_empty(), "{events:?}");
        let replies = vec![Reply::nothing(), Reply::nothing(), fixture.good()];
        let lost = bench_with(fixture.wire(), &no_retries(), replies).await;
        assert_eq!(lost.fails().await.kind, ProviderErrorKind::Network);
    }
}

#[tokio::test]
async fn a_kept_connection_is_used_again_and_replaced_at_once_when_it_is_dead() {
    for fixture in fixtures() {
        let one = ModelSettings { retries: Some(1), ..settings() };
        let replies = vec![Reply::kept(500, b"{}"), Reply::nothing(), fixture.good()];
        let bench = bench_with(fixture.wire(), &one, replies).await;
        let events = bench.ask().await;
        assert_eq!((text_of(&events).as_str(), bench.waits_ms()), ("ok", vec![500]), "{}", fixture.wire);
        let connections: Vec<usize> = bench.server.seen().iter().map(|seen| seen.connection).collect();
        assert_eq!(connections, [1, 1, 2], "{}", fixture.wire);
    }
}

#[tokio::test]
async fn the_connection_of_an_answer_serves_the_next_question() {
    for fixture in fixtures() {
        let good = || Reply::chunked_and_kept(fixture.content_type(), &fixture.answer("ok"));
        let bench = bench(fixture.wire(), vec![good(), good(), good()]).await;
        for _ in 0..3 {
            assert_eq!(text_of(&bench.ask().await), "ok");
        }
        let connections: Vec<usize> = bench.server.seen().iter().map(|seen| seen.connection).collect();
        assert_eq!(connections, [1, 1, 1], "{}", fixture.wire);
    }
}

#[tokio::test]
async fn a_connection_that_dies_inside_an_answer_is_not_a_stale_one() {
    for fixture in fixtures() {
        let broken = fixture.stream(&fixture.bytes(&[(fixture.idle)()])).then_reset();
        let bench = bench_with(fixture.wire(), &no_retries(), vec![broken, fixture.good()]).await;
        assert_eq!(bench.fails().await.kind, ProviderErrorKind::Network, "{}", fixture.wire);
        assert_eq!(bench.server.seen().len(), 1);
    }
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
async fn a_host_without_an_address_is_named() {
    let provider = provider_at("nowhere.invalid", openai(), &no_retries(), Arc::default());
    let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
    let Some(ModelEvent::Failed(error)) = events.last() else { panic!("{events:?}") };
    assert!(error.message.contains("nowhere.invalid"), "{error:?}");
}

#[tokio::test]
async fn a_base_without_a_folder_is_tried_with_the_version_folder_and_without() {
    let page = b"<html>Not here</html>";
    let good = || fixture("openai-chat").good();
    let server = Server::start(vec![Reply::new(404, "content-type: text/html", page), good(), good()]).await;
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
    for fixture in fixtures() {
        let stream = fixture.content_type();
        let cases = [
            (Reply::new(200, "content-type: text/html", page), "web page"),
            (fixture.stream(&fixture.bytes(&[json!("<html>")])), "web page"),
            (Reply::new(200, &format!("{stream}\ncontent-encoding: gzip"), b"\x1f\x8b"), "compressed"),
            (Reply::new(302, "location: https://elsewhere.example/login?next=/v1", b""), "elsewhere.example"),
            (Reply::new(301, "x: y", b""), "nowhere"),
            (Reply::new(404, "content-type: text/html", page), "does not know this address"),
            (
                Reply::json(200, r#"{"error":{"message":"no capacity","code":400,"type":"invalid_request_error"}}"#),
                "no capacity",
            ),
            (Reply::new(422, stream, br#"{"error":{"message":"wrong shape"}}"#), "wrong shape"),
            (Reply::new(500, stream, br#"{"error":{"message":"it broke"}}"#), "it broke"),
            (fixture.stream(&fixture.bytes(&[json!("nonsense"), json!("[DONE]")])), "not JSON"),
        ];
        for (reply, expected) in cases {
            let bench = bench_with(fixture.wire(), &no_retries(), vec![reply.clone()]).await;
            let error = bench.fails().await;
            let message = &error.message;
            assert!(message.contains(expected) && !message.contains('<'), "{} {expected}: {message}", fixture.wire);
            assert_eq!(bench.server.seen().len(), 1, "{expected}: a redirect or a page is not followed");
            assert!(!bench.server.seen()[0].head.contains("accept-encoding"));
        }
    }
}

#[tokio::test]
async fn long_and_empty_error_bodies_stay_readable() {
    for fixture in fixtures() {
        for body in [Vec::new(), vec![b'x'; 1 << 20], b"<html><h1>Bad gateway</h1></html>".to_vec()] {
            let bench = bench_with(fixture.wire(), &no_retries(), vec![Reply::new(502, "x: y", &body)]).await;
            let error = bench.fails().await;
            assert!(error.kind == ProviderErrorKind::Server && error.message.len() < 500, "{}", error.message);
        }
    }
}

#[tokio::test]
async fn a_line_beyond_the_cap_ends_the_answer_and_the_connection() {
    let endless = Reply::events(b"data: ").then_repeat(&"x".repeat(1 << 20), Duration::ZERO);
    let mut bench = bench_with(openai(), &no_retries(), vec![endless]).await;
    let error = bench.fails().await;
    assert!(error.kind == ProviderErrorKind::Protocol && error.message.contains("8 MiB"), "{}", error.message);
    bench.server.until_open(0).await;
}
