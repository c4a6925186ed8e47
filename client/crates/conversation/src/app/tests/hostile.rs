//! Tests that the text of any field of a message reaches the terminal as letters only.

use cohab_term::{
    ansi::ColorSupport,
    live_area::{Abilities, LiveArea},
};
use cohab_text::{sanitize::is_invisible, terminal_attack_fixtures::HOSTILE};

use super::*;
use crate::test_messages::{FIELDS, command, question};

/// What the terminal gets for a client to which this happens in a turn.
fn sent(event: Event, output_style: OutputStyle) -> String {
    let mut bench = Bench::new();
    bench.app.options.output_style = output_style;
    bench.live(LiveEvent::PromptReady);
    bench.link_up();
    bench.enter("? why");
    bench.live(LiveEvent::AnswerReady);
    let abilities = Abilities {
        colors: ColorSupport::Ansi16,
        output_style,
        is_dumb: false,
        has_links: output_style == OutputStyle::Rich,
        rewraps: true,
    };
    let mut area = LiveArea::new(80, 24, abilities);
    let mut out = Vec::new();
    let mut draw = |bench: &mut Bench| {
        let frame = bench.app.frame();
        area.draw(&frame.above, &frame.area, frame.cursor, &mut out);
    };
    bench.event(event);
    draw(&mut bench);
    let summary = "x".into();
    let outcome = StepOutcome::Done;
    let finished =
        StepFinished { turn_id: TURN, step: 0, outcome, summary, elapsed_ms: 1, detail: None, only_reads: false };
    bench.daemon(DaemonMessage::StepFinished(finished));
    bench.daemon(ended(TurnEndReason::Cancelled));
    draw(&mut bench);
    String::from_utf8(out).expect("text")
}

/// The bytes without what is ours: styles, moves, erasures, marks of a frame, links to where their text says.
fn without_ours(sent: &str) -> String {
    let mut left = String::new();
    let mut rest = sent;
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        left.push_str(before);
        let end = match sequence.as_bytes().first() {
            Some(b'(') => sequence.strip_prefix("(B").map(|_| 2),
            Some(b']') => sequence.strip_prefix("]8;").and_then(|_| sequence.find("\u{1b}\\")).map(|end| end + 2),
            _ => sequence.find(|c: char| c.is_ascii_alphabetic()).map(|end| end + 1),
        };
        let end = end.unwrap_or_else(|| panic!("not ours: {sequence:?}"));
        let ours = &sequence[..end];
        let is_ours = ours.starts_with("]8;id=") && ours[..end - 2].bytes().all(|byte| byte.is_ascii_graphic())
            || ["]8;;\u{1b}\\", "(B", "[?25l", "[?25h", "[?2026h", "[?2026l"].contains(&ours)
            || ours.ends_with(['m', 'A', 'B', 'C', 'K'])
                && ours[1..end - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        assert!(is_ours, "not ours: {ours:?}");
        rest = &sequence[end..];
    }
    left + rest
}

#[test]
fn no_field_of_a_frame_takes_a_sequence_to_the_terminal() {
    for hostile in HOSTILE {
        for (field, event) in FIELDS {
            for output_style in [OutputStyle::Rich, OutputStyle::Accessible] {
                let left = without_ours(&sent(event(format!("a{}b", hostile.bytes)), output_style));
                let is_odd = |c: char| (c.is_control() && !matches!(c, '\r' | '\n')) || is_invisible(c);
                assert!(!left.contains(is_odd), "{} in {field}: {left:?}", hostile.name);
            }
        }
    }
}

#[test]
fn text_around_a_sequence_stays_and_the_sequence_goes() {
    let shown = ["answer", "reasoning", "model", "tool", "argument", "notice", "warning", "retry", "error", "hint"];
    for hostile in HOSTILE {
        for (field, event) in FIELDS.iter().filter(|(field, _)| shown.contains(field) && *field != "reasoning") {
            let left = without_ours(&sent(event(format!("a{}b", hostile.bytes)), OutputStyle::Rich));
            let expected = format!("a{}b", hostile.left);
            assert!(left.contains(&expected), "{} in {field}: {left:?}", hostile.name);
        }
    }
}

#[test]
fn what_a_command_hides_is_written_out() {
    for hostile in HOSTILE {
        let left =
            without_ours(&sent(question(command(&format!("a{}b", hostile.bytes), "/"), "x".into()), OutputStyle::Rich));
        let escapes = left.matches("\\u{").count();
        let odd = hostile.bytes.chars().filter(|c| c.is_control() || is_invisible(*c)).count();
        // The card and the line of the question both may show it; wrapping never cuts a letter away.
        assert!(escapes >= odd, "{}: {escapes} of {odd} in {left:?}", hostile.name);
    }
}
