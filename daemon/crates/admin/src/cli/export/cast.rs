//! Renders a conversation as a terminal recording, asciicast v2: a header, then events, one JSON value per line. Pure.

use cohab_store::sessions::event::{Approval, Event};
use cohab_text::sanitize::{escaped_json, one_line, sanitize};
use jiff::Timestamp;
use serde_json::json;

use super::Exported;

/// Size of the terminal, in cells.
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// Longest pause, in milliseconds.
const IDLE_MAX_MS: u64 = 2_000;
/// Time between two typed letters, in milliseconds.
const KEY_MS: u64 = 40;
/// Time between two lines of text, in milliseconds.
const LINE_MS: u64 = 60;
/// Longest time for typing a question, in milliseconds.
const TYPING_MAX_MS: u64 = 3_000;

struct Recording {
    text: String,
    /// Time since the beginning.
    now_ms: u64,
    last: Option<Timestamp>,
}

/// The recording.
pub(super) fn recording(exported: &Exported) -> String {
    let start = exported.events.first().map_or(exported.session.created, |row| row.at);
    let header = json!({
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "timestamp": start.as_second(),
        "title": one_line(&exported.session.title, usize::MAX),
        "env": {"TERM": "xterm-256color"},
    });
    let mut recording = Recording { text: escaped_json(&header.to_string()) + "\n", now_ms: 0, last: None };
    for row in &exported.events {
        recording.wait_until(row.at);
        recording.play(&row.event);
    }
    recording.text
}

impl Recording {
    fn wait_until(&mut self, at: Timestamp) {
        if let Some(last) = self.last {
            let gap = u64::try_from(at.as_millisecond() - last.as_millisecond()).unwrap_or(0);
            self.now_ms += gap.min(IDLE_MAX_MS);
        }
        self.last = Some(at);
    }

    fn play(&mut self, event: &Event) {
        match event {
            Event::Question { text, .. } => {
                self.output("\r\n$ ");
                self.type_keys(&format!("? {}", one_line(text, usize::MAX)));
                self.output("\r\n");
            }
            Event::Shell { line: Some(line), output_tail, .. } => {
                self.output("\r\n$ ");
                self.type_keys(&one_line(line, usize::MAX));
                self.output("\r\n");
                self.lines(output_tail, 0);
            }
            Event::Added { text } => self.lines(&format!("?+ {}", one_line(text, usize::MAX)), 0),
            Event::Answer { text } => self.lines(text, LINE_MS),
            Event::Call(call) => {
                let what = call.command.as_deref().unwrap_or(&call.title);
                let refused = if call.approval == Approval::Refused { " (refused)" } else { "" };
                self.lines(&format!("> {what}{refused}"), 0);
            }
            Event::Result(result) => self.lines(&result.output, 0),
            Event::Error { message } => self.lines(&format!("error: {message}"), 0),
            _ => {}
        }
    }

    fn type_keys(&mut self, text: &str) {
        let keys = u64::try_from(text.chars().count()).unwrap_or(1).max(1);
        let pause = KEY_MS.min(TYPING_MAX_MS / keys);
        for key in text.chars() {
            self.output(key.encode_utf8(&mut [0; 4]));
            self.now_ms += pause;
        }
    }

    fn lines(&mut self, text: &str, pause_ms: u64) {
        for line in sanitize(text).trim_end().lines() {
            self.output(&format!("{line}\r\n"));
            self.now_ms += pause_ms;
        }
    }

    fn output(&mut self, data: &str) {
        let seconds = self.now_ms as f64 / 1e3;
        self.text.push_str(&(escaped_json(&json!([seconds, "o", data]).to_string()) + "\n"));
    }
}
