//! A few rows below the text that can be drawn again. Only relative cursor moves: no cursor queries, no scroll region, no second
//! screen, so that everything above the area is ordinary scrollback.
//!
//! Of a new frame only what differs from the screen is written. Rows of the area that become final stay as they are; where text
//! only continues, nothing else is written than that text.
//!
//! Invariant: between two calls the cursor stands inside the area; without an area it stands at the start of an empty row, which
//! is also what the first call expects.

mod append;
mod row;

use ratatui::text::Line;

use self::{
    append::Printed,
    row::{DrawnRow, SharedStart, rows},
};
use super::{
    ansi::{ColorSupport, write_lines},
    link,
};
use crate::output_style::OutputStyle;

const BEGIN_SYNCHRONIZED: &[u8] = b"\x1b[?2026h";
const END_SYNCHRONIZED: &[u8] = b"\x1b[?2026l";
/// Style and letters are the usual ones from here on, even if another program has left others: a question must not be drawn invisibly.
const PLAIN_LETTERS: &[u8] = b"\x1b[m\x1b(B";
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";
const ERASE_LINE: &[u8] = b"\x1b[2K";
const ERASE_REST: &[u8] = b"\x1b[K";
/// A row that loses so many columns is erased first.
const MUCH_SHORTER: usize = 16;
const LINE_END: &[u8] = b"\r\n";
const WIPE_SCREEN: &[u8] = b"\x1b[H\x1b[2J";

/// What the terminal can do and how it is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Styles.
    pub colors: ColorSupport,
    /// In the accessible style nothing is ever redrawn.
    pub output_style: OutputStyle,
    /// It obeys escape sequences.
    pub is_dumb: bool,
    /// Addresses may be marked as links.
    pub has_links: bool,
    /// A row that is too long for a narrower terminal continues in the next one, rather than being cut.
    pub rewraps: bool,
}

impl Abilities {
    /// For this process's environment.
    #[must_use]
    pub fn from_env() -> Self {
        let colors = ColorSupport::from_env();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let term = std::env::var("TERM").ok();
        Self::detect(colors, OutputStyle::from_env(colors), term.as_deref(), is_set("TMUX"), is_set("XTERM_VERSION"))
    }

    /// For what `TERM` says, whether tmux stands between, and whether it is xterm itself.
    #[must_use]
    pub fn detect(
        colors: ColorSupport,
        output_style: OutputStyle,
        term: Option<&str>,
        is_tmux: bool,
        is_xterm: bool,
    ) -> Self {
        let is_dumb = matches!(term, None | Some("" | "dumb"));
        let is_fancy = output_style == OutputStyle::Rich && colors != ColorSupport::None;
        let cuts = is_xterm || term.is_some_and(|term| term == "linux" || term.starts_with("screen"));
        Self {
            colors,
            output_style,
            is_dumb,
            has_links: is_fancy && link::is_known_to(term),
            rewraps: is_tmux || !cuts,
        }
    }
}

/// The rows at the bottom.
#[derive(Debug)]
pub struct LiveArea {
    width: usize,
    height: usize,
    abilities: Abilities,
    rows: Vec<DrawnRow>,
    /// Row and column of the terminal's cursor, in `rows`.
    cursor: (usize, usize),
    is_cursor_shown: bool,
    was_resized: bool,
    printed: Printed,
}

/// Where the terminal's cursor is while a frame is written.
struct Pen<'a> {
    row: usize,
    column: usize,
    /// The rows that are there, or were before this frame.
    existing: usize,
    out: &'a mut Vec<u8>,
    /// Something else was written than text that continues where the cursor stood.
    has_moved: bool,
}

impl LiveArea {
    /// For a terminal of this size, in columns and rows. Nothing is drawn yet, the cursor is shown.
    #[must_use]
    pub fn new(width: u16, height: u16, abilities: Abilities) -> Self {
        let (width, height) = (usize::from(width).max(1), usize::from(height).max(1));
        Self {
            width,
            height,
            abilities,
            rows: Vec::new(),
            cursor: (0, 0),
            is_cursor_shown: true,
            was_resized: false,
            printed: Printed::default(),
        }
    }

    /// From now on rows are drawn with these colours. What is drawn already keeps its own.
    pub fn set_colors(&mut self, colors: ColorSupport) {
        self.abilities.colors = colors;
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

    /// Whether rows are on the screen that may change.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Rows at the top of an area of `count` rows that have no place. They go by half a screen: an area that grows is then not
    /// redrawn with each row.
    #[must_use]
    pub fn skipped(&self, count: usize) -> usize {
        let step = (self.max_rows() / 2).max(1);
        count.saturating_sub(self.max_rows()).div_ceil(step) * step
    }

    /// Writes `above` once, for good, and shows `area` below it; rows and columns that do not fit are left out, from the top and
    /// from the right. `cursor` is a row and column of `area`; without it the cursor is hidden while there is an area.
    pub fn draw(&mut self, above: &[Line<'_>], area: &[Line<'_>], cursor: Option<(usize, usize)>, out: &mut Vec<u8>) {
        let Abilities { colors, output_style, is_dumb, has_links, .. } = self.abilities;
        if output_style == OutputStyle::Accessible {
            let begin = if is_dumb { b"" } else { PLAIN_LETTERS };
            return self.printed.draw(above, area, cursor.is_some(), begin, colors, out);
        }
        let skipped = self.skipped(area.len());
        let area = rows(&area[skipped..], self.max_columns(), has_links);
        let cursor = cursor
            .and_then(|(row, column)| Some((row.checked_sub(skipped)?, column.min(self.max_columns()))))
            .filter(|(row, _)| *row < area.len());
        let mut final_rows = rows(above, usize::MAX, has_links);
        let is_wide = final_rows.iter().any(|row| row.columns > self.max_columns());
        let is_same = final_rows.is_empty() && !self.was_resized && area == self.rows;
        if is_same
            && cursor.unwrap_or(self.cursor) == self.cursor
            && self.shows_cursor(cursor, &area) == self.is_cursor_shown
        {
            return;
        }
        let start = out.len();
        let was_drawn = self.is_drawn();
        out.extend_from_slice(BEGIN_SYNCHRONIZED);
        if !was_drawn {
            out.extend_from_slice(PLAIN_LETTERS);
        }
        let text_start = out.len();
        let hides_cursor = self.is_cursor_shown && (was_drawn || !area.is_empty());
        if hides_cursor {
            out.extend_from_slice(HIDE_CURSOR);
            self.is_cursor_shown = false;
        }
        if self.was_resized || is_wide {
            self.erase(out);
            write_lines(above, colors, out);
            final_rows.clear();
        }
        let has_moved = self.update(final_rows, area, cursor, out);
        if self.shows_cursor(cursor, &self.rows) && !self.is_cursor_shown {
            out.extend_from_slice(SHOW_CURSOR);
            self.is_cursor_shown = true;
        } else if was_drawn && !has_moved && !hides_cursor {
            // Text that continues where the cursor stands cannot be seen half done: the marks would be most of it.
            out.drain(start..text_start);
            return;
        }
        out.extend_from_slice(END_SYNCHRONIZED);
    }

    /// Takes the area away; the cursor is shown at the start of its first row.
    pub fn clear(&mut self, out: &mut Vec<u8>) {
        self.draw(&[], &[], None, out);
    }

    /// Leaves what is shown where it is, as text; the cursor is shown at the start of the row below.
    pub fn leave(&mut self, out: &mut Vec<u8>) {
        if let Some(last) = self.rows.len().checked_sub(1) {
            move_cursor(last - self.cursor.0.min(last), b'B', out);
            out.extend_from_slice(LINE_END);
        }
        if !self.is_cursor_shown {
            out.extend_from_slice(SHOW_CURSOR);
            self.is_cursor_shown = true;
        }
        self.rows.clear();
        self.cursor = (0, 0);
        self.was_resized = false;
    }

    /// Empties the screen; the next [`draw`](Self::draw) begins at its top. In sentences nothing is ever taken away.
    pub fn wipe(&mut self, out: &mut Vec<u8>) {
        if self.abilities.output_style == OutputStyle::Accessible {
            return;
        }
        out.extend_from_slice(PLAIN_LETTERS);
        out.extend_from_slice(WIPE_SCREEN);
        self.rows.clear();
        self.cursor = (0, 0);
        self.was_resized = false;
    }

    /// The terminal has another size. Many terminals rewrap: a row that became too wide takes several now, and the next call of
    /// [`draw`](Self::draw) removes as many.
    pub fn resize(&mut self, width: u16, height: u16) {
        let size = (usize::from(width).max(1), usize::from(height).max(1));
        self.was_resized |= self.is_drawn() && size != (self.width, self.height);
        (self.width, self.height) = size;
    }

    fn shows_cursor(&self, cursor: Option<(usize, usize)>, area: &[DrawnRow]) -> bool {
        cursor.is_some() || area.is_empty()
    }

    /// Rows of the screen that the first `count` rows of the area take.
    fn screen_rows(&self, count: usize) -> usize {
        let rewrapped =
            |row: &DrawnRow| if self.abilities.rewraps { row.columns.div_ceil(self.width).max(1) } else { 1 };
        self.rows[..count].iter().map(rewrapped).sum()
    }

    /// From the area's cursor to the start of its first row, as far as that is still on the screen.
    fn go_to_top(&self, out: &mut Vec<u8>) {
        let (row, column) = self.cursor;
        let columns = self.rows.get(row).map_or(0, |row| row.columns);
        // Behind the last letter the cursor has not yet gone to the next row.
        let column = if column < columns { column } else { column.saturating_sub(1) };
        let rewrapped = if self.abilities.rewraps { column / self.width } else { 0 };
        let up = self.screen_rows(row.min(self.rows.len())) + rewrapped;
        move_cursor(up.min(self.height - 1), b'A', out);
        out.push(b'\r');
    }

    /// Removes all rows; the cursor ends where the first one was.
    fn erase(&mut self, out: &mut Vec<u8>) {
        if self.is_drawn() {
            self.go_to_top(out);
            let count = self.screen_rows(self.rows.len()).min(self.height);
            for row in 0..count {
                out.extend_from_slice(ERASE_LINE);
                if row + 1 < count {
                    move_cursor(1, b'B', out);
                }
            }
            move_cursor(count - 1, b'A', out);
        }
        self.rows.clear();
        self.cursor = (0, 0);
        self.was_resized = false;
    }

    /// Makes the screen show `final_rows` and `area` from the area's first row on. Returns whether more was written than text that
    /// continues where the cursor stood.
    fn update(
        &mut self,
        final_rows: Vec<DrawnRow>,
        area: Vec<DrawnRow>,
        cursor: Option<(usize, usize)>,
        out: &mut Vec<u8>,
    ) -> bool {
        let final_count = final_rows.len();
        let mut old = std::mem::take(&mut self.rows);
        // Without an area there is an empty row at the cursor, before as well as behind.
        if old.is_empty() {
            old.push(DrawnRow::default());
        }
        let has_area = !area.is_empty();
        let mut new = final_rows;
        new.extend(area);
        if !has_area {
            new.push(DrawnRow::default());
        }
        let (row, column) = self.cursor;
        let mut pen = Pen { row, column, existing: old.len(), out, has_moved: false };
        for (index, row) in new.iter().enumerate() {
            pen.put(index, old.get(index), row, self.abilities.colors);
        }
        for index in new.len()..old.len() {
            pen.go_to(index, 0);
            pen.out.extend_from_slice(ERASE_REST);
        }
        let last = new.len() - 1;
        match cursor {
            Some((row, column)) => pen.go_to(final_count + row, column),
            None if !has_area => pen.go_to(last, 0),
            // Not in a row that is final, nor below the area.
            None if pen.row < final_count || pen.row > last => pen.go_to(last, new[last].columns),
            None => {}
        }
        self.cursor = (pen.row - final_count, pen.column);
        let has_moved = pen.has_moved;
        if has_area {
            self.rows = new.split_off(final_count);
        }
        has_moved
    }
}

impl Pen<'_> {
    /// Makes `new` of what is there in a row.
    fn put(&mut self, row: usize, old: Option<&DrawnRow>, new: &DrawnRow, colors: ColorSupport) {
        let Some(old) = old else {
            self.go_to(row, 0);
            new.write_from(SharedStart::NOTHING, colors, self.out);
            self.column = new.columns;
            return;
        };
        if old == new {
            return;
        }
        // tmux rewraps a row as long as it ever was since it was erased from its start on. Not for a word that goes to the next row:
        // each row of an answer would be written twice.
        let is_erased = old.columns >= new.columns + MUCH_SHORTER;
        let mut shared = if is_erased { SharedStart::NOTHING } else { old.shared_with(new) };
        let goes_on = shared.columns == old.columns && (self.row, self.column) == (row, old.columns);
        if !goes_on {
            if !shared.is_ascii {
                // Terminals do not agree on the widths of all letters.
                shared = SharedStart::NOTHING;
            }
            self.go_to(row, shared.columns);
        }
        if is_erased {
            self.has_moved = true;
            self.out.extend_from_slice(ERASE_REST);
        }
        new.write_from(shared, colors, self.out);
        self.column = new.columns;
        let may_rest = old.columns > new.columns || !old.is_ascii || !new.is_ascii;
        if shared.columns < old.columns && may_rest && !is_erased {
            self.has_moved = true;
            self.out.extend_from_slice(ERASE_REST);
        }
    }

    fn go_to(&mut self, row: usize, column: usize) {
        if (row, column) == (self.row, self.column) {
            return;
        }
        // At the end of a row that is there below the area's last one nothing is painted over.
        self.has_moved |= (row, column) != (self.row + 1, 0) || row < self.existing;
        // Columns are counted from the left: terminals do not agree on the widths of all letters.
        let mut is_at_left = self.column == 0;
        if row < self.row {
            move_cursor(self.row - row, b'A', self.out);
        } else if row > self.row {
            let below = row.min(self.existing - 1).saturating_sub(self.row);
            // Rows that are not there yet come one by one: the screen may have to scroll.
            let missing = row.saturating_sub(self.existing - 1);
            self.existing += missing;
            if below > 1 {
                move_cursor(below, b'B', self.out);
            }
            let ends = missing + usize::from(below == 1);
            self.out.extend_from_slice(&LINE_END.repeat(ends));
            is_at_left |= ends > 0;
        }
        if !is_at_left {
            self.out.push(b'\r');
        }
        move_cursor(column, b'C', self.out);
        (self.row, self.column) = (row, column);
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
mod append_tests;
#[cfg(test)]
mod tests;
