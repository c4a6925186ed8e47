//! A cut answer runs no tool and keeps its text.

use serde_json::Value;

use super::*;

/// The turn of the first `length` bytes, at a clean end and at a broken connection.
fn cut_at(fixture: &Fixture, length: usize) -> [Value; 2] {
    let chunk = || vec![Bytes::copy_from_slice(&fixture.text.as_bytes()[..length])];
    [fixture.replay(), fixture.replay().cut()].map(|replay| turn(&read(replay, chunk())))
}

/// The invariant of each cut: calls come only with a stop, and every event is also one of the whole answer.
fn holds(fixture: &Fixture, turn: &Value, label: &str) {
    let is_stopped = !matches!(turn["stop"].as_str(), Some("Incomplete")) && !stop(turn).starts_with("Failed");
    if !is_stopped {
        assert_eq!(turn["calls"], Value::Null, "{label}");
    }
    for key in ["text", "reasoning", "refusal"] {
        let (whole, part) = (fixture.turn[key].as_str().unwrap_or_default(), turn[key].as_str().unwrap_or_default());
        assert!(whole.starts_with(without_half_a_tag(part).trim_end_matches('\u{fffd}')), "{label}: {turn}");
    }
    // An error may follow a stop; cut before it, the answer is a good one.
    if is_stopped && !stop(&fixture.turn).starts_with("Failed") {
        assert_eq!(stop(turn), stop(&fixture.turn), "{label}");
    }
    if is_stopped {
        assert_eq!(turn["calls"], fixture.turn["calls"], "{label}");
    }
}

/// The beginning of what would have become a tag is text when nothing follows.
fn without_half_a_tag(text: &str) -> &str {
    let (kept, tag) = text.split_at(text.rfind('<').unwrap_or(text.len()));
    if "<think>".starts_with(tag) || "</think>".starts_with(tag) { kept } else { text }
}

fn stop(turn: &Value) -> &str {
    turn["stop"].as_str().unwrap_or_default()
}

#[test]
fn calls_come_only_after_the_terminal_mark_wherever_the_answer_is_cut() {
    for fixture in streams().filter(|fixture| fixture.mark.is_some()) {
        let mark = fixture.mark.as_deref().unwrap_or_default();
        let before_mark = fixture.text.find(mark).expect("the mark is in the text");
        let after_mark = before_mark + fixture.text[before_mark..].find("\n\n").map_or(0, |end| end + 2);
        let after_mark = if after_mark == before_mark { fixture.text.len() } else { after_mark };
        for length in 0..=fixture.text.len() {
            for turn in cut_at(&fixture, length) {
                let label = format!("{} cut at {length}", fixture.label());
                holds(&fixture, &turn, &label);
                if length <= before_mark {
                    assert_eq!(stop(&turn), "Incomplete", "{label}");
                }
                if length >= after_mark {
                    assert_eq!(turn["calls"], fixture.turn["calls"], "{label}");
                }
            }
        }
    }
}

#[test]
fn every_wire_is_cut_at_every_byte() {
    for wire in WIRES {
        assert!(of(*wire).iter().any(|fixture| fixture.mark.is_some()), "{} has no answer with a mark", wire.name());
    }
}

#[test]
fn a_cut_at_every_tenth_and_around_every_event_keeps_the_text_and_runs_nothing() {
    for fixture in streams() {
        let tenths = (0..10).map(|tenth| fixture.text.len() * tenth / 10);
        let mut ends: Vec<usize> = tenths.collect();
        let mut end = 0;
        for part in fixture.parts() {
            end += part.len();
            ends.extend([end - 1, end]);
        }
        for length in ends {
            for turn in cut_at(&fixture, length) {
                holds(&fixture, &turn, &format!("{} cut at {length}", fixture.label()));
            }
        }
    }
}

#[test]
fn an_answer_of_no_bytes_is_incomplete() {
    for fixture in streams() {
        for turn in cut_at(&fixture, 0) {
            assert_eq!(stop(&turn), "Incomplete", "{}", fixture.label());
        }
    }
}

#[test]
fn an_answer_in_one_piece_that_is_cut_runs_nothing() {
    for fixture in all().into_iter().filter(|fixture| fixture.is_in_one_piece) {
        for length in 0..fixture.text.trim_end().len() {
            for turn in cut_at(&fixture, length) {
                assert_eq!(turn["calls"], Value::Null, "{} cut at {length}: {turn}", fixture.label());
                assert!(matches!(stop(&turn), "Incomplete" | "Failed(Protocol)"), "{turn}");
            }
        }
    }
}
