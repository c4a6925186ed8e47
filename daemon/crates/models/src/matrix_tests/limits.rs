//! Answers at and beyond the limits.

use std::time::Instant;

use cohab_wires::sse::{MAX_EVENT_BYTES, MAX_LINE_BYTES};

use super::*;

fn openai() -> Replay {
    Replay::of("openai-chat").expect("the wire is in the list")
}

fn delta(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

#[test]
fn a_line_one_byte_below_the_limit_is_read_and_one_beyond_is_an_error() {
    // The two line ends do not count.
    let frame = delta("").len() - 2;
    for (extra, stop) in [(0, "End"), (1, "End"), (2, "Failed(Protocol)")] {
        let text = delta(&"x".repeat(MAX_LINE_BYTES - 1 - frame + extra)) + END;
        let turn = turn(&read(openai(), vec![Bytes::from(text)]));
        assert_eq!(turn["stop"], stop, "{extra} more");
    }
}

#[test]
fn an_event_beyond_the_limit_is_an_error_that_says_so() {
    let line = format!("data: {}\n", "x".repeat(MAX_EVENT_BYTES / 4));
    let events = read(openai(), std::iter::repeat_n(Bytes::from(line), 5).collect());
    let [ModelEvent::Failed(error)] = &events[..] else { panic!("{events:?}") };
    assert!(error.message.contains("longer than 16 MiB"), "{error}");
}

#[test]
fn very_many_events_in_one_chunk_are_read_in_time() {
    let start = Instant::now();
    let text = delta("abc").repeat(20_000) + END;
    let turn = turn(&read(openai(), vec![Bytes::from(text)]));
    assert_eq!((turn["text"].as_str().map(str::len), &turn["stop"]), (Some(60_000), &json!("End")));
    // A second in a build for tests; what takes the square of the length takes minutes.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn an_endless_answer_ends() {
    let chunk = Bytes::from(format!("data:{}\n\n", " ".repeat(1 << 20)));
    let events = read(openai(), std::iter::repeat_n(chunk, 65).collect());
    let Some(ModelEvent::Failed(error)) = events.last() else { panic!("no failure") };
    assert!(error.message.contains("more than 64 MiB"), "{error}");
}

fn event(value: &Value) -> String {
    let name = value["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {value}\n\n")
}

/// An answer whose only call has arguments that come in these pieces, on a wire on which they come so.
fn call_in_pieces(wire: &str, pieces: &[String]) -> Vec<String> {
    let (start, piece, end): (Vec<_>, fn(&str) -> Value, Vec<_>) = match wire {
        "openai-chat" => (
            vec![json!({"choices": [{"index": 0, "delta": {"tool_calls": [
                {"index": 0, "id": "c1", "function": {"name": "bash", "arguments": ""}}]}}]})],
            |piece| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]}),
            vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})],
        ),
        "anthropic" => (
            vec![
                json!({"type": "message_start", "message": {"usage": {}}}),
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "tool_use", "id": "c1", "name": "bash", "input": {}}}),
            ],
            |piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}),
            vec![
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
                json!({"type": "message_stop"}),
            ],
        ),
        _ => (
            vec![json!({"type": "response.output_item.added", "output_index": 0,
                "item": {"type": "function_call", "id": "f1", "call_id": "c1", "name": "bash", "arguments": ""}})],
            |piece| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "f1", "delta": piece}),
            vec![json!({"type": "response.completed", "response": {"status": "completed", "output": []}})],
        ),
    };
    start.iter().map(event).chain(pieces.iter().map(|text| event(&piece(text)))).chain(end.iter().map(event)).collect()
}

/// The same on a wire on which they come whole, or in pieces with a place each.
fn call_at_once(wire: &str, command: &str) -> Vec<String> {
    let whole = json!({"name": "bash", "args": {"command": command}});
    let pieces = command.as_bytes().chunks(1 << 20).map(|piece| {
        let text = String::from_utf8_lossy(piece);
        json!({"partialArgs": [{"jsonPath": "$.command", "stringValue": text, "willContinue": true}], "willContinue": true})
    });
    let part = |call: Value| event(&json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}));
    let end = event(&json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}));
    match wire {
        "ollama" => {
            let call = json!({"function": {"name": "bash", "arguments": {"command": command}}});
            let line = json!({"message": {"content": "", "tool_calls": [call]}, "done": true, "done_reason": "stop"});
            vec![format!("{line}\n")]
        }
        "gemini" => vec![part(whole), end],
        _ => {
            let start = part(json!({"name": "bash", "willContinue": true}));
            [start].into_iter().chain(pieces.map(part)).chain([part(json!({})), end]).collect()
        }
    }
}

fn call_of(wire: &str, answer: Vec<String>) -> cohab_model_api::ToolCall {
    let replay = Replay::of(wire).expect("the wire is in the list");
    let events = read(replay, answer.into_iter().map(Bytes::from).collect());
    let call = events.iter().find_map(|event| match event {
        ModelEvent::ToolCallDone(call) => Some(call.clone()),
        _ => None,
    });
    call.unwrap_or_else(|| panic!("{wire}: {:?}", events.last()))
}

#[test]
fn arguments_beyond_the_limit_are_refused_and_only_their_start_is_kept() {
    let limit = cohab_wires::tool_arguments::MAX_BYTES;
    let (open, close) = ("{\"command\":\"", "\"}");
    for (extra, is_refused) in [(0, false), (1, true), (2 << 20, true)] {
        let command = "y".repeat(limit - open.len() - close.len() + extra);
        let pieces: Vec<String> =
            command.as_bytes().chunks(1 << 20).map(|piece| String::from_utf8_lossy(piece).into()).collect();
        let pieces = [vec![open.to_owned()], pieces, vec![close.to_owned()]].concat();
        for wire in ["openai-chat", "anthropic", "openai-responses", "gemini", "gemini in pieces", "ollama"] {
            let (name, is_place) = wire.split_once(' ').map_or((wire, false), |(name, _)| (name, true));
            let answer = match name {
                "gemini" | "ollama" => call_at_once(wire, &command),
                _ => call_in_pieces(name, &pieces),
            };
            let call = call_of(name, answer);
            // Pieces with a place count without the names.
            let is_refused = is_refused && !(is_place && extra == 1);
            match &call.args {
                Ok(args) => assert!(!is_refused && args["command"] == command.as_str(), "{wire} {extra}"),
                Err(broken) => {
                    assert!(
                        is_refused && broken.error.contains("longer than 4194304 bytes"),
                        "{wire}: {}",
                        broken.error
                    );
                    assert_eq!(broken.raw.len(), 1024, "{wire}");
                    assert!(broken.raw.starts_with("{\"command\":\"yyy"), "{wire}");
                }
            }
        }
    }
}

#[test]
fn long_arguments_are_not_kept_in_the_services_own_form_too() {
    for wire in ["openai-chat", "anthropic"] {
        for (length, is_kept_twice) in [(60 << 10, true), (70 << 10, false)] {
            let pieces = vec![json!({"command": "y".repeat(length)}).to_string()];
            let answer = call_in_pieces(wire, &pieces).into_iter().map(Bytes::from).collect();
            let events = read(Replay::of(wire).expect("the wire is in the list"), answer);
            let Some(ModelEvent::Stop { provider_data, .. }) = events.last() else {
                panic!("{wire}: {:?}", events.last())
            };
            assert_eq!(provider_data.is_some(), is_kept_twice, "{wire} {length}");
        }
    }
}
