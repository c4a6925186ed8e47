use proptest::prelude::*;

use super::*;
use crate::{
    fold_testing::{Answer, call, fold_bytes, fold_events, is_sound, json_in},
    wire::Framing,
};

fn request() -> ModelRequest {
    ModelRequest::of(Vec::new())
}

fn fold_with(options: &Options<'_>, lines: &[Value]) -> Answer {
    fold_events(Box::new(LineFold::new(&request(), options)), lines)
}

fn fold(lines: &[Value]) -> Answer {
    fold_with(&Options::default(), lines)
}

fn line(message: Value) -> Value {
    let mut line = json!({"model": "m", "created_at": "t", "done": false});
    line["message"] = message;
    line
}

fn text(text: &str) -> Value {
    line(json!({"role": "assistant", "content": text}))
}

fn done(reason: &str) -> Value {
    json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "total_duration": 5_000_000_000_u64, "prompt_eval_count": 26, "eval_count": 7})
}

#[test]
fn thoughts_text_and_calls_fold_apart_and_stop_means_tool() {
    let calls = json!([
        {"function": {"name": "bash", "arguments": {"command": "ls"}}},
        {"id": "call_x", "function": {"index": 1, "name": "bash", "arguments": "{\"command\":\"id\"}"}},
    ]);
    let answer = fold(&[
        line(json!({"role": "assistant", "content": "", "thinking": "Hm"})),
        line(json!({"role": "assistant", "content": "", "thinking": "."})),
        text("Look "),
        text("h\u{e9}re."),
        line(json!({"role": "assistant", "content": "", "tool_calls": calls})),
        done("stop"),
    ]);
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Look h\u{e9}re.", "Hm."));
    let expected = [call("call_1", "bash", r#"{"command":"ls"}"#), call("call_x", "bash", r#"{"command":"id"}"#)];
    assert_eq!((answer.class(), answer.calls.as_slice()), (Some(StopClass::Tool), &expected[..]));
    assert_eq!(answer.stopped().and_then(|stopped| stopped.message.clone()), Some(json!({"thinking": "Hm."})));
    assert_eq!((answer.usage.input, answer.usage.output), (Some(26), Some(7)));
    assert!(answer.notices.is_empty());
}

#[test]
fn calls_may_come_with_the_last_line() {
    let mut last = done("stop");
    last["message"]["tool_calls"] = json!([{"function": {"name": "now", "arguments": {}}}]);
    let answer = fold(&[last]);
    assert_eq!((answer.calls, answer.usage.output), (vec![call("call_1", "now", "{}")], Some(7)));
}

#[test]
fn stop_reasons_have_their_classes_and_a_cut_answer_no_calls() {
    for (reason, class) in
        [("stop", StopClass::End), ("load", StopClass::End), ("", StopClass::End), ("length", StopClass::Length)]
    {
        assert_eq!(fold(&[text("x"), done(reason)]).class(), Some(class), "{reason}");
    }
    let calls = line(json!({"tool_calls": [{"function": {"name": "bash", "arguments": {"command": "ls"}}}]}));
    let answer = fold(&[calls, done("length")]);
    assert!(answer.calls.is_empty() && answer.stopped().is_some_and(|stopped| stopped.has_void_calls));
}

#[test]
fn a_prompt_that_was_not_counted_is_unknown() {
    let answer = fold(&[text("x"), json!({"done": true, "done_reason": "stop", "eval_count": 3})]);
    assert_eq!((answer.usage.input, answer.usage.output), (None, Some(3)));
    assert_eq!(fold(&[text("x"), json!({"done": true})]).usage, TokenUsage::default());
}

#[test]
fn arguments_that_make_no_sense_are_told_to_the_model() {
    let with = |arguments: Value| {
        fold(&[line(json!({"tool_calls": [{"function": {"name": "bash", "arguments": arguments}}]})), done("stop")])
            .calls
    };
    for arguments in [json!([1]), json!("{\"a\""), json!(7)] {
        assert!(with(arguments.clone())[0].2.starts_with("broken"), "{arguments}");
    }
    for arguments in [json!(null), json!(""), json!({})] {
        assert_eq!(with(arguments.clone()), [call("call_1", "bash", "{}")], "{arguments}");
    }
    let twice = r#"{"message":{"tool_calls":[{"function":{"name":"bash","arguments":{"a":1,"a":2}}}]},"done":true}"#;
    let answer = fold_bytes(Box::new(LineFold::default()), twice.as_bytes(), Framing::Lines);
    assert!(answer.calls[0].2.contains("twice"), "{:?}", answer.calls);
}

#[test]
fn an_error_line_beats_what_came_before() {
    let calls = line(json!({"content": "x", "tool_calls": [{"function": {"name": "bash", "arguments": {}}}]}));
    let answer = fold(&[calls, json!({"error": "model runner has unexpectedly stopped"}), done("stop")]);
    let Some(Folded::Error(body)) = &answer.end else { panic!("{answer:?}") };
    assert_eq!((body.text.as_str(), answer.text.as_str()), ("model runner has unexpectedly stopped", "x"));
    assert!(answer.calls.is_empty());
}

#[test]
fn a_context_that_is_nearly_full_is_told() {
    for (window, notices) in [(30, 1), (36, 1), (37, 0), (32_768, 0)] {
        let options = Options { context_window_tokens: Some(window), ..Options::default() };
        assert_eq!(fold_with(&options, &[text("x"), done("stop")]).notices.len(), notices, "{window}");
    }
}

#[test]
fn a_cut_anywhere_gives_no_call_before_the_mark() {
    let calls =
        json!({"content": "h\u{e9}", "tool_calls": [{"function": {"name": "bash", "arguments": {"command": "ls"}}}]});
    let body = format!("{}\n{}\n", line(calls), done("stop"));
    for cut in 0..=body.len() {
        let answer = fold_bytes(Box::new(LineFold::default()), &body.as_bytes()[..cut], Framing::Lines);
        let is_whole = cut + 1 >= body.len();
        assert_eq!((answer.calls.len(), answer.class().is_some()), (usize::from(is_whole), is_whole), "{cut}");
    }
}

#[test]
fn an_answer_in_one_piece_is_read_like_its_lines() {
    let lines =
        [text("a"), line(json!({"tool_calls": [{"function": {"name": "bash", "arguments": {"a": 1}}}]})), done("stop")];
    let whole: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let mut at_once = LineFold::default();
    let mut folded = at_once.on_event(&whole);
    folded.extend(at_once.finish(End::Clean));
    let mut by_line = LineFold::default();
    let mut expected: Vec<Folded> = lines.iter().flat_map(|line| by_line.on_event(&line.to_string())).collect();
    expected.extend(by_line.finish(End::Clean));
    assert_eq!(folded, expected);
    assert_eq!(fold_bytes(Box::new(LineFold::default()), b"{\"done\":\n\n", Framing::Lines).class(), None);
}

#[test]
fn a_flood_of_calls_is_refused() {
    let calls = vec![json!({"function": {"name": "x", "arguments": {}}}); MAX_CALLS + 1];
    let answer = fold(&[line(json!({"tool_calls": calls})), done("stop")]);
    assert!(matches!(answer.end, Some(Folded::Protocol(_))) && answer.calls.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn lines_of_any_shape_end_in_one_way(
        messages in prop::collection::vec(
            json_in(&["content", "thinking", "tool_calls", "function", "name", "arguments", "id", "{}"]), 0..4),
        last in json_in(&["done", "done_reason", "stop", "length", "error", "eval_count", "message"]),
        is_done in any::<bool>(),
    ) {
        let mut lines: Vec<Value> = messages.into_iter().map(line).collect();
        lines.push(last);
        lines.extend(is_done.then(|| done("stop")));
        prop_assert!(is_sound(&fold(&lines)));
    }
}
