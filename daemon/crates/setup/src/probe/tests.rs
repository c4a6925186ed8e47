use cohab_model_api::{BrokenArguments, ProviderErrorKind};
use serde_json::{Value, json};

use super::*;
use super::{json::JsonLines, text::Lines};

fn call(args: Value) -> ToolCall {
    let args = match args {
        Value::Object(args) => Ok(args),
        other => Err(BrokenArguments { raw: other.to_string(), error: "no object".into() }),
    };
    ToolCall { id: "c1".into(), name: "bash".into(), args: args.map(Into::into) }
}

fn fold(events: &[ModelEvent]) -> Fold {
    let mut fold = Fold::default();
    for (at, event) in (1..).zip(events) {
        fold.push(event, Duration::from_millis(at));
    }
    fold
}

fn failed() -> ModelEvent {
    ModelEvent::Failed(ProviderError {
        kind: ProviderErrorKind::RateLimit,
        message: "Svc (h) got too many requests".into(),
        hint: Some("wait".into()),
        retry_after: Some(Duration::from_secs(2)),
        overflow: None,
    })
}

#[test]
fn a_complete_answer_adds_up() {
    let usage = |input, output| ModelEvent::Usage(TokenUsage { input, output, ..TokenUsage::default() });
    let events = [
        ModelEvent::ReasoningDelta("Hm.".into()),
        ModelEvent::TextDelta("a".into()),
        usage(Some(3), None),
        ModelEvent::TextDelta("b".into()),
        usage(None, Some(5)),
        ModelEvent::ToolCallDone(call(json!({"command": "ls"}))),
        ModelEvent::Stop { class: StopClass::Tool, provider_data: None },
    ];
    let fold = fold(&events);
    assert_eq!((fold.text.as_str(), fold.reasoning.as_str()), ("ab", "Hm."));
    assert_eq!((fold.usage.input, fold.usage.output), (Some(3), Some(5)));
    assert_eq!(fold.tool_calls, [call(json!({"command": "ls"}))]);
    assert_eq!((fold.first_event, fold.total), (Some(Duration::from_millis(1)), Duration::from_millis(7)));
    assert!(fold.is_complete());
}

#[test]
fn calls_of_an_answer_that_is_not_complete_are_void() {
    for end in [failed(), ModelEvent::Incomplete { reason: "cut".into() }] {
        let fold = fold(&[ModelEvent::TextDelta("a".into()), ModelEvent::ToolCallDone(call(json!({}))), end]);
        assert_eq!((fold.text.as_str(), fold.tool_calls.len(), fold.is_complete()), ("a", 0, false));
    }
}

#[test]
fn a_repeated_request_starts_the_fold_anew() {
    let again = |discard_shown| ModelEvent::Retrying { reason: "busy".into(), after: Duration::ZERO, discard_shown };
    let fold = fold(&[
        ModelEvent::TextDelta("lost".into()),
        again(true),
        again(false),
        ModelEvent::TextDelta("kept".into()),
        ModelEvent::Stop { class: StopClass::End, provider_data: None },
    ]);
    assert_eq!((fold.text.as_str(), fold.retries), ("kept", 2));
    assert_eq!(fold.first_event, Some(Duration::from_millis(4)));
}

#[test]
fn json_is_one_typed_object_a_line() {
    let mut out = Vec::new();
    let mut show = JsonLines(&mut out);
    let events = [
        ModelEvent::TextDelta("a\u{1b}[2J\u{9b}1m\n".into()),
        ModelEvent::ToolCallDone(call(json!("{"))),
        ModelEvent::Notice("n".into()),
        failed(),
    ];
    for event in &events {
        show.event(event, Duration::from_micros(1_500)).expect("a vector takes all");
    }
    show.fold(&fold(&events)).expect("a vector takes all");
    let text = String::from_utf8(out).expect("JSON is UTF-8");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0], json!({"type": "text", "delta": "a\u{1b}[2J\u{9b}1m\n", "at_ms": 1.5}));
    assert!(!text.contains(['\u{1b}', '\u{9b}']));
    assert_eq!((&lines[1]["arguments"], &lines[1]["error"]), (&Value::Null, &json!("no object")));
    assert_eq!(lines[3]["error"]["kind"], "rate_limit");
    assert_eq!(lines[3]["error"]["retry_after_ms"], 2000.0);
    assert_eq!((&lines[4]["type"], &lines[4]["stop"]), (&json!("fold"), &Value::Null));
    assert_eq!((&lines[4]["tool_calls"], &lines[4]["usage"]["input_tokens"]), (&json!([]), &Value::Null));
}

#[test]
fn people_see_a_line_an_event_and_the_sum() {
    let mut out = Vec::new();
    let mut show = Lines::new(&mut out, false);
    let events = [
        ModelEvent::TextDelta("Two\u{1b}]0;x\u{7}\nlines".into()),
        ModelEvent::ToolCallDone(call(json!({"command": "ls"}))),
        ModelEvent::Usage(TokenUsage { input: Some(7), ..TokenUsage::default() }),
        ModelEvent::Stop { class: StopClass::Tool, provider_data: None },
    ];
    for event in &events {
        show.event(event, Duration::from_millis(12)).expect("a vector takes all");
    }
    show.fold(&fold(&events)).expect("a vector takes all");
    insta::assert_snapshot!(String::from_utf8(out).expect("text"));
}
