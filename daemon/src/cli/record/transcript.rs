//! A conversation as plain text. Pure.

use cohab_shell_relay::sanitize::sanitize;

use super::time;
use crate::store::sessions::{
    EventRow,
    event::{Approval, CallResult, Event},
};

/// Of the output of one command, so many last lines are shown.
const OUTPUT_LINES: usize = 12;

/// All of it, an empty line between what belongs together. The number of a command is what `cohab why` takes.
#[must_use]
pub fn plain(events: &[EventRow]) -> String {
    let mut text = String::new();
    for row in events {
        let part = part(row);
        let stands_alone = !matches!(row.event, Event::Result(_));
        if stands_alone && !text.is_empty() && !part.is_empty() {
            text.push('\n');
        }
        text.push_str(&part);
    }
    text
}

fn part(row: &EventRow) -> String {
    match &row.event {
        Event::Question { text, .. } => lines("? ", text),
        Event::Shell { line, exit_code, .. } => {
            lines("you ran $ ", &format!("{} (exit {exit_code})", line.as_deref().unwrap_or("(a command)")))
        }
        Event::Answer { text } => lines("", text),
        Event::Call(call) => {
            let what =
                call.command.as_ref().map_or_else(|| format!("{} {}", call.tool, call.title), |one| format!("$ {one}"));
            let consent = match call.approval {
                Approval::NotNeeded => String::new(),
                other => format!("  ({})", other.words()),
            };
            lines(&format!("#{} ", row.number), &format!("{what}{consent}"))
        }
        Event::Result(result) => outcome(result),
        Event::Error { message } => lines("error: ", message),
        Event::Reasoning { .. } | Event::Approval { .. } | Event::Usage { .. } | Event::Ended { .. } => String::new(),
    }
}

/// How a call went: the end of its output, indented, and a line.
#[must_use]
pub fn outcome(result: &CallResult) -> String {
    let output = sanitize(&result.output);
    let all: Vec<&str> = output.trim_end().lines().collect();
    let skipped = all.len().saturating_sub(OUTPUT_LINES);
    let mut text = String::new();
    if skipped > 0 {
        text.push_str(&format!("    ({skipped} lines before)\n"));
    }
    for line in &all[skipped..] {
        text.push_str(&format!("    {line}\n"));
    }
    let took = result.duration_ms.map(|ms| format!(", {}", time::took(ms))).unwrap_or_default();
    if let Some(code) = result.exit_code {
        text.push_str(&format!("    [exit {code}{took}]\n"));
    }
    text
}

/// `text` with `first` before its first line and blanks before the others.
#[must_use]
pub fn lines(first: &str, text: &str) -> String {
    let clean = sanitize(text);
    let blank = " ".repeat(first.chars().count());
    let mut out = String::new();
    for (index, line) in clean.trim_end().lines().enumerate() {
        let start = if index == 0 { first } else { &blank };
        out.push_str(format!("{start}{line}").trim_end());
        out.push('\n');
    }
    out
}
