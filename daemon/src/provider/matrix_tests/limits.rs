//! Answers at and beyond the limits.

use std::time::Instant;

use super::{
    super::sse::{MAX_EVENT_BYTES, MAX_LINE_BYTES},
    *,
};

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
