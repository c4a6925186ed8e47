//! Tests of Ollama alone.

use super::*;

fn ollama() -> &'static dyn Wire {
    wire("ollama")
}

fn lines(lines: &[Value]) -> Reply {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Reply::new(200, "content-type: application/x-ndjson", body.as_bytes())
}

fn text(text: &str) -> Value {
    json!({"message": {"role": "assistant", "content": text}, "done": false})
}

fn done(reason: &str) -> Value {
    json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason, "eval_count": 3})
}

fn error(status: u16, text: &str) -> Reply {
    Reply::json(status, &json!({"error": text}).to_string())
}

#[tokio::test]
async fn lines_are_an_answer_however_they_arrive() {
    let called = json!({"message": {"tool_calls": [{"id": "c1", "function": {
        "name": "bash", "arguments": {"command": "echo \u{1f600}"}}}]}, "done": false});
    let all = [text("Look \u{e9}."), called, done("stop")];
    let body: String = all.iter().map(|line| format!("{line}\r\n\r\n")).collect();
    let cut = Reply::new(200, "content-type: application/x-ndjson", body.trim_end().as_bytes());
    let replies = vec![lines(&all), lines(&all).in_pieces(std::iter::repeat(1)), cut, Reply::json(200, &body)];
    let bench = bench(ollama(), replies).await;
    for case in 0..4 {
        let events = bench.ask().await;
        assert_eq!(text_of(&events), "Look \u{e9}.", "{case}");
        assert_eq!((calls_of(&events), class_of(&events)), (vec![call()], Some(StopClass::Tool)), "{case}");
    }
    let seen = &bench.server.seen()[0];
    assert!(seen.head.starts_with("post /api/chat "), "{}", seen.head);
    assert_eq!(seen.body["options"]["num_ctx"], 32_768);
    assert!(seen.body.get("keep_alive").is_some() && seen.body.get("tools").is_some());
}

#[tokio::test]
async fn a_line_cut_in_two_is_incomplete() {
    let whole = format!("{}\n{}", text("Look."), done("stop"));
    let replies = vec![Reply::new(200, "content-type: application/x-ndjson", &whole.as_bytes()[..whole.len() - 9])];
    let bench = bench_with(ollama(), &ModelSettings { retries: Some(0), ..settings() }, replies).await;
    let events = bench.ask().await;
    assert!(matches!(events.last(), Some(ModelEvent::Incomplete { .. })), "{events:?}");
    assert_eq!(text_of(&events), "Look.");
}

#[tokio::test]
async fn a_model_without_tools_talks_and_the_user_is_told_once() {
    let answer = || lines(&[text("Hello."), done("stop")]);
    let bench = bench(ollama(), vec![error(400, "library/m does not support tools"), answer(), answer()]).await;
    let first = bench.ask().await;
    assert_eq!((text_of(&first).as_str(), notices_of(&first).len()), ("Hello.", 1), "{first:?}");
    let second = bench.ask().await;
    assert_eq!((text_of(&second).as_str(), notices_of(&second).len()), ("Hello.", 0), "{second:?}");
    let offered: Vec<bool> = bench.server.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
    assert_eq!(offered, [true, false, false]);
}

#[tokio::test]
async fn a_model_that_is_not_there_can_be_fetched() {
    let bench = bench(ollama(), vec![error(404, "model \"m\" not found, try pulling it first")]).await;
    let error = bench.fails().await;
    assert_eq!(error.kind, ProviderErrorKind::ModelNotFound);
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`ollama pull m`")), "{error:?}");
}

#[tokio::test]
async fn an_error_line_ends_the_answer() {
    let stopped = json!({"error": "an error was encountered while running the model"});
    let settings = ModelSettings { retries: Some(0), ..settings() };
    let bench = bench_with(ollama(), &settings, vec![lines(&[text("Look."), stopped, done("stop")])]).await;
    let error = bench.fails().await;
    assert!(error.message.contains("while running the model"), "{error:?}");
}

#[tokio::test]
async fn a_model_that_was_only_loaded_is_asked_again() {
    let bench = bench(ollama(), vec![lines(&[done("load")]), lines(&[text("Hello."), done("stop")])]).await;
    assert_eq!(text_of(&bench.ask().await), "Hello.");
    assert_eq!(bench.server.seen().len(), 2);
}
