use std::collections::BTreeSet;

use cohab_model_api::{AssistantMessage, Message, TokenUsage, ToolSpec};

use super::*;

/// The complete result of an answer.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<(String, String, String)>,
    usage: TokenUsage,
    notices: Vec<String>,
    learned: Vec<Quirk>,
    end: Option<Folded>,
}

impl Answer {
    fn class(&self) -> Option<StopClass> {
        match &self.end {
            Some(Folded::Stop(stopped)) => Some(stopped.class),
            _ => None,
        }
    }
}

fn fold_with(mut fold: ChatFold, events: &[String], end: End) -> Answer {
    let mut answer = Answer::default();
    let folded: Vec<Folded> = events.iter().flat_map(|event| fold.on_event(event)).collect();
    for item in folded.into_iter().chain(fold.finish(end)) {
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
            Folded::Notice(notice) => answer.notices.push(notice),
            Folded::Learned(quirk) => answer.learned.push(quirk),
            end => answer.end = Some(end),
        }
    }
    answer
}

fn fold(events: &[Value]) -> Answer {
    let events: Vec<String> =
        events.iter().map(|event| event.as_str().map_or_else(|| event.to_string(), str::to_owned)).collect();
    fold_with(ChatFold::default(), &events, End::Clean)
}

/// A request after calls with these ids, with a tool on offer.
fn asked(ids: &[&str], allow_tools: bool) -> ModelRequest {
    let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "bash".to_owned(), args: Ok(Map::new().into()) };
    let message = AssistantMessage { tool_calls: ids.iter().map(call).collect(), ..AssistantMessage::default() };
    let spec = ToolSpec { name: "bash".to_owned(), description: String::new(), parameters: json!({}) };
    ModelRequest { tools: vec![spec], allow_tools, ..ModelRequest::of(vec![Message::Assistant(message)]) }
}

/// The answer of a service with these quirks.
fn fold_of(quirks: &[Quirk], events: &[Value]) -> Answer {
    let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
    let options = Options { model: "m", quirks: &quirks, ..Options::default() };
    let events: Vec<String> =
        events.iter().map(|event| event.as_str().map_or_else(|| event.to_string(), str::to_owned)).collect();
    fold_with(ChatFold::new(&asked(&[], true), &options), &events, End::Clean)
}

fn delta(delta: Value) -> Value {
    let mut event = json!({"id": "x", "choices": [{"index": 0}]});
    event["choices"][0]["delta"] = delta;
    event
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn tool(index: usize, id: &str, name: &str, args: &str) -> Value {
    delta(
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": args}}]}),
    )
}

fn call(id: &str, name: &str, args: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), args.to_owned())
}

fn done() -> Value {
    json!("[DONE]")
}

#[test]
fn a_text_answer_folds_with_usage_and_ends_with_done() {
    let answer = fold(&[
        json!({"choices": [], "prompt_filter_results": []}),
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"role": "assistant", "content": "Hel"})),
        delta(json!({"content": "lo", "refusal": null, "annotations": []})),
        finish("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 1}}}),
        done(),
    ]);
    assert_eq!((answer.text.as_str(), answer.class()), ("Hello", Some(StopClass::End)));
    let usage = TokenUsage {
        input: Some(6),
        output: Some(2),
        cache_read: Some(4),
        reasoning: Some(1),
        ..TokenUsage::default()
    };
    assert_eq!(answer.usage, usage);
}

#[test]
fn parallel_calls_keep_their_order_and_ids_however_small_the_pieces() {
    let args = ["{\"command\":\"echo \\u00e9 \\ud83d\\ude00\"}", "{\"path\":\"/x\"}"];
    let mut events = vec![tool(0, "a", "bash", ""), tool(1, "b", "read", "")];
    let longest = args.iter().map(|text| text.len()).max().unwrap_or(0);
    for at in 0..longest {
        for (index, args) in args.iter().enumerate() {
            events.extend(args.get(at..=at).map(|piece| tool(index, "", "", piece)));
        }
    }
    events.extend([finish("tool_calls"), done()]);
    let answer = fold(&events);
    assert_eq!(
        answer.calls,
        [call("a", "bash", "{\"command\":\"echo \u{e9} \u{1f600}\"}"), call("b", "read", args[1])]
    );
    assert_eq!(answer.class(), Some(StopClass::Tool));
}

#[test]
fn calls_count_whatever_the_stop_reason_says() {
    for end in [vec![finish("stop"), done()], vec![finish("stop")], vec![done()], vec![finish("weird_new_reason")]] {
        let events: Vec<Value> = [tool(0, "a", "bash", "{}")].into_iter().chain(end).collect();
        let answer = fold(&events);
        assert_eq!((answer.calls, answer.end.is_some()), (vec![call("a", "bash", "{}")], true));
    }
}

#[test]
fn an_answer_without_its_mark_is_incomplete_and_runs_nothing() {
    for events in [
        vec![],
        vec![delta(json!({"content": "hi"}))],
        vec![tool(0, "a", "bash", "{}")],
        vec![tool(0, "a", "bash", "{\"x\""), done()],
    ] {
        let answer = fold(&events);
        assert!(matches!(answer.end, Some(Folded::Incomplete(_))), "{answer:?}");
        assert!(answer.calls.is_empty());
    }
}

#[test]
fn length_inside_arguments_voids_the_calls_even_when_they_parse() {
    let answer = fold(&[
        delta(json!({"content": "Look."})),
        tool(0, "a", "bash", "{\"command\":\"rm\"}"),
        finish("length"),
        done(),
    ]);
    assert!(answer.calls.is_empty());
    let Some(Folded::Stop(stopped)) = &answer.end else { panic!("{answer:?}") };
    assert_eq!((stopped.class, stopped.has_void_calls, &stopped.message), (StopClass::Length, true, &None));
}

#[test]
fn broken_arguments_reach_the_model_as_broken() {
    for args in ["{\"a\":1", "[1]", "{\"a\":1,\"a\":2}", "{} extra"] {
        let answer = fold(&[tool(0, "a", "bash", args), finish("tool_calls"), done()]);
        assert_eq!(answer.calls, [call("a", "bash", &format!("broken: {args}"))]);
    }
}

#[test]
fn calls_without_arguments_have_empty_ones() {
    let absent = delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "now"}}]}));
    let null = delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "now", "arguments": null}}]}));
    for event in [tool(0, "a", "now", ""), tool(0, "a", "now", "{}"), tool(0, "a", "now", "null"), absent, null] {
        assert_eq!(fold(&[event, finish("tool_calls")]).calls, [call("a", "now", "{}")]);
    }
}

#[test]
fn missing_and_repeated_ids_are_made_unique_in_the_conversation() {
    let events =
        [tool(0, "", "bash", "{}").to_string(), tool(1, "old", "bash", "{}").to_string(), finish("stop").to_string()];
    let before = asked(&["call_1", "old"], true);
    let answer = fold_with(ChatFold::new(&before, &Options::default()), &events, End::Clean);
    assert_eq!(answer.calls, [call("call_2", "bash", "{}"), call("call_3", "bash", "{}")]);
    let Some(Folded::Stop(Stopped { message: Some(message), .. })) = answer.end else { panic!("no message") };
    assert_eq!(message["tool_calls"][1]["id"], "call_3");
}

#[test]
fn an_error_inside_the_stream_wins_over_text_and_stop() {
    let error = json!({"error": {"code": 502, "message": "upstream died"}, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]});
    let answer = fold(&[delta(json!({"content": "half"})), finish("length"), error, done()]);
    assert_eq!(answer.text, "half");
    assert!(
        matches!(&answer.end, Some(Folded::Error(body)) if body.text == "upstream died" && body.status == Some(502))
    );
    let failed = json!({"error": {"message": "Failed to call", "code": "tool_use_failed", "failed_generation": "x"}});
    assert!(matches!(&fold(&[failed]).end, Some(Folded::Error(body)) if body.codes == "tool_use_failed"));
    assert!(matches!(&fold(&[finish("error")]).end, Some(Folded::Error(_))));
    assert!(matches!(&fold(&[json!({"object": "error", "message": "m"})]).end, Some(Folded::Error(_))));
}

#[test]
fn garbage_is_a_protocol_error_before_the_mark_and_nothing_after_it() {
    let answer = fold(&[delta(json!({"content": "a"})), json!("{nonsense"), finish("stop")]);
    assert!(matches!(&answer.end, Some(Folded::Protocol(_))));
    assert_eq!(answer.text, "a");
    for tail in [vec![json!("{nonsense")], vec![done(), json!("<p>")]] {
        let events: Vec<Value> = [delta(json!({"content": "a"})), finish("stop")].into_iter().chain(tail).collect();
        assert_eq!(fold(&events).class(), Some(StopClass::End));
    }
}

#[test]
fn reasoning_is_told_apart_in_every_form() {
    let forms = [
        vec![delta(json!({"reasoning_content": "hm", "content": null})), delta(json!({"content": "yes"}))],
        vec![
            delta(json!({"reasoning": "hm", "reasoning_details": [{"text": "hm"}]})),
            delta(json!({"content": "yes"})),
        ],
        vec![delta(json!({"reasoning": "hm", "reasoning_content": "hm"})), delta(json!({"content": "yes"}))],
        vec![
            delta(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]})),
            delta(json!({"content": [{"type": "thinking", "thinking": "m"}, {"type": "text", "text": "y"}]})),
            delta(json!({"content": "es"})),
        ],
        vec![
            delta(json!({"content": "<thi"})),
            delta(json!({"content": "nk>hm</think>"})),
            delta(json!({"content": "\n\nyes"})),
        ],
    ];
    for form in forms {
        let events: Vec<Value> = form.into_iter().chain([finish("stop"), done()]).collect();
        let answer = fold(&events);
        assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("hm", "yes"), "{events:?}");
    }
}

#[test]
fn reasoning_fields_go_back_with_the_message() {
    let answer = fold(&[
        delta(json!({"reasoning_content": "a", "reasoning_details": [{"n": 1}]})),
        delta(json!({"reasoning_content": "b", "reasoning_details": [{"n": 2}]})),
        tool(0, "a", "bash", "{ }"),
        finish("tool_calls"),
    ]);
    let Some(Folded::Stop(Stopped { message: Some(message), .. })) = answer.end else { panic!("no message") };
    assert_eq!(
        (&message["reasoning_content"], &message["reasoning_details"]),
        (&json!("ab"), &json!([{"n": 1}, {"n": 2}]))
    );
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{ }");
}

#[test]
fn usage_is_read_wherever_it_stands_and_never_added_up() {
    let in_choice = json!({"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
    let later = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let usage = fold(&[in_choice, later, done()]).usage;
    assert_eq!((usage.input, usage.output), (Some(5), Some(2)));
    let groq = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": {"prompt_tokens": 7}}});
    assert_eq!(fold(&[groq]).usage, TokenUsage { input: Some(7), ..TokenUsage::default() });
    assert_eq!(fold(&[finish("stop")]).usage, TokenUsage::default());
}

#[test]
fn refusals_and_filters_are_seen() {
    let answer = fold(&[delta(json!({"refusal": "I will "})), delta(json!({"refusal": "not."})), finish("stop")]);
    assert_eq!((answer.refusal.as_str(), answer.class()), ("I will not.", Some(StopClass::Refusal)));
    assert_eq!(fold(&[delta(json!({"content": "x"})), finish("content_filter")]).class(), Some(StopClass::Refusal));
}

#[test]
fn a_whole_answer_in_place_of_a_stream_is_one_answer() {
    let answer = fold(&[
        json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message":
        {"role": "assistant", "content": "Look.", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]}},
        {"index": 1, "finish_reason": "stop", "message": {"content": "other"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
    ]);
    assert_eq!((answer.text.as_str(), answer.calls.len(), answer.class()), ("Look.", 1, Some(StopClass::Tool)));
}

#[test]
fn a_call_written_as_text_stays_text_and_is_told() {
    let text = "{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}";
    let events = [delta(json!({"content": text})), finish("stop")];
    let answer = fold_of(&[], &events);
    assert_eq!((answer.text.as_str(), answer.calls.len(), answer.class()), (text, 0, Some(StopClass::End)));
    assert_eq!(answer.notices, [printed::NOTICE]);
    let forbidden = fold_with(
        ChatFold::new(&asked(&[], false), &Options::default()),
        &events.clone().map(|event| event.to_string()),
        End::Clean,
    );
    assert_eq!(forbidden.notices, Vec::<String>::new());
    let called = fold_of(&[], &[delta(json!({"content": text})), tool(0, "a", "bash", "{}"), finish("tool_calls")]);
    assert_eq!((called.calls.len(), called.notices.len()), (1, 0));
}

#[test]
fn a_swallowed_think_tag_is_learned_and_then_expected() {
    let events =
        [delta(json!({"content": "reasons\n</th"})), delta(json!({"content": "ink>\n\nAnswer"})), finish("stop")];
    let first = fold_of(&[], &events);
    assert_eq!((first.text.as_str(), &first.learned[..]), ("reasons\nAnswer", &[Quirk::SwallowsThinkTag][..]));
    let later = |events: &[Value]| fold_of(&[Quirk::SwallowsThinkTag], events);
    let second = later(&events);
    assert_eq!((second.text.as_str(), second.reasoning.as_str()), ("Answer", "reasons\n"));
    let plain = [delta(json!({"content": "No reasons."}))];
    assert_eq!(later(&[plain[0].clone(), finish("stop")]).text, "No reasons.");
    assert_eq!(later(&[plain[0].clone(), done()]).text, "No reasons.");
    assert_eq!(later(&[plain[0].clone(), finish("length"), done()]).text, "");
    assert_eq!(later(&[plain[0].clone(), tool(0, "a", "bash", "{}"), finish("stop")]).text, "");
    let parsed = [delta(json!({"reasoning_content": "hm"})), plain[0].clone(), finish("stop")];
    assert_eq!((later(&parsed).text.as_str(), later(&parsed).reasoning.as_str()), ("No reasons.", "hm"));
}

#[test]
fn what_comes_with_the_finish_reason_counts() {
    let last = json!({"choices": [{"index": 0, "finish_reason": "stop", "delta": {"content": "b",
        "tool_calls": [{"id": "a", "function": {"name": "bash", "arguments": "{}"}}]}}]});
    let answer = fold(&[delta(json!({"content": "a"})), last]);
    assert_eq!((answer.text.as_str(), answer.calls.len(), answer.class()), ("ab", 1, Some(StopClass::Tool)));
}

#[test]
fn an_answer_of_nothing_but_its_mark_is_empty() {
    for events in [vec![done()], vec![finish("stop")], vec![delta(json!({"role": "assistant", "content": ""})), done()]]
    {
        let answer = fold(&events);
        assert_eq!((answer.text.as_str(), answer.calls.len(), answer.class()), ("", 0, Some(StopClass::End)));
    }
}

#[test]
fn a_price_is_taken_where_one_is_told() {
    let cost = |cost: Value| {
        let event = json!({"choices": [], "usage": {"prompt_tokens": 1, "cost": cost}});
        fold(&[finish("stop"), event, done()]).usage.cost_microusd
    };
    assert_eq!(cost(json!(0.001_234)), Some(1234));
    assert_eq!(cost(json!({"input_tokens_cost": 0.1, "total_cost": 0.25})), Some(250_000));
    for none in [json!(null), json!(-1.0), json!("0.1"), json!({}), json!(1e300)] {
        assert_eq!(cost(none.clone()), None, "{none}");
    }
}

#[test]
fn the_answer_lingers_for_usage_after_its_mark() {
    let mut fold = ChatFold::default();
    fold.on_event(&delta(json!({"content": "a"})).to_string());
    assert_eq!(fold.progress(), Progress::Open);
    fold.on_event(&finish("stop").to_string());
    assert_eq!(fold.progress(), Progress::Complete);
    fold.on_event("[DONE]");
    assert_eq!(fold.progress(), Progress::Over);
}

#[test]
fn too_many_calls_end_the_answer() {
    let mut events: Vec<Value> = (0..=MAX_CALLS).map(|index| tool(index, "", "x", "")).collect();
    events.push(finish("stop"));
    let answer = fold(&events);
    assert!(matches!(&answer.end, Some(Folded::Protocol(_))) && answer.calls.is_empty());
}

proptest::proptest! {
    #[test]
    fn any_events_end_in_exactly_one_terminal_event(picks in proptest::collection::vec(0usize..14, 0..12), cut: bool) {
        let choices = [
            delta(json!({"content": "a"})), delta(json!({"content": 7, "tool_calls": {"x": 1}})), tool(0, "a", "b", "{"), tool(0, "", "", "}"),
            tool(1, "c", "", ""), finish("stop"), finish("length"), json!({"error": "x"}), json!({"choices": 3}), json!(null), json!("[DONE]"),
            json!("\u{fffd}"), json!({"choices": [null, {"delta": null}, {"message": []}], "usage": []}), delta(json!({"refusal": "no"})),
        ];
        let events: Vec<String> = picks.iter().map(|pick| choices[*pick].as_str().map_or_else(|| choices[*pick].to_string(), str::to_owned)).collect();
        let answer = fold_with(ChatFold::default(), &events, if cut { End::Cut } else { End::Clean });
        proptest::prop_assert!(answer.end.is_some());
        proptest::prop_assert!(answer.calls.is_empty() || matches!(answer.end, Some(Folded::Stop(_))));
    }
}
