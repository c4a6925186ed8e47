//! Builds the assistant's frames: lines that stay, and the few rows below them that change.

use std::time::Instant;

use cohab_term::wrap::wrap_exactly;
use cohab_term::{
    output_style::OutputStyle,
    theme,
    visible::{visible_command, visible_lines},
};
use ratatui::text::{Line, Span};

use super::{
    App, Surface,
    additions::UNREAD,
    state::{
        asked::Asked,
        turn::{Pause, Turn, Waiting},
    },
};
use crate::ui::{
    long_command::{Ends, ends},
    progress::{self, TurnStatus},
    status, subagents,
};
use cohab_protocol::{ApprovalMode, StepActivity, WireError};
use cohab_types::client_settings::Reasoning;

/// Rows of a command that are shown when it runs; the rest is counted.
const ECHO_MAX_ROWS: usize = 10;
/// Of a longer one only both ends are shown, in bytes.
const ECHO_MAX_BYTES: usize = 16 * 1024;

/// What to draw now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Lines that stay; they scroll away with the rest of the terminal.
    pub above: Vec<Line<'static>>,
    /// The live area below them, replaced as a whole. Empty: none.
    pub area: Vec<Line<'static>>,
    /// Row in `area` and column of the cursor; hidden if absent.
    pub cursor: Option<(usize, usize)>,
}

impl App {
    /// Whether there is something to draw and the terminal is ours to draw on.
    #[must_use]
    pub fn wants_to_draw(&self) -> bool {
        self.screen.is_dirty && self.surface == Surface::Ours
    }

    /// Whether the terminal is ours, or about to be: the shell must not draw.
    #[must_use]
    pub fn owns_terminal(&self) -> bool {
        matches!(self.surface, Surface::Opening | Surface::Ours)
    }

    /// Whether Ctrl-L is ours: the screen is emptied at once. A shell that got it at the end would take away the answer. While
    /// something is asked it is not: no part of that may go.
    #[must_use]
    pub fn takes_wipe_key(&self) -> bool {
        self.surface == Surface::Ours && self.activity.turn().is_some_and(|turn| turn.question.is_none())
    }

    /// What to draw now, with the live area.
    pub fn frame(&mut self) -> Frame {
        self.screen.is_dirty = false;
        let above = self.screen.take_above();
        let (output_style, width, rows) = (self.options.output_style, self.width(), usize::from(self.screen.rows));
        let pause_text = self.pause_text().filter(|_| output_style == OutputStyle::Rich);
        let Some(turn) = self.activity.turn_mut() else {
            return Frame { above, area: self.slash_area(), cursor: None };
        };
        // In sentences nothing is shown that may still change.
        let mut area = if output_style == OutputStyle::Rich { turn.tail() } else { Vec::new() };
        let mut cursor = None;
        if let Some(question) = &turn.question {
            area.extend(question.fitting_card(width, rows, output_style).unwrap_or_default());
            let keys = question.question(width, output_style);
            cursor = keys.cursor.map(|(row, column)| (row + area.len(), column));
            area.extend(keys.lines);
        } else {
            match &turn.waiting {
                // What is printed once is not painted.
                _ if output_style == OutputStyle::Accessible => {}
                _ if turn.pause == Pause::Holds => {}
                Waiting::Link => area.extend(status::remark("starting the assistant", width)),
                Waiting::Retry(countdown) => area.extend(status::notice(countdown.notice(), width, output_style)),
                Waiting::Step(activity) => {
                    if self.options.reasoning != Reasoning::Off {
                        area.extend(turn.thinking.rolling(width));
                    }
                    let subagents = turn.subagents.shown(turn.progress.shown_at());
                    let together = subagents::activity(&subagents, output_style);
                    let activity = together.as_ref().unwrap_or(activity);
                    area.push(turn_status(turn, activity, self.options.approval).line(width, output_style));
                    area.extend(subagents::rows(&subagents, width));
                }
                Waiting::Nothing => {}
            }
            area.extend(pause_text.iter().flat_map(|text| status::remark(text, width)));
        }
        Frame { above, area, cursor }
    }

    /// Whether more is to come of the answer: an empty row then stands for the live area, so that the cursor stays hidden between two
    /// blocks and the next one begins where it is.
    #[must_use]
    pub fn keeps_a_row(&self) -> bool {
        self.options.output_style == OutputStyle::Rich && self.activity.turn().is_some_and(|turn| !turn.is_over())
    }

    /// When the time in the status line changes: only while it is shown.
    pub(super) fn clock_due(&self) -> Option<Instant> {
        let turn = self.activity.turn().filter(|turn| !turn.is_over() && turn.question.is_none())?;
        let is_shown = self.surface == Surface::Ours
            && self.options.output_style == OutputStyle::Rich
            && turn.pause != Pause::Holds
            && matches!(turn.waiting, Waiting::Step(_));
        turn.progress.next_second().filter(|_| is_shown)
    }

    /// A step has begun: said in a sentence where nothing is painted twice.
    pub(super) fn tell_step(&mut self) {
        let Some(turn) = self.activity.turn().filter(|_| self.options.output_style == OutputStyle::Accessible) else {
            return;
        };
        // An attachment is named once, when it is there.
        if let Waiting::Step(activity) = &turn.waiting
            && !matches!(activity, StepActivity::Attachment { .. })
        {
            let sentence = turn_status(turn, activity, self.options.approval).sentence();
            self.flush_text();
            self.print_remark(&sentence);
        }
    }

    /// The turn is about to go; its code stays until the next answer.
    pub(super) fn keep_code(&mut self) {
        if let Some(code_blocks) = self.activity.turn().and_then(Turn::code_blocks) {
            self.code_blocks = code_blocks.clone();
        }
    }

    /// What is left to draw before the terminal goes to somebody else: no live area.
    pub fn last_frame(&mut self) -> Frame {
        self.screen.is_dirty = false;
        Frame { above: self.screen.take_above(), ..Frame::default() }
    }

    pub(super) fn append_text(&mut self, lines: Vec<Line<'static>>) {
        self.screen.above.extend(lines);
    }

    /// Makes the text so far final: something else comes after it.
    pub(super) fn flush_text(&mut self) {
        let had_text = self.activity.turn().is_some_and(Turn::has_open_text);
        let rest = self.activity.turn_mut().map(Turn::finish_text).unwrap_or_default();
        self.append_text(rest);
        if had_text {
            self.screen.open_gap();
        }
        self.fold_thoughts();
    }

    /// Text comes: the thoughts before it are over, and a blank row stands above it.
    pub(super) fn begin_text(&mut self) {
        if self.activity.turn().is_some_and(|turn| turn.thinking.is_on() || !turn.has_open_text()) {
            self.flush_text();
            self.screen.open_gap();
        }
    }

    /// The thoughts so far are over: one line stays, or all of them.
    pub(super) fn fold_thoughts(&mut self) {
        let (width, output_style, reasoning) = (self.width(), self.options.output_style, self.options.reasoning);
        let Some(turn) = self.activity.turn_mut() else { return };
        let Some(took_ms) = turn.thinking.end().filter(|_| reasoning != Reasoning::Off) else { return };
        let whole = turn.thinking.keeps(reasoning == Reasoning::Live).then(|| turn.thinking.whole(width));
        self.screen.above.push(status::thought(took_ms, width, output_style));
        self.screen.above.extend(whole.into_iter().flatten());
    }

    /// Whether the key that keeps or folds the model's thoughts is ours: while a turn has some.
    #[must_use]
    pub fn takes_thoughts_key(&self) -> bool {
        self.surface == Surface::Ours
            && self.options.reasoning != Reasoning::Off
            && self.activity.turn().is_some_and(|turn| turn.question.is_none() && turn.thinking.has_text())
    }

    /// That key was pressed. Thoughts that are over and were folded are shown now.
    pub(super) fn on_thoughts_key(&mut self) {
        let (width, by_default) = (self.width(), self.options.reasoning == Reasoning::Live);
        let Some(turn) = self.activity.turn_mut() else { return };
        if turn.thinking.flip(by_default) && !turn.thinking.is_on() {
            let whole = turn.thinking.whole(width);
            self.flush_text();
            self.screen.above.extend(whole);
        }
        self.screen.is_dirty = true;
    }

    /// What the turn took, below its answer.
    pub(super) fn print_footer(&mut self, now: Instant) {
        let (width, output_style) = (self.width(), self.options.output_style);
        let Some(turn) = self.activity.turn().filter(|turn| turn.has_footer) else { return };
        let elapsed_s = turn.progress.elapsed(now).as_secs();
        let footer = progress::footer(turn.progress.step(), elapsed_s, turn.progress.usage(), width, output_style);
        if let Some(footer) = footer {
            self.screen.open_gap();
            self.screen.above.push(footer);
        }
    }

    /// Whether a blank row is to stand between what is shown and the prompt that comes: behind an answer, unless it ends with one.
    #[must_use]
    pub fn wants_gap(&self) -> bool {
        self.surface == Surface::Closing && !self.screen.ends_blank && self.activity.turn().is_some_and(Turn::is_over)
    }

    /// Columns that lines may fill; the last one stays free, since terminals differ in what they do there.
    pub(super) fn width(&self) -> usize {
        usize::from(self.text_width())
    }

    pub(super) fn text_width(&self) -> u16 {
        self.screen.columns.saturating_sub(1).max(1)
    }

    pub(super) fn print_question(&mut self, question: &str) {
        self.print_question_behind(&self.options.question_prefix.clone(), question);
    }

    /// The same behind another prefix.
    pub(super) fn print_question_behind(&mut self, prefix: &str, question: &str) {
        let text = format!("{prefix} {}", visible_lines(question));
        // The first line continues the prompt's row; the terminal wraps it as it would a typed line.
        self.screen.above.extend(text.lines().map(|line| Line::styled(line.to_owned(), theme::STRONG)));
    }

    /// A line of ours in place of one typed at the prompt.
    pub(super) fn print_own_line(&mut self, line: &str) {
        self.screen.above.push(Line::styled(line.to_owned(), theme::STRONG));
    }

    /// A command as it is run, in place of the prompt that the user would have seen. The terminal wraps it: copied, it is one line.
    pub(super) fn print_command(&mut self, command: &str) {
        let mark = self.options.output_style.choose("❯ ", "$ ");
        let ends = ends(command, ECHO_MAX_BYTES);
        let shown = visible_command(ends.map_or(command, |ends| ends.head));
        let count = shown.lines().count();
        for (index, line) in shown.lines().take(ECHO_MAX_ROWS).enumerate() {
            let start = if index == 0 { mark } else { "  " };
            let spans = [Span::styled(start, theme::ACCENT), Span::styled(line.to_owned(), theme::STRONG)];
            self.screen.above.extend(wrap_exactly(&spans, usize::MAX).into_iter().map(Line::from));
        }
        if count > ECHO_MAX_ROWS {
            let rest = format!("  … and {} more lines", count - ECHO_MAX_ROWS);
            self.screen.above.push(Line::styled(rest, theme::DIM));
        }
        if let Some(Ends { left_out, tail, .. }) = ends {
            self.screen.above.push(Line::styled(format!("  … and {left_out} more bytes before this end:"), theme::DIM));
            let tail = visible_command(tail);
            let end = tail.lines().next_back().unwrap_or_default();
            let spans = [Span::raw("  "), Span::styled(end.to_owned(), theme::STRONG)];
            self.screen.above.extend(wrap_exactly(&spans, usize::MAX).into_iter().map(Line::from));
        }
    }

    pub(super) fn print_usage(&mut self, asked: &Asked) {
        let prefix = asked.prefix(&self.options.question_prefix);
        self.print_remark(&format!("Type a question after {prefix} and press Enter: {prefix} what is using my disk"));
    }

    pub(super) fn print_cancelled(&mut self) {
        self.flush_text();
        let stopped = self.stopped();
        let mut remark = self.background.stopped_remark(stopped);
        let unread = self.activity.turn_mut().map(|turn| turn.additions.take_unread()).unwrap_or_default();
        if !unread.is_empty() {
            remark = format!("{remark} {UNREAD}");
        }
        self.print_remark(&remark);
    }

    pub(super) fn print_remark(&mut self, text: &str) {
        self.screen.above.extend(status::remark(text, self.width()));
    }

    pub(super) fn print_error(&mut self, error: &WireError) {
        self.flush_text();
        self.screen.above.extend(status::error(error, self.width()));
    }
}

fn turn_status<'a>(turn: &'a Turn, activity: &'a StepActivity, approval: ApprovalMode) -> TurnStatus<'a> {
    let progress = &turn.progress;
    let (step, elapsed_s, usage) = (progress.step(), progress.elapsed_s(), progress.usage());
    TurnStatus { activity, step, said: turn.step_progress(), elapsed_s, usage, budget: progress.budget(), approval }
}
