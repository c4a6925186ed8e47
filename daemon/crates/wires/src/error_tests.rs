use std::time::Duration;

use cohab_model_api::ProviderErrorKind as Kind;

use super::*;

fn subject() -> ErrorContext {
    ErrorContext {
        service: "Anthropic".to_owned(),
        host: "api.anthropic.com".to_owned(),
        model: "claude-x".to_owned(),
        key_place: "ANTHROPIC_API_KEY".to_owned(),
        key: Some("sk-ant-0123456789".to_owned().into()),
        secrets: vec!["hunter2-hunter2".to_owned().into()],
        is_local: false,
    }
}

fn kind(status: u16, body: &str) -> Kind {
    ErrorBody::from_bytes(status, body.as_bytes()).kind()
}

#[test]
fn every_body_shape_gives_a_sentence_without_json() {
    let bodies = [
        r#"{"type":"error","error":{"type":"x","message":"It broke"},"request_id":"r"}"#,
        r#"{"error":{"message":"It broke","type":"x","param":null,"code":7}}"#,
        r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"It broke","provider_name":"P"}}}"#,
        r#"{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"It broke\"}}"}}}"#,
        r#"{"detail":"It broke"}"#,
        r#"{"detail":[{"loc":["body"],"msg":"It broke"}]}"#,
        r#"{"object":"error","message":"It broke"}"#,
        r#"{"code":"x","error":"It broke"}"#,
        r#"[{"error":{"code":400,"message":"It broke","status":"INVALID_ARGUMENT","details":[]}}]"#,
        r#"{"message":"It broke"}"#,
        r#"{"error":"It broke"}"#,
        "It broke",
        " It\r\n\tbroke\u{1b}\n",
        "\"It broke\"",
    ];
    for bytes in bodies {
        let error = subject().reported(&ErrorBody::from_bytes(422, bytes.as_bytes()));
        assert!(error.message.ends_with(": It broke"), "{bytes} -> {}", error.message);
    }
}

#[test]
fn json_that_is_cut_or_strange_is_not_shown() {
    for bytes in [r#"{"error":{"message":"It bro"#, r#"[{"error":{"#, r#"{"unknown":{"shape":1}}"#, "[1,2]", "{}"] {
        let error = subject().reported(&ErrorBody::from_bytes(422, bytes.as_bytes()));
        assert_eq!(error.message, "Anthropic (api.anthropic.com) refused the request, status 422", "{bytes}");
    }
}

#[test]
fn the_class_follows_codes_before_status() {
    let cases = [
        (400, r#"{"error":{"code":"tool_use_failed","message":"x"}}"#, Kind::ToolUseFailed),
        (400, r#"{"error":{"type":"exceed_context_size_error","message":"x","n_ctx":4096}}"#, Kind::ContextOverflow),
        (400, r#"{"error":{"message":"prompt is too long: 9 tokens > 5 maximum"}}"#, Kind::ContextOverflow),
        (400, r#"{"error":{"message":"This model's maximum context length is 5 tokens"}}"#, Kind::ContextOverflow),
        (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, Kind::ContextOverflow),
        (500, r#"{"error":{"message":"Context size has been exceeded."}}"#, Kind::ContextOverflow),
        (413, "", Kind::ContextOverflow),
        (400, r#"{"error":{"message":"max_tokens: 9 + 8 exceed context limit"}}"#, Kind::InvalidRequest),
        (402, "{}", Kind::Billing),
        (429, r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#, Kind::Billing),
        (403, r#"{"error":{"code":"enforced_spend_limit_reached","message":"x"}}"#, Kind::Billing),
        (400, r#"{"error":{"message":"Your credit balance is too low to access"}}"#, Kind::Billing),
        (401, "", Kind::Auth),
        (403, "{}", Kind::Auth),
        (400, r#"{"code":"x","error":"Incorrect API key provided: ab***yz"}"#, Kind::Auth),
        (400, r#"[{"error":{"code":400,"message":"m","details":[{"reason":"API_KEY_INVALID"}]}}]"#, Kind::Auth),
        (400, r#"{"error":{"message":"the api key field is unknown"}}"#, Kind::InvalidRequest),
        (403, r#"{"error":{"code":403,"message":"flagged","metadata":{"reasons":["x"]}}}"#, Kind::InvalidRequest),
        (400, r#"{"error":{"code":"content_filter","message":"filtered"}}"#, Kind::InvalidRequest),
        (400, r#"{"error":{"message":"x/y is not a valid model ID","code":400}}"#, Kind::ModelNotFound),
        (400, r#"{"object":"error","message":"Invalid model: x","type":"invalid_model"}"#, Kind::ModelNotFound),
        (400, r#"{"message":"The provided model identifier is invalid."}"#, Kind::ModelNotFound),
        (400, r#"{"error":{"message":"The requested model 'x' does not exist."}}"#, Kind::ModelNotFound),
        (400, r#"{"error":{"message":"the model does not support tools"}}"#, Kind::InvalidRequest),
        (404, r#"{"error":{"type":"not_found_error","message":"model: nope"}}"#, Kind::ModelNotFound),
        (400, r#"{"error":{"code":"model_not_found","message":"x"}}"#, Kind::ModelNotFound),
        (404, r#"{"error":{"code":"DeploymentNotFound","message":"x"}}"#, Kind::ModelNotFound),
        (
            429,
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota"}}"#,
            Kind::RateLimit,
        ),
        (529, r#"{"error":{"type":"overloaded_error"}}"#, Kind::Overloaded),
        (503, "Loading model", Kind::Overloaded),
        (408, "", Kind::Server),
        (409, "", Kind::Server),
        (502, "<html><body>Bad gateway</body></html>", Kind::Server),
        (422, "{}", Kind::InvalidRequest),
    ];
    for (status, body, expected) in cases {
        assert_eq!(kind(status, body), expected, "{status} {body}");
    }
}

#[test]
fn an_error_inside_a_stream_is_classified_without_a_status() {
    let class = |body: &str| ErrorBody::from_value(&serde_json::from_str(body).expect("JSON")).kind();
    assert_eq!(
        class(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        Kind::Overloaded
    );
    assert_eq!(class(r#"{"error":{"type":"rate_limit_error"}}"#), Kind::RateLimit);
    assert_eq!(class(r#"{"error":{"code":502,"message":"x"}}"#), Kind::Server);
    assert_eq!(class(r#"{"error":{"message":"x","status_code":1}}"#), Kind::Server);
    assert_eq!(class(r#"{"error":{"type":"invalid_request_error"}}"#), Kind::InvalidRequest);
    assert_eq!(class(r#"{"error":{"type":"authentication_error"}}"#), Kind::Auth);
}

#[test]
fn a_404_that_names_no_model_points_at_the_base_url() {
    for body in ["<html><title>404</title></html>", "", r#"{"error":"no route"}"#] {
        let error = subject().reported(&ErrorBody::from_bytes(404, body.as_bytes()));
        assert_eq!(error.kind, Kind::ModelNotFound);
        assert!(error.hint.expect("a hint").contains("base URL"), "{body}");
        assert!(!error.message.contains('<'), "{}", error.message);
    }
    let error =
        subject().reported(&ErrorBody::from_bytes(404, br#"{"error":{"message":"model 'claude-x' not found"}}"#));
    assert!(error.message.contains("does not know the model \"claude-x\""), "{}", error.message);
    assert!(error.hint.expect("a hint").contains("COHAB_MODEL"));
}

#[test]
fn a_key_error_names_service_and_variable() {
    let error = subject().reported(&ErrorBody::from_bytes(401, br#"{"error":{"message":"invalid x-api-key"}}"#));
    assert_eq!(error.message, "Anthropic (api.anthropic.com) refused the key, status 401: invalid x-api-key");
    assert_eq!(error.hint.as_deref(), Some("check the key of Anthropic in ANTHROPIC_API_KEY"));
    let error = ErrorContext { key: None, ..subject() }.reported(&ErrorBody::from_bytes(401, b""));
    assert!(error.hint.expect("a hint").starts_with("set the key"));
}

#[test]
fn a_key_in_the_answer_is_not_shown_not_even_where_the_text_is_cut() {
    for lead in [0, 290, 295, 300] {
        let body = format!("{} sk-ant-0123456789 refused", "x".repeat(lead));
        let error = subject().reported(&ErrorBody::from_bytes(401, body.as_bytes()));
        assert!(!error.message.contains("sk-"), "{}", error.message);
    }
    assert!(!format!("{:?}", subject()).contains("sk-ant"));
}

#[test]
fn a_conversation_that_is_too_long_is_told_in_our_words_with_what_to_do() {
    for (status, body) in [
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 5 maximum"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 5 tokens","code":"context_length_exceeded"}}"#,
        ),
        (413, "<html><title>413 Request Entity Too Large</title></html>"),
    ] {
        let error = subject().reported(&ErrorBody::from_bytes(status, body.as_bytes()));
        assert_eq!(error.message, "Anthropic (api.anthropic.com) says that the conversation is too long for the model");
        assert_eq!(error.hint.as_deref(), Some("start a new shell session, or ask with less context"));
    }
}

#[test]
fn money_is_called_money() {
    let error = subject().reported(&ErrorBody::from_bytes(402, b"{}"));
    assert!(error.hint.expect("a hint").contains("Billing"));
}

#[test]
fn a_wait_inside_the_body_is_read() {
    let body =
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"0.4s"}]}}"#;
    assert_eq!(ErrorBody::from_bytes(429, body.as_bytes()).retry_after, Some(Duration::from_millis(400)));
    let body = r#"{"error":{"details":[{"retryDelay":"-1e99s"}]}}"#;
    assert_eq!(ErrorBody::from_bytes(429, body.as_bytes()).retry_after, None);
}

#[test]
fn long_and_broken_bodies_stay_short_lines() {
    for body in [vec![b'x'; 1 << 20], vec![0xff; 1 << 20], b"<p>".repeat(1000), b"[[[[".repeat(100_000)] {
        let error = subject().reported(&ErrorBody::from_bytes(500, &body));
        assert!(error.message.chars().count() < 400 && !error.message.contains('\n'), "{}", error.message);
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_become_a_bounded_line(status in 100u16..600, body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600)) {
        let error = subject().reported(&ErrorBody::from_bytes(status, &body));
        proptest::prop_assert!(error.message.chars().count() < 420);
        proptest::prop_assert!(!error.message.contains('\n'));
    }
}
