use serde_json::json;

use super::*;

#[derive(Debug, Default, PartialEq)]
struct Answer {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<(String, String, String)>,
    usage: TokenUsage,
    end: Option<Folded>,
}

impl Answer {
    fn stopped(&self) -> &Stopped {
        match &self.end {
            Some(Folded::Stop(stopped)) => stopped,
            other => panic!("{other:?} is no stop"),
        }
    }
}

fn fold_with(mut fold: MessageFold, events: &[String]) -> Answer {
    let mut answer = Answer::default();
    let folded: Vec<Folded> = events.iter().flat_map(|event| fold.on_event(event)).collect();
    for item in folded.into_iter().chain(fold.finish(End::Clean)) {
        assert!(answer.end.is_none(), "{item:?} after the end");
        match item {
            Folded::Text(text) => answer.text.push_str(&text),
            Folded::Reasoning(text) => answer.reasoning.push_str(&text),
            Folded::Refusal(text) => answer.refusal.push_str(&text),
            Folded::Usage(usage) => answer.usage = usage,
            Folded::Call(call) => {
                let args =
                    call.args.map_or_else(|broken| format!("broken: {}", broken.raw), |args| json!(args).to_string());
                answer.calls.push((call.id, call.name, args));
            }
            Folded::Hidden => {}
            end => answer.end = Some(end),
        }
    }
    answer
}

fn fold(events: &[Value]) -> Answer {
    let events: Vec<String> =
        events.iter().map(|event| event.as_str().map_or_else(|| event.to_string(), str::to_owned)).collect();
    fold_with(MessageFold::default(), &events)
}

fn start(id: &str) -> Value {
    json!({"type": "message_start", "message": {"id": id, "usage": {"input_tokens": 3, "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 5, "output_tokens": 1}}})
}

fn open(index: u64, block: Value) -> Value {
    let mut event = json!({"type": "content_block_start", "index": index});
    event["content_block"] = block;
    event
}

fn delta(index: u64, delta: Value) -> Value {
    let mut event = json!({"type": "content_block_delta", "index": index});
    event["delta"] = delta;
    event
}

fn text(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

fn input(index: u64, piece: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
}

fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn stop(reason: &str) -> [Value; 2] {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}});
    [delta, json!({"type": "message_stop"})]
}

fn tool_use(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {}})
}

fn call(id: &str, name: &str, args: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), args.to_owned())
}

/// A list of events followed by the end mark.
fn with_stop(events: Vec<Value>, reason: &str) -> Vec<Value> {
    events.into_iter().chain(stop(reason)).collect()
}

#[test]
fn text_and_a_call_fold_with_usage_that_is_not_added_up() {
    let events = vec![
        start("m"),
        json!({"type": "ping"}),
        open(0, json!({"type": "text", "text": ""})),
        text(0, "Let me "),
        text(0, "look."),
        close(0),
        open(1, tool_use("t", "bash")),
        input(1, ""),
        input(1, "{\"command\":"),
        json!({"type": "ping"}),
        input(1, "\"ls\"}"),
        close(1),
    ];
    let answer = fold(&with_stop(events, "tool_use"));
    assert_eq!(answer.text, "Let me look.");
    assert_eq!(answer.calls, [call("t", "bash", "{\"command\":\"ls\"}")]);
    let usage = TokenUsage {
        input: Some(3),
        output: Some(9),
        cache_read: Some(4),
        cache_write: Some(5),
        ..TokenUsage::default()
    };
    assert_eq!(answer.usage, usage);
    assert_eq!(answer.stopped().class, StopClass::Tool);
    let blocks = json!([{"type": "text", "text": "Let me look."}, {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}}]);
    assert_eq!(answer.stopped().message, Some(blocks));
}

#[test]
fn a_later_count_replaces_an_earlier_one_and_none_replaces_nothing() {
    let counts = |usage: Value| json!({"type": "message_delta", "delta": {}, "usage": usage});
    let events = vec![
        start("m"),
        text(0, "a"),
        counts(json!({"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": null})),
        counts(json!({"output_tokens": 5})),
        json!({"type": "message_stop"}),
    ];
    let usage = fold(&events).usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (Some(7), Some(5), Some(4), Some(5)));
}

#[test]
fn blocks_that_go_back_are_kept_to_the_byte_and_in_place() {
    let events = vec![
        start("m"),
        open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
        delta(0, json!({"type": "thinking_delta", "thinking": "..."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln+/="})),
        open(1, json!({"type": "redacted_thinking", "data": "eA=="})),
        open(2, json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        input(2, "{\"query\":\"x\"}"),
        open(
            3,
            json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u", "encrypted_content": "e"}]}),
        ),
        open(4, json!({"type": "text", "text": "", "citations": []})),
        text(4, "So"),
        delta(4, json!({"type": "citations_delta", "citation": {"url": "u"}})),
        open(5, json!({"type": "text", "text": ""})),
        open(6, json!({"type": "brand_new", "payload": [1]})),
    ];
    let answer = fold(&with_stop(events, "end_turn"));
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str(), answer.calls.len()), ("Hm...", "So", 0));
    let expected = json!([
        {"type": "thinking", "thinking": "Hm...", "signature": "c2ln+/="},
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u", "encrypted_content": "e"}]},
        {"type": "text", "text": "So", "citations": [{"url": "u"}]},
        {"type": "brand_new", "payload": [1]},
    ]);
    assert_eq!(answer.stopped().message, Some(expected));
}

#[test]
fn blocks_may_interleave_and_input_may_be_absent() {
    let events = vec![
        start("m"),
        open(0, json!({"type": "text", "text": ""})),
        open(1, json!({"type": "tool_use", "id": "t", "name": "now"})),
        text(0, "a"),
        input(1, ""),
        text(0, "b"),
        close(1),
        close(0),
    ];
    let answer = fold(&with_stop(events, "tool_use"));
    assert_eq!((answer.text.as_str(), answer.calls), ("ab", vec![call("t", "now", "{}")]));
}

#[test]
fn the_input_of_the_start_counts_when_no_piece_comes() {
    let block = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}});
    let answer = fold(&with_stop(vec![start("m"), open(0, block)], "tool_use"));
    assert_eq!(answer.calls, [call("t", "bash", "{\"command\":\"ls\"}")]);
}

#[test]
fn nothing_runs_before_the_end_mark() {
    let events = vec![start("m"), open(0, tool_use("t", "bash")), input(0, "{}"), close(0)];
    let whole = with_stop(events, "tool_use");
    for length in 0..whole.len() {
        let answer = fold(&whole[..length]);
        assert!(answer.calls.is_empty() && matches!(answer.end, Some(Folded::Incomplete(_))), "{length}");
    }
    assert_eq!(fold(&whole).calls.len(), 1);
}

#[test]
fn a_cut_call_is_void_even_when_it_parses() {
    for reason in ["max_tokens", "model_context_window_exceeded"] {
        let answer = fold(&with_stop(vec![start("m"), open(0, tool_use("t", "bash")), input(0, "{}")], reason));
        let stopped = answer.stopped();
        assert_eq!((stopped.class, stopped.has_void_calls, &stopped.message), (StopClass::Length, true, &None));
        assert!(answer.calls.is_empty());
    }
}

#[test]
fn a_broken_input_reaches_the_model_and_goes_back_empty() {
    let answer =
        fold(&with_stop(vec![start("m"), open(0, tool_use("t", "bash")), input(0, "{\"a\":1,\"a\":2}")], "tool_use"));
    assert_eq!(answer.calls, [call("t", "bash", "broken: {\"a\":1,\"a\":2}")]);
    assert_eq!(answer.stopped().message.as_ref().map(|blocks| &blocks[0]["input"]), Some(&json!({})));
}

#[test]
fn a_second_start_with_the_same_id_is_ignored_and_another_one_is_an_error() {
    let block = || vec![open(0, tool_use("t", "bash")), input(0, "{}")];
    let same: Vec<Value> = [start("m"), start("m")].into_iter().chain(block()).collect();
    assert_eq!(fold(&with_stop(same, "tool_use")).calls.len(), 1);
    let other: Vec<Value> = [start("m")].into_iter().chain(block()).chain([start("n")]).collect();
    let answer = fold(&with_stop(other, "tool_use"));
    assert!(matches!(answer.end, Some(Folded::Protocol(_))) && answer.calls.is_empty());
}

#[test]
fn an_error_event_keeps_the_text_and_its_class() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let answer = fold(&[start("m"), text(0, "half"), error]);
    assert_eq!(answer.text, "half");
    assert!(
        matches!(&answer.end, Some(Folded::Error(body)) if body.kind() == cohab_model_api::ProviderErrorKind::Overloaded)
    );
}

#[test]
fn stop_reasons_have_their_classes() {
    let classes = [
        ("end_turn", StopClass::End),
        ("stop_sequence", StopClass::End),
        ("never_heard_of", StopClass::End),
        ("max_tokens", StopClass::Length),
        ("pause_turn", StopClass::Pause),
        ("refusal", StopClass::Refusal),
    ];
    for (reason, class) in classes {
        let answer = fold(&with_stop(vec![start("m"), text(0, "a"), json!({"type": "new_event"})], reason));
        assert_eq!(answer.stopped().class, class, "{reason}");
    }
}

#[test]
fn a_refusal_says_why() {
    let delta =
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "No."}}});
    assert_eq!(fold(&[start("m"), delta, json!({"type": "message_stop"})]).refusal, "No.");
}

#[test]
fn a_whole_message_in_place_of_a_stream_is_one_answer() {
    let answer = fold(&[
        json!({"type": "message", "id": "m", "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2},
        "content": [{"type": "text", "text": "Look."}, {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}}]}),
    ]);
    assert_eq!((answer.text.as_str(), answer.calls.len(), answer.usage.output), ("Look.", 1, Some(2)));
    assert_eq!(answer.stopped().class, StopClass::Tool);
}

#[test]
fn repeated_ids_are_replaced_in_call_and_message_alike() {
    let events: Vec<String> =
        with_stop(vec![start("m"), open(0, tool_use("old", "a")), open(1, tool_use("", "b"))], "tool_use")
            .iter()
            .map(Value::to_string)
            .collect();
    let answer = fold_with(MessageFold::beside(["old"]), &events);
    assert_eq!(answer.calls, [call("call_1", "a", "{}"), call("call_2", "b", "{}")]);
    assert_eq!(answer.stopped().message.as_ref().map(|blocks| &blocks[1]["id"]), Some(&json!("call_2")));
}

#[test]
fn garbage_is_an_error_before_the_mark_and_nothing_after_it() {
    assert!(matches!(fold(&[start("m"), json!("{nonsense")]).end, Some(Folded::Protocol(_))));
    let events: Vec<Value> =
        with_stop(vec![start("m"), text(0, "a")], "end_turn").into_iter().chain([json!("{nonsense")]).collect();
    assert_eq!(fold(&events).stopped().class, StopClass::End);
}

#[test]
fn the_number_of_blocks_is_bounded() {
    let events: Vec<Value> =
        (0..=MAX_BLOCKS as u64).map(|index| open(index, json!({"type": "text", "text": "a"}))).collect();
    assert!(matches!(fold(&events).end, Some(Folded::Protocol(_))));
}

proptest::proptest! {
    #[test]
    fn any_events_end_in_exactly_one_terminal_event(picks in proptest::collection::vec(0usize..14, 0..14)) {
        let choices = [
            start("m"), start("n"), open(0, json!(null)), open(0, tool_use("t", "bash")), open(1, json!({"type": "text"})), text(1, "a"), text(7, "b"),
            input(0, "{"), input(0, "}"), json!({"type": "error"}), json!({"type": "message_stop"}), json!([]), json!("\u{fffd}"),
            json!({"type": "message_delta", "delta": 1, "usage": {"output_tokens": -1}}),
        ];
        let events: Vec<Value> = picks.iter().map(|pick| choices[*pick].clone()).collect();
        let answer = fold(&events);
        proptest::prop_assert!(answer.end.is_some());
        proptest::prop_assert!(answer.calls.is_empty() || matches!(answer.end, Some(Folded::Stop(_))));
    }
}
