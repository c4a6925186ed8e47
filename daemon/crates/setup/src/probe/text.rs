//! Prints events and their fold for people: one line per event, then the sum. Text of the service is quoted, so that no terminal obeys
//! it.

use std::{
    io::{self, Write},
    time::Duration,
};

use cohab_model_api::{ModelEvent, TokenUsage, ToolCall};
use cohab_text::sanitize::sanitize;
use serde_json::json;

use super::{End, Fold, Show, class_name};

/// Longest piece of text that an event line shows, in characters.
const MAX_PIECE_CHARS: usize = 60;

/// Writes the lines to `W`.
pub struct Lines<W> {
    out: W,
    is_colored: bool,
}

impl<W: Write> Lines<W> {
    /// With or without colours.
    pub fn new(out: W, is_colored: bool) -> Self {
        Self { out, is_colored }
    }

    fn styled(&self, code: &str, text: &str) -> String {
        if self.is_colored { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn row(&mut self, name: &str, value: &str) -> io::Result<()> {
        let name = self.styled("1", &format!("{name:<10}"));
        writeln!(self.out, "{name} {value}")
    }

    fn block(&mut self, name: &str, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let text = sanitize(text).to_string();
        self.row(name, &text.trim_end().replace('\n', &format!("\n{:11}", "")))
    }
}

impl<W: Write> Show for Lines<W> {
    fn event(&mut self, event: &ModelEvent, at: Duration) -> io::Result<()> {
        let (kind, value) = match event {
            ModelEvent::TextDelta(text) => ("text", piece(text)),
            ModelEvent::ReasoningDelta(text) => ("reasoning", piece(text)),
            ModelEvent::RefusalDelta(text) => ("refusal", piece(text)),
            ModelEvent::ToolCallDone(call) => ("tool call", of_call(call)),
            ModelEvent::Usage(usage) => ("usage", of_usage(usage)),
            ModelEvent::Notice(text) => ("notice", text.clone()),
            ModelEvent::Retrying { reason, after, .. } => ("retry", format!("{reason}; retry in {after:.1?}")),
            ModelEvent::Stop { class, .. } => ("stop", class_name(*class).to_owned()),
            ModelEvent::Failed(error) => ("failed", error.kind.word().to_owned()),
            ModelEvent::Incomplete { reason } => ("incomplete", reason.clone()),
        };
        let time = self.styled("2", &format!("{:>8.3} s", at.as_secs_f64()));
        writeln!(self.out, "{time}  {kind:<10} {}", sanitize(&value))?;
        self.out.flush()
    }

    fn fold(&mut self, fold: &Fold) -> io::Result<()> {
        writeln!(self.out)?;
        self.block("reasoning", &fold.reasoning)?;
        self.block("text", &fold.text)?;
        self.block("refusal", &fold.refusal)?;
        for call in &fold.tool_calls {
            self.block("tool call", &of_call(call))?;
        }
        self.row("usage", &of_usage(&fold.usage))?;
        let first = fold.first_event.map_or_else(String::new, |at| format!("first event {:.3} s, ", at.as_secs_f64()));
        self.row("time", &format!("{first}all {:.3} s", fold.total.as_secs_f64()))?;
        match &fold.end {
            Some(End::Stop(class)) => self.row("stop", class_name(*class)),
            Some(End::Incomplete(reason)) => self.block("incomplete", reason),
            Some(End::Failed(error)) => {
                self.block("error", &format!("{} ({})", error.message, error.kind.word()))?;
                error.hint.iter().try_for_each(|hint| self.block("hint", hint))
            }
            None => self.row("incomplete", "the stream ended without an end mark"),
        }
    }
}

fn piece(text: &str) -> String {
    let quoted = json!(text).to_string();
    match quoted.char_indices().nth(MAX_PIECE_CHARS) {
        Some((at, _)) => format!("{}\u{2026}", &quoted[..at]),
        None => quoted,
    }
}

fn of_call(call: &ToolCall) -> String {
    match &call.args {
        Ok(args) => format!("{} {} ({})", call.name, json!(args), call.id),
        Err(broken) => format!("{} ({}): {}", call.name, call.id, broken.error),
    }
}

fn of_usage(usage: &TokenUsage) -> String {
    let counts = [
        ("in", usage.input),
        ("from cache", usage.cache_read),
        ("to cache", usage.cache_write),
        ("out", usage.output),
        ("of it reasoning", usage.reasoning),
    ];
    let told: Vec<String> =
        counts.into_iter().filter_map(|(name, count)| count.map(|count| format!("{count} {name}"))).collect();
    if told.is_empty() { "unknown".to_owned() } else { format!("tokens: {}", told.join(", ")) }
}
