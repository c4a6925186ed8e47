//! The text of an answer as it comes, with the bar on its left if the user wants one.

use cohab_term::{
    markdown::{CodeBlocks, Highlighter, MarkdownStream},
    output_style::OutputStyle,
    theme,
};
use ratatui::text::{Line, Span};

use crate::app::Options;

/// The bar left of a row. Without text behind it the blank goes.
const GUTTER: &str = "▏ ";
const GUTTER_COLUMNS: u16 = 2;
/// Narrower answers have no bar.
const MIN_COLUMNS: u16 = 20;

#[derive(Debug)]
pub(crate) struct AnswerText {
    width: u16,
    output_style: OutputStyle,
    has_gutter: bool,
    highlighter: Option<Highlighter>,
    text: MarkdownStream,
    /// There is text that is not closed.
    pub has_text: bool,
    /// There was text, maybe before a step.
    has_answered: bool,
    /// Code of the parts that are closed.
    code_before: CodeBlocks,
}

impl AnswerText {
    /// For rows of `width` columns, the bar included.
    pub(crate) fn new(width: u16, options: &Options) -> Self {
        let (output_style, highlighter) = (options.output_style, options.highlighter.clone());
        let has_gutter = options.gutter && output_style == OutputStyle::Rich;
        let mut text = Self {
            width,
            output_style,
            has_gutter,
            text: MarkdownStream::new(width, None),
            highlighter,
            has_text: false,
            has_answered: false,
            code_before: CodeBlocks::default(),
        };
        text.restart();
        text
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push(text);
        (self.has_text, self.has_answered) = (true, true);
    }

    /// Lines that are final now.
    pub(crate) fn take_closed(&mut self) -> Vec<Line<'static>> {
        let closed = self.text.take_closed();
        self.barred(closed)
    }

    /// The part that may still change.
    pub(crate) fn tail(&mut self) -> Vec<Line<'static>> {
        let tail = self.text.tail().to_vec();
        self.barred(tail)
    }

    /// Closes the text so far.
    pub(crate) fn finish(&mut self) -> Vec<Line<'static>> {
        if !self.has_text {
            return Vec::new();
        }
        let rest = self.text.finish();
        self.code_before = self.text.code_blocks().clone();
        self.restart();
        self.barred(rest)
    }

    /// Forgets the text that is not closed. What was taken back is not to be copied either; what stood before a step stays.
    pub(crate) fn restart(&mut self) {
        self.text = MarkdownStream::new(self.columns(), self.highlighter.clone())
            .with_output_style(self.output_style)
            .with_code_blocks(self.code_before.clone());
        self.has_text = false;
    }

    pub(crate) fn set_width(&mut self, width: u16) {
        self.width = width;
        self.text.set_width(self.columns());
    }

    /// The code so far; `None` as long as there was no text.
    pub(crate) fn code_blocks(&self) -> Option<&CodeBlocks> {
        self.has_answered.then(|| self.text.code_blocks())
    }

    /// Whether no line of code waits for its colours.
    pub(crate) fn is_settled(&self) -> bool {
        self.text.is_settled()
    }

    /// Columns for the text.
    fn columns(&self) -> u16 {
        if self.shows_gutter() { self.width - GUTTER_COLUMNS } else { self.width }
    }

    fn shows_gutter(&self) -> bool {
        self.has_gutter && self.width >= MIN_COLUMNS
    }

    fn barred(&self, mut lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
        if self.shows_gutter() {
            for line in &mut lines {
                let bar = if line.width() == 0 { GUTTER.trim_end() } else { GUTTER };
                line.spans.insert(0, Span::styled(bar, theme::DIM));
            }
        }
        lines
    }
}
