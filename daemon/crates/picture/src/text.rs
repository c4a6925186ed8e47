//! Draws charts with block characters. Pure.

use unicode_width::UnicodeWidthStr as _;

use super::chart::{Bar, Chart, Column, Kind, Row, Span};

/// Narrowest and widest bars, in columns of the terminal.
const BAR_COLUMNS: (usize, usize) = (8, 40);
/// Most cells for a count of a histogram.
const CELLS_PER_COUNT: usize = 2;
/// Between columns.
const GAP: usize = 2;
/// Ends of bars, in eighths of a cell.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Heights of the columns of a histogram.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The filling for a kind: they differ without colours.
#[must_use]
pub fn fill(kind: Kind) -> char {
    match kind {
        Kind::Main => '█',
        Kind::Tool => '▒',
        Kind::Waiting => '·',
    }
}

/// A bar of `columns` cells. A part that is too short for a cell still gets one.
#[must_use]
pub fn bar(bar: &Bar, columns: usize) -> String {
    match bar {
        Bar::Spans(spans) => match spans.as_slice() {
            // A single part from zero can end between two cells.
            [Span { from: 0.0, to, kind: Kind::Main }] => fine(*to, columns),
            spans => filled(spans, columns),
        },
        Bar::Columns(counts) => histogram(counts, columns),
    }
}

fn cell(fraction: f64, columns: usize) -> f64 {
    fraction.clamp(0.0, 1.0) * columns as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it lies between 0 and eight times the columns"
)]
fn fine(to: f64, columns: usize) -> String {
    let eighths = ((cell(to, columns) * 8.0).round() as usize).max(1);
    let end = EIGHTHS.get(eighths % 8).filter(|end| **end != ' ');
    let mut text = fill(Kind::Main).to_string().repeat(eighths / 8);
    text.extend(end);
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(text.chars().count())));
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 0 and the columns")]
fn filled(spans: &[Span], columns: usize) -> String {
    let mut cells = vec![' '; columns];
    for span in spans {
        let first = (cell(span.from, columns) as usize).min(columns.saturating_sub(1));
        let end = (cell(span.to, columns).round() as usize).max(first + 1);
        cells.iter_mut().take(end).skip(first).for_each(|cell| *cell = fill(span.kind));
    }
    cells.into_iter().collect()
}

/// Counts that are too many for the cells are joined; a few get several cells each.
fn histogram(counts: &[u64], columns: usize) -> String {
    let together = counts.len().div_ceil(columns.max(1)).max(1);
    let joined: Vec<u64> = counts.chunks(together).map(|counts| counts.iter().sum()).collect();
    let most = joined.iter().max().copied().unwrap_or(0).max(1);
    let height = |count: u64| {
        let index = (count.saturating_mul(8).div_ceil(most)).saturating_sub(1);
        usize::try_from(index).ok().and_then(|index| HEIGHTS.get(index)).copied().unwrap_or(' ')
    };
    let cells = (columns / joined.len().max(1)).clamp(1, CELLS_PER_COUNT);
    let drawn = |count: &u64| std::iter::repeat_n(if *count == 0 { ' ' } else { height(*count) }, cells);
    let text: String = joined.iter().flat_map(drawn).collect();
    format!("{text:columns$}")
}

/// The widest useful bars.
fn widest(chart: &Chart) -> usize {
    let cells = |row: &Row| match &row.bar {
        Bar::Columns(counts) => counts.len() * CELLS_PER_COUNT,
        Bar::Spans(_) => BAR_COLUMNS.1,
    };
    chart.rows.iter().map(cells).max().unwrap_or(0).clamp(BAR_COLUMNS.0, BAR_COLUMNS.1)
}

/// The marks of an axis above bars of `columns` cells; a mark without room is left out.
#[must_use]
pub fn axis(marks: &[(f64, String)], columns: usize) -> String {
    let mut text = String::new();
    for (place, word) in marks {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 0 and the columns"
        )]
        let place = (cell(*place, columns) as usize).min(columns.saturating_sub(word.width()));
        let is_free = text.is_empty() || text.width() < place;
        if is_free && place + word.width() <= columns {
            text.extend(std::iter::repeat_n(' ', place - text.width()));
            text.push_str(word);
        }
    }
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(text.width())));
    text
}

/// The widths of a table.
struct Layout {
    label: usize,
    /// Cells of the bars, if there is room for them.
    bar: Option<usize>,
    /// Width of each column; `None` for one that is left out.
    columns: Vec<Option<usize>>,
}

impl Layout {
    fn of(chart: &Chart, terminal: Option<usize>) -> Self {
        let rows = || chart.rows.iter().filter(|row| !row.cells.is_empty());
        let label = rows().map(|row| row.label.width()).chain([chart.head.width()]).max().unwrap_or(0);
        let width = |(index, column): (usize, &Column)| {
            rows().filter_map(|row| row.cells.get(index)).map(|cell| cell.width()).chain([column.head.width()]).max()
        };
        let widths: Vec<Option<usize>> = chart.columns.iter().enumerate().map(width).collect();
        let all = Self { label, bar: None, columns: widths.clone() };
        let Some(terminal) = terminal else { return all };
        let mut ranks: Vec<u8> = chart.columns.iter().map(|column| column.leave_out).collect();
        ranks.sort_unstable();
        ranks.dedup();
        for most in ranks.into_iter().rev() {
            let kept = chart.columns.iter().zip(&widths);
            let columns: Vec<_> = kept.map(|(column, width)| width.filter(|_| column.leave_out <= most)).collect();
            let taken: usize = label + columns.iter().flatten().map(|width| width + GAP).sum::<usize>();
            let bar = terminal.saturating_sub(taken + GAP).min(widest(chart));
            if bar >= BAR_COLUMNS.0 {
                return Self { label, bar: Some(bar), columns };
            }
        }
        all
    }

    fn line(&self, label: &str, bar: impl FnOnce(usize) -> String, cells: &[&str], columns: &[Column]) -> String {
        let mut line = label.to_owned();
        let mut end = self.label;
        let pad =
            |line: &mut String, end: usize| line.extend(std::iter::repeat_n(' ', end.saturating_sub(line.width())));
        if let Some(width) = self.bar {
            pad(&mut line, end + GAP);
            line.push_str(&bar(width));
            end += GAP + width;
        }
        for ((cell, column), width) in cells.iter().zip(columns).zip(&self.columns) {
            let Some(width) = width else { continue };
            let before = if column.is_left { 0 } else { width.saturating_sub(cell.width()) };
            pad(&mut line, end + GAP + before);
            line.push_str(cell);
            end += GAP + width;
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

/// The chart as a table. At a terminal with so many columns it has bars behind the labels; columns of lesser importance make room for
/// them. Elsewhere it has all figures and no bars.
#[must_use]
pub fn table(chart: &Chart, terminal: Option<usize>) -> String {
    let layout = Layout::of(chart, terminal);
    let heads: Vec<&str> = chart.columns.iter().map(|column| column.head).collect();
    let mut text = layout.line(&chart.head, |width| axis(&chart.axis, width), &heads, &chart.columns);
    for row in &chart.rows {
        let Row { label, bar: drawn, cells } = row;
        if cells.is_empty() && layout.bar.is_none() {
            continue;
        }
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        text += &layout.line(label, |width| bar(drawn, width), &cells, &chart.columns);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: f64, to: f64, kind: Kind) -> Span {
        Span { from, to, kind }
    }

    #[test]
    fn a_bar_is_as_long_as_its_amount() {
        let drawn = |amount| bar(&Bar::of(amount, 80), 10);
        let bars = [0, 1, 4, 40, 43, 80].map(drawn);
        assert_eq!(bars, ["          ", "▏         ", "▌         ", "█████     ", "█████▍    ", "██████████"]);
        assert_eq!(bar(&Bar::of(1, 1_000_000), 4), "▏   ", "little is not nothing");
    }

    #[test]
    fn parts_follow_each_other_and_none_is_lost() {
        let parts = [span(0.1, 0.5, Kind::Waiting), span(0.5, 0.8, Kind::Tool), span(0.999, 1.0, Kind::Main)];
        assert_eq!(bar(&Bar::Spans(parts.to_vec()), 10), " ····▒▒▒ █");
        assert_eq!(bar(&Bar::Spans(vec![span(0.7, 9.0, Kind::Tool)]), 4), "  ▒▒", "what exceeds the scale is cut");
        assert_eq!(bar(&Bar::Spans(vec![span(1.0, 1.0, Kind::Tool)]), 4), "   ▒");
    }

    #[test]
    fn a_histogram_joins_what_has_no_room() {
        assert_eq!(bar(&Bar::Columns(vec![1, 0, 8, 4, 0, 100]), 8), "▁ ▁▁ █  ", "one cell each, and blanks");
        assert_eq!(bar(&Bar::Columns(vec![1, 2]), 9), "▄▄██     ");
        assert_eq!(bar(&Bar::Columns(vec![1, 0, 8, 4, 0, 100]), 3), "▁▁█");
        assert_eq!(bar(&Bar::Columns(vec![u64::MAX / 16, 0]), 2), "█ ");
        assert_eq!(bar(&Bar::Columns(Vec::new()), 3), "   ");
    }

    #[test]
    fn marks_that_would_touch_are_left_out() {
        let marks =
            [(0.0, "0".to_owned()), (0.1, "10 s".to_owned()), (0.5, "30 s".to_owned()), (1.0, "1 min".to_owned())];
        assert_eq!(axis(&marks, 24), "0 10 s      30 s   1 min");
        assert_eq!(axis(&marks, 12), "0     30 s  ");
        assert_eq!(axis(&marks, 0), "");
    }

    #[test]
    fn a_narrow_terminal_leaves_columns_out_before_bars() {
        let columns = vec![Column::new("failed").or_without(1), Column::new("rare").or_without(2), Column::new("max")];
        let row = |label: &str, amount| Row {
            label: label.to_owned(),
            bar: Bar::of(amount, 10),
            cells: vec!["1".to_owned(), "2".to_owned(), amount.to_string()],
        };
        let rows = vec![row("bash", 10), row("read", 5)];
        let chart = Chart { head: String::new(), axis: Vec::new(), columns, rows, legend: Vec::new() };
        let shown = [Some(60), Some(34), Some(26), Some(18), None].map(|columns| table(&chart, columns));
        insta::assert_snapshot!(shown.join("---\n"));
    }
}
