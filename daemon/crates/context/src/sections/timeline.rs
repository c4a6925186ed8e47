//! The section with the user's last commands, as a terminal shows them: oldest first. The newest matter most, so they take from the
//! budget first.

use std::fmt::Write as _;

use cohab_text::cut::head;

use crate::query::{
    FAILED_OUTPUT_BYTES, MAX_HISTORY_EVENTS, OUTPUT_BYTES, PastCommand, Query, last_lines, one_line_path,
};

/// All output in the history, together.
const HISTORY_OUTPUT_BYTES: usize = 24 * 1024;
/// Longest line of a command in the history.
const LINE_BYTES: usize = 2 * 1024;

pub(super) fn text(query: &Query<'_>) -> String {
    history_text(query.history)
}

/// What the user ran last, oldest first, each with the end of its output; bounded.
#[must_use]
pub fn history_text(history: &[PastCommand]) -> String {
    let mut budget_bytes = HISTORY_OUTPUT_BYTES;
    let recent = &history[history.len().saturating_sub(MAX_HISTORY_EVENTS)..];
    let mut entries: Vec<String> = recent.iter().rev().map(|past| entry_text(past, &mut budget_bytes)).collect();
    entries.reverse();
    entries.concat()
}

fn entry_text(past: &PastCommand, budget_bytes: &mut usize) -> String {
    let line = past.line.as_deref().map_or("(unknown command)", str::trim);
    let mut text = format!("$ {}\n", head(line, LINE_BYTES).replace('\n', "\n> "));
    let seconds = past.duration.as_secs_f64();
    let _ = writeln!(text, "exit {} in {} after {seconds:.1}s", past.exit_code, one_line_path(&past.cwd));
    let wish = if past.exit_code == 0 { OUTPUT_BYTES } else { FAILED_OUTPUT_BYTES };
    let output = last_lines(past.output_tail.trim_end(), wish.min(*budget_bytes));
    *budget_bytes -= output.len();
    for line in output.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}
