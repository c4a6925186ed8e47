//! A few rows below the text that can be drawn again. Only relative cursor moves: no cursor queries, no scroll region, no second
//! screen, so that everything above the area is ordinary scrollback.
//!
//! Invariant: between two calls the cursor stands inside the area; without an area it stands at the start of an empty row, which
//! is also what the first call expects.

use ratatui::text::Line;

use super::ansi::{ColorSupport, cut_line, write_line, write_lines};

/// Style and letters are the usual ones from here on, whatever another program has left: a question must not be drawn invisibly.
const BEGIN_SYNCHRONIZED: &[u8] = b"\x1b[?2026h\x1b[m\x1b(B";
const END_SYNCHRONIZED: &[u8] = b"\x1b[?2026l";
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";
const ERASE_LINE: &[u8] = b"\x1b[2K";

/// A row as it stands on the screen.
#[derive(Debug, PartialEq, Eq)]
struct DrawnRow {
    bytes: Vec<u8>,
    columns: usize,
}

/// The rows at the bottom.
#[derive(Debug)]
pub struct LiveArea {
    width: usize,
    height: usize,
    colors: ColorSupport,
    rows: Vec<DrawnRow>,
    /// Row and column of the terminal's cursor, in `rows`.
    cursor: (usize, usize),
    is_cursor_shown: bool,
    was_resized: bool,
}

impl LiveArea {
    /// For a terminal of this size, in columns and rows. Nothing is drawn yet, the cursor is shown.
    #[must_use]
    pub fn new(width: u16, height: u16, colors: ColorSupport) -> Self {
        let (width, height) = (usize::from(width).max(1), usize::from(height).max(1));
        Self { width, height, colors, rows: Vec::new(), cursor: (0, 0), is_cursor_shown: true, was_resized: false }
    }

    /// Rows the area can have: one row always stays for the text above.
    #[must_use]
    pub fn max_rows(&self) -> usize {
        self.height.saturating_sub(1).max(1)
    }

    /// Columns of an area row: the last one stays free, so that no terminal wraps.
    #[must_use]
    pub fn max_columns(&self) -> usize {
        self.width.saturating_sub(1).max(1)
    }

    /// Whether rows are on the screen.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Writes `above` once, for good, and shows `area` below it; rows and columns that do not fit are left out, from the top and
    /// from the right. `cursor` is a row and column of `area`; without it the cursor is hidden while there is an area.
    pub fn draw(&mut self, above: &[Line<'_>], area: &[Line<'_>], cursor: Option<(usize, usize)>, out: &mut Vec<u8>) {
        let skipped = area.len().saturating_sub(self.max_rows());
        let rows: Vec<DrawnRow> = area[skipped..].iter().map(|line| self.drawn_row(line)).collect();
        let cursor = cursor
            .filter(|(row, _)| (skipped..area.len()).contains(row))
            .map(|(row, column)| (row - skipped, column.min(self.max_columns())));
        let is_cursor_shown = cursor.is_some() || rows.is_empty();
        let rests_at =
            cursor.unwrap_or_else(|| (rows.len().saturating_sub(1), rows.last().map_or(0, |row| row.columns)));
        let is_same = above.is_empty()
            && !self.was_resized
            && (rests_at, is_cursor_shown) == (self.cursor, self.is_cursor_shown)
            && rows == self.rows;
        if is_same {
            return;
        }
        out.extend_from_slice(BEGIN_SYNCHRONIZED);
        if self.is_cursor_shown && (self.is_drawn() || !rows.is_empty()) {
            out.extend_from_slice(HIDE_CURSOR);
            self.is_cursor_shown = false;
        }
        if above.is_empty() && !self.was_resized && !rows.is_empty() {
            self.redraw(rows, out);
        } else {
            self.erase(out);
            write_lines(above, self.colors, out);
            self.redraw(rows, out);
        }
        self.place_cursor(rests_at, out);
        if is_cursor_shown && !self.is_cursor_shown {
            out.extend_from_slice(SHOW_CURSOR);
        }
        self.is_cursor_shown = is_cursor_shown;
        out.extend_from_slice(END_SYNCHRONIZED);
    }

    /// Takes the area away; the cursor is shown at the start of its first row.
    pub fn clear(&mut self, out: &mut Vec<u8>) {
        self.draw(&[], &[], None, out);
    }

    /// The terminal has another size. Terminals rewrap: a row that became too wide takes several now, and the next call of
    /// [`draw`](Self::draw) removes as many.
    pub fn resize(&mut self, width: u16, height: u16) {
        let size = (usize::from(width).max(1), usize::from(height).max(1));
        self.was_resized |= self.is_drawn() && size != (self.width, self.height);
        (self.width, self.height) = size;
    }

    fn drawn_row(&self, line: &Line<'_>) -> DrawnRow {
        let cut = cut_line(line, self.max_columns());
        let mut bytes = Vec::new();
        write_line(&cut, self.colors, &mut bytes);
        DrawnRow { bytes, columns: cut.width() }
    }

    /// Rows of the screen that the first `count` rows of the area take.
    fn screen_rows(&self, count: usize) -> usize {
        self.rows[..count].iter().map(|row| row.columns.div_ceil(self.width).max(1)).sum()
    }

    /// From the area's cursor to the start of its first row, as far as that is still on the screen.
    fn go_to_top(&self, out: &mut Vec<u8>) {
        let (row, column) = self.cursor;
        let columns = self.rows.get(row).map_or(0, |row| row.columns);
        // Behind the last letter the cursor has not yet gone to the next row.
        let column = if column < columns { column } else { column.saturating_sub(1) };
        let up = self.screen_rows(row.min(self.rows.len())) + column / self.width;
        move_cursor(up.min(self.height - 1), b'A', out);
        out.push(b'\r');
    }

    /// Removes all rows; the cursor ends where the first one was.
    fn erase(&mut self, out: &mut Vec<u8>) {
        if !self.is_drawn() {
            return;
        }
        self.go_to_top(out);
        let count = self.screen_rows(self.rows.len()).min(self.height);
        for row in 0..count {
            out.extend_from_slice(ERASE_LINE);
            if row + 1 < count {
                move_cursor(1, b'B', out);
            }
        }
        move_cursor(count - 1, b'A', out);
        self.rows.clear();
        self.cursor = (0, 0);
        self.was_resized = false;
    }

    /// Writes the rows that differ from what is there and removes what is too much.
    fn redraw(&mut self, rows: Vec<DrawnRow>, out: &mut Vec<u8>) {
        self.go_to_top(out);
        let old = std::mem::take(&mut self.rows);
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b"\r\n");
            }
            if old.get(index) != Some(row) {
                if index < old.len() {
                    out.extend_from_slice(ERASE_LINE);
                }
                out.extend_from_slice(&row.bytes);
            }
        }
        let surplus = old.len().saturating_sub(rows.len());
        for _ in 0..surplus {
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(ERASE_LINE);
        }
        move_cursor(surplus, b'A', out);
        self.cursor = (rows.len().saturating_sub(1), 0);
        self.rows = rows;
    }

    /// From the last row, at any column, to a row and column.
    fn place_cursor(&mut self, to: (usize, usize), out: &mut Vec<u8>) {
        move_cursor(self.rows.len().saturating_sub(1).saturating_sub(to.0), b'A', out);
        out.push(b'\r');
        move_cursor(to.1, b'C', out);
        self.cursor = to;
    }
}

fn move_cursor(by: usize, direction: u8, out: &mut Vec<u8>) {
    match by {
        0 => {}
        1 => out.extend_from_slice(&[0x1b, b'[', direction]),
        _ => {
            out.extend_from_slice(format!("\x1b[{by}").as_bytes());
            out.push(direction);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use proptest::prelude::*;

    use super::*;
    use crate::markdown::MarkdownStream;

    const SCROLLBACK_ROWS: usize = 5_000;

    struct Screen {
        parser: vt100::Parser,
        area: LiveArea,
    }

    impl Screen {
        /// A terminal in which something else wrote a line before.
        fn with_prompt(width: u16, height: u16) -> Self {
            let mut screen = Self::new(width, height);
            screen.parser.process(b"$\r\n");
            screen
        }

        fn new(width: u16, height: u16) -> Self {
            Self {
                parser: vt100::Parser::new(columns(height), columns(width), SCROLLBACK_ROWS),
                area: LiveArea::new(width, height, ColorSupport::Ansi16),
            }
        }

        fn draw(&mut self, above: &[String], area: &[String], cursor: Option<(usize, usize)>) -> Vec<u8> {
            let lines = |texts: &[String]| texts.iter().map(|text| Line::raw(text.clone())).collect::<Vec<_>>();
            let mut out = Vec::new();
            self.area.draw(&lines(above), &lines(area), cursor, &mut out);
            self.parser.process(&out);
            out
        }

        /// Everything ever shown that was not erased, without blank rows at the end.
        fn all_rows(&mut self) -> Vec<String> {
            let width = self.parser.screen().size().1.get();
            let screen = self.parser.screen_mut();
            screen.set_scrollback(usize::MAX);
            let count = screen.scrollback();
            let mut rows = Vec::new();
            for offset in (1..=count).rev() {
                screen.set_scrollback(offset);
                rows.extend(screen.rows(0, width).next());
            }
            screen.set_scrollback(0);
            rows.extend(screen.rows(0, width));
            while rows.last().is_some_and(String::is_empty) {
                rows.pop();
            }
            rows
        }
    }

    fn columns(count: u16) -> NonZero<u16> {
        NonZero::new(count).expect("a size of at least one")
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn unchanged_rows_are_not_sent_again() {
        let mut screen = Screen::new(20, 5);
        screen.draw(&[], &texts(&["one", "two"]), None);
        let out = screen.draw(&[], &texts(&["one", "new"]), None);
        let text = String::from_utf8(out).expect("text");
        assert!(!text.contains("one") && text.contains("new"), "{text:?}");
        assert!(screen.draw(&[], &texts(&["one", "new"]), None).is_empty());
    }

    #[test]
    fn every_draw_is_one_synchronized_update() {
        let out = Screen::new(20, 5).draw(&texts(&["x"]), &texts(&["one"]), None);
        assert!(out.starts_with(BEGIN_SYNCHRONIZED) && out.ends_with(END_SYNCHRONIZED));
    }

    #[test]
    fn the_cursor_is_hidden_unless_asked_for_and_back_after_clear() {
        let mut screen = Screen::new(20, 5);
        screen.draw(&[], &texts(&["one", "two"]), None);
        assert!(screen.parser.screen().hide_cursor());
        screen.draw(&[], &texts(&["one", "two"]), Some((0, 2)));
        assert!(!screen.parser.screen().hide_cursor());
        assert_eq!(screen.parser.screen().cursor_position(), (0, 2));
        let mut out = Vec::new();
        screen.area.clear(&mut out);
        screen.parser.process(&out);
        assert!(!screen.parser.screen().hide_cursor());
        assert_eq!(screen.parser.screen().cursor_position(), (0, 0));
        assert_eq!(screen.all_rows(), Vec::<String>::new());
    }

    #[test]
    fn an_area_taller_than_the_screen_shows_its_end() {
        let mut screen = Screen::new(20, 3);
        screen.draw(&texts(&["above"]), &texts(&["1", "2", "3", "4"]), Some((3, 1)));
        assert_eq!(screen.all_rows(), ["above", "3", "4"]);
    }

    #[test]
    fn a_narrower_terminal_is_cleared_of_the_rewrapped_rows() {
        let mut area = LiveArea::new(20, 10, ColorSupport::None);
        let mut out = Vec::new();
        area.draw(&[], &[Line::raw("x".repeat(19)), Line::raw("y")], None, &mut out);
        area.resize(8, 10);
        out.clear();
        area.clear(&mut out);
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text.matches("\x1b[2K").count(), 4, "19 columns take 3 rows of 8: {text:?}");
        assert!(text.contains("\x1b[3A\r"), "{text:?}");
    }

    #[test]
    fn the_cursor_inside_a_rewrapped_row_counts() {
        let mut area = LiveArea::new(20, 10, ColorSupport::None);
        let mut out = Vec::new();
        area.draw(&[], &[Line::raw("x".repeat(19))], Some((0, 8)), &mut out);
        area.resize(8, 10);
        out.clear();
        area.clear(&mut out);
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("\x1b[?25l\x1b[A\r"), "column 8 is in the second row of 8: {text:?}");
    }

    #[test]
    fn a_wider_terminal_keeps_what_is_above() {
        let mut screen = Screen::new(10, 5);
        screen.draw(&texts(&["a", "b"]), &texts(&["area"]), None);
        screen.parser.screen_mut().set_size(columns(5), columns(30));
        screen.area.resize(30, 5);
        screen.draw(&texts(&["c"]), &texts(&["area, and more of it"]), None);
        assert_eq!(screen.all_rows(), ["a", "b", "c", "area, and more of it"]);
    }

    #[test]
    fn an_answer_streams_into_the_scrollback_whole() {
        let answer = "# Title\n\nA paragraph that wraps at forty columns, at the very latest here.\n\n- one\n- two\n\n\
            ```\nlet x = 1;\n\nlet y = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\nThe end.\n";
        let whole = {
            let mut stream = MarkdownStream::new(40, None);
            stream.push(answer);
            crate::ui::describe::plain(&stream.finish())
        };
        for (height, chunk) in [(2, 1), (5, 3), (24, 7)] {
            let mut screen = Screen::with_prompt(41, height);
            let mut stream = MarkdownStream::new(40, None);
            let mut out = Vec::new();
            for chunk in answer.as_bytes().chunks(chunk) {
                stream.push(std::str::from_utf8(chunk).expect("ASCII"));
                let closed = stream.take_closed();
                screen.area.draw(&closed, stream.tail(), None, &mut out);
            }
            screen.area.draw(&stream.finish(), &[], None, &mut out);
            screen.parser.process(&out);
            let rows: String = screen.all_rows().iter().map(|row| row.trim_end().to_owned() + "\n").collect();
            assert_eq!(rows, format!("$\n{whole}"), "height {height}");
        }
    }

    type Step = (Vec<String>, Vec<String>, Option<(usize, usize)>);

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let text = "[a-z日]{1,12}";
        let above = prop::collection::vec(text, 0..4);
        let area = prop::collection::vec(text, 0..7);
        let cursor = prop::option::of((0usize..7, 0usize..14));
        prop::collection::vec((above, area, cursor), 1..12)
    }

    proptest! {
        #[test]
        fn scrollback_is_all_that_was_written_above_and_the_area_is_below(
            steps in steps(),
            size in prop::sample::select(vec![(2u16, 2u16), (20, 5), (80, 24), (500, 200)]),
        ) {
            let (width, height) = size;
            let mut screen = Screen::with_prompt(width, height);
            let mut expected = texts(&["$"]);
            for (above, area, cursor) in &steps {
                // What is given as `above` is wrapped to the terminal already.
                let above: Vec<String> =
                    above.iter().map(|text| cut_line(&Line::raw(text), usize::from(width)).to_string()).filter(|text| !text.is_empty()).collect();
                screen.draw(&above, area, *cursor);
                expected.extend(above);
                let shown = area.len().saturating_sub(screen.area.max_rows());
                let columns = screen.area.max_columns();
                let mut all = expected.clone();
                all.extend(area[shown..].iter().map(|text| cut_line(&Line::raw(text), columns).to_string()));
                while all.last().is_some_and(String::is_empty) {
                    all.pop();
                }
                prop_assert_eq!(screen.all_rows(), all);
            }
        }
    }

    #[test]
    fn what_another_program_left_does_not_style_the_area() {
        let mut screen = Screen::with_prompt(40, 10);
        screen.parser.process(b"\x1b[8;7;30;40m");
        screen.draw(&["above".into()], &["Run this command?".into()], None);
        for row in 1..3 {
            let cell = screen.parser.screen().cell(row, 0).unwrap();
            assert!(!cell.inverse() && cell.fgcolor() == vt100::Color::Default, "{}", cell.contents());
        }
    }
}
