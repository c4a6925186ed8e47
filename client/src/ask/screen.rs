//! The answer on a terminal: rendered as in the shell, steps as one line each.

use std::{
    io::{self, Write},
    time::Instant,
};

use cohab_conversation::{
    approval::OpenQuestion,
    ui::{diff::kept_rows, progress::TurnStatus, status},
};
use cohab_protocol::{
    ApprovalMode, ChunkDelta, DaemonMessage, ErrorSubject, StepActivity, StepDetail, StepFinished, WireError,
    WireErrorKind,
};
use cohab_term::{
    live_area::{Abilities, LiveArea},
    markdown::MarkdownStream,
    output_style::OutputStyle,
    pace::FramePace,
};
use ratatui::text::Line;

use super::view::View;

/// The command that shows a change whole.
const ALL_CHANGES: &str = "cohab diff";

/// The command that shows the output of a step whole.
const WHOLE_OUTPUT: &str = "cohab trace --output 1";

/// The answer, rendered.
#[derive(Debug)]
pub(super) struct ScreenView<W> {
    out: W,
    area: LiveArea,
    text: MarkdownStream,
    steps: Vec<(u32, StepActivity)>,
    waiting: Option<Line<'static>>,
    question: Option<OpenQuestion>,
    size: fn() -> (u16, u16),
    columns: u16,
    rows: u16,
    output_style: OutputStyle,
    /// Lines that are final and not yet written.
    above: Vec<Line<'static>>,
    is_dirty: bool,
    is_over: bool,
    pace: FramePace,
}

impl<W: Write> ScreenView<W> {
    /// For a terminal whose columns and rows `size` returns.
    pub fn new(out: W, size: fn() -> (u16, u16), abilities: Abilities) -> Self {
        let (output_style, (columns, rows)) = (abilities.output_style, size());
        Self {
            out,
            area: LiveArea::new(columns, rows, abilities),
            text: MarkdownStream::new(columns.saturating_sub(1).max(1), None).with_output_style(output_style),
            steps: Vec::new(),
            waiting: None,
            question: None,
            size,
            columns,
            rows,
            output_style,
            above: Vec::new(),
            is_dirty: false,
            is_over: false,
            pace: FramePace::default(),
        }
    }

    /// The window may have another size since the last frame.
    fn take_size(&mut self) {
        (self.columns, self.rows) = (self.size)();
        self.area.resize(self.columns, self.rows);
        self.text.set_width(self.columns.saturating_sub(1).max(1));
    }

    fn draw(&mut self) -> io::Result<()> {
        self.is_dirty = false;
        self.take_size();
        // In sentences nothing is shown that may still change.
        let mut rows = if self.output_style == OutputStyle::Rich { self.text.tail().to_vec() } else { Vec::new() };
        let mut cursor = None;
        if let Some(question) = &self.question {
            let card = question.fitting_card(self.width(), usize::from(self.rows), self.output_style);
            rows.extend(card.unwrap_or_default());
            let keys = question.question(self.width(), self.output_style);
            cursor = keys.cursor.map(|(row, column)| (row + rows.len(), column));
            rows.extend(keys.lines);
        } else {
            rows.extend(self.waiting.clone());
        }
        // An empty row is where the next text begins: the cursor stays hidden between two blocks.
        if rows.is_empty() && self.output_style == OutputStyle::Rich && !self.is_over {
            rows.push(Line::default());
        }
        let mut bytes = Vec::new();
        self.area.draw(&std::mem::take(&mut self.above), &rows, cursor, &mut bytes);
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    fn width(&self) -> usize {
        usize::from(self.columns).saturating_sub(1).max(1)
    }

    /// What is waited for: the last step that began and has not ended.
    fn last_open(&self) -> Option<Line<'static>> {
        let (step, activity) = self.steps.last().filter(|_| self.output_style == OutputStyle::Rich)?;
        Some(status_of(*step, activity).line(self.width(), self.output_style))
    }

    fn take_text(&mut self) -> Vec<Line<'static>> {
        let width = self.columns.saturating_sub(1).max(1);
        let next = MarkdownStream::new(width, None).with_output_style(self.output_style);
        std::mem::replace(&mut self.text, next).finish()
    }
}

fn status_of(step: u32, activity: &StepActivity) -> TurnStatus<'_> {
    TurnStatus { activity, step, said: None, elapsed_s: 0, usage: None, budget: None, approval: ApprovalMode::Ask }
}

impl<W: Write> View for ScreenView<W> {
    fn show(&mut self, message: &DaemonMessage) -> io::Result<()> {
        let mut above = Vec::new();
        match message {
            DaemonMessage::AgentStreamChunk(chunk) => match &chunk.delta {
                ChunkDelta::Text(text) => {
                    self.waiting = None;
                    self.text.push(text);
                    above = self.text.take_closed();
                }
                ChunkDelta::Reset => drop(self.take_text()),
                ChunkDelta::Reasoning(_) => return Ok(()),
            },
            DaemonMessage::StepStarted(started) => {
                above = self.take_text();
                self.steps.push((started.step, started.activity.clone()));
                match self.output_style {
                    OutputStyle::Rich => self.waiting = self.last_open(),
                    // What is printed once is not painted.
                    OutputStyle::Accessible => {
                        let sentence = status_of(started.step, &started.activity).sentence();
                        above.extend(status::remark(&sentence, self.width()));
                    }
                }
            }
            DaemonMessage::StepFinished(StepFinished { step, outcome, summary, elapsed_ms, detail, .. }) => {
                if let Some(index) = self.steps.iter().position(|(number, _)| number == step) {
                    let (_, activity) = self.steps.remove(index);
                    let (width, output_style) = (self.width(), self.output_style);
                    above.extend(status::step_started(&activity, width).filter(|_| output_style == OutputStyle::Rich));
                    above.extend(match detail {
                        Some(StepDetail::Change(change)) => kept_rows(change, ALL_CHANGES, width, output_style),
                        Some(StepDetail::Output(output)) => status::failed_output(output, width, output_style),
                        Some(StepDetail::Lines(_)) | None => Vec::new(),
                    });
                    let folded = match detail {
                        Some(StepDetail::Lines(lines)) => status::folded(summary, *lines, WHOLE_OUTPUT, output_style),
                        _ => summary.clone(),
                    };
                    above.extend(status::step_finished(&activity, *outcome, &folded, *elapsed_ms, width, output_style));
                }
                self.waiting = self.last_open();
            }
            DaemonMessage::TurnEnded(ended) => {
                let Some(remark) = status::end_remark(ended.reason) else { return Ok(()) };
                self.waiting = None;
                above = self.take_text();
                above.extend(status::remark(remark, self.width()));
            }
            DaemonMessage::Notice(notice) => {
                above = self.take_text();
                above.extend(status::notice(notice, self.width(), self.output_style));
            }
            DaemonMessage::Error(error) => {
                above = self.take_text();
                above.extend(status::error(error, self.width()));
            }
            DaemonMessage::Goodbye { reason } => {
                let about = ErrorSubject::Connection;
                let error = WireError {
                    about,
                    kind: WireErrorKind::NotFound,
                    message: reason.clone(),
                    hint: Some("ask again".into()),
                };
                above = self.take_text();
                above.extend(status::error(&error, self.width()));
            }
            _ => return Ok(()),
        }
        self.above.append(&mut above);
        self.is_dirty = true;
        self.draw_if_due()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.is_dirty { self.pace.deadline() } else { None }
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        if self.is_dirty && self.pace.begin_frame(Instant::now()) { self.draw() } else { Ok(()) }
    }

    fn show_question(&mut self, question: Option<&OpenQuestion>) -> io::Result<()> {
        let mut above = self.take_text();
        let known = self.question.as_ref().map(OpenQuestion::shown_card);
        if let Some(question) = question.filter(|question| Some(question.shown_card()) != known)
            && question.fitting_card(self.width(), usize::from(self.rows), self.output_style).is_none()
        {
            above.extend(question.card(self.width(), self.output_style));
        }
        self.question = question.cloned();
        self.above.append(&mut above);
        self.draw()
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut above = self.take_text();
        self.waiting = None;
        self.question = None;
        self.is_over = true;
        self.above.append(&mut above);
        self.draw()
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
