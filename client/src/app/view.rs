//! What the assistant shows: lines that stay, and the few rows below them that change.

use ratatui::text::Line;

use super::{App, Surface, turn::{Turn, Waiting}};
use crate::ui::status;

/// Rows of a command that are shown when it runs; the rest is counted.
const ECHO_MAX_ROWS: usize = 10;

/// What to draw now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Lines that stay; they scroll away with the rest of the terminal.
    pub above: Vec<Line<'static>>,
    /// The live area below them, replaced as a whole. Empty: none.
    pub area: Vec<Line<'static>>,
    /// Row in `area` and column of the cursor; hidden if absent.
    pub cursor: Option<(u16, u16)>,
}

impl App {
    /// Whether there is something to draw and the terminal is ours to draw on.
    #[must_use]
    pub fn wants_to_draw(&self) -> bool {
        self.is_dirty && self.surface == Surface::Ours
    }

    /// Whether the terminal is ours, or about to be: the shell must not draw.
    #[must_use]
    pub fn owns_terminal(&self) -> bool {
        matches!(self.surface, Surface::Opening | Surface::Ours)
    }

    /// What to draw now, with the live area.
    pub fn frame(&mut self) -> Frame {
        self.is_dirty = false;
        let above = std::mem::take(&mut self.above);
        let style = self.options.style;
        let (columns, rows) = (self.columns, self.rows);
        let Some(turn) = self.turn.as_mut() else { return Frame { above, ..Frame::default() } };
        let mut area = turn.tail().to_vec();
        let mut cursor = None;
        if let Some(card) = &turn.card {
            let rendered = card.render(columns, rows, style);
            let first_row = u16::try_from(area.len()).unwrap_or(u16::MAX);
            cursor = rendered.cursor.map(|(row, column)| (row.saturating_add(first_row), column));
            area.extend(rendered.lines);
        } else if let Some(line) = waiting_line(turn, columns, style) {
            area.push(line);
        }
        Frame { above, area, cursor }
    }

    /// What is left to draw before the terminal goes to somebody else: no live area.
    pub fn last_frame(&mut self) -> Frame {
        self.is_dirty = false;
        Frame { above: std::mem::take(&mut self.above), ..Frame::default() }
    }

    pub(super) fn append_text(&mut self, lines: Vec<Line<'static>>) {
        self.above.extend(lines);
    }

    /// Makes the text so far final: something else comes after it.
    pub(super) fn flush_text(&mut self) {
        let rest = self.turn.as_mut().map(Turn::finish_text).unwrap_or_default();
        self.append_text(rest);
    }

    pub(super) fn print_question(&mut self, question: &str) {
        let prefix = &self.options.question_prefix;
        self.above.extend(status::question(prefix, question, self.options.style));
    }

    pub(super) fn print_command(&mut self, command: &str) {
        self.above.extend(status::command_echo(command, ECHO_MAX_ROWS, self.options.style));
    }

    pub(super) fn print_usage(&mut self) {
        self.above.extend(status::usage(&self.options.question_prefix, self.options.style));
    }

    pub(super) fn print_cancelled(&mut self) {
        self.flush_text();
        self.print_remark("stopped");
    }

    pub(super) fn print_remark(&mut self, text: &str) {
        self.above.push(status::remark(text, self.options.style));
    }

    pub(super) fn print_error(&mut self, message: &str, hint: Option<&str>) {
        self.flush_text();
        self.above.extend(status::error(message, hint, self.options.style));
    }
}

fn waiting_line(turn: &Turn, columns: u16, style: crate::ui::theme::Style) -> Option<Line<'static>> {
    match &turn.waiting {
        Waiting::Link => Some(status::waiting("starting the assistant", columns, style)),
        Waiting::Model(model) => Some(status::waiting_for_model(model, columns, style)),
        Waiting::Retry(reason) => Some(status::waiting(reason, columns, style)),
        Waiting::Tool { tool, argument } => Some(status::step_running(tool, argument, columns, style)),
        Waiting::Nothing => None,
    }
}
