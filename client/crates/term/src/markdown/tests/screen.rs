//! Tests for the final screen of an answer, and for the bytes that the terminal receives on the way.

use super::*;
use crate::{
    ansi::ColorSupport,
    live_area::{Abilities, LiveArea},
    test_screen::TestScreen,
};

/// An answer on its way to a terminal.
struct Answer {
    stream: MarkdownStream,
    area: LiveArea,
    output_style: OutputStyle,
    terminal: TestScreen,
    sent: Vec<u8>,
}

impl Answer {
    fn on(columns: u16, rows: u16, output_style: OutputStyle) -> Self {
        let colors = output_style.choose(ColorSupport::Ansi16, ColorSupport::None);
        // The terminal of the tests cuts rows that are too long.
        let abilities = Abilities { colors, output_style, is_dumb: false, has_links: true, rewraps: false };
        Self {
            stream: MarkdownStream::new(columns - 1, None).with_output_style(output_style),
            area: LiveArea::new(columns, rows, abilities),
            output_style,
            terminal: TestScreen::new(columns, rows),
            sent: Vec::new(),
        }
    }

    /// One frame after this text. Gives what was sent for it.
    fn push(&mut self, text: &str) -> usize {
        self.stream.push(text);
        let closed = self.stream.take_closed();
        let mut tail = if self.output_style == OutputStyle::Rich { self.stream.tail().to_vec() } else { Vec::new() };
        if tail.is_empty() && self.output_style == OutputStyle::Rich {
            tail.push(Line::default());
        }
        self.draw(&closed, &tail)
    }

    fn finish(&mut self) {
        let rest = self.stream.finish();
        self.draw(&rest, &[]);
    }

    fn draw(&mut self, above: &[Line<'_>], area: &[Line<'_>]) -> usize {
        let start = self.sent.len();
        self.area.draw(above, area, None, &mut self.sent);
        self.terminal.process(&self.sent[start..]);
        self.sent.len() - start
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.resize(columns, rows);
        self.area.resize(columns, rows);
        self.stream.set_width(columns - 1);
    }

    /// Everything, without blank rows at the end.
    fn all(&mut self) -> String {
        let rows = self.terminal.all_rows();
        let text: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        text.join("\n").trim_end().to_owned()
    }
}

/// The text in pieces that end at these bytes.
fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut ends: Vec<usize> = cuts.iter().map(|&cut| crate::wrap::char_boundary(text, cut)).collect();
    ends.push(text.len());
    ends.sort_unstable();
    let mut from = 0;
    let piece = |end| &text[std::mem::replace(&mut from, end)..end];
    ends.into_iter().map(piece).collect()
}

const EVERYTHING: &str = include_str!("everything.md");

#[test]
fn an_answer_with_everything_looks_like_this() {
    for output_style in [OutputStyle::Rich, OutputStyle::Accessible] {
        for columns in [40, 80, 120] {
            let mut answer = Answer::on(columns + 1, 200, output_style);
            for piece in EVERYTHING.split_inclusive(' ') {
                answer.push(piece);
            }
            answer.finish();
            let name = output_style.choose("glyphs", "sentences");
            insta::assert_snapshot!(format!("everything_{name}_{columns}"), answer.all());
        }
    }
}

#[test]
fn no_two_blank_rows_follow_each_other_outside_code() {
    for columns in [20, 40, 80, 120] {
        let mut answer = Answer::on(columns, 200, OutputStyle::Rich);
        answer.push(EVERYTHING);
        answer.finish();
        assert!(!answer.all().contains("\n\n\n"), "{}", answer.all());
    }
}

#[test]
fn the_terminal_gets_little_more_than_the_answer() {
    // What comes within a frame at a hundred small chunks a second.
    const FRAME_BYTES: usize = 12;
    let words: String =
        (0..2_000).map(|index| format!("w{index:05}{}", if index % 40 == 39 { "\n\n" } else { " " })).collect();
    // A table whose columns still grow is painted more than once, an address is written twice.
    let samples = [
        ("words", words, 1_400),
        ("lists", LISTS.repeat(20), 1_600),
        ("code", CODE.repeat(20), 1_600),
        ("everything, much of it tables and addresses", EVERYTHING.repeat(4), 2_800),
    ];
    for (name, text, most) in samples {
        let mut answer = Answer::on(80, 24, OutputStyle::Rich);
        let cuts: Vec<usize> = (0..text.len()).step_by(FRAME_BYTES).collect();
        pieces(&text, &cuts).into_iter().for_each(|piece| _ = answer.push(piece));
        answer.finish();
        let per_mille = answer.sent.len() * 1_000 / text.len();
        assert!(per_mille <= most, "{name}: {per_mille} bytes for each 1,000");
    }
}

#[test]
fn sentences_are_never_painted_anew() {
    let mut answer = Answer::on(80, 24, OutputStyle::Accessible);
    EVERYTHING.split_inclusive(' ').for_each(|piece| _ = answer.push(piece));
    answer.finish();
    let sent = String::from_utf8(answer.sent.clone()).expect("text");
    assert!(!sent.replace("\x1b[m\x1b(B", "").contains('\x1b'), "{sent:?}");
    let mut whole = MarkdownStream::new(79, None).with_output_style(OutputStyle::Accessible);
    whole.push(EVERYTHING);
    let lines: String = whole.finish().iter().map(|line| format!("{line}\r\n")).collect();
    assert_eq!(sent.replace("\x1b[m\x1b(B", ""), lines);
}

/// What is left of the bytes without the sequences that are ours.
fn without_ours(sent: &[u8]) -> String {
    let text = std::str::from_utf8(sent).expect("text");
    let mut left = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        left.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = match rest.as_bytes().first() {
            Some(b'(') => rest.strip_prefix("(B").map(|_| 1),
            Some(b']') => rest.find("\x1b\\").filter(|&end| is_our_link(&rest[1..end])).map(|end| end + 1),
            _ => rest.find(|c: char| c.is_ascii_alphabetic()).filter(|&end| is_our_control(&rest[..=end])),
        };
        rest = &rest[end.unwrap_or_else(|| panic!("not ours: {:?}", &rest[..rest.len().min(20)])) + 1..];
    }
    left + rest
}

fn is_our_control(sequence: &str) -> bool {
    let Some((parameters, end)) = sequence.strip_prefix('[').and_then(|rest| rest.split_at_checked(rest.len() - 1))
    else {
        return false;
    };
    let is_number = parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
    match end {
        "m" | "A" | "B" | "C" => is_number,
        "K" => matches!(parameters, "" | "2"),
        "h" | "l" => matches!(parameters, "?2026" | "?25"),
        _ => false,
    }
}

fn is_our_link(payload: &str) -> bool {
    let Some((name, target)) = payload.strip_prefix("8;").and_then(|rest| rest.split_once(';')) else { return false };
    (name.is_empty() && target.is_empty())
        || (name.starts_with("id=") && crate::link::safe_target(target).as_deref() == Some(target))
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..400, 0..12)
}

proptest! {
    #[test]
    fn any_split_ends_in_the_same_screen(
        text in prop_oneof![markdown(), document()],
        cuts in cuts(),
        (columns, rows) in prop::sample::select(vec![(80u16, 24u16), (40, 6), (20, 5), (12, 3), (2, 2), (500, 200)]),
    ) {
        let mut whole = Answer::on(columns, rows, OutputStyle::Rich);
        whole.push(&text);
        whole.finish();
        let mut split = Answer::on(columns, rows, OutputStyle::Rich);
        pieces(&text, &cuts).into_iter().for_each(|piece| _ = split.push(piece));
        split.finish();
        prop_assert_eq!(split.all(), whole.all());
        let attributes = |answer: &Answer| answer.terminal.screen().state_formatted();
        if whole.terminal.scrolled_off().is_empty() {
            prop_assert_eq!(attributes(&split), attributes(&whole));
        }
    }

    #[test]
    fn what_has_scrolled_off_stays_whatever_size_the_terminal_gets(
        text in document(),
        cuts in cuts(),
        sizes in prop::collection::vec((10u16..100, 3u16..30), 1..6),
    ) {
        let mut answer = Answer::on(60, 8, OutputStyle::Rich);
        let mut sizes = sizes.into_iter();
        for piece in pieces(&text, &cuts) {
            answer.push(piece);
            let before = answer.terminal.scrolled_off();
            if let Some((columns, rows)) = sizes.next() {
                // A taller terminal takes rows back onto the screen.
                let rows = rows.min(answer.terminal.screen().size().0.get());
                answer.resize(columns, rows);
                answer.push("");
            }
            let after = answer.terminal.scrolled_off();
            let cut = |row: &String| row.chars().take(9).collect::<String>();
            prop_assert!(after.len() >= before.len());
            for (before, after) in before.iter().zip(&after) {
                prop_assert_eq!(cut(before), cut(after));
            }
        }
        answer.finish();
    }

    #[test]
    fn final_text_is_all_there_after_the_terminal_has_grown(
        text in document(),
        cuts in cuts(),
        widths in prop::collection::vec(0u16..20, 0..4),
    ) {
        let mut answer = Answer::on(40, 10, OutputStyle::Rich);
        let (mut columns, mut widths) = (40, widths.into_iter());
        let mut expected = String::new();
        for piece in pieces(&text, &cuts) {
            if let Some(more) = widths.next() {
                columns += more;
                answer.resize(columns, 10);
            }
            answer.stream.push(piece);
            let closed = answer.stream.take_closed();
            expected += &text_of(&closed);
            let tail = answer.stream.tail().to_vec();
            answer.draw(&closed, &tail);
        }
        let rest = answer.stream.finish();
        expected += &text_of(&rest);
        answer.draw(&rest, &[]);
        let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
        let expected = expected.join("\n");
        prop_assert_eq!(answer.all(), expected.trim_end());
    }

    #[test]
    fn a_frame_is_no_longer_than_the_new_lines_and_the_open_end(text in markdown(), cuts in cuts()) {
        let mut answer = Answer::on(40, 12, OutputStyle::Rich);
        for piece in pieces(&text, &cuts) {
            answer.stream.push(piece);
            let closed = answer.stream.take_closed();
            let tail = answer.stream.tail().to_vec();
            let sent = answer.draw(&closed, &tail);
            // Letters, two changes of style a letter, moves and an erasure a row; marks of the frame.
            let letters: usize = closed.iter().chain(&tail).map(|line| line.to_string().len() + 16).sum();
            prop_assert!(sent <= letters * 8 + 64, "{} bytes for {}", sent, letters);
        }
    }

    #[test]
    fn whatever_comes_the_terminal_gets_letters_and_what_is_ours(
        text in prop_oneof![any::<String>(), markdown(), "[\\x1b\\x07\\x9b\\x9d\\[\\]()<>;?a-z0-9 \n*`|:/-]{0,200}"],
        cuts in cuts(),
        is_wordy in any::<bool>(),
    ) {
        let mut answer = Answer::on(30, 8, if is_wordy { OutputStyle::Accessible } else { OutputStyle::Rich });
        pieces(&text, &cuts).into_iter().for_each(|piece| _ = answer.push(piece));
        answer.finish();
        let left = without_ours(&answer.sent).replace("\r\n", "");
        prop_assert!(!left.chars().any(|c| c.is_control() && c != '\r'), "{:?}", left);
        // A lone carriage return is a move of ours; it never comes from text.
        prop_assert!(!is_wordy || !left.contains('\r'), "{:?}", left);
    }
}
