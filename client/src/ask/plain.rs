//! The answer for a pipe or a file: the text on standard output, everything else on standard error.

use std::io::{self, Write};

use cohab_protocol::{ApprovalId, ChunkDelta, DaemonMessage, StepActivity};
use cohab_shell_relay::sanitize::{Sanitizer, one_line};

use super::{View, write_line};
use crate::{
    approval::OpenQuestion,
    ui::{look::Look, status},
};

/// Width of lines on standard error when it is no terminal.
const COLUMNS: usize = 80;

/// The answer as the model wrote it, without control characters.
#[derive(Debug)]
pub(super) struct PlainView<O, E> {
    out: O,
    err: E,
    sanitizer: Sanitizer,
    ends_line: bool,
    /// The last call of the model.
    model_step: Option<u32>,
    /// Rows of the open question that are printed already.
    shown_question: Option<(ApprovalId, Vec<String>)>,
}

impl<O: Write, E: Write> PlainView<O, E> {
    pub fn new(out: O, err: E) -> Self {
        Self { out, err, sanitizer: Sanitizer::default(), ends_line: true, model_step: None, shown_question: None }
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
        match message {
            DaemonMessage::AgentStreamChunk(chunk) => match &chunk.delta {
                ChunkDelta::Text(text) => {
                    let text = self.sanitizer.push(text);
                    self.write_text(&text)
                }
                ChunkDelta::Reset => {
                    self.end_text()?;
                    write_line(&mut self.err, "cohab: the answer starts again")
                }
                ChunkDelta::Reasoning(_) => Ok(()),
            },
            DaemonMessage::StepStarted(started) => {
                self.end_text()?;
                match &started.activity {
                    StepActivity::ToolCall { tool, argument } => write_line(
                        &mut self.err,
                        &format!("cohab: {}", one_line(&format!("{tool} {argument}"), COLUMNS)),
                    ),
                    StepActivity::ModelCall { .. } => {
                        self.model_step = Some(started.step);
                        Ok(())
                    }
                }
            }
            // How a call of the model failed is told by the error at the end.
            DaemonMessage::StepFinished(finished) if self.model_step == Some(finished.step) => Ok(()),
            DaemonMessage::StepFinished(finished) if !finished.summary.is_empty() => {
                write_line(&mut self.err, &format!("cohab:   {}", one_line(&finished.summary, COLUMNS)))
            }
            DaemonMessage::Notice(notice) => {
                self.end_text()?;
                write_line(&mut self.err, &format!("cohab: {}", status::notice_text(notice)))
            }
            DaemonMessage::TurnEnded(ended) => {
                self.end_text()?;
                status::end_remark(ended.reason)
                    .map_or(Ok(()), |remark| write_line(&mut self.err, &format!("cohab: {remark}")))
            }
            DaemonMessage::Error(error) => {
                self.end_text()?;
                write_line(&mut self.err, &format!("cohab: {}", one_line(&error.message, usize::MAX)))?;
                error
                    .hint
                    .as_ref()
                    .map_or(Ok(()), |hint| write_line(&mut self.err, &format!("Hint: {}", one_line(hint, usize::MAX))))
            }
            DaemonMessage::Goodbye { reason } => {
                write_line(&mut self.err, &format!("cohab: {}", one_line(reason, usize::MAX)))
            }
            _ => Ok(()),
        }
    }

    /// The terminal is on standard error: rows are printed, and printed again when they change.
    fn show_question(&mut self, question: Option<&OpenQuestion>) -> io::Result<()> {
        let Some(question) = question else {
            self.shown_question = None;
            return Ok(());
        };
        let id = question.request().approval_id;
        if self.shown_question.as_ref().is_none_or(|(shown, _)| *shown != id) {
            self.shown_question = None;
            self.end_text()?;
            for line in question.card(COLUMNS, Look::Sentences) {
                write_line(&mut self.err, &line.to_string())?;
            }
        }
        let rows: Vec<String> =
            question.question(COLUMNS, Look::Sentences).lines.iter().map(ToString::to_string).collect();
        if self.shown_question.as_ref().is_none_or(|(_, shown)| *shown != rows) {
            for row in &rows {
                write_line(&mut self.err, row)?;
            }
        }
        self.shown_question = Some((id, rows));
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.end_text()
    }
}
