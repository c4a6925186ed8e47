//! Tests of requests that exceed the model's context.

use cohab_model_api::Overflow;

use super::*;

/// A provider that knows its window, and the server that answers it.
async fn crowded(fixture: &Fixture, window_tokens: u64, replies: Vec<Reply>) -> Bench {
    let settings = ModelSettings { context_window_tokens: Some(window_tokens), ..settings() };
    bench_with(fixture.wire(), &settings, replies).await
}

/// About a thousand tokens.
fn long_question() -> ModelRequest {
    let mut request = question();
    request.messages.push(Message::user("words and words. ".repeat(400)));
    request
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_told_at_once_with_the_sizes_that_were_named() {
    let text = "prompt is too long: 208310 tokens > 200000 maximum";
    let sizes = Overflow { prompt_tokens: Some(208_310), window_tokens: Some(200_000) };
    let refused = json!({"error": {"message": text}}).to_string();
    for fixture in fixtures() {
        let bench = bench(fixture.wire(), vec![Reply::json(400, &refused), fixture.good()]).await;
        let error = bench.fails().await;
        assert_eq!((error.kind, error.overflow), (ProviderErrorKind::ContextOverflow, Some(sizes)), "{error:?}");
        assert!(!error.message.contains("208310") && error.hint.is_some());
        assert_eq!(bench.server.seen().len(), 1);
    }
}

#[tokio::test]
async fn too_many_requests_for_a_prompt_beyond_the_window_is_an_overflow_without_a_wait() {
    for fixture in fixtures() {
        let bench = crowded(fixture, 900, vec![Reply::new(429, "retry-after: 9", b"{}"), fixture.good()]).await;
        let events = bench.ask_with(long_question()).await;
        let is_overflow = matches!(events.last(), Some(ModelEvent::Failed(error)) if error.kind == ProviderErrorKind::ContextOverflow);
        assert!(is_overflow && bench.waits_ms().is_empty(), "{} {events:?}", fixture.wire);
    }
}

#[tokio::test]
async fn too_many_requests_again_after_the_wait_is_an_overflow_where_the_window_is_nearly_full() {
    for fixture in fixtures() {
        let limit = || Reply::new(429, "retry-after: 9", b"{}");
        let full = crowded(fixture, 1500, vec![limit(), limit(), fixture.good()]).await;
        let events = full.ask_with(long_question()).await;
        let is_overflow = matches!(events.last(), Some(ModelEvent::Failed(error)) if error.kind == ProviderErrorKind::ContextOverflow);
        assert!(is_overflow && full.waits_ms() == [9000], "{} {events:?}", fixture.wire);
        let roomy = crowded(fixture, 15_000, vec![limit(), limit(), fixture.good()]).await;
        assert_eq!(text_of(&roomy.ask_with(long_question()).await), "ok");
        assert_eq!(roomy.waits_ms(), [9000, 9000]);
    }
}

#[tokio::test]
async fn an_answer_that_might_not_fit_is_asked_for_shorter_once() {
    let refused = || {
        let text = "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000";
        Reply::json(400, &json!({"error": {"message": text}}).to_string())
    };
    for fixture in fixtures() {
        let settings = ModelSettings { max_output_tokens: Some(21_333), ..settings() };
        let saved = bench_with(fixture.wire(), &settings, vec![refused(), fixture.good(), fixture.good()]).await;
        assert_eq!(text_of(&saved.ask().await), "ok");
        saved.ask().await;
        let sent: Vec<String> = saved.server.seen().iter().map(|seen| seen.body.to_string()).collect();
        assert!(sent[0].contains(":21333") && sent[1].contains(":9375") && sent[2].contains(":21333"), "{sent:?}");
        let lost = bench_with(fixture.wire(), &settings, vec![refused(), refused(), fixture.good()]).await;
        assert_eq!(lost.fails().await.kind, ProviderErrorKind::InvalidRequest);
    }
}

#[tokio::test]
async fn the_longest_answer_of_a_model_is_remembered() {
    let text = "max_tokens: 56000 > 32000, which is the maximum allowed number of output tokens for m";
    let refused = Reply::json(400, &json!({"error": {"message": text}}).to_string());
    for fixture in fixtures() {
        let settings = ModelSettings { max_output_tokens: Some(56_000), ..settings() };
        let replies = vec![refused.clone(), fixture.good(), fixture.good()];
        let bench = bench_with(fixture.wire(), &settings, replies).await;
        for _ in 0..2 {
            assert_eq!(text_of(&bench.ask().await), "ok");
        }
        let sent: Vec<String> = bench.server.seen().iter().map(|seen| seen.body.to_string()).collect();
        assert!(sent[1].contains(":32000") && sent[2].contains(":32000"), "{sent:?}");
    }
}
