//! Keeps the head and the tail of a command's output, and renders them as text for the model. Pure.

use memchr::memmem;
use unicode_width::UnicodeWidthChar;
use vte::{Params, Parser, Perform};

/// Bytes kept from the beginning of an agent's command.
pub const CAPTURE_HEAD_BYTES: usize = 256 * 1024;
/// Bytes kept from the end of an agent's command.
pub const CAPTURE_TAIL_BYTES: usize = 256 * 1024;

/// A tail that starts in the middle of a line loses that line's rest, if it is not longer than this.
const PARTIAL_LINE_MAX_BYTES: usize = 4096;
/// The way to the next row is not longer.
const WAY_MAX_BYTES: usize = 2048;
/// Blanks that cursor movements may add to one rendering.
const PADDING_MAX_CHARS: usize = 256 * 1024;
/// Largest column that cursor movements reach.
const COLUMN_MAX: usize = 512;
const ROW_MAX: usize = 200;

/// Head, tail and count of a stream of bytes.
#[derive(Debug)]
pub struct Capture {
    head: Vec<u8>,
    /// Up to twice `tail_max`, so that dropping its front is cheap on average.
    tail: Vec<u8>,
    total: u64,
    head_max: usize,
    tail_max: usize,
}

impl Capture {
    /// Keeps this many bytes from the beginning and from the end.
    #[must_use]
    pub fn new(head_max: usize, tail_max: usize) -> Self {
        Self { head: Vec::new(), tail: Vec::new(), total: 0, head_max, tail_max }
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        self.head.clear();
        self.tail.clear();
        self.total = 0;
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (for_head, rest) = bytes.split_at(bytes.len().min(self.head_max - self.head.len()));
        self.head.extend_from_slice(for_head);
        let rest = &rest[rest.len().saturating_sub(self.tail_max)..];
        if self.tail.len() + rest.len() > 2 * self.tail_max {
            let kept = self.tail_max.saturating_sub(rest.len()).min(self.tail.len());
            self.tail.drain(..self.tail.len() - kept);
        }
        self.tail.extend_from_slice(rest);
    }

    /// Bytes taken so far.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Whether a terminal's cursor stands behind visible text after all this.
    #[must_use]
    pub fn ends_in_mid_line(&self) -> bool {
        let end = if self.tail.is_empty() { &self.head } else { &self.tail };
        ends_in_mid_line(&end[end.len().saturating_sub(PARTIAL_LINE_MAX_BYTES)..])
    }

    /// Removes zsh's last output before its hooks run, with which it moves to a new row: a mark, a row of blanks, the way back. Returns
    /// whether it was there.
    pub fn cut_way_to_next_row(&mut self) -> bool {
        let from_tail = self.tail.len().min(WAY_MAX_BYTES);
        let from_head = self.head.len().min(WAY_MAX_BYTES - from_tail);
        let end = [&self.head[self.head.len() - from_head..], &self.tail[self.tail.len() - from_tail..]].concat();
        let cut = way_to_next_row(&end).unwrap_or(0);
        self.total -= cut as u64;
        self.head.truncate(self.head.len() - cut.saturating_sub(from_tail));
        self.tail.truncate(self.tail.len() - cut.min(from_tail));
        cut > 0
    }

    /// The kept end as text, for a capture without head; the omission is not mentioned.
    #[must_use]
    pub fn render_tail(&self) -> String {
        let tail = &self.tail[self.tail.len().saturating_sub(self.tail_max)..];
        let whole = self.total == tail.len() as u64;
        render(&[if whole { tail } else { &tail[partial_line(tail)..] }])
    }

    /// The output as text, and the number of bytes left out between head and tail.
    #[must_use]
    pub fn render(&self) -> (String, u64) {
        let tail = &self.tail[self.tail.len().saturating_sub(self.tail_max)..];
        let missing = self.total - (self.head.len() + tail.len()) as u64;
        if missing == 0 {
            return (render(&[&self.head, tail]), 0);
        }
        let partial = partial_line(tail);
        let left_out = missing + partial as u64;
        let head = render(&[&self.head]);
        let line_break = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        (format!("{head}{line_break}[{left_out} bytes left out]\n{}", render(&[&tail[partial..]])), left_out)
    }
}

/// The length of the end that begins with a mark of any width, followed by blanks, CR, as many blanks as the mark is wide, CR.
fn way_to_next_row(bytes: &[u8]) -> Option<usize> {
    let without_blanks = |bytes: &[u8]| bytes.len() - bytes.iter().rev().take_while(|byte| **byte == b' ').count();
    let back = bytes.strip_suffix(b"\r")?;
    let erased = &back[..without_blanks(back)];
    let mut width = back.len() - erased.len();
    let row = erased.strip_suffix(b"\r")?;
    let mut rest = &row[..without_blanks(row)];
    if rest.len() == row.len() {
        return None;
    }
    while width > 0 {
        rest = without_attributes(rest);
        let start = (1..=rest.len().min(4)).map(|length| rest.len() - length).find(|at| rest[*at] & 0xc0 != 0x80)?;
        let mark = std::str::from_utf8(&rest[start..]).ok()?.chars().next()?;
        width = width.checked_sub(mark.width()?)?;
        rest = without_attributes(&rest[..start]);
    }
    Some(bytes.len() - rest.len())
}

/// The bytes without changes of colour and the like at the end.
fn without_attributes(mut bytes: &[u8]) -> &[u8] {
    while let Some(body) = bytes.strip_suffix(b"m")
        && let Some(start) = body.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b';')
        && let Some(before) = body[..=start].strip_suffix(b"\x1b[")
    {
        bytes = before;
    }
    bytes
}

/// The length of the rest of a cut line at the beginning of `tail`.
fn partial_line(tail: &[u8]) -> usize {
    memchr::memchr(b'\n', &tail[..tail.len().min(PARTIAL_LINE_MAX_BYTES)]).map_or(0, |at| at + 1)
}

/// Whether a terminal's cursor stands behind visible text after these bytes, as far as their end shows.
#[must_use]
pub fn ends_in_mid_line(bytes: &[u8]) -> bool {
    const LEAVE_ALTERNATE: &[u8] = b"\x1b[?1049l";
    let after_feed = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let after_alternate = memmem::rfind(bytes, LEAVE_ALTERNATE).map_or(0, |at| at + LEAVE_ALTERNATE.len());
    render(&[&bytes[after_feed.max(after_alternate)..]]).ends_with(|last| last != '\n')
}

/// Renders terminal output as plain text: progress lines collapse to their last state, backspaces apply, colours and titles are removed,
/// the drawing of a full-screen program is cut out and named, control bytes become their pictures, invalid UTF-8 becomes U+FFFD. Rows are
/// not wrapped. `pieces` are one stream.
#[must_use]
pub fn render(pieces: &[&[u8]]) -> String {
    let mut parser = Parser::new();
    let mut page = Page::default();
    for piece in pieces {
        parser.advance(&mut page, piece);
    }
    page.text()
}

/// A shorter rest of a cut secret reveals too little to be taken out.
const MIN_CUT_SECRET_BYTES: usize = 8;

/// Stands in place of a secret.
const REDACTED: &str = "[redacted]";

/// Replaces a secret word in a stream, also where it is cut by a chunk's border.
#[derive(Debug)]
pub struct Redactor {
    secret: String,
    /// The end of the stream so far, if it may be the beginning of the secret.
    held: Vec<u8>,
}

impl Redactor {
    /// Hides `secret`, which must not be empty.
    #[must_use]
    pub fn new(secret: &str) -> Self {
        Self { secret: secret.to_owned(), held: Vec::new() }
    }

    /// Takes a piece, appends the part that may be shown now to `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let joined;
        let mut rest = if self.held.is_empty() {
            piece
        } else {
            joined = [&std::mem::take(&mut self.held), piece].concat();
            &joined
        };
        while let Some(at) = memmem::find(rest, self.secret.as_bytes()) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(REDACTED.as_bytes());
            rest = &rest[at + self.secret.len()..];
        }
        let longest = rest.len().min(self.secret.len() - 1);
        let keep =
            (1..=longest).rev().find(|&n| self.secret.as_bytes().starts_with(&rest[rest.len() - n..])).unwrap_or(0);
        out.extend_from_slice(&rest[..rest.len() - keep]);
        self.held.extend_from_slice(&rest[rest.len() - keep..]);
    }

    /// Ends the stream: held bytes are not the secret.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
    }

    /// Rendered text without the secret: colours or cursor movements between its letters hide it from [`push`](Self::push).
    #[must_use]
    pub fn text(&self, rendered: &str) -> String {
        rendered.replace(&self.secret, REDACTED)
    }
}

/// A rendered tail without a secret word, nor the rest of one that the tail's beginning has cut.
#[must_use]
pub fn redacted_tail(tail: &str, secret: &str) -> String {
    let cut = (1..secret.len()).find_map(|at| {
        let rest = secret.get(at..).filter(|rest| rest.len() >= MIN_CUT_SECRET_BYTES)?;
        tail.strip_prefix(rest)
    });
    cut.unwrap_or(tail).replace(secret, REDACTED)
}

/// Rows of unlimited width, as far as they can be known from a stream.
#[derive(Default)]
struct Page {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// The first row of a program that positions the cursor absolutely.
    screen_top: Option<usize>,
    alternate: bool,
    padding: usize,
}

impl Page {
    fn text(mut self) -> String {
        if self.alternate {
            self.leave_alternate();
        }
        let length = self.rows.iter().map(|row| row.len() + 1).sum();
        let mut text = String::with_capacity(length);
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            text.extend(row);
        }
        text
    }

    fn put(&mut self, character: char) {
        if self.alternate {
            return;
        }
        if self.rows.len() <= self.row {
            self.rows.resize_with(self.row + 1, Vec::new);
        }
        let row = &mut self.rows[self.row];
        if let Some(cell) = row.get_mut(self.column) {
            *cell = character;
        } else {
            let gap = (self.column - row.len()).min(PADDING_MAX_CHARS - self.padding);
            self.padding += gap;
            row.resize(row.len() + gap, ' ');
            row.push(character);
            self.column = row.len() - 1;
        }
        self.column += 1;
    }

    fn line_feed(&mut self) {
        if self.alternate {
            return;
        }
        self.row += 1;
        self.column = 0;
        if self.rows.len() <= self.row {
            self.rows.resize_with(self.row + 1, Vec::new);
        }
    }

    fn enter_alternate(&mut self) {
        self.alternate = true;
    }

    fn leave_alternate(&mut self) {
        self.alternate = false;
        if self.rows.get(self.row).is_some_and(|row| !row.is_empty()) {
            self.line_feed();
        }
        self.column = 0;
        "[full-screen program ran]".chars().for_each(|character| self.put(character));
        self.line_feed();
    }

    fn go_to(&mut self, row: usize, column: usize) {
        let below = self.rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        let top = *self.screen_top.get_or_insert(below);
        self.row = top + row.min(ROW_MAX);
        self.column = column.min(COLUMN_MAX);
    }

    fn erase_row(&mut self, mode: usize) {
        let Some(row) = self.rows.get_mut(self.row) else { return };
        match mode {
            0 => row.truncate(self.column),
            1 => row.iter_mut().take(self.column + 1).for_each(|cell| *cell = ' '),
            _ => row.clear(),
        }
    }

    fn erase_screen(&mut self, mode: usize) {
        match mode {
            0 => {
                self.erase_row(0);
                self.rows.truncate(self.row + 1);
            }
            2 | 3 => {
                if let Some(top) = self.screen_top {
                    self.rows.truncate(top);
                }
            }
            _ => {}
        }
    }
}

impl Perform for Page {
    fn print(&mut self, character: char) {
        self.put(if character.is_control() { char::REPLACEMENT_CHARACTER } else { character });
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.put('\t'),
            0..0x20 => self.put(char::from_u32(0x2400 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)),
            _ => self.put(char::REPLACEMENT_CHARACTER),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignored: bool, action: char) {
        if ignored {
            return;
        }
        let values = || params.iter().map(|param| usize::from(param[0]));
        if intermediates == b"?" && matches!(action, 'h' | 'l') && values().any(|v| matches!(v, 47 | 1047 | 1049)) {
            match action {
                'h' => self.enter_alternate(),
                _ if self.alternate => self.leave_alternate(),
                _ => {}
            }
            return;
        }
        if self.alternate || !intermediates.is_empty() {
            return;
        }
        let first = values().next().unwrap_or(0);
        let count = first.max(1);
        let last_row = self.rows.len().saturating_sub(1);
        match action {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row = (self.row + count).min(last_row.max(self.row)),
            'C' => self.column = (self.column + count).min(COLUMN_MAX.max(self.column)),
            'D' => self.column = self.column.saturating_sub(count),
            'E' => (self.row, self.column) = ((self.row + count).min(last_row.max(self.row)), 0),
            'F' => (self.row, self.column) = (self.row.saturating_sub(count), 0),
            'G' => self.column = (count - 1).min(COLUMN_MAX),
            'H' | 'f' => self.go_to(count - 1, values().nth(1).unwrap_or(0).max(1) - 1),
            'J' => self.erase_screen(first),
            'K' => self.erase_row(first),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
