//! Cuts a stream of markdown into blocks that nothing later can change. Pure: the cuts depend on the text alone, never on how it
//! was split into pushes.
//!
//! A paragraph, table or quote is closed by a blank line or by a line that begins another block; a list item by the next item or
//! by a line that is not indented enough; headings and rules at once. Lines of code leave one by one. What stays open is at most
//! [`MAX_OPEN_BYTES`]; a longer block is cut and continues in a second part.

use super::{
    line::{
        CODE_INDENT, Fence, ListKind, Marker, dedent, indent_columns, interrupts_paragraph, is_blank, is_heading,
        is_quote, is_rule, is_setext_underline,
    },
    math::{Formula, FormulaLine, FormulaStart},
    title::{CodeTitle, last_line},
    unfinished::is_undecided,
};
use crate::wrap::char_boundary;

/// Largest text that stays open.
pub(super) const MAX_OPEN_BYTES: usize = 16 * 1024;
/// Largest repeated start (table head, fence) of a block that was cut.
const MAX_CARRY_BYTES: usize = 1024;
/// How far back a cut looks for a blank between words.
const MAX_WORD_SEARCH_BYTES: usize = 256;
/// Blank lines kept inside indented code, until it is known whether code follows.
const MAX_HELD_BLANKS: usize = 64;

/// A part of the text, final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockPiece {
    /// Markdown that is rendered by itself.
    Block(MarkdownBlock),
    /// Code begins.
    CodeStart(CodeTitle),
    /// One line of code.
    CodeLine(String),
    /// A part of an overlong one, which continues in the next line.
    CodePart(String),
    /// Code ends.
    CodeEnd,
    /// A formula on lines of its own begins.
    FormulaStart,
    /// One line of its source.
    FormulaLine(String),
}

/// One block of markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MarkdownBlock {
    /// Its source.
    pub(super) text: String,
    /// Whether a blank line separates it from what is above.
    pub(super) has_gap: bool,
    /// Whether it continues a block that was cut: its first marker is not shown again.
    pub(super) is_resumed: bool,
    /// Number of the item, where the list knows better than the text.
    pub(super) number: Option<u64>,
}

#[derive(Clone, Debug, Default)]
enum OpenBlock {
    #[default]
    Nothing,
    Flow,
    Quote,
    Item(ListItem),
    Fence(Fence),
    Formula(Formula),
    IndentedCode {
        held_blanks: usize,
    },
}

#[derive(Clone, Debug)]
struct ListItem {
    content_column: usize,
    marker_text: String,
    is_after_blank: bool,
}

/// The open end of a stream.
#[derive(Debug, Default)]
pub(super) struct BlockSplitter {
    open: OpenBlock,
    block: MarkdownBlock,
    partial: String,
    is_after_blank: bool,
    last_item: Option<(ListKind, Option<u64>)>,
    /// The last line of the block that was closed last; empty behind code.
    line_before: String,
    /// How much of the open block only repeats what its first part began with.
    carried_bytes: usize,
}

impl BlockSplitter {
    /// Adds text, appends what became final to `out`.
    pub(super) fn push(&mut self, mut text: &str, out: &mut Vec<BlockPiece>) {
        while !text.is_empty() {
            let room = MAX_OPEN_BYTES.saturating_sub(self.block.text.len() + self.partial.len());
            let window = &text[..char_boundary(text, room)];
            if let Some(end) = window.find('\n') {
                self.partial.push_str(&text[..end]);
                text = &text[end + 1..];
                let line = std::mem::take(&mut self.partial);
                self.line(&line, out);
            } else {
                self.partial.push_str(window);
                text = &text[window.len()..];
                if !text.is_empty() {
                    self.overflow(out);
                }
            }
        }
    }

    /// Ends the text: everything is final now.
    pub(super) fn finish(&mut self, out: &mut Vec<BlockPiece>) {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.line(&line, out);
        }
        self.close(out);
    }

    /// What is open besides code, as if the text ended here.
    pub(super) fn open_block(&self) -> Option<MarkdownBlock> {
        if self.is_code() {
            return None;
        }
        let mut block = self.block.clone();
        if matches!(self.open, OpenBlock::Nothing) {
            let marker = Marker::of(&self.partial);
            (block.has_gap, block.number) = self.gap_and_number(marker.as_ref());
        }
        // Half a row would move the columns of the whole table, again and again.
        match self.may_be_table() {
            false if is_undecided(&self.partial) => {}
            false => block.text.push_str(&self.partial),
            true if table_head(&block.text).is_empty() => return None,
            true => {}
        }
        (!is_blank(block.text[self.carried_bytes..].trim_end())).then_some(block)
    }

    /// Whether the open lines are a table, or may become one with the next line.
    fn may_be_table(&self) -> bool {
        let mut lines = self.block.text.lines().chain([self.partial.as_str()]);
        let is_paragraph = matches!(self.open, OpenBlock::Nothing | OpenBlock::Flow);
        let has_bar = lines.next().is_some_and(|line| line.trim_start().starts_with('|'));
        let is_second = lines.next().is_none_or(is_table_rule);
        is_paragraph && (has_bar && is_second || !table_head(&self.block.text).is_empty())
    }

    /// The unfinished line of open code.
    pub(super) fn open_code_line(&self) -> Option<&str> {
        match &self.open {
            // What may become the end would be taken away again.
            OpenBlock::Fence(fence) => {
                Some(fence.content(&self.partial)).filter(|_| !fence.may_be_closed_by(&self.partial))
            }
            OpenBlock::Formula(formula) => Some(self.partial.as_str()).filter(|line| !formula.may_end_with(line)),
            OpenBlock::IndentedCode { .. } => Some(dedent(&self.partial, CODE_INDENT)),
            _ => None,
        }
        .filter(|line| !line.is_empty())
    }

    /// Whether lines leave one by one, as they are.
    fn is_code(&self) -> bool {
        matches!(self.open, OpenBlock::Fence(_) | OpenBlock::Formula(_) | OpenBlock::IndentedCode { .. })
    }

    fn line(&mut self, line: &str, out: &mut Vec<BlockPiece>) {
        match &mut self.open {
            OpenBlock::Nothing => self.start(line, out),
            OpenBlock::Fence(fence) if fence.is_closed_by(line) => self.close(out),
            OpenBlock::Fence(fence) => out.push(BlockPiece::CodeLine(fence.content(line).to_owned())),
            OpenBlock::Formula(formula) => match formula.line(line) {
                FormulaLine::Inside(blanks, text) => {
                    out.extend(std::iter::repeat_n(BlockPiece::FormulaLine(String::new()), blanks));
                    out.push(BlockPiece::FormulaLine(text.to_owned()));
                }
                FormulaLine::Blank => {}
                FormulaLine::Last(text) => {
                    out.extend(text.map(|text| BlockPiece::FormulaLine(text.to_owned())));
                    self.close(out);
                }
                FormulaLine::NotPart => self.close_and_start(line, out),
            },
            OpenBlock::IndentedCode { held_blanks } => {
                if is_blank(line) {
                    *held_blanks = (*held_blanks + 1).min(MAX_HELD_BLANKS);
                } else if indent_columns(line) >= CODE_INDENT {
                    let blanks = std::mem::take(held_blanks);
                    out.extend(std::iter::repeat_n(BlockPiece::CodeLine(String::new()), blanks));
                    out.push(BlockPiece::CodeLine(dedent(line, CODE_INDENT).to_owned()));
                } else {
                    self.close_and_start(line, out);
                }
            }
            OpenBlock::Flow if is_setext_underline(line) && !self.block.text.is_empty() => {
                self.append(line);
                self.close(out);
            }
            OpenBlock::Flow | OpenBlock::Quote if is_blank(line) => {
                self.close(out);
                self.is_after_blank = true;
            }
            OpenBlock::Quote if is_quote(line) => self.append(line),
            OpenBlock::Flow | OpenBlock::Quote if interrupts_paragraph(line) => self.close_and_start(line, out),
            OpenBlock::Flow | OpenBlock::Quote => self.append(line),
            OpenBlock::Item(item) => {
                if is_blank(line) {
                    item.is_after_blank = true;
                    self.append("");
                } else if indent_columns(line) >= item.content_column {
                    item.is_after_blank = false;
                    self.append(line);
                } else if item.is_after_blank || Marker::of(line).is_some() || interrupts_paragraph(line) {
                    self.is_after_blank = item.is_after_blank;
                    self.close_and_start(line, out);
                } else {
                    self.append(line);
                }
            }
        }
    }

    fn start(&mut self, line: &str, out: &mut Vec<BlockPiece>) {
        if is_blank(line) {
            self.is_after_blank = true;
            return;
        }
        let line_before = std::mem::take(&mut self.line_before);
        let marker = Marker::of(line);
        let (has_gap, number) = self.gap_and_number(marker.as_ref());
        self.last_item = marker.map(|marker| (marker.kind, number));
        self.is_after_blank = false;
        if let Some(fence) = Fence::open(line) {
            out.push(BlockPiece::CodeStart(fence.title.clone().below(&line_before)));
            self.open = OpenBlock::Fence(fence);
            return;
        }
        if indent_columns(line) >= CODE_INDENT {
            out.push(BlockPiece::CodeStart(CodeTitle::default()));
            out.push(BlockPiece::CodeLine(dedent(line, CODE_INDENT).to_owned()));
            self.open = OpenBlock::IndentedCode { held_blanks: 0 };
            return;
        }
        if let Some(start) = Formula::start(line) {
            out.push(BlockPiece::FormulaStart);
            match start {
                FormulaStart::Whole(text) => out.push(BlockPiece::FormulaLine(text.to_owned())),
                FormulaStart::Open(formula, text) => {
                    out.extend(text.map(|text| BlockPiece::FormulaLine(text.to_owned())));
                    self.open = OpenBlock::Formula(formula);
                }
            }
            return;
        }
        self.block = MarkdownBlock { has_gap, number, ..MarkdownBlock::default() };
        self.append(line);
        self.open = match marker {
            Some(marker) => OpenBlock::Item(ListItem {
                content_column: marker.content_column,
                marker_text: line.chars().take(marker.content_column).collect(),
                is_after_blank: false,
            }),
            None if is_quote(line) => OpenBlock::Quote,
            None => OpenBlock::Flow,
        };
        if is_heading(line) || (marker.is_none() && is_rule(line)) {
            self.close(out);
        }
    }

    /// Items of one list stand together unless the text has a blank line between them, and count on.
    fn gap_and_number(&self, marker: Option<&Marker>) -> (bool, Option<u64>) {
        match (marker, self.last_item) {
            (Some(marker), Some((kind, number))) if kind == marker.kind => {
                (self.is_after_blank, number.map(|number| number.saturating_add(1)))
            }
            (marker, _) => (true, marker.and_then(|marker| marker.number)),
        }
    }

    fn append(&mut self, line: &str) {
        self.block.text.push_str(line);
        self.block.text.push('\n');
    }

    fn close_and_start(&mut self, line: &str, out: &mut Vec<BlockPiece>) {
        self.close(out);
        self.start(line, out);
    }

    fn close(&mut self, out: &mut Vec<BlockPiece>) {
        let block = std::mem::take(&mut self.block);
        let has_text = block.text.len() > std::mem::take(&mut self.carried_bytes);
        match std::mem::take(&mut self.open) {
            OpenBlock::Nothing | OpenBlock::Formula(_) => {}
            OpenBlock::Fence(_) | OpenBlock::IndentedCode { .. } => out.push(BlockPiece::CodeEnd),
            OpenBlock::Flow | OpenBlock::Quote | OpenBlock::Item(_) if has_text => {
                last_line(&block.text).clone_into(&mut self.line_before);
                out.push(BlockPiece::Block(block));
            }
            OpenBlock::Flow | OpenBlock::Quote | OpenBlock::Item(_) => {}
        }
    }

    /// No room is left: a part goes out although the block is not over.
    fn overflow(&mut self, out: &mut Vec<BlockPiece>) {
        if self.is_code() {
            let line = std::mem::take(&mut self.partial);
            match &self.open {
                OpenBlock::Fence(fence) => out.push(BlockPiece::CodePart(fence.content(&line).to_owned())),
                OpenBlock::IndentedCode { .. } => out.push(BlockPiece::CodePart(dedent(&line, CODE_INDENT).to_owned())),
                _ => self.line(&line, out),
            }
            if matches!(self.open, OpenBlock::IndentedCode { .. }) {
                // The rest of the line is code as well.
                self.partial = " ".repeat(CODE_INDENT);
            }
            return;
        }
        if matches!(self.open, OpenBlock::Nothing) {
            let (has_gap, number) = self.gap_and_number(None);
            self.block = MarkdownBlock { has_gap, number, ..MarkdownBlock::default() };
            (self.open, self.last_item, self.is_after_blank) = (OpenBlock::Flow, None, false);
        }
        let carry = self.carry();
        if self.block.text.len() <= self.carried_bytes {
            let rest = self.partial.split_off(word_end(&self.partial));
            let head = std::mem::replace(&mut self.partial, rest);
            self.block.text.push_str(&head);
        }
        // Behind a bare marker the text must follow at once; behind a fence its indentation counts.
        if matches!(self.open, OpenBlock::Item(_)) && !carry.ends_with('\n') {
            self.partial = self.partial.trim_start().to_owned();
        }
        self.carried_bytes = carry.len();
        let resumed = MarkdownBlock { text: carry, is_resumed: true, ..MarkdownBlock::default() };
        out.push(BlockPiece::Block(std::mem::replace(&mut self.block, resumed)));
    }

    /// What the second part of a cut block must begin with to be read like the first.
    fn carry(&self) -> String {
        let text = &self.block.text;
        let carry = match &self.open {
            OpenBlock::Item(item) => {
                let lines = text.lines().map(|line| dedent(line, item.content_column));
                item.marker_text.clone() + &open_fence(lines)
            }
            OpenBlock::Quote => {
                let unquoted = |line| dedent(line, CODE_INDENT - 1).trim_start_matches('>');
                let fence = open_fence(text.lines().map(|line| dedent(unquoted(line), 1)));
                if fence.is_empty() { fence } else { format!("> {fence}") }
            }
            _ => table_head(text),
        };
        if carry.len() > MAX_CARRY_BYTES { String::new() } else { carry }
    }
}

/// The opening line of the fence that is open after these lines; empty if none is.
fn open_fence<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut open: Option<Fence> = None;
    for line in lines {
        open = match open {
            Some(fence) if fence.is_closed_by(line) => None,
            Some(fence) => Some(fence),
            None => Fence::open(line),
        };
    }
    open.map(|fence| fence.reopening()).unwrap_or_default()
}

/// Head and delimiter line of a table; empty if `text` is not a table.
fn table_head(text: &str) -> String {
    let mut lines = text.split_inclusive('\n');
    match (lines.next(), lines.next()) {
        (Some(head), Some(delimiter)) if head.contains('|') && delimiter.contains('-') && is_table_rule(delimiter) => {
            format!("{head}{delimiter}")
        }
        _ => String::new(),
    }
}

/// Whether a line may be the one below a table's head, or its start.
fn is_table_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t' | '\n'))
}

/// Where `text` is cut: behind its last blank if one is near its end.
fn word_end(text: &str) -> usize {
    let from = char_boundary(text, text.len().saturating_sub(MAX_WORD_SEARCH_BYTES));
    text[from..].rfind(' ').map_or(text.len(), |blank| from + blank + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pushes: &[&str]) -> Vec<BlockPiece> {
        let mut splitter = BlockSplitter::default();
        let mut out = Vec::new();
        for push in pushes {
            splitter.push(push, &mut out);
        }
        splitter.finish(&mut out);
        out
    }

    fn texts(text: &str) -> Vec<String> {
        split(&[text])
            .into_iter()
            .map(|piece| match piece {
                BlockPiece::Block(block) => block.text,
                BlockPiece::CodeStart(title) => format!("<{}>", title.language),
                BlockPiece::CodeLine(line) | BlockPiece::CodePart(line) => format!("|{line}"),
                BlockPiece::FormulaStart => "<$>".into(),
                BlockPiece::FormulaLine(line) => format!("${line}"),
                BlockPiece::CodeEnd => "</>".into(),
            })
            .collect()
    }

    #[test]
    fn a_blank_line_closes_a_paragraph_but_not_a_list_item() {
        assert_eq!(texts("a\nb\n\nc\n"), ["a\nb\n", "c\n"]);
        assert_eq!(texts("- a\n\n  b\n\nc\n"), ["- a\n\n  b\n\n", "c\n"]);
    }

    #[test]
    fn a_setext_underline_belongs_to_the_paragraph_above() {
        assert_eq!(texts("Title\n---\ntext"), ["Title\n---\n", "text\n"]);
    }

    #[test]
    fn code_leaves_line_by_line_and_hides_markdown() {
        assert_eq!(
            texts("```sh\n# no heading\n\n- no list\n```\nx"),
            ["<sh>", "|# no heading", "|", "|- no list", "</>", "x\n"]
        );
        assert_eq!(texts("    a\n\n    b\nc"), ["<>", "|a", "|", "|b", "</>", "c\n"]);
    }

    #[test]
    fn a_formula_hides_markdown_and_blank_lines() {
        assert_eq!(
            texts("so\n$$\n# a\n\n- b_1\n$$\nx\n\\[ a = b \\]\n"),
            ["so\n", "<$>", "$# a", "$", "$- b_1", "x\n", "<$>", "$a = b"]
        );
    }

    #[test]
    fn items_of_one_list_count_on_whatever_their_source_says() {
        let numbers: Vec<_> = split(&["3. a\n3. b\n\n3. c\n"])
            .into_iter()
            .map(|piece| match piece {
                BlockPiece::Block(block) => (block.number, block.has_gap),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(numbers, [(Some(3), true), (Some(4), false), (Some(5), true)]);
    }

    #[test]
    fn a_table_that_is_cut_keeps_its_head() {
        let mut table = String::from("| a | b |\n|---|---|\n");
        table.push_str(&"| some | thing |\n".repeat(2_000));
        let pieces = split(&[&table]);
        assert!(pieces.len() > 1);
        for piece in &pieces {
            let BlockPiece::Block(block) = piece else { panic!("{piece:?}") };
            assert!(block.text.starts_with("| a | b |\n|---|---|\n"));
            assert!(block.text.len() <= MAX_OPEN_BYTES);
        }
    }

    #[test]
    fn a_table_that_ends_where_it_is_cut_leaves_no_empty_second_part() {
        let mut table = String::from("| a | b |\n|---|---|\n");
        while table.len() < MAX_OPEN_BYTES {
            let room = (MAX_OPEN_BYTES - table.len()).min(100);
            table.push_str(&format!("|{}\n", "x".repeat(room - 2)));
        }
        assert_eq!(texts(&(table.clone() + "\nafter")), [table, "after\n".into()]);
    }

    #[test]
    fn an_endless_line_goes_out_in_parts_without_losing_a_letter() {
        let text = "wörd ".repeat(50_000);
        let joined: String = texts(&text).concat();
        assert_eq!(joined.replace('\n', ""), text);
    }

    #[test]
    fn an_endless_line_of_code_stays_code() {
        for start in ["```\n", "    x\n    "] {
            let pieces = split(&[&(start.to_owned() + &"y".repeat(MAX_OPEN_BYTES * 3))]);
            let letters: usize = pieces
                .iter()
                .map(|piece| match piece {
                    BlockPiece::CodeLine(line) | BlockPiece::CodePart(line) => line.matches('y').count(),
                    _ => 0,
                })
                .sum();
            assert_eq!(letters, MAX_OPEN_BYTES * 3);
        }
    }

    #[test]
    fn code_inside_a_long_item_is_still_code_after_the_cut() {
        let text = format!("- see\n  ```sh\n{}  ```\n", "  echo hello\n".repeat(3_000));
        let pieces = split(&[&text]);
        assert!(pieces.len() > 1);
        let BlockPiece::Block(second) = &pieces[1] else { panic!("a block") };
        assert!(second.text.starts_with("- ```sh\n  echo"), "{}", &second.text[..40]);
        assert!(second.is_resumed);
    }
}
