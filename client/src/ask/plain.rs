//! The answer for a pipe or a file: the text on standard output, everything else on standard error.

use std::io::{self, Write};

use cohab_conversation::{approval::OpenQuestion, ui::status};
use cohab_protocol::{ApprovalId, ChunkDelta, DaemonMessage, StepActivity, StepDetail, StepFinished};
use cohab_term::output_style::OutputStyle;
use cohab_text::sanitize::{Sanitizer, one_line};

use super::view::{View, write_line};

/// Width of lines on standard error when it is no terminal.
const COLUMNS: usize = 80;

/// The answer as the model wrote it, without control characters.
#[derive(Debug)]
pub(super) struct PlainView<O, E> {
    out: O,
    err: E,
    sanitizer: Sanitizer,
    ends_line: bool,
    /// Tools at work, as they were reported.
    tools: Vec<(u32, String)>,
    /// Other steps that are not over.
    other_steps: Vec<(u32, StepActivity)>,
    /// The tool that the last line is about.
    last_tool: Option<u32>,
    /// Rows of the open question that are printed already.
    shown_question: Option<((ApprovalId, bool), Vec<String>)>,
}

impl<O: Write, E: Write> PlainView<O, E> {
    pub fn new(out: O, err: E) -> Self {
        let sanitizer = Sanitizer::for_prose();
        Self {
            out,
            err,
            sanitizer,
            ends_line: true,
            tools: Vec::new(),
            other_steps: Vec::new(),
            last_tool: None,
            shown_question: None,
        }
    }

    /// Of the steps that are no tools only an attachment is worth a line.
    fn end_other_step(&mut self, activity: &StepActivity, finished: &StepFinished) -> io::Result<()> {
        let StepFinished { outcome, summary, elapsed_ms, .. } = finished;
        let line = status::step_finished(activity, *outcome, summary, *elapsed_ms, COLUMNS, OutputStyle::Rich);
        line.map_or(Ok(()), |line| write_line(&mut self.err, &format!("cohab: {line}")))
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
        let rest = self.sanitizer.finish();
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
                // The error at the end says how a call of the model failed.
                let StepActivity::ToolCall { tool, argument } = &started.activity else {
                    self.other_steps.push((started.step, started.activity.clone()));
                    return Ok(());
                };
                let line = one_line(&format!("{tool} {argument}"), COLUMNS);
                write_line(&mut self.err, &format!("cohab: {line}"))?;
                self.last_tool = Some(started.step);
                self.tools.push((started.step, line));
                Ok(())
            }
            DaemonMessage::StepFinished(finished) => {
                if let Some(index) = self.other_steps.iter().position(|(step, _)| *step == finished.step) {
                    let (_, activity) = self.other_steps.remove(index);
                    return self.end_other_step(&activity, finished);
                }
                let Some(index) = self.tools.iter().position(|(step, _)| *step == finished.step) else { return Ok(()) };
                let (step, line) = self.tools.remove(index);
                if finished.summary.is_empty() {
                    return Ok(());
                }
                // Of several at work the last line says which.
                let is_clear = self.last_tool.replace(step) == Some(step);
                let name = if is_clear { String::new() } else { format!("{line}: ") };
                write_line(&mut self.err, &format!("cohab:   {name}{}", one_line(&finished.summary, COLUMNS)))?;
                let Some(StepDetail::Output(output)) = &finished.detail else { return Ok(()) };
                for line in status::failed_output(output, COLUMNS, OutputStyle::Rich) {
                    write_line(&mut self.err, &format!("cohab: {line}"))?;
                }
                Ok(())
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
        let id = question.shown_card();
        if self.shown_question.as_ref().is_none_or(|(shown, _)| *shown != id) {
            self.shown_question = None;
            self.end_text()?;
            for line in question.card(COLUMNS, OutputStyle::Accessible) {
                write_line(&mut self.err, &line.to_string())?;
            }
        }
        let rows: Vec<String> =
            question.question(COLUMNS, OutputStyle::Accessible).lines.iter().map(ToString::to_string).collect();
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

#[cfg(test)]
mod tests {
    use cohab_conversation::test_messages::messages;
    use cohab_policy_io::files::FileSystem;
    use cohab_protocol::{StepFinished, StepOutcome, StepStarted, TurnId};
    use cohab_text::{sanitize::is_invisible, terminal_attack_fixtures::HOSTILE};

    use super::*;
    use crate::ask::json::JsonView;

    #[test]
    fn hostile_text_is_harmless_in_a_pipe_and_as_json() {
        let is_odd = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_invisible(c);
        for row in HOSTILE {
            for (field, message) in messages(&format!("a{}b", row.bytes)) {
                let mut plain = PlainView::new(Vec::new(), Vec::new());
                let mut json = Vec::new();
                plain.show(&message).unwrap();
                if let DaemonMessage::ApprovalRequest(request) = &message {
                    let environment =
                        std::sync::Arc::new(cohab_conversation::approval::ApprovalEnvironment::of_ann(&FileSystem));
                    let (question, _) = OpenQuestion::new(request.clone(), environment, std::time::Instant::now());
                    plain.show_question(Some(&question)).unwrap();
                }
                plain.finish().unwrap();
                JsonView::new(&mut json).show(&message).unwrap();
                for told in [plain.out, plain.err, json] {
                    let told = String::from_utf8(told).unwrap();
                    assert!(!told.contains(is_odd), "{} in {field}: {told:?}", row.name);
                }
            }
        }
    }

    #[test]
    fn tools_that_work_at_once_are_told_apart() {
        let (mut view, turn_id) = (PlainView::new(Vec::new(), Vec::new()), TurnId(uuid::Uuid::from_u128(7)));
        let started = |step, argument: &str| {
            let activity = StepActivity::ToolCall { tool: "read".into(), argument: argument.into() };
            DaemonMessage::StepStarted(StepStarted { turn_id, step, activity })
        };
        let finished = |step, summary: &str| {
            let (outcome, summary) = (StepOutcome::Done, summary.into());
            DaemonMessage::StepFinished(StepFinished {
                turn_id,
                step,
                outcome,
                summary,
                elapsed_ms: 1,
                detail: None,
                only_reads: false,
            })
        };
        let messages = [started(1, "a"), finished(1, "one"), started(2, "b"), started(3, "c"), finished(2, "two")];
        for message in messages.iter().chain([&finished(3, "three"), &finished(9, "of the model")]) {
            view.show(message).unwrap();
        }
        let told = String::from_utf8(view.err).unwrap();
        let rows = ["read a", "  one", "read b", "read c", "  read b: two", "  read c: three"];
        assert_eq!(told, rows.map(|row| format!("cohab: {row}\n")).concat());
    }
}
