//! Answers that stop before their end mark. No tool may run in any of these.

use cohab_model_api::AssistantMessage;

use super::*;

#[tokio::test]
async fn an_answer_cut_anywhere_runs_no_tool_before_its_mark() {
    for fixture in fixtures() {
        let body = fixture.call_answer(Ended::Tool);
        let complete_from = fixture.complete_from();
        let cuts: Vec<usize> = (0..body.len()).step_by(7).chain(complete_from - 2..complete_from + 2).collect();
        let replies =
            cuts.iter().map(|cut| Reply::new(200, fixture.content_type(), &body.as_bytes()[..*cut])).collect();
        let bench = bench_with(fixture.wire(), &no_retries(), replies).await;
        for cut in cuts {
            let events = bench.ask().await;
            let is_whole = cut >= complete_from;
            assert_eq!(
                (calls_of(&events).len(), is_cut(&events)),
                (usize::from(is_whole), !is_whole),
                "{} {cut}: {events:?}",
                fixture.wire
            );
        }
    }
}

#[tokio::test]
async fn a_connection_that_breaks_at_any_tenth_keeps_the_text_and_runs_nothing() {
    for fixture in fixtures() {
        let body = fixture.call_answer(Ended::Tool);
        let cuts: Vec<usize> = (0..10).map(|tenth| fixture.complete_from() * tenth / 10).collect();
        let replies = |cut: usize| Reply::new(200, fixture.content_type(), &body.as_bytes()[..cut]).then_reset();
        let bench = bench_with(fixture.wire(), &no_retries(), cuts.iter().map(|cut| replies(*cut)).collect()).await;
        for cut in cuts {
            let events = bench.ask().await;
            assert!(calls_of(&events).is_empty(), "{} {cut}: {events:?}", fixture.wire);
            assert!("Look \u{e9}.".starts_with(&text_of(&events)), "{} {cut}: {events:?}", fixture.wire);
            let is_failure =
                matches!(events.last(), Some(ModelEvent::Failed(error)) if error.kind == ProviderErrorKind::Network);
            assert!(is_incomplete(&events) || is_failure, "{} {cut}: {events:?}", fixture.wire);
        }
    }
}

#[tokio::test]
async fn a_body_that_is_shorter_than_it_said_is_incomplete_with_its_text_kept() {
    for fixture in fixtures() {
        let half = fixture.half("half");
        let too_long = format!("{}\ncontent-length: {}", fixture.content_type(), half.len() + 9);
        let chunk = format!("{:x}\r\n{half}\r\n", half.len());
        let unfinished = format!("{}\ntransfer-encoding: chunked", fixture.content_type());
        let finished = format!("{chunk}0\r\n\r\n");
        let replies = vec![
            Reply::new(200, &too_long, half.as_bytes()),
            Reply::new(200, &unfinished, chunk.as_bytes()),
            Reply::new(200, &unfinished, finished.as_bytes()),
            fixture.stream(&half),
        ];
        let count = replies.len();
        let bench = bench_with(fixture.wire(), &no_retries(), replies).await;
        for case in 0..count {
            let events = bench.ask().await;
            assert!(text_of(&events) == "half" && is_incomplete(&events), "{} {case}: {events:?}", fixture.wire);
        }
    }
}

#[tokio::test]
async fn garbage_before_the_mark_is_a_protocol_error_with_the_text_kept() {
    for fixture in fixtures() {
        let garbage = fixture.bytes(&[json!("{nonsense")]);
        let call = fixture.bytes(&(fixture.call)("c1", "ls"));
        let body = fixture.half("half") + &call + &garbage + &fixture.bytes(&(fixture.end)(Ended::Tool));
        let bench = bench(fixture.wire(), vec![fixture.stream(&body), fixture.good()]).await;
        let events = bench.ask().await;
        assert!(text_of(&events) == "half" && calls_of(&events).is_empty(), "{} {events:?}", fixture.wire);
        let is_protocol =
            matches!(events.last(), Some(ModelEvent::Failed(error)) if error.kind == ProviderErrorKind::Protocol);
        assert!(is_protocol, "{} {events:?}", fixture.wire);
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_keeps_the_text_and_ends_the_answer() {
    for fixture in fixtures() {
        let Some(error) = (fixture.error)(Fault::Invalid, "cannot go on") else { continue };
        let name = if fixture.content_type().contains("event-stream") { "event: error\n" } else { "" };
        let body = fixture.half("half") + name + &fixture.bytes(&[error]) + &fixture.bytes(&(fixture.end)(Ended::Stop));
        let bench = bench(fixture.wire(), vec![fixture.stream(&body), fixture.good()]).await;
        let events = bench.ask().await;
        assert_eq!(text_of(&events), "half", "{}", fixture.wire);
        assert!(
            matches!(events.last(), Some(ModelEvent::Failed(error)) if error.message.ends_with("cannot go on")),
            "{} {events:?}",
            fixture.wire
        );
    }
}

#[tokio::test]
async fn an_overload_before_any_text_is_waited_out_and_after_it_takes_it_back() {
    for fixture in fixtures() {
        let Some(error) = (fixture.error)(Fault::Overload, "not now") else { continue };
        let error = fixture.bytes(&[error]);
        let before = bench(fixture.wire(), vec![fixture.stream(&error), fixture.good()]).await;
        let events = before.ask().await;
        assert_eq!(text_of(&events), "ok", "{} {events:?}", fixture.wire);
        assert!(matches!(&events[0], ModelEvent::Retrying { discard_shown: false, .. }), "{events:?}");
        assert_eq!(before.waits_ms().len(), 1);
        let after = bench(fixture.wire(), vec![fixture.stream(&(fixture.half("half") + &error)), fixture.good()]).await;
        let events = after.ask().await;
        let reset = events.iter().position(|event| matches!(event, ModelEvent::Retrying { discard_shown: true, .. }));
        assert_eq!(text_of(&events[reset.expect("a reset")..]), "ok", "{}", fixture.wire);
    }
}

#[tokio::test]
async fn an_error_after_the_end_mark_of_a_cut_answer_wins() {
    let fixture = fixture("openai-chat");
    let end = fixture.ended((fixture.text)("half"), Ended::Length).replace("data: [DONE]\n\n", "");
    let error = fixture.bytes(&[json!({"error": {"code": 400, "message": "it went wrong"}}), json!("[DONE]")]);
    let bench = bench_with(fixture.wire(), &no_retries(), vec![fixture.stream(&(end + &error))]).await;
    assert!(bench.fails().await.message.ends_with("it went wrong"));
}

#[tokio::test]
async fn a_cut_after_shown_text_takes_it_back_and_tries_once() {
    for fixture in fixtures() {
        let half = || fixture.stream(&fixture.half("half"));
        let saved = bench(fixture.wire(), vec![half(), fixture.good()]).await;
        let events = saved.ask().await;
        let reset = events
            .iter()
            .position(|event| matches!(event, ModelEvent::Retrying { discard_shown: true, .. }))
            .expect("a reset");
        assert_eq!((text_of(&events[..reset]).as_str(), text_of(&events[reset..]).as_str()), ("half", "ok"));
        let lost = bench(fixture.wire(), vec![half(), half(), fixture.good()]).await;
        assert!(is_incomplete(&lost.ask().await));
        assert_eq!(lost.server.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_cut_after_a_tool_ran_is_told_and_not_repeated() {
    for fixture in fixtures() {
        let remark = Message::user("write that call again".to_owned());
        let mut remarked = question_after_tool();
        remarked.messages.push(remark);
        for request in [question_after_tool(), remarked] {
            let half = fixture.stream(&fixture.half("half"));
            let bench = bench(fixture.wire(), vec![half, fixture.good()]).await;
            let events = bench.ask_with(request).await;
            assert!(text_of(&events) == "half" && is_incomplete(&events), "{} {events:?}", fixture.wire);
            assert_eq!(bench.server.seen().len(), 1);
        }
        let mut next_turn = question_after_tool();
        let answer = AssistantMessage { text: "so".to_owned(), ..AssistantMessage::default() };
        next_turn.messages.extend([Message::Assistant(answer), Message::user("and?".to_owned())]);
        let bench = bench(fixture.wire(), vec![fixture.stream(&fixture.half("half")), fixture.good()]).await;
        assert!(text_of(&bench.ask_with(next_turn).await).ends_with("ok"), "{}", fixture.wire);
    }
}

#[tokio::test]
async fn an_empty_answer_is_asked_again_silently_and_then_told() {
    for fixture in fixtures() {
        let empty = || fixture.stream(&fixture.answer(""));
        let saved = bench(fixture.wire(), vec![empty(), fixture.good()]).await;
        let events = saved.ask().await;
        assert!(
            text_of(&events) == "ok" && !events.iter().any(|event| matches!(event, ModelEvent::Retrying { .. })),
            "{} {events:?}",
            fixture.wire
        );
        let lost = bench(fixture.wire(), vec![empty(), empty()]).await;
        let error = lost.fails().await;
        assert!(error.kind == ProviderErrorKind::EmptyAnswer && error.hint.is_some());
    }
}

#[tokio::test]
async fn unknown_payloads_change_nothing() {
    for fixture in fixtures() {
        let strange = json!({"type": "brand_new", "payload": [1, {"a": null}], "index": 0, "done": false});
        let mut payloads = vec![strange.clone(), (fixture.idle)()];
        for payload in (fixture.text)("Look \u{e9}.").into_iter().chain((fixture.call)("c1", "echo \u{1f600}")) {
            payloads.extend([payload, strange.clone(), (fixture.idle)()]);
        }
        let body = fixture.ended(payloads, Ended::Tool);
        let bench = bench(fixture.wire(), vec![fixture.stream(&body)]).await;
        let events = bench.ask().await;
        assert_eq!((text_of(&events).as_str(), calls_of(&events)), ("Look \u{e9}.", vec![call()]), "{}", fixture.wire);
    }
}
