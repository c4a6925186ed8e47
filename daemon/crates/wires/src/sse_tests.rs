use std::time::Instant;

use futures::stream;
use proptest::prelude::*;

use super::*;
use crate::sse_reference::reference;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("no driver is asked for").block_on(future)
}

fn payloads_of(chunks: Vec<Vec<u8>>) -> Vec<String> {
    let bytes = stream::iter(chunks.into_iter().map(|chunk| Ok::<_, ()>(Bytes::from(chunk))));
    block_on(async {
        let mut payloads = Payloads::new(bytes, Framing::Events);
        let mut all = Vec::new();
        while let Some(payload) = payloads.next().await {
            all.push(payload.expect("the bytes are within the limits"));
        }
        all
    })
}

fn whole(bytes: &[u8]) -> Vec<String> {
    payloads_of(vec![bytes.to_vec()])
}

fn bytewise(bytes: &[u8]) -> Vec<String> {
    payloads_of(bytes.iter().map(|byte| vec![*byte]).collect())
}

#[test]
fn every_line_end_gives_the_same_events() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["data: a", "", ": note", "event: x", "data:b", "data: c", "", "data: d", "", ""].join(end);
        assert_eq!(whole(text.as_bytes()), ["a", "b\nc", "d"], "{end:?}");
        assert_eq!(bytewise(text.as_bytes()), ["a", "b\nc", "d"], "{end:?}");
    }
}

#[test]
fn an_event_that_ends_with_cr_is_seen_before_the_next_byte() {
    let (sender, receiver) = futures::channel::mpsc::unbounded();
    let mut payloads = Payloads::new(receiver, Framing::Events);
    sender.unbounded_send(Ok::<_, ()>(Bytes::from_static(b"data: now\r\r"))).expect("the receiver lives");
    assert_eq!(block_on(payloads.next()), Some(Ok("now".to_owned())));
}

#[test]
fn a_byte_order_mark_is_dropped_once_and_at_the_start_only() {
    assert_eq!(bytewise("\u{feff}data: a\n\n".as_bytes()), ["a"]);
    assert_eq!(whole("\u{feff}\u{feff}data: a\n\ndata: b\n\n".as_bytes()), ["b"]);
    assert_eq!(whole("data: a\n\n\u{feff}data: x\ndata: b\n\n".as_bytes()), ["a", "b"]);
}

#[test]
fn an_invalid_byte_costs_one_character() {
    assert_eq!(whole(b": \xff\n\ndata: a\xffb\n\ndata: c\n\n"), ["a\u{fffd}b", "c"]);
    assert_eq!(whole(b"data: cut \xf0\x9f\ndata: next\n\n"), ["cut \u{fffd}\nnext"]);
}

#[test]
fn a_character_split_over_chunks_stays_whole() {
    let bytes = "data: \u{1f600}!\n\n".as_bytes();
    for at in 0..bytes.len() {
        assert_eq!(payloads_of(vec![bytes[..at].to_vec(), bytes[at..].to_vec()]), ["\u{1f600}!"]);
    }
}

#[test]
fn a_clean_end_closes_the_last_event_and_says_so() {
    for (text, inside) in [("data: a", true), ("data: a\n", true), ("data: a\n\n", false), ("data: a\r\r", false)] {
        let bytes = stream::iter([Ok::<_, ()>(Bytes::from(text))]);
        let mut payloads = Payloads::new(bytes, Framing::Events);
        assert_eq!(block_on(payloads.next()), Some(Ok("a".to_owned())));
        assert_eq!(block_on(payloads.next()), None);
        assert_eq!(payloads.ended_inside_event(), inside, "{text:?}");
    }
}

#[test]
fn a_failed_transport_drops_the_unfinished_line() {
    let bytes = stream::iter([Ok(Bytes::from_static(b"data: a\n\ndata: b")), Err("reset")]);
    let mut payloads = Payloads::new(bytes, Framing::Events);
    assert_eq!(block_on(payloads.next()), Some(Ok("a".to_owned())));
    assert_eq!(block_on(payloads.next()), Some(Err(SseError::Transport("reset"))));
    assert_eq!(block_on(payloads.next()), None);
}

#[test]
fn only_line_feeds_and_carriage_returns_end_a_line() {
    assert_eq!(whole("data: a\u{2028}b\u{85}c\u{c}d\n\n".as_bytes()), ["a\u{2028}b\u{85}c\u{c}d"]);
    assert_eq!(whole(b"data:\tx\n\ndata\ndata\n\n"), ["\tx", "\n"]);
}

#[test]
fn a_line_or_an_event_beyond_its_cap_is_an_error() {
    let mut splitter = LineSplitter { max_line_bytes: 8, max_event_bytes: 12, ..LineSplitter::new(Framing::Events) };
    let mut lines = VecDeque::new();
    assert_eq!(splitter.push(b"12345678\n", &mut lines), Ok(()));
    assert_eq!(splitter.push(b"1234\n", &mut lines), Ok(()));
    assert_eq!(splitter.push(b"\n12345678\n", &mut lines), Ok(()));
    assert_eq!(splitter.push(b"12345", &mut lines), Err(TooLong::Event));
    let mut splitter = LineSplitter { max_line_bytes: 8, ..LineSplitter::new(Framing::Events) };
    assert_eq!(splitter.push(b"1234", &mut lines), Ok(()));
    assert_eq!(splitter.push(b"56789", &mut lines), Err(TooLong::Line));
}

#[test]
fn an_endless_line_ends_the_stream_with_its_size() {
    let chunks = stream::iter(std::iter::repeat_with(|| Ok::<_, ()>(Bytes::from(vec![b'x'; 1 << 20]))));
    let mut payloads = Payloads::new(chunks, Framing::Events);
    let error = block_on(payloads.next()).expect("an item").expect_err("too long");
    assert_eq!(error, SseError::LineTooLong);
}

#[test]
fn long_lines_in_tiny_pieces_and_many_events_at_once_are_fast() {
    let start = Instant::now();
    let line = format!("data: {}\n\n", "x".repeat(64 * 1024));
    assert_eq!(bytewise(line.as_bytes())[0].len(), 64 * 1024);
    let tiny = start.elapsed();
    let start = Instant::now();
    let text = "data: 0123456789012345678901234567890123456789012345678901234567890123\n\n".repeat(100_000);
    assert_eq!(whole(text.as_bytes()).len(), 100_000);
    let many = start.elapsed();
    assert!(tiny.as_secs() < 2 && many.as_secs() < 10, "{tiny:?} {many:?}");
}

/// Pieces that meet at every difficult border.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(b"data: ".to_vec()),
        4 => prop_oneof![Just("\n"), Just("\r"), Just("\r\n"), Just("\n\n")].prop_map(|end| end.as_bytes().to_vec()),
        1 => prop_oneof![Just("data"), Just("data:"), Just("event: e"), Just("id: 1"), Just("retry: +5"), Just(":"), Just(" ")]
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => Just("\u{feff}".as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 0..4),
        1 => Just("\u{1f600}\u{e9}".as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn any_bytes_in_any_chunks_give_what_the_reference_gives(
        pieces in prop::collection::vec(piece(), 0..40),
        sizes in prop::collection::vec(1usize..6, 1..40),
    ) {
        let bytes = pieces.concat();
        let (mut chunks, mut rest) = (Vec::new(), &bytes[..]);
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(chunk.to_vec());
            rest = tail;
        }
        prop_assert_eq!(payloads_of(chunks), reference(&bytes));
    }
}

#[test]
fn a_character_cut_in_two_by_the_service_arrives_whole() {
    let halves = concat!(r#"data: {"content":"go \ud83d"}"#, "\n\n", r#"data: {"content":"\ude80!"}"#, "\n\n");
    assert_eq!(whole(halves.as_bytes()), [r#"{"content":"go "}"#, r#"{"content":"\ud83d\ude80!"}"#]);
}

#[test]
fn lines_of_an_answer_are_bounded_each_and_not_together() {
    let mut splitter = LineSplitter::new(Framing::Lines);
    let mut lines = VecDeque::new();
    let mut line = vec![b'x'; MAX_LINE_BYTES - 1];
    line.push(b'\n');
    for _ in 0..3 {
        assert_eq!(splitter.push(&line, &mut lines), Ok(()));
        lines.clear();
    }
    assert_eq!(splitter.push(&vec![b'x'; MAX_LINE_BYTES + 1], &mut lines), Err(TooLong::Line));
}
