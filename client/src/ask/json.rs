//! `cohab ask --json`: one [`JsonEvent`] a line.

use std::io::{self, Write};

use cohab_conversation::approval::OpenQuestion;
use cohab_protocol::DaemonMessage;
use cohab_rpc::event::JsonEvent;
use cohab_text::sanitize::escaped_json;

use super::view::{View, write_line};

/// Events as lines of JSON.
#[derive(Debug)]
pub(super) struct JsonView<W> {
    out: W,
}

impl<W: Write> JsonView<W> {
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> View for JsonView<W> {
    fn show(&mut self, message: &DaemonMessage) -> io::Result<()> {
        let Some(event) = JsonEvent::of(message) else { return Ok(()) };
        write_line(&mut self.out, &escaped_json(&serde_json::to_string(&event)?))
    }

    fn show_question(&mut self, _question: Option<&OpenQuestion>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use cohab_protocol::{AgentStreamChunk, ChunkDelta, TurnId};
    use serde_json::{Value, json};

    use super::*;

    fn line(text: &str) -> String {
        let turn_id = TurnId(uuid::Uuid::nil());
        let chunk = AgentStreamChunk { turn_id, seq: 0, delta: ChunkDelta::Text(text.into()) };
        let mut out = Vec::new();
        JsonView::new(&mut out).show(&DaemonMessage::AgentStreamChunk(chunk)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_event_is_one_line_even_if_its_text_has_several() {
        let line = line("a\nb \u{1b}[31m");
        assert!(line.ends_with('\n') && line.lines().count() == 1, "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), json!({"type": "text", "delta": "a\nb \u{1b}[31m"}));
    }

    #[test]
    fn a_terminal_finds_nothing_to_obey_and_a_program_finds_everything() {
        let text = "a\u{1b}[2J\u{9b}2J\u{202e}\u{e0041}\u{7f}b é";
        let line = line(text);
        let line = line.trim_end();
        assert!(!line.contains(|c: char| c.is_control() || cohab_text::sanitize::is_invisible(c)), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["delta"], text);
    }
}
