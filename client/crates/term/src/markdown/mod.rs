//! Streaming markdown. What nothing later can change leaves once, for the terminal's scrollback; the open end is rendered again for
//! each look at it. The final lines depend on the text and the width alone, not on how the text was cut into pushes.
//!
//! Work per push is proportional to the push and the open end, which is at most 16 KiB. Memory is bounded by that and by
//! [`MAX_WAITING_LINES`] lines of code that wait for their colours.

mod blocks;
mod code;
mod copy;
mod dialect;
mod highlight;
mod line;
mod math;
mod references;
mod render;
mod scopes;
mod table;
mod title;
mod unfinished;

use std::{borrow::Cow, collections::VecDeque};

use cohab_text::sanitize::Sanitizer;
use ratatui::text::Line;

use self::{
    blocks::{BlockPiece, BlockSplitter, MarkdownBlock},
    code::{CodeLine, Page, Rendered, code_label, plain_lines},
    highlight::{Coloured, FenceReader, FenceWriter},
    references::References,
    render::render_block,
};
use crate::output_style::OutputStyle;

pub use self::{
    copy::{CodeBlock, CodeBlocks, MAX_CODE_BLOCKS, MAX_CODE_BYTES},
    highlight::Highlighter,
};

/// Lines of code that wait for their colours; the oldest go plain when there are more.
pub const MAX_WAITING_LINES: usize = 512;
/// Rows of the open end that are shown; the last ones.
pub const MAX_TAIL_ROWS: usize = 100;
/// So many rows go at once when there are more: each row that goes moves all others.
const TAIL_STEP_ROWS: usize = MAX_TAIL_ROWS / 2;

/// Something final on its way out. The order is the text's.
#[derive(Debug)]
enum Outgoing {
    Line(Line<'static>),
    CodeStart(FenceReader),
    Code(CodeLine),
    CodeEnd,
}

/// Markdown in, lines out.
#[derive(Debug)]
pub struct MarkdownStream {
    page: Page,
    highlighter: Option<Highlighter>,
    sanitizer: Sanitizer,
    splitter: BlockSplitter,
    references: References,
    has_output: bool,
    writer: Option<FenceWriter>,
    outgoing: VecDeque<Outgoing>,
    waiting_lines: usize,
    reader: Option<FenceReader>,
    tail: Vec<Line<'static>>,
    code_blocks: CodeBlocks,
}

impl MarkdownStream {
    /// For rows of at most `width` columns (of at least 2). Without a highlighter code stays plain.
    #[must_use]
    pub fn new(width: u16, highlighter: Option<Highlighter>) -> Self {
        Self {
            page: Page { width: usize::from(width).max(1), output_style: OutputStyle::Rich },
            highlighter,
            sanitizer: Sanitizer::for_prose(),
            splitter: BlockSplitter::default(),
            references: References::default(),
            has_output: false,
            writer: None,
            outgoing: VecDeque::new(),
            waiting_lines: 0,
            reader: None,
            tail: Vec::new(),
            code_blocks: CodeBlocks::default(),
        }
    }

    /// The same, shown in this way.
    #[must_use]
    pub fn with_output_style(mut self, output_style: OutputStyle) -> Self {
        self.page.output_style = output_style;
        self
    }

    /// The code so far as its source, the last blocks of it. It stays when the text ends, and goes with the next one's beginning.
    #[must_use]
    pub fn code_blocks(&self) -> &CodeBlocks {
        &self.code_blocks
    }

    /// Continues with the code of an earlier part of the same answer.
    #[must_use]
    pub fn with_code_blocks(mut self, code_blocks: CodeBlocks) -> Self {
        self.code_blocks = code_blocks;
        self
    }

    /// Adds text as the model sent it. Controls and invisible characters are removed here.
    pub fn push(&mut self, text: &str) {
        let clean = self.sanitizer.push(text);
        let mut pieces = Vec::new();
        self.splitter.push(&clean, &mut pieces);
        self.take_in(pieces);
    }

    /// The lines that became final since the last call, each exactly once and in order.
    #[must_use]
    pub fn take_closed(&mut self) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        while let Some(next) = self.outgoing.front() {
            let is_waiting = matches!(next, Outgoing::Code(_));
            let coloured = match (&mut self.reader, is_waiting) {
                (Some(reader), true) if self.waiting_lines <= MAX_WAITING_LINES => reader.next(),
                _ => Coloured::Never,
            };
            if matches!(coloured, Coloured::Waiting) {
                break;
            }
            if let Some(next) = self.outgoing.pop_front() {
                self.release(next, coloured, &mut lines);
            }
        }
        lines
    }

    /// The open end as it would look if the text ended here: at most [`MAX_TAIL_ROWS`] rows, the last ones. It is shown below what
    /// [`take_closed`](Self::take_closed) gave so far.
    pub fn tail(&mut self) -> &[Line<'static>] {
        let mut rows: VecDeque<Line<'static>> = VecDeque::new();
        let skipped = self.outgoing.len().saturating_sub(MAX_TAIL_ROWS);
        for waiting in self.outgoing.iter().skip(skipped) {
            match waiting {
                Outgoing::Line(line) => rows.push_back(line.clone()),
                Outgoing::Code(line) => rows.extend(line.plain(self.page.width)),
                Outgoing::CodeStart(_) | Outgoing::CodeEnd => {}
            }
        }
        if let Some(line) = self.splitter.open_code_line() {
            rows.extend(code_line(line.to_owned()).plain(self.page.width));
        } else if let Some(mut block) = self.splitter.open_block() {
            if let Cow::Owned(text) = unfinished::complete(&block.text) {
                block.text = text;
            }
            if block.has_gap && self.has_output {
                rows.push_back(Line::default());
            }
            rows.extend(plain_lines(render_block(&block, self.page, &self.references), self.page.width));
        }
        let surplus = rows.len().saturating_sub(MAX_TAIL_ROWS).div_ceil(TAIL_STEP_ROWS) * TAIL_STEP_ROWS;
        self.tail = rows.split_off(surplus).into();
        &self.tail
    }

    /// Ends the text and gives all lines that are left. Code that has no colours yet goes plain; to have them, wait until
    /// [`is_settled`](Self::is_settled) first. The stream is then ready for another text.
    #[must_use]
    pub fn finish(&mut self) -> Vec<Line<'static>> {
        let rest = self.sanitizer.finish();
        let mut pieces = Vec::new();
        self.splitter.push(&rest, &mut pieces);
        self.splitter.finish(&mut pieces);
        self.take_in(pieces);
        let mut lines = self.take_closed();
        while let Some(next) = self.outgoing.pop_front() {
            self.release(next, Coloured::Never, &mut lines);
        }
        *self = Self::new(u16::try_from(self.page.width).unwrap_or(u16::MAX), self.highlighter.take())
            .with_output_style(self.page.output_style)
            .with_code_blocks(std::mem::take(&mut self.code_blocks));
        lines
    }

    /// Changes the width of everything that is not yet closed.
    pub fn set_width(&mut self, width: u16) {
        self.page.width = usize::from(width).max(1);
    }

    /// Whether no line of code waits for its colours.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.waiting_lines == 0
    }

    fn take_in(&mut self, pieces: Vec<BlockPiece>) {
        for piece in pieces {
            match piece {
                BlockPiece::Block(block) => self.take_block(&block),
                BlockPiece::CodeStart(title) => {
                    self.take_gap(true);
                    self.code_blocks.open(&title.language);
                    self.outgoing.extend(code_label(&title, self.page).map(|row| Outgoing::Line(Line::from(row))));
                    self.start_colours(&title.language);
                }
                BlockPiece::CodeLine(line) => {
                    self.code_blocks.push(&line);
                    self.code_blocks.push("\n");
                    self.take_code_line(code_line(line));
                }
                BlockPiece::CodePart(part) => {
                    self.code_blocks.push(&part);
                    self.take_code_line(code_line(part));
                }
                BlockPiece::CodeEnd => {
                    self.code_blocks.close();
                    self.end_colours();
                }
                BlockPiece::FormulaStart => self.take_gap(true),
                BlockPiece::FormulaLine(line) => {
                    let rows = code_line(line).plain(self.page.width);
                    self.outgoing.extend(rows.into_iter().map(Outgoing::Line));
                }
            }
        }
    }

    fn take_block(&mut self, block: &MarkdownBlock) {
        let rendered = render_block(block, self.page, &self.references);
        self.references.learn(&block.text);
        if rendered.is_empty() {
            return;
        }
        self.take_gap(block.has_gap);
        for part in rendered {
            match part {
                Rendered::Line(line) => self.outgoing.push_back(Outgoing::Line(line)),
                Rendered::CodeStart { language } => self.start_colours(&language),
                Rendered::Code(line) => self.take_code_line(line),
                Rendered::CodeEnd => self.end_colours(),
                Rendered::Source(block) => {
                    self.code_blocks.open(&block.language);
                    self.code_blocks.push(&block.text);
                    self.code_blocks.close();
                }
            }
        }
    }

    fn take_gap(&mut self, has_gap: bool) {
        if has_gap && self.has_output {
            self.outgoing.push_back(Outgoing::Line(Line::default()));
        }
        self.has_output = true;
    }

    fn start_colours(&mut self, language: &str) {
        if let Some((writer, reader)) = self.highlighter.as_ref().and_then(|highlighter| highlighter.open(language)) {
            self.writer = Some(writer);
            self.outgoing.push_back(Outgoing::CodeStart(reader));
        }
    }

    fn take_code_line(&mut self, line: CodeLine) {
        if self.writer.as_ref().is_some_and(|writer| writer.send(&line.text)) {
            self.waiting_lines += 1;
            self.outgoing.push_back(Outgoing::Code(line));
            return;
        }
        self.end_colours();
        self.outgoing.extend(line.plain(self.page.width).into_iter().map(Outgoing::Line));
    }

    fn end_colours(&mut self) {
        if self.writer.take().is_some() {
            self.outgoing.push_back(Outgoing::CodeEnd);
        }
    }

    fn release(&mut self, next: Outgoing, coloured: Coloured, lines: &mut Vec<Line<'static>>) {
        match (next, coloured) {
            (Outgoing::Line(line), _) => lines.push(line),
            (Outgoing::CodeStart(reader), _) => self.reader = Some(reader),
            (Outgoing::CodeEnd, _) => self.reader = None,
            (Outgoing::Code(line), Coloured::Ready(row)) => {
                self.waiting_lines -= 1;
                lines.extend(line.coloured(&row, self.page.width));
            }
            (Outgoing::Code(line), Coloured::Waiting | Coloured::Never) => {
                self.waiting_lines -= 1;
                self.reader = None;
                lines.extend(line.plain(self.page.width));
            }
        }
    }
}

fn code_line(text: String) -> CodeLine {
    CodeLine { text, ..CodeLine::default() }
}

#[cfg(test)]
mod tests;
