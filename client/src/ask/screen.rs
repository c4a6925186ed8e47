//! The answer on a terminal: rendered as in the shell, steps as one line each.

use std::io::{self, Write};

use cohab_protocol::{ChunkDelta, DaemonMessage, StepActivity};
use ratatui::text::Line;

use super::View;
use crate::{
    markdown::MarkdownStream,
    ui::{card::ApprovalCard, live_area::LiveArea, status, theme::Style},
};

/// The answer, rendered.
#[derive(Debug)]
pub(super) struct ScreenView<W> {
    out: W,
    area: LiveArea,
    text: MarkdownStream,
    steps: Vec<(u32, String, String)>,
    waiting: Option<Line<'static>>,
    card: Option<(Vec<Line<'static>>, Option<(u16, u16)>)>,
    columns: u16,
    rows: u16,
    style: Style,
}

impl<W: Write> ScreenView<W> {
    pub fn new(out: W, columns: u16, rows: u16, style: Style) -> Self {
        Self {
            out,
            area: LiveArea::new(columns, rows, style),
            text: MarkdownStream::new(columns, None),
            steps: Vec::new(),
            waiting: None,
            card: None,
            columns,
            rows,
            style,
        }
    }

    fn draw(&mut self, above: &[Line<'static>]) -> io::Result<()> {
        let mut rows = self.text.tail().to_vec();
        let mut cursor = None;
        if let Some((lines, position)) = &self.card {
            let first_row = u16::try_from(rows.len()).unwrap_or(u16::MAX);
            cursor = position.map(|(row, column)| (row.saturating_add(first_row), column));
            rows.extend(lines.iter().cloned());
        } else {
            rows.extend(self.waiting.clone());
        }
        let mut bytes = Vec::new();
        self.area.draw(above, &rows, cursor, &mut bytes);
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    fn take_text(&mut self) -> Vec<Line<'static>> {
        let lines = self.text.finish();
        self.text = MarkdownStream::new(self.columns, None);
        lines
    }
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
                ChunkDelta::Reset => self.text = MarkdownStream::new(self.columns, None),
                ChunkDelta::Reasoning(_) => return Ok(()),
            },
            DaemonMessage::StepStarted(started) => {
                above = self.take_text();
                self.waiting = Some(match &started.activity {
                    StepActivity::ModelCall { model } => status::waiting_for_model(model, self.columns, self.style),
                    StepActivity::ToolCall { tool, argument } => {
                        self.steps.push((started.step, tool.clone(), argument.clone()));
                        status::step_running(tool, argument, self.columns, self.style)
                    }
                });
            }
            DaemonMessage::StepFinished(finished) => {
                self.waiting = None;
                if let Some(index) = self.steps.iter().position(|(step, ..)| *step == finished.step) {
                    let (_, tool, argument) = self.steps.remove(index);
                    above.push(status::step_finished(&tool, &argument, finished, self.columns, self.style));
                }
            }
            DaemonMessage::Notice(notice) => {
                above = self.take_text();
                above.extend(status::notice(notice, self.style));
            }
            DaemonMessage::Error(error) => {
                above = self.take_text();
                above.extend(status::error(&error.message, error.hint.as_deref(), self.style));
            }
            DaemonMessage::Goodbye { reason } => above.extend(status::error(reason, None, self.style)),
            _ => return Ok(()),
        }
        self.draw(&above)
    }

    fn show_card(&mut self, card: Option<&ApprovalCard>) -> io::Result<()> {
        self.card = card.map(|card| {
            let rendered = card.render(self.columns, self.rows, self.style);
            (rendered.lines, rendered.cursor)
        });
        let above = self.take_text();
        self.draw(&above)
    }

    fn finish(&mut self) -> io::Result<()> {
        let above = self.take_text();
        self.waiting = None;
        self.card = None;
        self.draw(&above)
    }
}
