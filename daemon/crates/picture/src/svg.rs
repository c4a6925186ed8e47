//! Draws charts as an SVG file that can be read on a light and on a dark page. Pure.

use std::fmt::Write as _;

use cohab_text::sanitize::one_line;
use unicode_width::UnicodeWidthStr as _;

use super::chart::{Bar, Chart, Kind, Row};

/// Sizes, in pixels.
const WIDTH: usize = 860;
const MARGIN: usize = 16;
const ROW: usize = 20;
const BAR_HEIGHT: usize = 12;
const LETTER: usize = 7;
const GAP: usize = 14;
const BAR_MIN: usize = 120;
/// Widest label, in letters.
const LABEL_LETTERS: usize = 44;

/// Grey, blue, green and amber that stand out from white as well as from black; the page's own colour scheme chooses between two sets.
const STYLE: &str = "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f}\
    .dim{fill:#57606a}.title{font-weight:bold}.line{stroke:#d0d7de}\
    .main{fill:#0969da}.tool{fill:#1a7f37}.waiting{fill:#bf8700}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#8d96a0}.line{stroke:#30363d}\
    .main{fill:#4493f8}.tool{fill:#3fb950}.waiting{fill:#d29922}}";

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Main => "main",
        Kind::Tool => "tool",
        Kind::Waiting => "waiting",
    }
}

/// Text between tags or in an attribute. What is no character of XML becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in one_line(text, usize::MAX).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A document with a title and the charts below each other.
#[must_use]
pub fn document(title: &str, charts: &[Chart]) -> String {
    let mut drawing = Drawing { body: String::new(), y: MARGIN };
    drawing.text(MARGIN, "title", "start", title);
    drawing.y += ROW + GAP / 2;
    charts.iter().for_each(|chart| drawing.chart(chart));
    let (height, title) = (drawing.y + MARGIN - GAP, escaped(title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n{}</svg>\n",
        drawing.body
    )
}

struct Drawing {
    body: String,
    /// Upper edge of the next row.
    y: usize,
}

impl Drawing {
    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    fn text(&mut self, x: usize, class: &str, anchor: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        // Blanks at the beginning would be dropped.
        let x = x + (text.len() - text.trim_start().len()) * LETTER;
        let (y, text) = (self.y + ROW * 7 / 10, escaped(text.trim_start()));
        self.push(format_args!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"));
    }

    fn rect(&mut self, (x, width): (f64, f64), (y, height): (f64, f64), class: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" class=\"{class}\"/>",
            width.max(1.0)
        ));
    }

    fn chart(&mut self, chart: &Chart) {
        let letters = |text: &str| text.width().min(LABEL_LETTERS) * LETTER;
        let rows = || chart.rows.iter().filter(|row| !row.cells.is_empty());
        let label = chart.rows.iter().map(|row| letters(&row.label)).chain([letters(&chart.head)]).max().unwrap_or(0);
        // Right edges of the columns, from the right.
        let mut edges = Vec::with_capacity(chart.columns.len());
        let mut edge = WIDTH - MARGIN;
        for (index, column) in chart.columns.iter().enumerate().rev() {
            let cells = rows().filter_map(|row| row.cells.get(index)).map(|cell| letters(cell));
            edges.push(edge);
            edge = edge.saturating_sub(cells.chain([letters(column.head)]).max().unwrap_or(0) + GAP);
        }
        edges.reverse();
        let bar = (MARGIN + label + GAP, edge.saturating_sub(MARGIN + label + GAP).max(BAR_MIN));
        self.text(MARGIN, "dim", "start", &chart.head);
        for (column, edge) in chart.columns.iter().zip(&edges) {
            self.text(*edge, "dim", "end", column.head);
        }
        let (top, height) = (self.y + ROW, ROW * chart.rows.len());
        for (place, word) in &chart.axis {
            let x = at(bar, *place);
            self.push(format_args!(
                "<line x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{}\" class=\"line\"/>",
                top + height
            ));
            let y = self.y + ROW * 7 / 10;
            let anchor = if *place > 0.9 { "end" } else { "start" };
            self.push(format_args!(
                "<text x=\"{x:.1}\" y=\"{y}\" class=\"dim\" text-anchor=\"{anchor}\">{}</text>",
                escaped(word)
            ));
        }
        self.y += ROW;
        chart.rows.iter().for_each(|row| self.row(row, bar, &edges));
        self.legend(chart);
        self.y += GAP;
    }

    fn row(&mut self, row: &Row, bar: (usize, usize), edges: &[usize]) {
        let indent = row.label.len() - row.label.trim_start().len();
        let words = one_line(row.label.trim_start(), LABEL_LETTERS.saturating_sub(indent));
        let class = if row.cells.is_empty() { "dim" } else { "" };
        self.text(MARGIN, class, "start", &format!("{:indent$}{words}", ""));
        let upper = self.y as f64 + (ROW - BAR_HEIGHT) as f64 / 2.0;
        match &row.bar {
            Bar::Spans(spans) => {
                for span in spans {
                    let (from, to) = (at(bar, span.from), at(bar, span.to));
                    self.rect((from, to - from), (upper, BAR_HEIGHT as f64), self::class(span.kind));
                }
            }
            Bar::Columns(counts) => {
                let most = counts.iter().max().copied().unwrap_or(0).max(1) as f64;
                let width = bar.1 as f64 / counts.len().max(1) as f64;
                for (index, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                    let height = (*count as f64 / most * BAR_HEIGHT as f64).max(1.0);
                    let x = bar.0 as f64 + index as f64 * width;
                    self.rect((x, width - 1.0), (upper + BAR_HEIGHT as f64 - height, height), "main");
                }
            }
        }
        for (cell, edge) in row.cells.iter().zip(edges) {
            self.text(*edge, "", "end", cell);
        }
        self.y += ROW;
    }

    fn legend(&mut self, chart: &Chart) {
        if chart.legend.is_empty() {
            return;
        }
        let mut x = MARGIN;
        for (kind, words) in &chart.legend {
            let upper = self.y as f64 + (ROW - BAR_HEIGHT) as f64 / 2.0;
            self.rect((x as f64, BAR_HEIGHT as f64), (upper, BAR_HEIGHT as f64), class(*kind));
            self.text(x + BAR_HEIGHT + LETTER, "dim", "start", words);
            x += BAR_HEIGHT + LETTER + words.width() * LETTER + GAP;
        }
        self.y += ROW;
    }
}

fn at((from, width): (usize, usize), place: f64) -> f64 {
    from as f64 + place.clamp(0.0, 1.0) * width as f64
}

#[cfg(test)]
mod tests {
    use cohab_text::terminal_attack_fixtures::HOSTILE;

    use super::{super::chart::Column, *};

    fn chart(text: &str) -> Chart {
        let spans = vec![super::super::Span { from: 0.25, to: 0.5, kind: Kind::Waiting }];
        let row = |bar| Row { label: format!("  {text}"), bar, cells: vec![text.to_owned()] };
        let remark = Row { label: text.to_owned(), bar: Bar::Spans(Vec::new()), cells: Vec::new() };
        Chart {
            head: text.to_owned(),
            axis: vec![(0.0, "0".to_owned()), (1.0, text.to_owned())],
            columns: vec![Column::new("took")],
            rows: vec![row(Bar::Spans(spans)), row(Bar::Columns(vec![1, 0, 4])), remark],
            legend: vec![(Kind::Waiting, text.to_owned())],
        }
    }

    #[test]
    fn a_document_has_bars_figures_and_two_colour_schemes() {
        insta::assert_snapshot!(document("a turn", &[chart("bash")]));
    }

    #[test]
    fn text_of_others_stays_text() {
        let drawn = document("</title><script>", &[chart("<a href=\"x\" onload='y'>&\u{ffff}")]);
        assert!(!drawn.contains("<script") && !drawn.contains("<a ") && !drawn.contains('\u{ffff}'), "{drawn}");
        assert!(drawn.contains("&lt;a href=&quot;x&quot; onload=&#39;y&#39;&gt;&amp;\u{fffd}"), "{drawn}");
        for row in HOSTILE {
            let drawn = document(row.bytes, &[chart(row.bytes)]);
            assert!(!drawn.chars().any(|letter| letter.is_control() && letter != '\n'), "{}", row.name);
        }
    }
}
