//! Renders a conversation as plain text. Pure.

use cohab_store::sessions::{
    EventRow,
    event::{Approval, CallResult, Event},
};
use cohab_text::sanitize::{sanitize, sanitize_prose};

use super::time;

/// Last lines of a command's output that are shown.
const OUTPUT_LINES: usize = 12;

/// A piece of a conversation as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whole lines.
    pub text: String,
    /// Whether it is markdown, as answers are.
    pub is_markdown: bool,
}

/// The whole conversation, with an empty line between groups. The number of a command is the argument of `cohab why`.
#[must_use]
pub fn plain(events: &[EventRow]) -> String {
    parts(events).into_iter().map(|part| part.text).collect()
}

/// The same in its parts; the empty line in front of an answer is a part of its own.
#[must_use]
pub fn parts(events: &[EventRow]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut consent = None;
    for row in events {
        let text = part(row, consent);
        consent = match &row.event {
            Event::Call(call) if call.approval != Approval::NotNeeded => Some(call.approval),
            _ => None,
        };
        let stands_alone = !matches!(row.event, Event::Result(_));
        if stands_alone && !parts.is_empty() && !text.is_empty() {
            parts.push(Part { text: "\n".to_owned(), is_markdown: false });
        }
        if !text.is_empty() {
            parts.push(Part { text, is_markdown: matches!(row.event, Event::Answer { .. }) });
        }
    }
    parts
}

fn part(row: &EventRow, consent: Option<Approval>) -> String {
    match &row.event {
        Event::Question { text, .. } => prose_lines("? ", text),
        Event::Added { text } => prose_lines("?+ ", text),
        Event::Shell { line, exit_code, .. } => {
            lines("you ran $ ", &format!("{} (exit {exit_code})", line.as_deref().unwrap_or("(a command)")))
        }
        Event::Answer { text } => prose_lines("", text),
        Event::Call(call) => {
            let what =
                call.command.as_ref().map_or_else(|| format!("{} {}", call.tool, call.title), |one| format!("$ {one}"));
            lines(&format!("#{} ", row.number), &what)
        }
        Event::Result(result) => outcome(result, consent),
        Event::Error { message } => lines("error: ", message),
        Event::Summary { messages, .. } => {
            format!("({messages} earlier messages were removed to make room)\n")
        }
        Event::Reasoning { .. } | Event::Approval { .. } | Event::Usage { .. } | Event::Ended { .. } => String::new(),
    }
}

/// The outcome of a call: the end of its output, indented, and a line with its status and consent.
#[must_use]
pub fn outcome(result: &CallResult, consent: Option<Approval>) -> String {
    let output = sanitize(&result.output);
    let all: Vec<&str> = output.trim_end().lines().collect();
    let skipped = all.len().saturating_sub(OUTPUT_LINES);
    let mut text = String::new();
    if skipped > 0 {
        text.push_str(&format!("    ({skipped} earlier lines)\n"));
    }
    for line in &all[skipped..] {
        text.push_str(&format!("    {line}\n"));
    }
    let status = result.exit_code.map(|code| format!("exit {code}"));
    let took = result.duration_ms.map(time::took);
    let facts: Vec<String> = [status, took, consent.map(|one| one.words().to_owned())].into_iter().flatten().collect();
    if !facts.is_empty() {
        text.push_str(&format!("    [{}]\n", facts.join(", ")));
    }
    text
}

/// A command or output with `first` before its first line and blanks before the others.
#[must_use]
pub fn lines(first: &str, text: &str) -> String {
    indented(first, &sanitize(text))
}

/// The same for a question or an answer.
#[must_use]
pub fn prose_lines(first: &str, text: &str) -> String {
    indented(first, &sanitize_prose(text))
}

fn indented(first: &str, clean: &str) -> String {
    let blank = " ".repeat(first.chars().count());
    let mut out = String::new();
    for (index, line) in clean.trim_end().lines().enumerate() {
        let start = if index == 0 { first } else { &blank };
        out.push_str(format!("{start}{line}").trim_end());
        out.push('\n');
    }
    out
}
