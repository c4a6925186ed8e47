//! Lines of code: indented, never cut, and kept apart from other lines until their colours are there.

use ratatui::text::{Line, Span};

use super::{copy::CodeBlock, title::CodeTitle};
use crate::wrap::{StyledRow, row_width, wrap_exactly};
use crate::{output_style::OutputStyle, theme};

/// Blanks before a line of code.
const CODE_INDENT: &str = "  ";

/// What is written on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Columns.
    pub(super) width: usize,
    pub(super) output_style: OutputStyle,
}

/// A part of a rendered block.
#[derive(Debug)]
pub(super) enum Rendered {
    Line(Line<'static>),
    /// Lines of code follow that may get colours.
    CodeStart {
        language: String,
    },
    Code(CodeLine),
    CodeEnd,
    /// The whole source of code that was shown.
    Source(CodeBlock),
}

/// A line of code and what stands left of it.
#[derive(Debug, Default)]
pub(super) struct CodeLine {
    pub(super) prefix: StyledRow,
    pub(super) text: String,
}

impl CodeLine {
    /// The line without colours, wrapped to `width` columns in all.
    pub(super) fn plain(&self, width: usize) -> Vec<Line<'static>> {
        self.coloured(&[Span::raw(self.text.as_str())], width)
    }

    /// The same with the text in colours.
    pub(super) fn coloured(&self, spans: &[Span<'_>], width: usize) -> Vec<Line<'static>> {
        let columns = width.saturating_sub(row_width(&self.prefix));
        let rows = code_rows(spans, columns).into_iter();
        rows.map(|row| Line::from_iter(self.prefix.iter().cloned().chain(row))).collect()
    }
}

/// The block without colours for its code.
pub(super) fn plain_lines(rendered: Vec<Rendered>, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for part in rendered {
        match part {
            Rendered::Line(line) => lines.push(line),
            Rendered::Code(line) => lines.extend(line.plain(width)),
            Rendered::CodeStart { .. } | Rendered::CodeEnd | Rendered::Source(_) => {}
        }
    }
    lines
}

/// The label above code, in one row; without a language it is there for who cannot see the indentation.
pub(super) fn code_label(title: &CodeTitle, page: Page) -> Option<StyledRow> {
    let columns = page.width.saturating_sub(CODE_INDENT.len());
    match (page.output_style, title.text(columns, page.output_style.choose(" · ", ", "))) {
        (OutputStyle::Rich, title) if title.is_empty() => None,
        (OutputStyle::Rich, title) => code_rows(&[Span::styled(title, theme::DIM)], page.width).into_iter().next(),
        (OutputStyle::Accessible, title) => {
            let label = if title.is_empty() { "Code:".to_owned() } else { format!("Code, {title}:") };
            wrap_exactly(&[Span::raw(label)], page.width).into_iter().next()
        }
    }
}

/// A line of code as rows of at most `width` columns that together hold every character.
pub(super) fn code_rows(spans: &[Span<'_>], width: usize) -> Vec<StyledRow> {
    let indent = if width > CODE_INDENT.len() * 2 { CODE_INDENT } else { "" };
    wrap_exactly(spans, width - indent.len())
        .into_iter()
        .map(|mut row| {
            if !row.is_empty() && !indent.is_empty() {
                row.insert(0, Span::raw(indent));
            }
            row
        })
        .collect()
}
