//! The same answer in other chunks and spellings gives the same events.

use cohab_wires::sse::Payloads;
use futures::{FutureExt as _, channel::mpsc};
use serde_json::Value;

use super::rewrite::*;
use super::*;

/// The bytes `rewritten` from each stream of events come to the same turn.
fn stays_equal(rewritten: impl Fn(&Fixture) -> String) {
    for fixture in event_streams() {
        assert_eq!(fixture.turn_of(rewritten(&fixture)), fixture.turn, "{}", fixture.label());
    }
}

/// The same for each stream, for any division.
fn every_stream_stays_equal(rewritten: impl Fn(&Fixture) -> Vec<u8>) {
    for fixture in streams() {
        assert_eq!(fixture.turn_of(rewritten(&fixture)), fixture.turn, "{}", fixture.label());
    }
}

#[test]
fn chunks_of_any_size_give_the_same_events() {
    for fixture in all() {
        let bytes = fixture.text.as_bytes();
        let whole = fixture.read(in_pieces_of(bytes.len(), bytes));
        for size in [1, 7, 1460] {
            assert_eq!(fixture.read(in_pieces_of(size, bytes)), whole, "{} by {size}", fixture.label());
        }
        for parts in [fixture.parts(), fixture.text.split_inclusive('\n').collect()] {
            let chunks = parts.into_iter().map(|part| Bytes::copy_from_slice(part.as_bytes())).collect();
            assert_eq!(fixture.read(chunks), whole, "{} by line or event", fixture.label());
        }
    }
}

#[test]
fn chunks_of_random_sizes_give_the_same_events() {
    for fixture in all() {
        let bytes = fixture.text.as_bytes();
        let whole = fixture.read(in_pieces_of(bytes.len(), bytes));
        for seed in 1..=50 {
            assert_eq!(fixture.read(at_random(seed, 64, bytes)), whole, "{} seed {seed}", fixture.label());
        }
    }
}

#[test]
fn a_split_at_any_position_gives_the_same_payloads() {
    for fixture in streams() {
        let (bytes, replay) = (fixture.text.as_bytes(), fixture.replay());
        let whole = replay.payloads(in_pieces_of(bytes.len(), bytes));
        for at in 1..bytes.len() {
            assert_eq!(replay.payloads(split_at(at, bytes)), whole, "{} at {at}", fixture.label());
        }
    }
}

#[test]
fn a_split_at_any_position_gives_the_same_events() {
    for fixture in streams().filter(|fixture| fixture.name == "text_and_call") {
        let bytes = fixture.text.as_bytes();
        let whole = fixture.read(in_pieces_of(bytes.len(), bytes));
        for at in 1..bytes.len() {
            assert_eq!(fixture.read(split_at(at, bytes)), whole, "{} at {at}", fixture.label());
        }
    }
}

#[test]
fn every_line_end_is_the_same() {
    for ends in [&["\r\n"][..], &["\r"], &["\r\n", "\n", "\r"], &["\r", "\n"]] {
        every_stream_stays_equal(|fixture| line_ends(ends, &fixture.text).into_bytes());
    }
    for fixture in streams() {
        for end in ["\r\n", "\r"] {
            let text = line_ends(&[end], &fixture.text);
            let events = fixture.read(in_pieces_of(1, text.as_bytes()));
            assert_eq!(turn(&events), fixture.turn, "{} with {end:?}", fixture.label());
        }
    }
}

#[test]
fn an_event_closed_by_cr_is_there_before_the_next_byte() {
    for fixture in streams() {
        let (sender, receiver) = mpsc::unbounded();
        let mut payloads = Payloads::new(receiver, fixture.wire.framing());
        for part in fixture.parts() {
            let bytes = Bytes::from(line_ends(&["\r"], part));
            sender.unbounded_send(Ok::<_, ()>(bytes)).expect("the receiver lives");
            let is_payload = fixture.wire.framing() == Framing::Lines || part.lines().any(|l| l.starts_with("data:"));
            let now = payloads.next().now_or_never();
            assert_eq!(now.is_some(), is_payload, "{} at {part:?}", fixture.label());
        }
    }
}

#[test]
fn a_byte_order_mark_at_the_start_is_nothing() {
    every_stream_stays_equal(|fixture| format!("\u{feff}{}", fixture.text).into_bytes());
    for fixture in streams() {
        let bytes = format!("\u{feff}{}", fixture.text).into_bytes();
        assert_eq!(turn(&fixture.read(in_pieces_of(1, &bytes))), fixture.turn, "{}", fixture.label());
        // Of two, the second is part of the first line: its meaning is open, but it must end.
        fixture.read(vec![Bytes::from(format!("\u{feff}\u{feff}{}", fixture.text))]);
    }
}

#[test]
fn a_byte_order_mark_before_a_later_line_makes_it_an_unknown_field() {
    stays_equal(|fixture| fixture.parts()[0].to_owned() + &before_each(&fixture.parts()[1..], "\u{feff}data: {no\n"));
}

#[test]
fn an_invalid_byte_in_a_comment_harms_nothing() {
    for fixture in event_streams() {
        for part in [&b": \xff\n\n"[..], b": \xf0\x9f\n", b":\xc3\r\n"] {
            let bytes: Vec<u8> = fixture.parts().iter().flat_map(|own| [part, own.as_bytes()].concat()).collect();
            assert_eq!(fixture.turn_of(bytes), fixture.turn, "{}", fixture.label());
        }
    }
}

/// `turn` with each `from` in its texts replaced.
fn replaced(turn: &Value, from: char, to: &str) -> Value {
    serde_json::from_str(&turn.to_string().replace(from, to)).expect("still JSON")
}

#[test]
fn an_invalid_byte_in_the_content_costs_one_character() {
    let mut wires = Vec::new();
    for fixture in streams() {
        let Some(letter) = first_of_width(&fixture.text, 2) else { continue };
        let mut bytes = Vec::new();
        for (index, piece) in fixture.text.split(letter).enumerate() {
            bytes.extend_from_slice(if index > 0 { b"\xff" } else { b"" });
            bytes.extend_from_slice(piece.as_bytes());
        }
        let expected = replaced(&fixture.turn, letter, "\u{fffd}");
        assert_eq!(fixture.turn_of(bytes), expected, "{}", fixture.label());
        wires.push(fixture.wire.name());
    }
    wires.dedup();
    assert_eq!(wires.len(), WIRES.len(), "each wire has an answer with a letter beyond ASCII: {wires:?}");
}

#[test]
fn a_character_of_four_bytes_survives_every_split() {
    for fixture in streams().filter(|fixture| fixture.name == "text") {
        let letter = first_of_width(&fixture.text, 4).expect("the text has such a character");
        let at = fixture.text.find(letter).expect("just found");
        for split in at..=at + 4 {
            let events = fixture.read(split_at(split, fixture.text.as_bytes()));
            assert_eq!(turn(&events), fixture.turn, "{}", fixture.label());
        }
    }
}

#[test]
fn separators_that_end_no_line_stay_in_the_text() {
    for fixture in streams() {
        let Some(letter) = first_of_width(&fixture.text, 2) else { continue };
        let more = format!("{letter}\u{2028}\u{85}");
        let text = fixture.text.replace(letter, &more);
        assert_eq!(fixture.turn_of(text), replaced(&fixture.turn, letter, &more), "{}", fixture.label());
    }
}

#[test]
fn fields_may_be_written_in_other_ways() {
    // Data in several lines, without a space, after a tab.
    stays_equal(|fixture| fixture.text.replace("data: {", "data: {\ndata: "));
    stays_equal(|fixture| fixture.text.replace("data: ", "data:"));
    stays_equal(|fixture| fixture.text.replace("data: ", "data:\t"));
    stays_equal(|fixture| each_line(&fixture.text, |line| format!("id: 7\n{line}\nretry: 10\nunknown: x\nretry")));
}

#[test]
fn what_is_no_event_of_the_answer_is_not_seen() {
    let fillers = [
        ": keep-alive\n\n",
        ":\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: news\ndata: {\"type\":\"news\"}\n\n",
    ];
    for filler in fillers {
        stays_equal(|fixture| before_each(&fixture.parts(), filler));
    }
    for filler in ["\n\n", "data:\n\n", "data\n\n", "data: \n\n", "event: x\n\n", "id\n\n"] {
        stays_equal(|fixture| before_each(&fixture.parts(), filler));
    }
}

#[test]
fn lines_may_have_blank_ones_between_them() {
    for fixture in streams().filter(|fixture| fixture.wire.framing() == Framing::Lines) {
        for filler in ["\n", "  \n", "\r\n", "{}\n", "{\"news\":1}\n"] {
            let text = before_each(&fixture.parts(), filler);
            assert_eq!(fixture.turn_of(text.clone()), fixture.turn, "{}", fixture.label());
            let events = fixture.read(in_pieces_of(1, text.as_bytes()));
            assert_eq!(turn(&events), fixture.turn, "{}", fixture.label());
        }
    }
}

#[test]
fn the_last_event_needs_no_blank_line() {
    every_stream_stays_equal(|fixture| fixture.text.trim_end().as_bytes().to_vec());
    every_stream_stays_equal(|fixture| format!("{}\n", fixture.text.trim_end()).into_bytes());
    every_stream_stays_equal(|fixture| format!("{}\n\r", fixture.text.trim_end()).into_bytes());
}

#[test]
fn done_is_not_needed_after_a_finish_reason() {
    stays_equal(|fixture| {
        let is_finished = fixture.text.contains("\"finish_reason\":\"");
        if is_finished { fixture.text.replace("data: [DONE]\n\n", "") } else { fixture.text.clone() }
    });
}

#[test]
fn garbage_after_the_end_is_nothing() {
    for fixture in streams() {
        for garbage in
            [&b"data: {no\n\n"[..], b"<html>\n\n\xff\xfe\n", b"{\"error\":", b"data: {\"error\":1}\n\n\0\0\0"]
        {
            // After the mark of some answers usage may follow, and an error there still counts.
            if garbage.ends_with(b"\0") && !fixture.text.contains("[DONE]") {
                continue;
            }
            let bytes = [fixture.text.as_bytes(), garbage].concat();
            assert_eq!(fixture.turn_of(bytes), fixture.turn, "{}", fixture.label());
        }
    }
}

#[test]
fn garbage_before_the_end_is_an_error_that_keeps_the_text_and_runs_nothing() {
    for fixture in streams() {
        let parts = fixture.parts();
        let garbage = if fixture.wire.framing() == Framing::Lines { "{no\n" } else { "data: {no\n\n" };
        let mut is_over = false;
        for at in 0..=parts.len() {
            let text = [&parts[..at].concat(), garbage, &parts[at..].concat()].concat();
            let turn = fixture.turn_of(text);
            is_over |= turn == fixture.turn;
            let label = format!("{} at {at}", fixture.label());
            if is_over {
                assert_eq!(turn, fixture.turn, "{label}");
                continue;
            }
            assert_eq!((&turn["stop"], &turn["calls"]), (&Value::from("Failed(Protocol)"), &Value::Null), "{label}");
            let whole = fixture.turn["text"].as_str().unwrap_or_default();
            assert!(whole.starts_with(turn["text"].as_str().unwrap_or_default()), "{label}: {turn}");
        }
        assert!(is_over, "{}: garbage after the end counts", fixture.label());
    }
}
