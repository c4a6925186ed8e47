//! Tables: fitted to the width with wrapped cells, or folded to `key: value` rows where columns would be too narrow to read.

use pulldown_cmark::Alignment;
use ratatui::text::Span;

use crate::wrap::{StyledRow, push_text, row_width, wrap_words};
use crate::{output_style::OutputStyle, theme};

/// Narrowest column that is worth the name, unless its content is narrower.
const MIN_COLUMN_WIDTH: usize = 6;
/// Tables with more columns are always folded.
const MAX_COLUMNS: usize = 32;
const SEPARATOR: &str = " │ ";
const SEPARATOR_WIDTH: usize = 3;

/// A cell's text.
type Cell = Vec<Span<'static>>;

/// A table while it is read: the first row is its head.
#[derive(Debug, Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Cell) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// The table's rows of text, none wider than `width`.
    pub(super) fn layout(&self, width: usize, output_style: OutputStyle) -> Vec<StyledRow> {
        match self.column_widths(width) {
            Some(widths) if output_style == OutputStyle::Rich => self.grid(&widths),
            _ => self.folded(width, output_style),
        }
    }

    fn natural_widths(&self) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = row_width(cell).max(*width);
            }
        }
        widths
    }

    /// Widths that fit: the widest columns give way first. `None` if one would become too narrow.
    fn column_widths(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        if count == 0 || count > MAX_COLUMNS {
            return None;
        }
        let available = width.checked_sub((count - 1) * SEPARATOR_WIDTH)?;
        let natural = self.natural_widths();
        if natural.iter().sum::<usize>() <= available {
            return Some(natural);
        }
        let limited = |limit: usize| natural.iter().map(move |&width| width.min(limit));
        let limit = (1..=available).rev().find(|&limit| limited(limit).sum::<usize>() <= available)?;
        (limit >= MIN_COLUMN_WIDTH).then(|| limited(limit).collect())
    }

    fn grid(&self, widths: &[usize]) -> Vec<StyledRow> {
        let wrapped: Vec<Vec<Vec<StyledRow>>> = self.rows.iter().map(|row| wrap_cells(row, widths)).collect();
        let has_tall_rows = wrapped.iter().skip(1).any(|row| row.iter().any(|cell| cell.len() > 1));
        let rule = || {
            let bars: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
            vec![Span::styled(bars.join("─┼─"), theme::DIM)]
        };
        let mut out = Vec::new();
        for (index, cells) in wrapped.iter().enumerate() {
            if index == 1 || (index > 1 && has_tall_rows) {
                out.push(rule());
            }
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            out.extend((0..height).map(|line| self.grid_line(cells, line, widths, index == 0)));
        }
        if self.rows.len() == 1 {
            out.push(rule());
        }
        out
    }

    fn grid_line(&self, cells: &[Vec<StyledRow>], line: usize, widths: &[usize], is_head: bool) -> StyledRow {
        let mut row = StyledRow::new();
        for (column, &width) in widths.iter().enumerate() {
            if column > 0 {
                push_text(&mut row, SEPARATOR, theme::DIM);
            }
            let text = cells.get(column).and_then(|cell| cell.get(line)).map_or(&[][..], Vec::as_slice);
            let free = width.saturating_sub(row_width(text));
            let before = match self.alignments[column] {
                Alignment::Right => free,
                Alignment::Center => free / 2,
                Alignment::Left | Alignment::None => 0,
            };
            let is_padded = column + 1 < widths.len() || !text.is_empty();
            push_text(&mut row, &" ".repeat(if is_padded { before } else { 0 }), theme::PLAIN);
            for span in text {
                let style = if is_head { theme::STRONG.patch(span.style) } else { span.style };
                push_text(&mut row, &span.content, style);
            }
            if column + 1 < widths.len() {
                push_text(&mut row, &" ".repeat(free - before), theme::PLAIN);
            }
        }
        row
    }

    fn folded(&self, width: usize, output_style: OutputStyle) -> Vec<StyledRow> {
        let Some((head, body)) = self.rows.split_first() else { return Vec::new() };
        if body.is_empty() {
            return head.iter().flat_map(|cell| wrap_words(cell, width)).collect();
        }
        let mut out = Vec::new();
        for (index, row) in body.iter().enumerate() {
            if index > 0 && output_style == OutputStyle::Rich {
                out.push(vec![Span::styled("─".repeat(width.min(8)), theme::DIM)]);
            }
            let facts = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            let mut facts = facts.map(|(column, cell)| fact(head.get(column), cell));
            match output_style {
                OutputStyle::Rich => out.extend(facts.flat_map(|fact| wrap_words(&fact, width))),
                // A record is a sentence.
                OutputStyle::Accessible => {
                    let mut record = facts.next().unwrap_or_default();
                    for fact in facts {
                        push_text(&mut record, "; ", theme::PLAIN);
                        record.extend(fact);
                    }
                    out.extend(wrap_words(&record, width));
                }
            }
        }
        out
    }
}

/// A cell behind the name of its column.
fn fact(name: Option<&Cell>, cell: &Cell) -> StyledRow {
    let mut row = StyledRow::new();
    for span in name.into_iter().flatten() {
        push_text(&mut row, &span.content, theme::STRONG.patch(span.style));
    }
    let colon = if row_width(&row) == 0 { "" } else { ": " };
    push_text(&mut row, colon, theme::STRONG);
    row.extend(cell.iter().cloned());
    row
}

fn wrap_cells(row: &[Cell], widths: &[usize]) -> Vec<Vec<StyledRow>> {
    row.iter().zip(widths).map(|(cell, &width)| wrap_words(cell, width)).collect()
}
