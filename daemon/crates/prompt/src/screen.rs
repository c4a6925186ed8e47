//! Asks questions in a live area that disappears after the answer.

use cohab_text::sanitize::one_line;
use secrecy::SecretString;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{
    Check, Prompt, Row, Stopped, Tone,
    line::{self, Line},
    list::{self, List},
    terminal::Terminal,
};

/// Most rows of a list at once.
const MAX_PAGE: usize = 12;
/// The keys, shown below a list.
const LIST_KEYS: &str = "  ↑ ↓ move · Enter chooses · Esc leaves";
/// Rows around a list: blank, question, filter, blank, keys, and some for earlier answers.
const AROUND_LIST: usize = 9;
/// A list of at most this many rows needs no filter.
const MAX_UNFILTERED: usize = 6;
/// Widest column of names.
const MAX_NAME_COLUMNS: usize = 44;
/// Column of a step's text: behind its mark and its label.
const LABEL_COLUMNS: usize = 11;
/// Longest text below a line, in columns.
const MAX_HINT: usize = 240;
/// Most marks for a secret.
const MAX_MARKS: usize = 32;

pub(super) const BOLD: &str = "1";
pub(super) const DIM: &str = "2";
pub(super) const ACCENT: &str = "36";
const GOOD: &str = "32";
pub(super) const BAD: &str = "31";

/// Paints text with a style.
#[derive(Clone, Copy)]
pub(super) struct Ink {
    pub(super) is_colored: bool,
}

impl Ink {
    pub(super) fn paint(self, style: &str, text: &str) -> String {
        if self.is_colored && !text.is_empty() { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A row of a list, with its name in a column of `names`.
    pub(super) fn list_row(self, row: &Row, is_current: bool, names: usize, columns: usize) -> String {
        let name = one_line(&row.name, names.min(columns.saturating_sub(4)));
        let gap = " ".repeat(names.saturating_sub(name.width()) + 2);
        let remark = one_line(&row.remark, columns.saturating_sub(names + 5));
        let (mark, name) =
            if is_current { (self.paint(ACCENT, "❯"), self.paint("1;36", &name)) } else { (" ".to_owned(), name) };
        if remark.is_empty() {
            format!("{mark} {name}")
        } else {
            format!("{mark} {name}{gap}{}", self.paint(DIM, &remark))
        }
    }
}

/// Asks in a terminal that can move its cursor.
pub struct Screen {
    terminal: Terminal,
    ink: Ink,
    /// Rows of the live area.
    drawn_rows: usize,
    /// Whether the row above the live area is empty.
    is_below_blank: bool,
    /// Bytes that may begin a key.
    waiting: Vec<u8>,
}

impl Screen {
    /// With or without colours.
    #[must_use]
    pub fn new(terminal: Terminal, is_colored: bool) -> Self {
        Self { terminal, ink: Ink { is_colored }, drawn_rows: 0, is_below_blank: false, waiting: Vec::new() }
    }

    /// Replaces the live area by these rows.
    fn draw(&mut self, rows: &[String], cursor: &str) -> Result<(), Stopped> {
        let mut out = String::from("\x1b[?25l\r");
        if self.drawn_rows > 1 {
            out.push_str(&format!("\x1b[{}A", self.drawn_rows - 1));
        }
        out.push_str("\x1b[J");
        out.push_str(&rows.join("\r\n"));
        out.push_str(cursor);
        self.drawn_rows = rows.len();
        Ok(self.terminal.write(out.as_bytes())?)
    }

    fn clear(&mut self) -> Result<(), Stopped> {
        self.draw(&[], "\x1b[?25h")
    }

    fn list_rows(&self, question: &str, list: &List<'_>, names: usize) -> Vec<String> {
        let (columns, rows) = self.terminal.size();
        let (seen, current) = list.window(page(rows));
        let filter = if list.filter().is_empty() {
            self.ink.paint(DIM, "  type to filter")
        } else {
            format!("  {}", self.ink.paint(ACCENT, &one_line(list.filter(), columns.saturating_sub(4))))
        };
        let mut out = self.gap();
        out.push(self.ink.paint(BOLD, &one_line(question, columns - 1)));
        if !list.filter().is_empty() || list.count() > MAX_UNFILTERED {
            out.push(filter);
        }
        if list.count() == 0 {
            out.push(self.ink.paint(DIM, &one_line("  No match. Esc shows all.", columns - 1)));
        }
        for (place, row) in seen.iter().enumerate() {
            out.push(self.ink.list_row(row, place == current, names, columns));
        }
        out.push(String::new());
        let more = if list.count() > seen.len() { format!(" · {} in all", list.count()) } else { String::new() };
        // The count is dropped before the way to leave.
        let more = if LIST_KEYS.width() + more.width() < columns { more } else { String::new() };
        out.push(self.ink.paint(DIM, &one_line(&format!("{LIST_KEYS}{more}"), columns - 1)));
        out
    }

    /// The blank between the live area and the lines above it.
    fn gap(&self) -> Vec<String> {
        if self.is_below_blank { Vec::new() } else { vec![String::new()] }
    }

    fn written(&mut self, question: &str, hint: &str, check: Check<'_>, is_secret: bool) -> Result<String, Stopped> {
        let _modes = self.terminal.raw()?;
        let mut line = Line::default();
        let mut complaint = None;
        loop {
            self.draw_line(question, hint, &line, complaint.as_deref(), is_secret)?;
            for key in self.terminal.read_keys(&mut self.waiting)? {
                match line.on_key(key) {
                    line::Outcome::Open => complaint = None,
                    line::Outcome::Cancelled => {
                        self.clear()?;
                        return Err(Stopped::Cancelled);
                    }
                    line::Outcome::Done => match check(line.text.trim()) {
                        Ok(()) => {
                            self.clear()?;
                            return Ok(line.text.trim().to_owned());
                        }
                        Err(what) => {
                            complaint = Some(what);
                            break;
                        }
                    },
                }
            }
        }
    }

    fn draw_line(
        &mut self,
        question: &str,
        hint: &str,
        line: &Line,
        complaint: Option<&str>,
        is_secret: bool,
    ) -> Result<(), Stopped> {
        let (columns, _) = self.terminal.size();
        let room = columns.saturating_sub(4);
        let shown = if is_secret {
            "•".repeat(line.text.chars().count().min(MAX_MARKS).min(room))
        } else {
            tail(&line.text, room)
        };
        let (style, below) = complaint.map_or((DIM, hint), |what| (BAD, what));
        let below = wrapped(&format!("  {}", one_line(below, MAX_HINT)), columns.saturating_sub(1), 2);
        // A row that the terminal wrapped itself would not be removed with the others.
        let below = below.iter().flat_map(|row| cut(row, columns.saturating_sub(1)));
        let below = below.map(|row| self.ink.paint(style, row));
        let mut rows = self.gap();
        rows.push(self.ink.paint(BOLD, &one_line(question, columns - 1)));
        rows.push(format!("{} {shown}", self.ink.paint(ACCENT, "❯")));
        let written = rows.len();
        rows.push(String::new());
        rows.extend(below);
        let cursor = format!("\x1b[{}A\r\x1b[{}C\x1b[?25h", rows.len() - written, 2 + shown.width());
        self.draw(&rows, &cursor)?;
        // The cursor is in these rows now.
        self.drawn_rows = written;
        Ok(())
    }
}

fn page(rows: usize) -> usize {
    rows.saturating_sub(AROUND_LIST).clamp(3, MAX_PAGE)
}

pub(super) fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// A text in rows of `columns`, broken between words; all but the first begin with `hanging` blanks.
pub(super) fn wrapped(text: &str, columns: usize, hanging: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = " ".repeat(indent(text));
    let mut is_empty = true;
    for word in text.trim_start_matches(' ').split(' ') {
        let has_room = row.width() + usize::from(!is_empty) + word.width() <= columns;
        if !is_empty && !has_room {
            rows.push(std::mem::replace(&mut row, " ".repeat(hanging)));
            is_empty = true;
        }
        if !is_empty {
            row.push(' ');
        }
        row.push_str(word);
        is_empty = false;
    }
    rows.push(row);
    rows
}

/// A row in parts of at most `columns`, at least one character each.
fn cut(row: &str, columns: usize) -> Vec<&str> {
    let (mut parts, mut start, mut width) = (Vec::new(), 0, 0);
    for (at, letter) in row.char_indices() {
        let more = letter.width().unwrap_or(0);
        if width + more > columns && at > start {
            parts.push(&row[start..at]);
            (start, width) = (at, 0);
        }
        width += more;
    }
    parts.push(&row[start..]);
    parts
}

/// The end of a text that exceeds its place.
fn tail(text: &str, columns: usize) -> String {
    let mut start = text.len();
    let mut width = 0;
    for (at, letter) in text.char_indices().rev() {
        width += letter.width().unwrap_or(0);
        if width > columns {
            break;
        }
        start = at;
    }
    text[start..].to_owned()
}

impl Prompt for Screen {
    fn say(&mut self, tone: Tone, text: &str) -> Result<(), Stopped> {
        self.clear()?;
        let (mark, style) = match tone {
            Tone::Title => (String::new(), BOLD),
            Tone::Done => (format!("{} ", self.ink.paint(GOOD, "✓")), ""),
            Tone::Failed => (format!("{} ", self.ink.paint(BAD, "✗")), ""),
            Tone::Aside => (String::new(), DIM),
            Tone::Plain => (String::new(), ""),
        };
        let hanging = if mark.is_empty() { indent(text) } else { LABEL_COLUMNS };
        let room = self.terminal.size().0.saturating_sub(1 + 2 * usize::from(!mark.is_empty()));
        let mut out = mark;
        for (number, row) in wrapped(text, room, hanging).iter().enumerate() {
            let gap = if number > 0 { "\r\n" } else { "" };
            out.push_str(&format!("{gap}{}", if style.is_empty() { row.clone() } else { self.ink.paint(style, row) }));
        }
        self.is_below_blank = text.is_empty();
        Ok(self.terminal.write(format!("{out}\r\n").as_bytes())?)
    }

    fn wait(&mut self, text: &str) -> Result<(), Stopped> {
        let (columns, _) = self.terminal.size();
        let row = self.ink.paint(DIM, &one_line(&format!("… {text}"), columns - 1));
        self.draw(&[row], "")
    }

    fn choose(&mut self, question: &str, rows: &[Row], preselected: usize) -> Result<usize, Stopped> {
        let _modes = self.terminal.raw()?;
        let names = rows.iter().map(|row| row.name.width()).max().unwrap_or(0).min(MAX_NAME_COLUMNS);
        let mut list = List::new(rows, preselected);
        loop {
            let frame = self.list_rows(question, &list, names);
            self.draw(&frame, "")?;
            let page = page(self.terminal.size().1);
            for key in self.terminal.read_keys(&mut self.waiting)? {
                match list.on_key(key, page) {
                    list::Outcome::Open => {}
                    list::Outcome::Chosen(row) => {
                        self.clear()?;
                        return Ok(row);
                    }
                    list::Outcome::Cancelled => {
                        self.clear()?;
                        return Err(Stopped::Cancelled);
                    }
                }
            }
        }
    }

    fn line(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<String, Stopped> {
        self.written(question, hint, check, false)
    }

    fn secret(&mut self, question: &str, hint: &str, check: Check<'_>) -> Result<SecretString, Stopped> {
        Ok(self.written(question, hint, check, true)?.into())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A question that an error left open.
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_hang() {
        let text = "Models   the service refused the key, status 401";
        assert_eq!(wrapped(text, 30, 11), ["Models   the service refused", "           the key, status 401"]);
        assert_eq!(wrapped("  a", 10, 2), ["  a"]);
        assert_eq!(wrapped(&"x".repeat(20), 10, 2), ["x".repeat(20)], "a word stays whole: it may be a URL");
        assert_eq!(wrapped("", 10, 0), [""]);
    }

    #[test]
    fn a_row_of_the_live_area_is_cut_where_the_terminal_would_break_it() {
        assert_eq!(cut("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(cut("日本語", 5), ["日本", "語"]);
        assert_eq!((cut("", 3), cut("日", 1)), (vec![""], vec!["日"]));
    }

    #[test]
    fn of_a_line_that_is_too_long_the_end_is_seen() {
        assert_eq!(
            (tail("abcdef", 3).as_str(), tail("abc", 3).as_str(), tail("日本", 3).as_str()),
            ("def", "abc", "本")
        );
    }
}
