//! The answer for a pipe or a file: the text on standard output, everything else on standard error.

use std::io::{self, Write};

use cohab_protocol::{ChunkDelta, DaemonMessage, StepActivity};
use cohab_shell_relay::sanitize::{Sanitizer, one_line};

use super::{View, write_line};
use crate::ui::{card::ApprovalCard, theme::Style};

/// Width of lines on standard error when it is no terminal.
const COLUMNS: u16 = 80;

/// The answer as the model wrote it, without control characters.
#[derive(Debug)]
pub(super) struct PlainView<O, E> {
    out: O,
    err: E,
    sanitizer: Sanitizer,
    ends_line: bool,
}

impl<O: Write, E: Write> PlainView<O, E> {
    pub fn new(out: O, err: E) -> Self {
        Self { out, err, sanitizer: Sanitizer::default(), ends_line: true }
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        if let Some(last) = text.chars().last() {
            self.ends_line = last == '\n';
            self.out.write_all(text.as_bytes())?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Ends the text of a step, so that the next begins on a line of its own.
    fn end_text(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.sanitizer).finish();
        self.write_text(&rest)?;
        if !self.ends_line {
            self.write_text("\n")?;
        }
        Ok(())
    }
}

impl<O: Write, E: Write> View for PlainView<O, E> {
    fn show(&mut self, message: &DaemonMessage) -> io::Result<()> {
        let width = usize::from(COLUMNS);
        match message {
            DaemonMessage::AgentStreamChunk(chunk) => match &chunk.delta {
                ChunkDelta::Text(text) => {
                    let text = self.sanitizer.push(text);
                    self.write_text(&text)
                }
                ChunkDelta::Reset => {
                    self.end_text()?;
                    write_line(&mut self.err, "cohab: the connection broke; the answer starts again")
                }
                ChunkDelta::Reasoning(_) => Ok(()),
            },
            DaemonMessage::StepStarted(started) => {
                self.end_text()?;
                match &started.activity {
                    StepActivity::ToolCall { tool, argument } => {
                        write_line(&mut self.err, &format!("cohab: {}", one_line(&format!("{tool} {argument}"), width)))
                    }
                    StepActivity::ModelCall { .. } => Ok(()),
                }
            }
            DaemonMessage::StepFinished(finished) if !finished.summary.is_empty() => {
                write_line(&mut self.err, &format!("cohab:   {}", one_line(&finished.summary, width)))
            }
            DaemonMessage::Notice(notice) => {
                self.end_text()?;
                write_line(&mut self.err, &format!("cohab: {}", one_line(&notice.text, usize::MAX)))
            }
            DaemonMessage::Error(error) => {
                self.end_text()?;
                write_line(&mut self.err, &format!("cohab: {}", one_line(&error.message, usize::MAX)))?;
                error.hint.as_ref().map_or(Ok(()), |hint| {
                    write_line(&mut self.err, &format!("Hint: {}", one_line(hint, usize::MAX)))
                })
            }
            DaemonMessage::Goodbye { reason } => {
                write_line(&mut self.err, &format!("cohab: {}", one_line(reason, usize::MAX)))
            }
            _ => Ok(()),
        }
    }

    fn show_card(&mut self, card: Option<&ApprovalCard>) -> io::Result<()> {
        // The terminal is on standard error: the card is printed once, keys are answered without redrawing it.
        let Some(card) = card.filter(|card| card.is_untouched()) else { return Ok(()) };
        self.end_text()?;
        for line in card.render(COLUMNS, u16::MAX, Style::plain()).lines {
            write_line(&mut self.err, &line.to_string())?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.end_text()
    }
}
