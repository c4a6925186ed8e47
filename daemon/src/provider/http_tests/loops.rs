//! Answers that arrive, in every form of transport.

use super::*;
use crate::agent::port::AssistantMessage;

#[tokio::test]
async fn a_tool_loop_runs_on_both_wires() {
    for wire in wires() {
        let replies = vec![
            Reply::events(call_answer(wire, None).as_bytes()),
            Reply::events(text_answer(wire, "Done.", true).as_bytes()),
        ];
        let bench = bench(wire, replies).await;
        let events = bench.ask().await;
        assert_eq!((text_of(&events).as_str(), calls_of(&events)), ("Look \u{e9}.", vec![call()]));
        let Some(ModelEvent::Stop { class: StopClass::Tool, provider_data }) = events.last() else {
            panic!("{events:?}")
        };
        let mut request = question();
        let assistant = AssistantMessage {
            text: text_of(&events),
            tool_calls: calls_of(&events),
            provider_data: provider_data.clone(),
        };
        let result = ToolResult {
            call_id: "c1".to_owned(),
            tool: "bash".to_owned(),
            content: "\u{1f600}".to_owned(),
            is_error: false,
        };
        request.messages.extend([Message::Assistant(assistant), Message::ToolResults(vec![result])]);
        let events: Vec<ModelEvent> = bench.provider.stream(request).collect().await;
        assert_eq!((text_of(&events).as_str(), class_of(&events)), ("Done.", Some(StopClass::End)));
        let body = &bench.server.seen()[1].body;
        let sent = body.get("messages").or_else(|| body.get("input")).map(Value::to_string).unwrap_or_default();
        assert_eq!(sent.matches("c1").count(), 2, "{sent}");
    }
}

#[tokio::test]
async fn every_way_of_sending_gives_the_same_answer() {
    for wire in wires() {
        let body = call_answer(wire, None);
        let spaced = body.replace("data: ", ": ping\nid: 1\nretry: 5\nevent: x\ndata:");
        let mut replies = vec![
            Reply::chunked(body.as_bytes(), true),
            Reply::new(
                200,
                &format!("content-type: text/event-stream\ncontent-length: {}", body.len()),
                body.as_bytes(),
            ),
            Reply::events(body.replace('\n', "\r\n").as_bytes()).in_pieces(std::iter::repeat(1)),
            Reply::events(body.replace('\n', "\r").as_bytes()),
            Reply::events(format!("\u{feff}{body}").as_bytes()).in_pieces([1, 1, 4000]),
            Reply::events(spaced.as_bytes()),
            Reply::events(body.trim_end().as_bytes()),
            Reply::events([b": \xff\xfe\n\n", body.as_bytes()].concat().as_slice()).then_stall(),
            Reply::events(format!("{body}trailing garbage\n\ndata: {{\n\n").as_bytes()),
            Reply::events(body.as_bytes()).in_pieces(std::iter::repeat(1)),
            Reply::events(body.as_bytes()).in_pieces(std::iter::repeat(7)),
        ];
        for seed in 1_usize..20 {
            let sizes = (1_usize..).scan(seed, |state, _| {
                *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                Some(1 + (*state >> 33) % 64)
            });
            replies.push(Reply::events(body.as_bytes()).in_pieces(sizes));
        }
        let count = replies.len();
        let bench = bench(wire, replies).await;
        for case in 0..count {
            let events = bench.ask().await;
            assert_eq!(text_of(&events), "Look \u{e9}.", "{} {case}", wire.name());
            assert_eq!(
                (calls_of(&events), class_of(&events)),
                (vec![call()], Some(StopClass::Tool)),
                "{} {case}",
                wire.name()
            );
        }
    }
}

#[tokio::test]
async fn an_answer_cut_anywhere_runs_no_tool_before_its_mark() {
    for wire in wires() {
        let body = call_answer(wire, None);
        // The last bytes that matter; a clean end needs no blank line behind the mark.
        let mark = match wire.name() {
            "anthropic" => "{\"type\":\"message_stop\"}",
            "openai-responses" => "\"output\":[]}}",
            _ => "\"finish_reason\":\"tool_calls\"}]}",
        };
        let complete_from = body.rfind(mark).expect("the mark is there") + mark.len();
        let cuts: Vec<usize> = (0..body.len()).step_by(3).chain(complete_from - 2..complete_from + 2).collect();
        let replies = cuts.iter().map(|cut| Reply::events(&body.as_bytes()[..*cut])).collect();
        let bench = bench_with(wire, &ModelSettings { retries: Some(0), ..settings() }, replies).await;
        for cut in cuts {
            let events = bench.ask().await;
            let is_whole = cut >= complete_from;
            assert_eq!(
                (calls_of(&events).len(), is_cut(&events)),
                (usize::from(is_whole), !is_whole),
                "{} {cut}: {events:?}",
                wire.name()
            );
        }
    }
}

#[tokio::test]
async fn a_body_without_its_last_chunk_is_incomplete_with_its_text_kept() {
    for wire in wires() {
        let replies = vec![Reply::chunked(text_answer(wire, "half", false).as_bytes(), false)];
        let bench = bench_with(wire, &ModelSettings { retries: Some(0), ..settings() }, replies).await;
        let events = bench.ask().await;
        assert!(text_of(&events) == "half" && is_incomplete(&events), "{events:?}");
    }
}

#[tokio::test]
async fn a_server_that_stays_open_after_the_mark_does_not_hold_the_answer() {
    let bench =
        bench(openai(), vec![Reply::events(sse(&[openai_text("hi"), openai_end("stop")]).as_bytes()).then_stall()])
            .await;
    let start = std::time::Instant::now();
    assert_eq!(class_of(&bench.ask().await), Some(StopClass::End));
    assert!(start.elapsed() < Duration::from_secs(6));
}

#[tokio::test]
async fn an_answer_in_one_piece_is_an_answer() {
    let whole =
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}]});
    let bench_one = bench(openai(), vec![Reply::json(200, &whole.to_string())]).await;
    assert_eq!(text_of(&bench_one.ask().await), "hi");
    let whole =
        json!({"type": "message", "id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "hi"}]});
    let bench_two = bench(anthropic(), vec![Reply::json(200, &whole.to_string())]).await;
    assert_eq!(text_of(&bench_two.ask().await), "hi");
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": "hi"}]});
    let whole = json!({"object": "response", "status": "completed", "output": [item]});
    let bench_three = bench(wire("openai-responses"), vec![Reply::json(200, &whole.to_string())]).await;
    assert_eq!(text_of(&bench_three.ask().await), "hi");
}

#[tokio::test]
async fn requests_carry_the_headers_of_their_wire_and_no_others() {
    let bench_one = bench(openai(), vec![Reply::events(text_answer(openai(), "a", true).as_bytes())]).await;
    bench_one.ask().await;
    let head = &bench_one.server.seen()[0].head;
    assert!(
        head.starts_with("post /v1/chat/completions http/1.1")
            && head.contains(&format!("authorization: bearer {KEY}")),
        "{head}"
    );
    assert!(!head.contains("accept-encoding"), "{head}");
    let bench_two = bench(anthropic(), vec![Reply::events(text_answer(anthropic(), "a", true).as_bytes())]).await;
    bench_two.ask().await;
    let head = &bench_two.server.seen()[0].head;
    assert!(head.starts_with("post /v1/messages http/1.1") && head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")) && !head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn a_paused_answer_is_continued_five_times_and_then_told() {
    let part = |n: usize, reason: &str| {
        let mut events = vec![
            json!({"type": "message_start", "message": {"id": format!("m{n}")}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": format!("s{n}"), "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": format!("{n}")}}),
        ];
        events.extend(anthropic_end(reason));
        Reply::events(sse(&events).as_bytes())
    };
    let paused = bench(anthropic(), (0..6).map(|n| part(n, "pause_turn")).collect()).await;
    let events = paused.ask().await;
    assert_eq!((text_of(&events).as_str(), class_of(&events)), ("012345", Some(StopClass::Pause)));
    let second = bench(anthropic(), vec![part(0, "pause_turn"), part(1, "end_turn")]).await;
    let events = second.ask().await;
    let Some(ModelEvent::Stop { class: StopClass::End, provider_data: Some(data) }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(data.json.as_array().map(Vec::len), Some(4));
    let sent = &second.server.seen()[1].body["messages"];
    assert_eq!((&sent[1]["role"], &sent[1]["content"][0]["id"]), (&json!("assistant"), &json!("s0")));
}

#[tokio::test]
async fn a_call_cut_by_the_length_limit_is_asked_again_once_with_a_larger_one() {
    let cut = || Reply::events(call_answer(anthropic(), Some("max_tokens")).as_bytes());
    let mended = bench(anthropic(), vec![cut(), Reply::events(call_answer(anthropic(), None).as_bytes())]).await;
    let events = mended.ask().await;
    assert!(events.iter().any(|event| matches!(event, ModelEvent::Retrying { discard_shown: true, .. })), "{events:?}");
    assert_eq!(calls_of(&events), [call()]);
    let caps: Vec<Value> = mended.server.seen().iter().map(|seen| seen.body["max_tokens"].clone()).collect();
    assert_eq!(caps, [json!(8000), json!(32000)]);
    let twice = bench(anthropic(), vec![cut(), cut()]).await;
    let events = twice.ask().await;
    assert_eq!((class_of(&events), calls_of(&events)), (Some(StopClass::Length), Vec::new()));
}

#[tokio::test]
async fn a_refused_option_is_dropped_once_and_for_good() {
    let refused = r#"{"error":{"code":"unsupported_value","message":"'messages[0].role' does not support 'system' with this model."}}"#;
    let good = || Reply::events(text_answer(openai(), "a", true).as_bytes());
    let bench = bench(openai(), vec![Reply::json(400, refused), good(), good()]).await;
    for _ in 0..2 {
        assert_eq!(class_of(&bench.ask().await), Some(StopClass::End));
    }
    let roles: Vec<Value> = bench.server.seen().iter().map(|seen| seen.body["messages"][0]["role"].clone()).collect();
    assert_eq!(roles, [json!("system"), json!("developer"), json!("developer")]);
}

#[tokio::test]
async fn conversations_at_the_same_time_do_not_mix() {
    let bench = bench(
        openai(),
        (0..20)
            .map(|n| {
                let words: Vec<Value> =
                    (0..30).map(|_| openai_text(&format!("{n} "))).chain([openai_end("stop")]).collect();
                Reply::events(sse(&words).as_bytes()).in_pieces(std::iter::repeat(n + 1))
            })
            .collect(),
    )
    .await;
    let answers = futures::future::join_all((0..20).map(|_| bench.ask())).await;
    let mut firsts: Vec<usize> = Vec::new();
    for events in answers {
        let text = text_of(&events);
        let first = text.split(' ').next().unwrap_or_default();
        assert_eq!(text, format!("{first} ").repeat(30));
        firsts.extend(first.parse::<usize>());
    }
    firsts.sort_unstable();
    assert_eq!(firsts, (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    for wire in wires() {
        let replies = vec![Reply::silence(), Reply::events(text_answer(wire, "half", false).as_bytes()).then_stall()];
        let mut bench = bench(wire, replies).await;
        let mut waiting = bench.provider.stream(question());
        let both = async {
            tokio::select! { event = waiting.next() => panic!("{event:?}"), () = bench.server.until_open(1) => {} }
        };
        both.await;
        drop(waiting);
        bench.server.until_open(0).await;
        let mut streaming = bench.provider.stream(question());
        assert_eq!(streaming.next().await, Some(ModelEvent::TextDelta("half".to_owned())));
        drop(streaming);
        bench.server.until_open(0).await;
    }
}
