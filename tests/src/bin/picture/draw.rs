//! Draws a screen as an SVG: text and rectangles, the terminal's 16 colours on a separate dark ground, so that it is readable on light
//! and dark pages. No font is embedded: each run of letters has an explicit width.

use std::num::NonZeroU16;

use vt100::{Cell, Color};

use crate::cast::{Cast, Kind};

const CELL_WIDTH: f64 = 8.4;
const CELL_HEIGHT: f64 = 18.0;
const FONT_SIZE: f64 = 14.0;
/// From the top of a row to the line on which letters stand.
const BASELINE: f64 = 13.5;
const MARGIN: f64 = 14.0;
const GROUND: &str = "#1d2129";
const LETTERS: &str = "#d5dae3";
/// Black to white, then the bright ones.
const PALETTE: [&str; 16] = [
    "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf", "#5c6370", "#f0808a",
    "#b0d890", "#f0d090", "#80c4ff", "#d898ee", "#70d0dc", "#ffffff",
];

/// The style of a run of cells.
#[derive(Clone, Debug, PartialEq)]
struct Style {
    color: String,
    ground: Option<String>,
    is_bold: bool,
    is_dim: bool,
    is_italic: bool,
    is_underlined: bool,
}

/// Cells of one row with the same style.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    column: usize,
    cells: usize,
    text: String,
    style: Style,
}

/// The screen at the first marker, else at the end.
pub(crate) fn svg(cast: &Cast) -> String {
    let size = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
    let mut parser = vt100::Parser::new(size(cast.rows), size(cast.columns), 0);
    for event in &cast.events {
        match &event.kind {
            Kind::Output(text) => parser.process(text.as_bytes()),
            Kind::Marker(_) => break,
        }
    }
    let screen = parser.screen();
    let mut rows: Vec<Vec<Run>> = (0..cast.rows).map(|row| runs(screen, row, cast.columns)).collect();
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
    picture(&rows, cast.columns)
}

fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else { continue };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let (style, cells) = (style(cell), if cell.is_wide() { 2 } else { 1 });
        let at = usize::from(column);
        match runs.last_mut().filter(|run| run.style == style && run.column + run.cells == at) {
            Some(run) => {
                run.text.push_str(text);
                run.cells += cells;
            }
            None => runs.push(Run { column: at, cells, text: text.to_owned(), style }),
        }
    }
    // Blanks without a ground are nothing to be drawn; inside a run they keep the letters apart.
    runs.retain(|run| run.style.ground.is_some() || !run.text.trim().is_empty());
    for run in runs.iter_mut().filter(|run| run.style.ground.is_none()) {
        let leading = run.text.len() - run.text.trim_start_matches(' ').len();
        let trailing = run.text.len() - run.text.trim_end_matches(' ').len();
        run.text = run.text.trim_matches(' ').to_owned();
        run.column += leading;
        run.cells -= leading + trailing;
    }
    runs
}

fn style(cell: &Cell) -> Style {
    let name = |color: Color| match color {
        Color::Default => None,
        Color::Idx(index) => {
            Some(PALETTE.get(usize::from(index)).map_or_else(|| LETTERS.to_owned(), |name| (*name).to_owned()))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    };
    let (mut color, mut ground) = (name(cell.fgcolor()), name(cell.bgcolor()));
    if cell.inverse() {
        (color, ground) = (ground.or_else(|| Some(GROUND.to_owned())), color.or_else(|| Some(LETTERS.to_owned())));
    }
    Style {
        color: color.unwrap_or_else(|| LETTERS.to_owned()),
        ground,
        is_bold: cell.bold(),
        is_dim: cell.dim(),
        is_italic: cell.italic(),
        is_underlined: cell.underline(),
    }
}

fn picture(rows: &[Vec<Run>], columns: u16) -> String {
    let width = f64::from(columns).mul_add(CELL_WIDTH, 2.0 * MARGIN);
    let height = (rows.len() as f64).mul_add(CELL_HEIGHT, 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"{FONT_SIZE}\">\n\
         <title>A session of cohab</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n"
    );
    for (number, row) in rows.iter().enumerate() {
        let top = (number as f64).mul_add(CELL_HEIGHT, MARGIN);
        for run in row {
            draw(run, top, &mut svg);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(run: &Run, top: f64, svg: &mut String) {
    let left = (run.column as f64).mul_add(CELL_WIDTH, MARGIN);
    let width = run.cells as f64 * CELL_WIDTH;
    if let Some(ground) = &run.style.ground {
        svg.push_str(&format!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{ground}\"/>\n"
        ));
    }
    if run.text.trim().is_empty() {
        return;
    }
    let style = &run.style;
    let more: String = [
        (style.is_bold, " font-weight=\"bold\""),
        (style.is_dim, " opacity=\"0.6\""),
        (style.is_italic, " font-style=\"italic\""),
        (style.is_underlined, " text-decoration=\"underline\""),
    ]
    .iter()
    .filter(|(is, _)| *is)
    .map(|(_, attribute)| *attribute)
    .collect();
    svg.push_str(&format!(
        "<text x=\"{left:.1}\" y=\"{:.1}\" fill=\"{}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
         xml:space=\"preserve\"{more}>{}</text>\n",
        top + BASELINE,
        style.color,
        escaped(&run.text)
    ));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::Event;

    fn drawn(events: Vec<Kind>) -> String {
        let events = events.into_iter().map(|kind| Event { at_ms: 0, kind }).collect();
        svg(&Cast { columns: 20, rows: 5, events })
    }

    #[test]
    fn colours_weights_and_columns_are_kept_and_letters_escaped() {
        let svg = drawn(vec![Kind::Output("a  \u{1b}[1;31mb<&\u{1b}[0m 漢\r\n\u{1b}[7mx\u{1b}[0m".into())]);
        assert!(svg.contains(&format!("fill=\"{}\"", PALETTE[1])) && svg.contains("font-weight=\"bold\""), "{svg}");
        assert!(svg.contains(">b&lt;&amp;</text>") && svg.contains("x=\"39.2\""), "{svg}");
        // Two columns wide, and on a separate ground.
        assert!(svg.contains("textLength=\"16.8\"") && svg.contains(&format!("fill=\"{LETTERS}\"/>")), "{svg}");
    }

    #[test]
    fn the_marker_is_the_moment_and_empty_rows_below_are_left_out() {
        let svg = drawn(vec![Kind::Output("before".into()), Kind::Marker("here".into()), Kind::Output("after".into())]);
        assert!(svg.contains("before") && !svg.contains("after"), "{svg}");
        assert!(svg.contains("height=\"46\""), "{svg}");
    }
}
