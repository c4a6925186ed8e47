use serde_json::json;

use super::*;
use crate::fold_testing::{Answer, call, fold_events};

/// The message in the wire's form.
fn own(answer: &Answer) -> &Value {
    answer.stopped().and_then(|stopped| stopped.message.as_ref()).expect("the answer is complete")
}

fn fold(events: &[Value]) -> Answer {
    fold_events(Box::<ResponseFold>::default(), events)
}

/// An event of the item with this number.
fn event(kind: &str, index: u64, rest: Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}"), "sequence_number": 1, "output_index": index});
    if let (Value::Object(event), Value::Object(rest)) = (&mut event, rest) {
        event.extend(rest);
    }
    event
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn call_item(call_id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{call_id}"), "status": "completed", "call_id": call_id,
        "name": name, "arguments": arguments})
}

fn reasoning_item(text: &str) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": "c2VjcmV0"})
}

fn done(index: u64, item: Value) -> Value {
    let mut event = event("output_item.done", index, json!({}));
    event["item"] = item;
    event
}

fn completed(output: Value) -> Value {
    let mut event = json!({"type": "response.completed", "response": {"id": "r", "object": "response",
        "status": "completed", "error": null, "incomplete_details": null,
        "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 2}}}});
    event["response"]["output"] = output;
    event
}

/// Reasoning, text and a call, in the stream of a service that leaves nothing out.
fn full_stream() -> Vec<Value> {
    let output = json!([reasoning_item("Think."), message("Look."), call_item("c1", "bash", "{\"command\":\"ls\"}")]);
    vec![
        json!({"type": "response.created", "response": {"status": "in_progress", "output": [], "usage": null}}),
        json!({"type": "response.in_progress", "response": {"status": "in_progress", "output": []}}),
        event("output_item.added", 0, json!({"item": {"type": "reasoning", "id": "rs_1", "summary": []}})),
        event(
            "reasoning_summary_part.added",
            0,
            json!({"summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
        ),
        event("reasoning_summary_text.delta", 0, json!({"item_id": "rs_1", "summary_index": 0, "delta": "Thi"})),
        event("reasoning_summary_text.delta", 0, json!({"item_id": "rs_1", "summary_index": 0, "delta": "nk."})),
        event("reasoning_summary_text.done", 0, json!({"item_id": "rs_1", "summary_index": 0, "text": "Think."})),
        done(0, output[0].clone()),
        event(
            "output_item.added",
            1,
            json!({"item": {"type": "message", "id": "msg_1", "status": "in_progress", "role": "assistant", "content": []}}),
        ),
        event(
            "content_part.added",
            1,
            json!({"item_id": "msg_1", "content_index": 0, "part": {"type": "output_text", "text": ""}}),
        ),
        event(
            "output_text.delta",
            1,
            json!({"item_id": "msg_1", "content_index": 0, "delta": "Lo", "obfuscation": "x"}),
        ),
        event("output_text.delta", 1, json!({"item_id": "msg_1", "content_index": 0, "delta": "ok."})),
        event("output_text.annotation.added", 1, json!({"annotation": {}})),
        event("output_text.done", 1, json!({"item_id": "msg_1", "content_index": 0, "text": "Look."})),
        done(1, output[1].clone()),
        event(
            "output_item.added",
            2,
            json!({"item": {"type": "function_call", "id": "fc_c1", "status": "in_progress", "call_id": "c1", "name": "bash", "arguments": ""}}),
        ),
        event("function_call_arguments.delta", 2, json!({"item_id": "fc_c1", "delta": "{\"command\""})),
        event("function_call_arguments.delta", 2, json!({"item_id": "fc_c1", "delta": ":\"ls\"}"})),
        event("function_call_arguments.done", 2, json!({"item_id": "fc_c1", "arguments": "{\"command\":\"ls\"}"})),
        done(2, output[2].clone()),
        completed(output),
    ]
}

fn is_full(answer: &Answer, events: &[Value]) {
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Look.", "Think."), "{events:?}");
    assert_eq!(answer.calls, [call("c1", "bash", "{\"command\":\"ls\"}")], "{events:?}");
    assert_eq!(answer.class(), Some(StopClass::Tool), "{events:?}");
}

fn without(events: &[Value], parts: &[&str]) -> Vec<Value> {
    let kind = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    events.iter().filter(|event| !parts.iter().any(|part| kind(event).contains(part))).cloned().collect()
}

#[test]
fn reasoning_text_and_a_call_fold_with_usage_and_keep_their_items() {
    let events = full_stream();
    let answer = fold(&events);
    is_full(&answer, &events);
    let usage = TokenUsage {
        input: Some(6),
        output: Some(5),
        cache_read: Some(4),
        reasoning: Some(2),
        ..TokenUsage::default()
    };
    assert_eq!(answer.usage, usage);
    let sent = json!([reasoning_item("Think."), message("Look."), call_item("c1", "bash", "{\"command\":\"ls\"}")]);
    assert_eq!(own(&answer).to_string(), sent.to_string());
}

#[test]
fn any_part_of_the_events_may_be_missing_and_nothing_is_doubled() {
    let all = full_stream();
    for missing in [
        &["delta"][..],
        &["added"],
        &["added", "delta"],
        &["item.done"],
        &["added", "delta", "item.done", ".done"],
        &[".done", "part"],
        &["added", ".done"],
    ] {
        let events = without(&all, missing);
        is_full(&fold(&events), &events);
    }
    let mut bare = all.clone();
    if let Some(last) = bare.last_mut() {
        last["response"]["output"] = json!([]);
    }
    for missing in [&["delta"][..], &["added"], &["added", "delta"], &["part"]] {
        let events = without(&bare, missing);
        is_full(&fold(&events), &events);
    }
}

#[test]
fn without_numbers_ids_decide_and_with_numbers_ids_do_not_matter() {
    let mut unnumbered = full_stream();
    for event in &mut unnumbered {
        event.as_object_mut().expect("an object").remove("output_index");
    }
    // Such a server closes its text after the call's deltas.
    let text_done = unnumbered.iter().position(|event| event["type"] == "response.output_text.done").expect("there");
    let closing = unnumbered.remove(text_done);
    let end = unnumbered.len() - 2;
    unnumbered.insert(end, closing);
    is_full(&fold(&unnumbered), &unnumbered);
    let mut rotating = full_stream();
    for (number, event) in rotating.iter_mut().enumerate() {
        if event.get("item_id").is_some() {
            event["item_id"] = json!(format!("rotated_{number}"));
        }
        if event.get("item").is_some() {
            event["item"]["id"] = json!(format!("rotated_{number}"));
        }
    }
    is_full(&fold(&rotating), &rotating);
    for event in &mut rotating {
        event.as_object_mut().expect("an object").remove("output_index");
    }
    is_full(&fold(&rotating), &rotating);
}

#[test]
fn parallel_calls_keep_their_order_and_their_arguments_apart() {
    let added = |index: u64, id: &str| event("output_item.added", index, json!({"item": call_item(id, "bash", "")}));
    let piece = |index: u64, id: &str, delta: &str| {
        event("function_call_arguments.delta", index, json!({"item_id": format!("fc_{id}"), "delta": delta}))
    };
    let mut events = vec![
        added(0, "a"),
        added(1, "b"),
        piece(0, "a", "{\"x\""),
        piece(1, "b", "{\"y\""),
        piece(0, "a", ":1}"),
        piece(1, "b", ":2}"),
        completed(json!([])),
    ];
    let expected = [call("a", "bash", "{\"x\":1}"), call("b", "bash", "{\"y\":2}")];
    assert_eq!(fold(&events).calls, expected);
    for event in &mut events {
        event.as_object_mut().expect("an object").remove("output_index");
    }
    assert_eq!(fold(&events).calls, expected);
    let whole = json!([call_item("a", "bash", "{\"x\":1}"), call_item("b", "bash", "{\"y\":2}")]);
    events.pop();
    events.push(completed(whole));
    assert_eq!(fold(&events).calls, expected);
}

#[test]
fn a_call_needs_no_arguments_no_id_and_broken_ones_reach_the_model() {
    for arguments in [json!(""), json!("{}"), json!("null"), Value::Null] {
        let mut item = call_item("a", "now", "");
        item["arguments"] = arguments;
        let answer = fold(&[done(0, item), completed(json!([]))]);
        assert_eq!(answer.calls, [call("a", "now", "{}")]);
        assert_eq!(
            own(&answer)[0]["arguments"].as_str().map(|sent| serde_json::from_str::<Value>(sent).is_ok()),
            Some(true)
        );
    }
    let broken = fold(&[done(0, call_item("", "bash", "{\"a")), completed(json!([]))]);
    assert!(
        matches!(&broken.calls[..], [(id, _, args)] if id == "call_1" && args.starts_with("broken: ")),
        "{broken:?}"
    );
    assert_eq!((&own(&broken)[0]["call_id"], &own(&broken)[0]["arguments"]), (&json!("call_1"), &json!("{}")));
}

#[test]
fn two_messages_and_two_parts_of_reasoning_are_told_apart() {
    let second = json!({"type": "message", "id": "msg_2", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]});
    let events = [
        event("reasoning_summary_text.delta", 0, json!({"summary_index": 0, "delta": "a"})),
        event("reasoning_summary_text.delta", 0, json!({"summary_index": 1, "delta": "b"})),
        event("output_text.delta", 1, json!({"delta": "On"})),
        event("output_text.delta", 1, json!({"delta": "e."})),
        done(1, message("One.")),
        done(2, second),
        completed(json!([])),
    ];
    let answer = fold(&events);
    assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("One.\n\nTwo.", "a\n\nb"));
}

#[test]
fn open_reasoning_is_reasoning() {
    let item = json!({"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}], "encrypted_content": ""});
    let streamed = [
        event("reasoning_text.delta", 0, json!({"content_index": 0, "delta": "hm"})),
        done(0, item.clone()),
        done(1, message("x")),
        completed(json!([])),
    ];
    assert_eq!(fold(&streamed).reasoning, "hm");
    assert_eq!(fold(&[completed(json!([item, message("x")]))]).reasoning, "hm");
}

#[test]
fn refusals_and_filters_are_seen_once() {
    let refused = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]});
    let streamed = [
        event("refusal.delta", 0, json!({"delta": "I will "})),
        event("refusal.delta", 0, json!({"delta": "not."})),
        done(0, refused.clone()),
        completed(json!([refused.clone()])),
    ];
    for events in [&streamed[..], &streamed[2..], &streamed[3..]] {
        let answer = fold(events);
        assert_eq!(
            (answer.refusal.as_str(), answer.text.as_str(), answer.class()),
            ("I will not.", "", Some(StopClass::Refusal))
        );
    }
    let filtered = json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}});
    let answer = fold(&[event("output_text.delta", 0, json!({"delta": "x"})), filtered]);
    assert_eq!((answer.text.as_str(), answer.class()), ("x", Some(StopClass::Refusal)));
}

#[test]
fn a_length_limit_voids_calls_even_when_they_parse() {
    let end = |status: &str| json!({"type": format!("response.{status}"), "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}});
    for end in [end("incomplete"), end("completed")] {
        let answer = fold(&[done(0, call_item("a", "bash", "{\"command\":\"rm\"}")), end.clone()]);
        assert!(answer.calls.is_empty());
        let Some(Folded::Stop(stopped)) = &answer.end else { panic!("{answer:?}") };
        assert_eq!((stopped.class, stopped.has_void_calls, &stopped.message), (StopClass::Length, true, &None));
        let text = fold(&[event("output_text.delta", 0, json!({"delta": "x"})), end]);
        assert_eq!(
            (text.text.as_str(), text.class(), &own(&text)[0]["content"][0]["text"]),
            ("x", Some(StopClass::Length), &json!("x"))
        );
    }
    let mut cut = call_item("a", "bash", "{}");
    cut["status"] = json!("incomplete");
    assert_eq!(fold(&[done(0, cut), completed(json!([]))]).class(), Some(StopClass::Length));
}

#[test]
fn an_error_comes_once_whatever_its_form_and_wins_over_text() {
    let text = || event("output_text.delta", 0, json!({"delta": "half"}));
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "It broke."}}});
    for events in [
        vec![
            text(),
            json!({"type": "error", "code": "server_error", "message": "It broke.", "param": null}),
            failed.clone(),
        ],
        vec![
            text(),
            json!({"type": "error", "error": {"type": "server_error", "message": "It broke."}}),
            failed.clone(),
        ],
        vec![text(), json!({"error": {"code": "server_error", "message": "It broke."}}), failed.clone()],
        vec![text(), failed.clone(), json!({"type": "error", "message": "again"})],
        vec![text(), failed["response"].clone()],
    ] {
        // The last form is a whole object, recognized by its output.
        let events: Vec<Value> = events
            .into_iter()
            .map(|mut event| {
                if event.get("status").is_some() {
                    event["output"] = json!([]);
                }
                event
            })
            .collect();
        let answer = fold(&events);
        assert!(
            matches!(&answer.end, Some(Folded::Error(body)) if body.text == "It broke." && body.codes.contains("server_error")),
            "{answer:?}"
        );
        assert_eq!(answer.text, "half");
    }
    for status in ["failed", "cancelled"] {
        let bare = json!({"type": format!("response.{status}"), "response": {"error": null}});
        assert!(matches!(&fold(&[bare]).end, Some(Folded::Error(body)) if !body.text.is_empty()));
    }
    let limit = json!({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "Slow down."}}});
    assert!(
        matches!(&fold(&[limit]).end, Some(Folded::Error(body)) if body.kind() == cohab_model_api::ProviderErrorKind::RateLimit)
    );
}

#[test]
fn events_of_hosted_tools_are_skipped_and_their_items_kept() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}});
    let events = [
        event(
            "output_item.added",
            0,
            json!({"item": {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}}),
        ),
        event("web_search_call.in_progress", 0, json!({"item_id": "ws_1"})),
        event("web_search_call.completed", 0, json!({"item_id": "ws_1"})),
        done(0, search.clone()),
        event("brand_new.thing", 0, json!({"delta": "x"})),
        done(1, message("Found.")),
        completed(json!([])),
    ];
    let answer = fold(&events);
    assert_eq!((answer.text.as_str(), answer.class(), &own(&answer)[0]), ("Found.", Some(StopClass::End), &search));
}

#[test]
fn a_whole_answer_in_place_of_a_stream_is_one_answer() {
    let whole = full_stream().pop().expect("the terminal event")["response"].clone();
    is_full(&fold(std::slice::from_ref(&whole)), std::slice::from_ref(&whole));
    let queued = json!({"object": "response", "status": "queued", "output": []});
    assert!(matches!(fold(&[queued]).end, Some(Folded::Incomplete(_))));
}

#[test]
fn an_answer_cut_before_its_mark_is_incomplete_and_runs_nothing() {
    let all = full_stream();
    for length in 0..all.len() {
        let answer = fold(&all[..length]);
        assert!(matches!(answer.end, Some(Folded::Incomplete(_))) && answer.calls.is_empty(), "{length}");
    }
    let broken = ResponseFold::default().finish(End::Cut);
    assert!(matches!(&broken[..], [Folded::Incomplete(reason)] if reason.contains("broke")), "{broken:?}");
    let with_done: Vec<Value> = all[..all.len() - 1].to_vec();
    let mut fold = ResponseFold::default();
    with_done.iter().for_each(|event| drop(fold.on_event(&event.to_string())));
    assert_eq!((fold.on_event("[DONE]"), fold.progress()), (Vec::new(), Progress::Open));
    fold.on_event(&completed(json!([])).to_string());
    assert_eq!((fold.on_event("garbage"), fold.progress()), (Vec::new(), Progress::Over));
}

#[test]
fn garbage_and_too_many_calls_are_protocol_errors() {
    let mut fold_one = ResponseFold::default();
    assert!(matches!(fold_one.on_event("{nonsense").as_slice(), [Folded::Protocol(_)]));
    assert_eq!(fold_one.finish(End::Clean), []);
    let events: Vec<Value> =
        (0..=MAX_CALLS as u64).map(|index| done(index, call_item(&format!("c{index}"), "x", "{}"))).collect();
    assert!(matches!(fold(&events).end, Some(Folded::Protocol(_))));
    let events: Vec<Value> =
        (0..=MAX_ITEMS as u64).map(|index| event("output_text.delta", index, json!({"delta": "x"}))).collect();
    assert!(matches!(fold(&events).end, Some(Folded::Protocol(_))));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 96, ..Default::default() })]

    #[test]
    fn any_events_end_in_exactly_one_terminal_event(picks in proptest::collection::vec(0usize..30, 0..20)) {
        let mut choices = full_stream();
        choices.extend([
            json!(null), json!([]), json!({"type": 7}), json!({"type": "response.completed"}), json!({"type": "response.output_item.done", "item": 3}),
            json!({"type": "response.output_item.done", "item": {}}), json!({"type": "response.failed", "response": []}),
            event("output_text.delta", 0, json!({"delta": {"x": 1}})), json!({"type": "response.completed", "response": {"output": [1, {"type": null}, {"content": "x"}], "usage": []}}),
        ]);
        let events: Vec<Value> = picks.iter().map(|pick| choices[*pick].clone()).collect();
        let answer = fold(&events);
        proptest::prop_assert!(answer.end.is_some());
        proptest::prop_assert!(answer.calls.is_empty() || matches!(answer.end, Some(Folded::Stop(_))));
    }
}
