//! Tracks the blank cells of the prompt's rows and the cursor position. This is as much of a screen as a mark next to the line needs.
//! Pure.
//!
//! Rows are counted from the start of the prompt, since the prompt's position on the terminal is unknown. Output that cannot be
//! followed that way makes the state unknown until the next prompt.

use std::collections::VecDeque;

use unicode_width::UnicodeWidthChar;
use vte::{Params, Parser, Perform};

/// Wider terminals get no mark.
const COLUMNS_MAX: usize = 512;
/// A prompt with its line is not followed beyond.
const ROWS_MAX: usize = 48;
/// Of one piece of output: what is written before may be of a flood.
const PIECE_MAX_BYTES: usize = 8 * 1024;
const TAB: usize = 8;
/// Blank columns before the text; guards against letters that the terminal draws wider than we think.
const GAP: usize = 4;

type Cells = [u64; COLUMNS_MAX / 64];
const BLANK: Cells = [0; COLUMNS_MAX / 64];
const UNKNOWN: Cells = [u64::MAX; COLUMNS_MAX / 64];

/// See the module's description.
pub struct PromptRows {
    parser: Parser,
    screen: Screen,
}

impl std::fmt::Debug for PromptRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PromptRows").field("row", &self.screen.row).field("column", &self.screen.column).finish()
    }
}

struct Screen {
    columns: usize,
    /// A bit for each cell that is not blank, or not known to be.
    rows: VecDeque<Cells>,
    row: usize,
    column: usize,
    /// So many columns further right the cursor may stand, too: terminals differ where `CSI D` leads behind a full row.
    slack: usize,
    saved: Option<(usize, usize, usize)>,
    /// Blanks are visible: the background has a colour, or is underlined.
    paints_blanks: bool,
    last_letter: Option<char>,
    /// The first row is the terminal's: since it was gone to, nothing went down.
    is_at_top: bool,
    is_lost: bool,
}

impl PromptRows {
    /// Of a terminal with so many columns, whose cursor stands at the beginning of a blank row.
    #[must_use]
    pub fn new(columns: u16) -> Self {
        Self { parser: Parser::new(), screen: Screen::new(usize::from(columns)) }
    }

    /// Another program wrote; the cursor stands at the beginning of a blank row, or its place is unknown.
    pub fn begin(&mut self, is_blank_row: bool) {
        self.parser = Parser::new();
        self.screen.restart(is_blank_row);
    }

    /// The terminal has another size, and has moved what was on it.
    pub fn resize(&mut self, columns: u16) {
        *self = Self::new(columns);
        self.screen.is_lost = true;
    }

    /// Takes what was written to the terminal.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if let Some(cut) = bytes.len().checked_sub(PIECE_MAX_BYTES) {
            self.begin(false);
            bytes = &bytes[cut..];
            bytes = memchr::memchr(b'\n', bytes).map_or(&[][..], |at| &bytes[at..]);
        }
        self.parser.advance(&mut self.screen, bytes);
    }

    /// The first column, from 0, for a text of this width: as far to the right of the cursor's row as its cells and those around it are
    /// blank. That is left of a right prompt.
    #[must_use]
    pub fn room_for(&self, width: usize) -> Option<usize> {
        let screen = &self.screen;
        let row = screen.rows.get(screen.row)?;
        // One cell behind stays free, also the last one of the row: terminals differ in what they do there.
        let last = screen.columns.checked_sub(width + 1)?;
        let first = screen.column + screen.slack + GAP;
        if screen.is_lost || screen.columns > COLUMNS_MAX {
            return None;
        }
        (first..=last).rev().find(|start| (start - GAP..=start + width).all(|column| !is_used(row, column)))
    }
}

fn is_used(row: &Cells, column: usize) -> bool {
    row[column / 64] >> (column % 64) & 1 == 1
}

impl Screen {
    fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            rows: VecDeque::from([BLANK]),
            row: 0,
            column: 0,
            slack: 0,
            saved: None,
            paints_blanks: false,
            last_letter: None,
            is_at_top: false,
            is_lost: columns > COLUMNS_MAX,
        }
    }

    fn restart(&mut self, is_blank: bool) {
        let columns = self.columns;
        *self = Self::new(columns);
        self.rows[0] = if is_blank { BLANK } else { UNKNOWN };
    }

    /// Of what may begin a bit further right, all cells that may be used are, and only those become blank that surely do.
    fn set(&mut self, from: usize, to: usize, used: bool) {
        let (from, to) = if used { (from, to + self.slack) } else { (from + self.slack, to) };
        for column in from..to.min(self.columns).min(COLUMNS_MAX) {
            let bit = 1 << (column % 64);
            let cells = &mut self.rows[self.row][column / 64];
            *cells = if used { *cells | bit } else { *cells & !bit };
        }
    }

    fn down(&mut self) {
        self.is_at_top = false;
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push_back(BLANK);
        }
        if self.rows.len() > ROWS_MAX {
            self.rows.pop_front();
            self.row -= 1;
            self.saved = None;
        }
    }

    fn up(&mut self, count: usize) {
        self.leave_the_edge();
        match self.row.checked_sub(count) {
            Some(row) => self.row = row,
            // fish clears the screen, then goes up by the rows that its prompt had.
            None if self.is_at_top => self.row = 0,
            None => self.is_lost = true,
        }
    }

    fn down_by(&mut self, count: usize) {
        self.is_at_top = false;
        self.leave_the_edge();
        // Beyond what was written it depends on where the terminal ends.
        if self.row + count < self.rows.len() {
            self.row += count;
        } else {
            self.is_lost = true;
        }
    }

    /// To a column that is counted from the first one.
    fn go_to_column(&mut self, column: usize) {
        self.column = column.min(self.columns - 1);
        self.slack = 0;
    }

    fn right(&mut self, count: usize) {
        self.column = self.column.saturating_add(count).min(self.columns - 1);
    }

    fn left(&mut self, count: usize) {
        self.leave_the_edge();
        self.column = self.column.saturating_sub(count);
    }

    /// Behind a full row some terminals stand in its last column, others in the one behind.
    fn leave_the_edge(&mut self) {
        if self.column >= self.columns {
            (self.column, self.slack) = (self.columns - 1, 1);
        }
    }

    fn put(&mut self, letter: char) {
        let width = letter.width().unwrap_or(0);
        if width == 0 {
            return;
        }
        if self.column + self.slack + width > self.columns {
            self.is_lost |= self.slack > 0;
            self.go_to_column(0);
            self.down();
        }
        self.set(self.column, self.column + width, letter != ' ' || self.paints_blanks);
        self.column += width;
        self.last_letter = Some(letter);
    }

    /// As `CSI J`.
    fn erase_rows(&mut self, how: usize) {
        match how {
            0 => {
                self.set(self.column, self.columns, false);
                self.rows.truncate(self.row + 1);
            }
            1 => {
                let row = self.row;
                self.rows.iter_mut().take(row).for_each(|cells| *cells = BLANK);
                self.set(0, self.column + 1, false);
            }
            2 => self.rows.iter_mut().for_each(|cells| *cells = BLANK),
            _ => {}
        }
    }

    /// As `CSI K`.
    fn erase_in_row(&mut self, how: usize) {
        match how {
            0 => self.set(self.column, self.columns, false),
            1 => self.set(0, self.column + 1, false),
            _ => self.set(0, self.columns, false),
        }
    }

    /// As `CSI P` and `CSI @`: what is behind the cursor moves.
    fn shift(&mut self, count: usize, is_insertion: bool) {
        self.is_lost |= self.slack > 0;
        let old = self.rows[self.row];
        let (columns, column) = (self.columns.min(COLUMNS_MAX), self.column);
        for at in column..columns {
            let from =
                if is_insertion { at.checked_sub(count).filter(|from| *from >= column) } else { Some(at + count) };
            let used = from.is_some_and(|from| from < columns && is_used(&old, from));
            self.set(at, at + 1, used);
        }
    }

    fn style(&mut self, params: &Params) {
        for param in params {
            match param.first().copied().unwrap_or(0) {
                0 => self.paints_blanks = false,
                4 | 7 | 9 | 21 | 40..=48 | 53 | 100..=107 => self.paints_blanks = true,
                _ => {}
            }
        }
    }

    fn control_sequence(&mut self, params: &Params, action: char) {
        let number = |at: usize| params.iter().nth(at).and_then(|param| param.first().copied()).unwrap_or(0);
        let (given, count) = (usize::from(number(0)), usize::from(number(0).max(1)));
        match action {
            'm' => self.style(params),
            'A' => self.up(count),
            'B' | 'e' => self.down_by(count),
            'C' | 'a' => self.right(count),
            'D' => self.left(count),
            'G' | '`' => self.go_to_column(count - 1),
            'E' => {
                self.go_to_column(0);
                self.down_by(count);
            }
            'F' => {
                self.go_to_column(0);
                self.up(count);
            }
            // Home; what stands there is not known until it is erased.
            'H' | 'f' if count == 1 && number(1) <= 1 => {
                self.restart(false);
                self.rows.resize(ROWS_MAX, UNKNOWN);
                self.is_at_top = true;
            }
            'J' => self.erase_rows(given),
            'K' => self.erase_in_row(given),
            'X' => self.set(self.column, self.column.saturating_add(count), false),
            'P' => self.shift(count, false),
            '@' => self.shift(count, true),
            'b' => {
                let letter = self.last_letter.unwrap_or(' ');
                (0..count.min(self.columns)).for_each(|_| self.put(letter));
            }
            's' => self.save(),
            'u' => self.restore(),
            'n' | 'c' | 't' => {}
            _ => self.is_lost = true,
        }
    }

    fn save(&mut self) {
        self.saved = Some((self.row, self.column, self.slack));
    }

    fn restore(&mut self) {
        match self.saved {
            Some((row, column, slack)) if row < self.rows.len() => {
                (self.row, self.column, self.slack) = (row, column, slack);
            }
            _ => self.is_lost = true,
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, letter: char) {
        self.put(letter);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.go_to_column(0),
            b'\n' => self.down(),
            0x08 => self.left(1),
            b'\t' => {
                self.is_lost |= self.slack > 0;
                self.go_to_column((self.column / TAB + 1) * TAB);
            }
            0x0b | 0x0c => self.is_lost = true,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        match (intermediates, action) {
            ([], 'h' | 'l') => self.is_lost = true,
            ([b'?'], 'h' | 'l') => {
                let is_screen = |param: &[u16]| matches!(param, [6 | 47 | 1047 | 1049, ..]);
                self.is_lost |= params.iter().any(is_screen);
            }
            ([], _) => self.control_sequence(params, action),
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        match (intermediates, byte) {
            ([], b'7') => self.save(),
            ([], b'8') => self.restore(),
            ([], b'M') => self.up(1),
            ([], b'D') => self.down(),
            ([], b'E') => {
                self.go_to_column(0);
                self.down();
            }
            ([], b'=' | b'>' | b'\\') | ([b'(' | b')'], _) => {}
            _ => self.is_lost = true,
        }
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, action: char) {
        // A picture.
        self.is_lost |= action == 'q';
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
