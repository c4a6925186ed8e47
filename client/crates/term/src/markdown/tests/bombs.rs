//! Text made to cost time or memory. The limits are generous: what they catch grows with the square of its size.

use std::time::{Duration, Instant};

use super::*;
use crate::{
    ansi::ColorSupport,
    live_area::{Abilities, LiveArea},
};

/// For one bomb at one size of terminal, without optimisation, on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
/// As much as comes in one piece from a fast service.
const CHUNK_BYTES: usize = 32 * 1024;
/// Bytes for a terminal per byte of text, at most: marks and indentation of the deepest nesting that is shown.
const MAX_GROWTH: usize = 40;

fn bombs() -> Vec<(&'static str, String)> {
    let deep_list: String = (0..400).map(|depth| format!("{}- x\n", "  ".repeat(depth))).collect();
    let wide_row = |cell: &str| format!("{}\n", cell.repeat(10_000));
    vec![
        ("10,000 nested quotes", ">".repeat(10_000) + "x"),
        ("quotes over lists", "> ".repeat(10_000) + "x\n\n" + &"- ".repeat(10_000) + "x"),
        ("10,000 nested lists", "- ".repeat(10_000) + "x\n" + &"1. ".repeat(10_000) + "y"),
        ("400 lists by indentation", deep_list),
        ("a line of 1 MB", "a".repeat(1_000_000)),
        ("a line of 1 MB of words", "word ".repeat(200_000)),
        ("a line of 1 MB of code", "```\n".to_owned() + &"x".repeat(1_000_000)),
        ("a table of 10,000 columns", wide_row("|a") + &wide_row("|-") + &wide_row("|b")),
        ("a table of 2,000 columns", "|a".repeat(2_000) + "\n" + &"|-".repeat(2_000) + "\n" + &"|b\n".repeat(2_000)),
        ("a table of 100,000 rows", "|a|b|\n|-|-|\n".to_owned() + &"|c|d|\n".repeat(100_000)),
        ("brackets", "[".repeat(20_000) + &"](".repeat(20_000)),
        ("images", "![".repeat(10_000)),
        ("open emphasis", "*a **b ".repeat(10_000)),
        ("open emphasis of all kinds", "*a _b ~~c ".repeat(10_000)),
        ("open tags", "<a ".repeat(10_000)),
        ("an open comment", "<!-- ".to_owned() + &"x\n".repeat(50_000)),
        ("open formulas", "$$\n".to_owned() + &"x\n".repeat(50_000) + &"\\[ a_1 \\( ".repeat(10_000)),
        ("dollars", "$a_$b ".repeat(20_000)),
        ("dollars and no end", "$".repeat(100_001)),
        ("an open fence", "~~~\n".to_owned() + &"\n".repeat(100_000)),
        ("1,000,000 backticks", "`".repeat(1_000_000) + "a"),
        ("backticks of all lengths", (1..400).map(|length| "`".repeat(length) + " ").collect()),
        ("entities", "&#x1b;".repeat(50_000)),
        ("blank lines", "\n".repeat(200_000) + "x"),
        ("items and blank lines", "- a\n\n".repeat(20_000)),
        ("code and blank lines", "    ".to_owned() + &"x\n\n\n    ".repeat(20_000)),
        ("marks upon marks", "\u{301}".repeat(50_000)),
        ("letters with marks", ("Z".to_owned() + &"\u{300}\u{316}".repeat(40)).repeat(2_000)),
        ("right to left", "שלום עולם مرحبا لا ".repeat(5_000)),
        ("50,000 definitions", (0..50_000).map(|number| format!("[a{number}]: b\n")).collect()),
        ("uses of definitions", "[a]: b\n\n".to_owned() + &"[a] [b] ".repeat(20_000)),
    ]
}

/// The text through a terminal of this size. Gives the bytes that the terminal got.
fn explode(text: &str, output_style: OutputStyle, columns: u16, rows: u16) -> usize {
    let abilities =
        Abilities { colors: ColorSupport::Ansi16, output_style, is_dumb: false, has_links: true, rewraps: true };
    let mut area = LiveArea::new(columns, rows, abilities);
    let mut stream = MarkdownStream::new(columns.saturating_sub(1).max(1), None).with_output_style(output_style);
    let mut out = Vec::new();
    for chunk in text.as_bytes().chunks(CHUNK_BYTES) {
        stream.push(&String::from_utf8_lossy(chunk));
        let closed = stream.take_closed();
        let tail = if output_style == OutputStyle::Rich { stream.tail() } else { &[] };
        assert!(tail.len() <= MAX_TAIL_ROWS);
        area.draw(&closed, tail, None, &mut out);
    }
    area.draw(&stream.finish(), &[], None, &mut out);
    out.len()
}

fn assert_bounded(output_style: OutputStyle, columns: u16, rows: u16) {
    for (name, bomb) in bombs() {
        let start = Instant::now();
        let bytes = explode(&bomb, output_style, columns, rows);
        assert!(start.elapsed() < LIMIT, "{name} took {:?} on {columns} by {rows}", start.elapsed());
        assert!(bytes <= bomb.len() * MAX_GROWTH + 4_096, "{name}: {bytes} bytes of {}", bomb.len());
    }
}

#[test]
fn bombs_take_bounded_time_and_bytes_on_a_usual_terminal() {
    assert_bounded(OutputStyle::Rich, 80, 24);
}

#[test]
fn bombs_take_bounded_time_and_bytes_in_sentences() {
    assert_bounded(OutputStyle::Accessible, 80, 24);
}

#[test]
fn bombs_take_bounded_time_and_bytes_on_a_huge_terminal() {
    assert_bounded(OutputStyle::Rich, 500, 200);
}

#[test]
fn bombs_take_bounded_time_and_bytes_on_a_tiny_terminal() {
    assert_bounded(OutputStyle::Rich, 20, 5);
}

#[test]
fn the_smallest_terminals_show_something_and_do_not_panic() {
    for (columns, rows) in [(1, 1), (2, 2), (1, 200), (500, 1)] {
        for (_, bomb) in bombs() {
            let start: String = bomb.chars().take(2_000).collect();
            explode(&start, OutputStyle::Rich, columns, rows);
        }
    }
}
