use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    fold_testing::{Answer, call, fold_bytes, fold_events, is_sound, json_in},
    wire::Framing,
};

fn new_fold() -> Box<dyn Fold> {
    Box::new(ContentFold::default())
}

fn fold(events: &[Value]) -> Answer {
    fold_events(new_fold(), events)
}

fn parts(parts: Value) -> Value {
    let mut chunk = json!({"candidates": [{"content": {"role": "model"}, "index": 0}], "modelVersion": "m"});
    chunk["candidates"][0]["content"]["parts"] = parts;
    chunk
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

fn piece(path: &str, text: &str, more: bool) -> Value {
    let piece = json!({"jsonPath": path, "stringValue": text, "willContinue": more});
    parts(json!([{"functionCall": {"partialArgs": [piece], "willContinue": true}}]))
}

#[test]
fn thoughts_text_and_a_call_fold_apart_and_stop_means_tool() {
    let answer = fold(&[
        parts(json!([{"text": "Think", "thought": true}])),
        parts(json!([{"text": "ing.", "thought": true}, {"text": "Look "}])),
        parts(json!([{"text": "h\u{e9}re."}, {"text": ""}])),
        parts(json!([{"functionCall": {"name": "bash", "args": {"command": "ls", "timeout_ms": 50.0}}}])),
        json!({"candidates": [{"content": {}, "finishReason": "STOP"}], "usageMetadata": {
            "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 7, "thoughtsTokenCount": 5}}),
    ]);
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Look h\u{e9}re.", "Thinking."));
    assert_eq!(answer.calls, [call("call_1", "bash", r#"{"command":"ls","timeout_ms":50}"#)]);
    assert_eq!(answer.class(), Some(StopClass::Tool));
    let usage = TokenUsage {
        input: Some(40),
        output: Some(12),
        cache_read: Some(60),
        reasoning: Some(5),
        ..TokenUsage::default()
    };
    assert_eq!(answer.usage, usage);
}

#[test]
fn counts_stay_when_absent_and_unknown_is_no_zero() {
    let usage = |counts: Value| json!({"usageMetadata": counts});
    let events =
        [usage(json!({"promptTokenCount": 9, "thoughtsTokenCount": 3})), usage(json!({"candidatesTokenCount": 2}))];
    let answer = fold(&[&events[..], &[parts(json!([{"text": "x"}])), finish("STOP")]].concat());
    assert_eq!((answer.usage.input, answer.usage.output, answer.usage.cache_read), (Some(9), Some(5), None));
    assert_eq!(fold(&[parts(json!([{"text": "x"}])), finish("STOP")]).usage, TokenUsage::default());
}

#[test]
fn parts_go_back_as_they_came_and_signed_ones_are_never_joined() {
    let signed = json!({"text": "b", "thoughtSignature": "c2ln"});
    let signed_call = json!({"functionCall": {"name": "bash", "args": {"command": "ls"}, "id": "f1"}, "thoughtSignature": "Y2FsbA=="});
    let answer = fold(&[
        parts(json!([{"text": "unsigned", "thought": true}])),
        parts(json!([{"text": "a"}])),
        parts(json!([{"text": "a"}])),
        parts(json!([signed])),
        parts(json!([{"text": "c"}])),
        parts(json!([{"executableCode": {"code": "1"}}, {"inlineData": {"data": "eA=="}}])),
        parts(json!([signed_call, {"functionCall": {"name": "read"}}])),
        parts(json!([{"text": "", "thought": true, "thoughtSignature": "ZW1wdHk="}])),
        finish("STOP"),
    ]);
    assert_eq!(answer.text, "aabc");
    assert_eq!(answer.calls, [call("f1", "bash", r#"{"command":"ls"}"#), call("call_1", "read", "{}")]);
    let own = answer.stopped().and_then(|stopped| stopped.message.clone());
    assert_eq!(
        own,
        Some(json!([
            {"text": "aa"},
            signed,
            {"text": "c"},
            {"executableCode": {"code": "1"}},
            {"inlineData": {"data": "eA=="}},
            signed_call.as_object().map(|part| json!({"thoughtSignature": part["thoughtSignature"], "functionCall": part["functionCall"]})),
            {"functionCall": {"name": "read", "args": {}}},
            {"text": "", "thought": true, "thoughtSignature": "ZW1wdHk="},
        ]))
    );
}

#[test]
fn arguments_in_pieces_are_one_call_with_and_without_its_end_mark() {
    let start = parts(json!([{"functionCall": {"name": "bash", "willContinue": true}, "thoughtSignature": "c2ln"}]));
    let pieces =
        [piece("$.command", "echo ", true), piece("$.command", "hi", false), piece("$.env[0].name", "A", false)];
    let end = parts(json!([{"functionCall": {}}]));
    let args = r#"{"command":"echo hi","env":[{"name":"A"}]}"#;
    for ends in [&[end.clone()][..], &[]] {
        let events = [&[start.clone()][..], &pieces, ends, &[finish("STOP")]].concat();
        let answer = fold(&events);
        assert_eq!(answer.calls, [call("call_1", "bash", args)], "{ends:?}");
        let own = answer.stopped().and_then(|stopped| stopped.message.clone()).expect("it goes back");
        assert_eq!(own[0]["thoughtSignature"], "c2ln");
        assert_eq!(own[0]["functionCall"].to_string(), format!(r#"{{"name":"bash","args":{args}}}"#));
    }
    // Two calls, the first without its end mark, and no mark for the end of the answer.
    let two = [&[start.clone()][..], &pieces[..2], std::slice::from_ref(&start), &pieces[..1], &[end, finish("STOP")]]
        .concat();
    let commands =
        [call("call_1", "bash", r#"{"command":"echo hi"}"#), call("call_2", "bash", r#"{"command":"echo "}"#)];
    assert_eq!(fold(&two).calls, commands);
    let cut = fold(&[&[start][..], &pieces].concat());
    assert!(matches!(cut.end, Some(Folded::Incomplete(_))) && cut.calls.is_empty());
}

#[test]
fn a_name_repeated_with_each_piece_is_still_one_call() {
    let named = |text: &str, more: bool| {
        let piece = json!({"jsonPath": "$.command", "stringValue": text, "willContinue": more});
        parts(json!([{"functionCall": {"name": "bash", "partialArgs": [piece], "willContinue": more}}]))
    };
    let answer = fold(&[named("rm -r ", true), named("/tmp/x", false), finish("STOP")]);
    assert_eq!(answer.calls, [call("call_1", "bash", r#"{"command":"rm -r /tmp/x"}"#)]);
}

#[test]
fn arguments_that_make_no_sense_are_told_to_the_model() {
    let answer = fold(&[
        parts(json!([{"functionCall": {"name": "a", "args": [1]}}, {"functionCall": {"name": "b", "args": "ls"}}])),
        parts(json!([{"functionCall": {"name": "c", "partialArgs": [{"stringValue": "x"}]}}])),
        piece("$.nameless", "x", false),
        finish("STOP"),
    ]);
    assert_eq!(answer.calls.len(), 3);
    assert!(answer.calls.iter().all(|(_, _, args)| args.starts_with("broken")), "{:?}", answer.calls);
    let twice = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"b":1,"b":2}}}]},"finishReason":"STOP"}]}"#;
    let answer = fold_bytes(new_fold(), format!("data: {twice}\r\n\r\n").as_bytes(), Framing::Events);
    assert!(answer.calls[0].2.contains("twice"), "{:?}", answer.calls);
}

#[test]
fn stop_reasons_have_their_classes() {
    let text = parts(json!([{"text": "x"}]));
    for (reason, class) in [
        ("STOP", StopClass::End),
        ("OTHER", StopClass::End),
        ("SOMETHING_NEW", StopClass::End),
        ("MAX_TOKENS", StopClass::Length),
        ("SAFETY", StopClass::Refusal),
        ("RECITATION", StopClass::Refusal),
        ("BLOCKLIST", StopClass::Refusal),
        ("PROHIBITED_CONTENT", StopClass::Refusal),
        ("SPII", StopClass::Refusal),
    ] {
        let answer = fold(&[text.clone(), finish(reason)]);
        assert_eq!(answer.class(), Some(class), "{reason}");
        assert_eq!(!answer.refusal.is_empty(), class == StopClass::Refusal, "{reason}");
    }
    let unspecified = fold(&[text, finish("FINISH_REASON_UNSPECIFIED")]);
    assert!(matches!(unspecified.end, Some(Folded::Incomplete(_))));
}

#[test]
fn a_cut_or_filtered_answer_has_no_calls() {
    for reason in ["MAX_TOKENS", "SAFETY"] {
        let answer = fold(&[parts(json!([{"functionCall": {"name": "bash", "args": {}}}])), finish(reason)]);
        assert!(answer.calls.is_empty(), "{reason}");
        assert!(answer.stopped().is_some_and(|stopped| stopped.has_void_calls && stopped.message.is_none()));
    }
}

#[test]
fn a_blocked_question_is_a_refusal_the_user_sees() {
    let answer = fold(&[
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}}),
    ]);
    assert_eq!((answer.class(), answer.usage.input), (Some(StopClass::Refusal), Some(4)));
    assert!(answer.refusal.contains("PROHIBITED_CONTENT"), "{}", answer.refusal);
}

#[test]
fn a_call_that_the_service_could_not_read_goes_to_the_model() {
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        let stop = json!({"candidates": [{"finishReason": reason, "finishMessage": "Malformed: print(ls)"}]});
        let answer = fold(&[parts(json!([{"text": "Look."}])), stop, finish("STOP")]);
        let Some(Folded::Error(body)) = &answer.end else { panic!("{answer:?}") };
        assert_eq!(body.kind(), cohab_model_api::ProviderErrorKind::ToolUseFailed);
        assert_eq!((answer.text.as_str(), body.text.as_str()), ("Look.", "Malformed: print(ls)"));
    }
}

#[test]
fn an_error_beats_what_came_before_in_a_stream_and_in_an_array() {
    let error = json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}});
    let before = [parts(json!([{"functionCall": {"name": "bash"}}])), finish("STOP")];
    for events in [
        [&before[..], std::slice::from_ref(&error)].concat(),
        vec![json!([before[0], before[1], error])],
        vec![json!([error])],
    ] {
        let answer = fold(&events);
        assert!(matches!(&answer.end, Some(Folded::Error(body)) if body.status == Some(503)), "{answer:?}");
        assert!(answer.calls.is_empty());
    }
}

#[test]
fn an_array_is_read_like_a_stream() {
    let chunks = [parts(json!([{"text": "a"}])), parts(json!([{"functionCall": {"name": "bash"}}])), finish("STOP")];
    let mut whole = fold(&[json!(chunks)]);
    let mut streamed = fold(&chunks);
    assert_eq!(std::mem::take(&mut whole.end), std::mem::take(&mut streamed.end));
    assert_eq!(whole, streamed);
}

#[test]
fn a_cut_anywhere_gives_no_call_before_the_mark() {
    let call = parts(json!([{"text": "h\u{e9}"}, {"functionCall": {"name": "bash", "args": {"command": "ls"}}}]));
    let mark = r#""finishReason":"STOP""#;
    let body = format!("data: {call}\r\n\r\ndata: {{\"candidates\":[{{{mark}}}]}}\r\n\r\n");
    let complete_from = body.find(mark).expect("it is there") + mark.len() + "}]}".len();
    for cut in 0..=body.len() {
        let answer = fold_bytes(new_fold(), &body.as_bytes()[..cut], Framing::Events);
        assert_eq!(answer.calls.len(), usize::from(cut >= complete_from), "{cut}");
        assert_eq!(answer.class().is_some(), cut >= complete_from, "{cut}");
    }
}

#[test]
fn garbage_is_an_error_before_the_mark_and_nothing_behind_it() {
    let text = parts(json!([{"text": "x"}])).to_string();
    let end = finish("STOP").to_string();
    let before = fold_bytes(new_fold(), format!("data: {text}\n\ndata: {{oops\n\n").as_bytes(), Framing::Events);
    assert!(matches!(before.end, Some(Folded::Protocol(_))) && before.text == "x");
    let bytes = format!("data: {text}\n\ndata: {end}\n\ndata: {{oops\n\ndata: [DONE]\n\n");
    assert_eq!(fold_bytes(new_fold(), bytes.as_bytes(), Framing::Events).class(), Some(StopClass::End));
}

#[test]
fn floods_are_refused() {
    let many = json!(vec![json!({"functionCall": {"name": "x"}}); 200]);
    let signed = json!(vec![json!({"text": "x", "thoughtSignature": "c2ln"}); 2000]);
    for flood in [many, signed] {
        let answer = fold(&[parts(flood), finish("STOP")]);
        assert!(matches!(answer.end, Some(Folded::Protocol(_))) && answer.calls.is_empty());
    }
}

const WORDS: &[&str] = &[
    "functionCall",
    "name",
    "args",
    "partialArgs",
    "jsonPath",
    "stringValue",
    "willContinue",
    "text",
    "thought",
    "thoughtSignature",
    "id",
    "$.a",
    "$.a[0]",
    "STOP",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn parts_of_any_shape_end_in_one_way(
        chunks in prop::collection::vec(prop::collection::vec(json_in(WORDS), 0..4), 1..4),
        reason in prop::sample::select(&["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", ""][..]),
    ) {
        let events: Vec<Value> = chunks.into_iter().map(|chunk| parts(json!(chunk))).chain([finish(reason)]).collect();
        prop_assert!(is_sound(&fold(&events)));
    }

    #[test]
    fn events_of_any_shape_end_in_one_way(events in prop::collection::vec(
        json_in(&["candidates", "content", "parts", "text", "finishReason", "STOP", "index", "usageMetadata", "error",
            "promptFeedback", "blockReason", "promptTokenCount", "functionCall"]), 0..4)) {
        prop_assert!(is_sound(&fold(&events)));
    }
}
