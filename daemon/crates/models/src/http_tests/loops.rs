//! Complete answers in every form of transport.

use cohab_model_api::AssistantMessage;

use super::*;

#[tokio::test]
async fn a_tool_loop_runs_on_every_wire() {
    for fixture in fixtures() {
        let replies = vec![fixture.stream(&fixture.call_answer(Ended::Tool)), fixture.stream(&fixture.answer("Done."))];
        let bench = bench(fixture.wire(), replies).await;
        let events = bench.ask().await;
        assert_eq!((text_of(&events).as_str(), calls_of(&events)), ("Look \u{e9}.", vec![call()]), "{}", fixture.wire);
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
            content: "came \u{1f600}".to_owned(),
            is_error: false,
        };
        request.messages.extend([Message::Assistant(assistant), Message::ToolResults(vec![result])]);
        let events = bench.ask_with(request).await;
        assert_eq!((text_of(&events).as_str(), class_of(&events)), ("Done.", Some(StopClass::End)));
        let sent = bench.server.seen()[1].body.to_string();
        assert!(sent.contains("Look \u{e9}.") && sent.contains("came \u{1f600}"), "{sent}");
    }
}

#[tokio::test]
async fn every_way_of_sending_gives_the_same_answer() {
    for fixture in fixtures() {
        let body = fixture.call_answer(Ended::Tool);
        let stream = |body: &str| fixture.stream(body);
        let length = format!("{}\ncontent-length: {}", fixture.content_type(), body.len());
        let mut replies = vec![
            Reply::new(200, &length, body.as_bytes()),
            stream(&body.replace('\n', "\r\n")).in_pieces(std::iter::repeat(1)),
            stream(&format!("\u{feff}{body}")).in_pieces([1, 1, 4000]),
            stream(body.trim_end()),
            stream(&format!("{body}trailing garbage\n\n")),
            stream(&body).in_pieces(std::iter::repeat(1)),
            stream(&body).in_pieces(std::iter::repeat(7)),
        ];
        if fixture.wire().framing() == cohab_wires::wire::Framing::Events {
            let spaced = body.replace("data: ", ": ping\nid: 1\nretry: 5\nevent: x\ndata:");
            replies.extend([
                Reply::chunked(body.as_bytes(), true),
                stream(&body.replace('\n', "\r")),
                stream(&spaced),
                Reply::events([b": \xff\xfe\n\n", body.as_bytes()].concat().as_slice()).then_stall(),
            ]);
        }
        replies.extend((1..10).map(|seed| stream(&body).in_random_pieces(seed)));
        let count = replies.len();
        let bench = bench(fixture.wire(), replies).await;
        for case in 0..count {
            let events = bench.ask().await;
            assert_eq!(text_of(&events), "Look \u{e9}.", "{} {case} {events:?}", fixture.wire);
            assert_eq!(
                (calls_of(&events), class_of(&events)),
                (vec![call()], Some(StopClass::Tool)),
                "{} {case}",
                fixture.wire
            );
        }
    }
}

#[tokio::test]
async fn each_delta_is_handed_on_before_the_next_one_is_sent() {
    for fixture in fixtures() {
        let gate = Arc::new(tokio::sync::Semaphore::new(0));
        let pieces: Vec<String> = ["a", "b", "c"].map(|text| fixture.half(text)).to_vec();
        // Each payload alone; what the second and third say of their beginning is ignored.
        let reply =
            fixture.stream(&pieces.concat()).in_pieces(pieces.iter().map(String::len)).gated(&gate).then_stall();
        let bench = bench(fixture.wire(), vec![reply]).await;
        let mut events = bench.provider.stream(question());
        for text in ["a", "b", "c"] {
            gate.add_permits(1);
            loop {
                match events.next().await {
                    Some(ModelEvent::TextDelta(delta)) if delta == text => break,
                    Some(ModelEvent::Usage(_)) => {}
                    other => panic!("{}: {other:?} is not {text}", fixture.wire),
                }
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_stays_open_after_the_mark_does_not_hold_the_answer() {
    // All at once: wires on which usage may follow the mark wait two seconds for it.
    let all = fixtures().map(async |fixture| {
        let payloads: Vec<Value> = (fixture.text)("hi").into_iter().chain((fixture.end)(Ended::Stop)).collect();
        let bench = bench(fixture.wire(), vec![fixture.stream(&fixture.bytes(&payloads)).then_stall()]).await;
        let start = std::time::Instant::now();
        assert_eq!(class_of(&bench.ask().await), Some(StopClass::End), "{}", fixture.wire);
        assert!(start.elapsed() < Duration::from_secs(6), "{}", fixture.wire);
    });
    futures::future::join_all(all).await;
}

#[tokio::test]
async fn an_answer_in_one_piece_is_an_answer() {
    for fixture in fixtures() {
        let whole = (fixture.whole)("hi").to_string();
        let cut = &whole[..whole.len() - 2];
        let page = "<html>Hello</html>";
        let replies = [&whole, cut, page].map(|body| Reply::json(200, body));
        let bench = bench_with(fixture.wire(), &no_retries(), replies.to_vec()).await;
        assert_eq!(text_of(&bench.ask().await), "hi", "{}", fixture.wire);
        assert!(is_cut(&bench.ask().await), "{}", fixture.wire);
        assert!(bench.fails().await.message.contains("web page"), "{}", fixture.wire);
    }
}

#[tokio::test]
async fn a_call_cut_by_the_length_limit_is_asked_again_once_with_a_larger_one() {
    for fixture in fixtures() {
        let capped = ModelSettings { max_output_tokens: Some(1000), ..settings() };
        let cut = || fixture.stream(&fixture.call_answer(Ended::Length));
        let whole = fixture.stream(&fixture.call_answer(Ended::Tool));
        let mended = bench_with(fixture.wire(), &capped, vec![cut(), whole]).await;
        let events = mended.ask().await;
        let is_reset = |event: &ModelEvent| matches!(event, ModelEvent::Retrying { discard_shown: true, .. });
        assert!(events.iter().any(is_reset), "{} {events:?}", fixture.wire);
        assert_eq!(calls_of(&events), [call()]);
        let seen = mended.server.seen();
        assert!(seen[0].body.to_string().contains(":1000") && seen[1].body.to_string().contains(":4000"), "{seen:?}");
        let twice = bench_with(fixture.wire(), &capped, vec![cut(), cut()]).await;
        let events = twice.ask().await;
        assert_eq!((class_of(&events), calls_of(&events)), (Some(StopClass::Length), Vec::new()), "{}", fixture.wire);
    }
}

#[tokio::test]
async fn a_text_cut_by_the_length_limit_is_the_answer_and_nothing_is_asked_again() {
    for fixture in fixtures() {
        let text = fixture.ended((fixture.text)("so far"), Ended::Length);
        let bench = bench(fixture.wire(), vec![fixture.stream(&text)]).await;
        let events = bench.ask().await;
        assert_eq!((text_of(&events).as_str(), class_of(&events)), ("so far", Some(StopClass::Length)));
        assert_eq!(bench.server.seen().len(), 1);
    }
}

#[tokio::test]
async fn calls_count_whatever_the_end_says() {
    for fixture in fixtures() {
        let bench = bench(fixture.wire(), vec![fixture.stream(&fixture.call_answer(Ended::Stop))]).await;
        let events = bench.ask().await;
        assert_eq!((calls_of(&events), class_of(&events)), (vec![call()], Some(StopClass::Tool)), "{}", fixture.wire);
    }
}

#[tokio::test]
async fn a_refusal_is_shown_and_ends_the_answer() {
    for fixture in fixtures() {
        let payloads = (fixture.refusal)();
        if payloads.is_empty() {
            continue;
        }
        let opening = (fixture.text)("").into_iter().chain(payloads).collect::<Vec<_>>();
        let bench = bench(fixture.wire(), vec![fixture.stream(&fixture.bytes(&opening))]).await;
        let events = bench.ask().await;
        assert_eq!(class_of(&events), Some(StopClass::Refusal), "{} {events:?}", fixture.wire);
        assert_eq!(bench.server.seen().len(), 1);
    }
}
