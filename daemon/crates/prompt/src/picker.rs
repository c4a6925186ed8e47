//! The picker: a full-screen list that the user filters by typing, with a preview of the current row.

use std::io;

use cohab_text::sanitize::one_line;
use unicode_width::UnicodeWidthStr as _;

use super::{
    Row, Stopped, can_draw, is_colored,
    keys::PromptKey,
    list::{self, List},
    screen::{ACCENT, BAD, BOLD, DIM, Ink, indent, wrapped},
    terminal::Terminal,
};

/// A lower screen has no preview.
const MIN_ROWS_OF_PREVIEW: usize = 16;
/// A narrower terminal breaks the rows itself.
const MIN_COLUMNS: usize = 20;
/// A list has at least so many rows.
const MIN_LIST: usize = 3;
/// Rows around list and preview: title, filter, blank, keys.
const AROUND: usize = 4;
/// Widest part of a row that is its name, in hundredths; the rest is for the remark.
const NAME_SHARE: usize = 60;

/// What the user picks from. Rows are named by their index, also after one was removed.
pub struct Picker<'a> {
    /// Stands above the list.
    pub title: &'a str,
    /// The rows.
    pub rows: &'a [Row],
    /// The row to begin at.
    pub preselected: usize,
    /// What Enter does: `resumes`.
    pub enter: &'a str,
    /// The lines about a row that are shown below the list, if any.
    pub preview: Option<&'a dyn Fn(usize) -> Vec<String>>,
    /// Removes a row for good, after a question; the error says why that failed. `None` if rows cannot be removed.
    pub remove: Option<&'a dyn Fn(usize) -> Result<(), String>>,
}

/// The state between two keys. Pure.
struct View<'a> {
    list: List<'a>,
    /// Whether the user is asked about removing the current row.
    is_asking: bool,
    complaint: Option<String>,
}

/// The result of a key.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Open,
    Picked(usize),
    Left,
    Remove(usize),
}

impl View<'_> {
    fn on_key(&mut self, key: PromptKey, page: usize, can_remove: bool) -> Step {
        self.complaint = None;
        if std::mem::take(&mut self.is_asking) {
            return match (key, self.list.current()) {
                (PromptKey::Char('y' | 'Y'), Some(row)) => Step::Remove(row),
                (PromptKey::Resized, _) => {
                    self.is_asking = true;
                    Step::Open
                }
                (PromptKey::Interrupt, _) => Step::Left,
                _ => Step::Open,
            };
        }
        if can_remove && matches!(key, PromptKey::EndOfInput | PromptKey::Delete) {
            self.is_asking = self.list.current().is_some();
            return Step::Open;
        }
        match self.list.on_key(key, page) {
            list::Outcome::Open => Step::Open,
            list::Outcome::Chosen(row) => Step::Picked(row),
            list::Outcome::Cancelled => Step::Left,
        }
    }
}

/// The terminal, if a picker can be drawn there.
///
/// # Errors
/// Signals cannot be handled.
pub fn terminal() -> io::Result<Option<Terminal>> {
    if can_draw() { Terminal::open() } else { Ok(None) }
}

/// Lets the user pick a row; returns its index. The screen is afterwards as it was before.
///
/// # Errors
/// The user leaves, or the terminal is gone.
pub fn pick(terminal: &Terminal, picker: &Picker<'_>) -> Result<usize, Stopped> {
    let _modes = terminal.raw()?;
    let _screen = terminal.full_screen()?;
    let ink = Ink { is_colored: is_colored() };
    let mut waiting = Vec::new();
    let mut view = View { list: List::new(picker.rows, picker.preselected), is_asking: false, complaint: None };
    let mut preview: Option<(usize, Vec<String>)> = None;
    loop {
        let current = view.list.current();
        if preview.as_ref().map(|(row, _)| *row) != current {
            preview = picker.preview.zip(current).map(|(preview, row)| (row, preview(row)));
        }
        let lines = preview.as_ref().map_or(&[][..], |(_, lines)| lines);
        let size = terminal.size();
        let (rows, column) = frame(picker, &view, lines, size, ink);
        terminal.write(
            format!("\x1b[?25l\x1b[H{}\x1b[2;{}H\x1b[?25h", rows.join("\x1b[K\r\n") + "\x1b[J", column + 1).as_bytes(),
        )?;
        let page = Areas::of(picker, size.1).list;
        for key in terminal.read_keys(&mut waiting)? {
            match view.on_key(key, page, picker.remove.is_some()) {
                Step::Open => {}
                Step::Picked(row) => return Ok(row),
                Step::Left => return Err(Stopped::Cancelled),
                Step::Remove(row) => match picker.remove.map(|remove| remove(row)) {
                    Some(Err(error)) => view.complaint = Some(error),
                    _ => view.list.remove_current(),
                },
            }
        }
    }
}

/// Rows of the parts of the screen.
#[derive(Clone, Copy)]
struct Areas {
    list: usize,
    /// Without its heading line; 0 if there is none.
    preview: usize,
}

impl Areas {
    fn of(picker: &Picker<'_>, rows: usize) -> Self {
        let room = rows.saturating_sub(AROUND);
        if rows < MIN_ROWS_OF_PREVIEW || picker.preview.is_none() {
            return Self { list: room.max(1), preview: 0 };
        }
        // What a short list leaves is for the preview. A filter does not move it.
        let list = picker.rows.len().clamp(MIN_LIST, room - room * 2 / 5 - 1);
        Self { list, preview: room - list - 1 }
    }
}

/// All rows of the screen, and the column of the cursor behind the filter. The last column stays empty: a terminal may break a full row.
fn frame(
    picker: &Picker<'_>,
    view: &View<'_>,
    preview: &[String],
    (columns, rows): (usize, usize),
    ink: Ink,
) -> (Vec<String>, usize) {
    let columns = columns.max(MIN_COLUMNS);
    let (areas, room) = (Areas::of(picker, rows), columns - 1);
    let list = &view.list;
    let (seen, current) = list.window(areas.list);
    let count = format!("{} of {}", list.count(), list.total());
    let title = one_line(picker.title, room.saturating_sub(count.width() + 2));
    let gap = " ".repeat(room.saturating_sub(title.width() + count.width()));
    let filter = one_line(list.filter(), room.saturating_sub(3));
    let hint = if filter.is_empty() {
        ink.paint(DIM, &one_line("type to filter", room.saturating_sub(3)))
    } else {
        String::new()
    };
    let mut out = vec![
        format!("{}{gap}{}", ink.paint(BOLD, &title), ink.paint(DIM, &count)),
        format!("{} {}{hint}", ink.paint(ACCENT, ">"), filter),
        String::new(),
    ];
    let names = picker.rows.iter().map(|row| row.name.width()).max().unwrap_or(0).min(room * NAME_SHARE / 100);
    out.extend(seen.iter().enumerate().map(|(place, row)| ink.list_row(row, place == current, names, columns)));
    if seen.is_empty() {
        let nothing = if list.total() == 0 { "  Nothing is left." } else { "  No match. Esc shows all." };
        out.push(ink.paint(DIM, &one_line(nothing, room)));
    }
    out.resize(AROUND - 1 + areas.list, String::new());
    if areas.preview > 0 {
        out.push(ink.paint(DIM, &"─".repeat(room)));
        let lines = preview.iter().flat_map(|line| wrapped(line.trim_end(), room, indent(line)));
        // A word may be wider than the screen.
        out.extend(lines.take(areas.preview).map(|line| one_line(&line, room)));
        out.resize(AROUND + areas.list + areas.preview, String::new());
    }
    out.push(last_row(picker, view, room, ink));
    out.truncate(rows.max(1));
    (out, 2 + filter.width())
}

/// A question, a complaint or the keys. The keys that every list has are dropped first.
fn last_row(picker: &Picker<'_>, view: &View<'_>, room: usize, ink: Ink) -> String {
    if let Some(complaint) = &view.complaint {
        return ink.paint(BAD, &one_line(complaint, room));
    }
    if let Some(row) = view.list.current().filter(|_| view.is_asking) {
        let keys = "? y deletes, any other key keeps it";
        let name = one_line(&picker.rows[row].name, room.saturating_sub("Delete \"\"".len() + keys.len()));
        return ink.paint(BAD, &one_line(&format!("Delete \"{name}\"{keys}"), room));
    }
    let remove = if picker.remove.is_some() { " · Ctrl-D deletes" } else { "" };
    let short = format!("Enter {}{remove} · Esc leaves", picker.enter);
    let long = format!("↑ ↓ move · {short}");
    ink.paint(DIM, &one_line(if long.width() <= room { &long } else { &short }, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let row = |number: usize| Row::new(format!("question {number}"), format!("{number} h ago · ~/shop"));
        let mut rows: Vec<Row> = (1..=30).map(row).collect();
        rows[2] = Row::new("Why does the build of the shop take so very long since yesterday?", "3 h ago · ~/shop");
        rows
    }

    fn preview(row: usize) -> Vec<String> {
        (0..12).map(|line| format!("line {line} about row {row}, {}", "and so on ".repeat(8))).collect()
    }

    fn keys(text: &str) -> Vec<PromptKey> {
        super::super::keys::decode(text.as_bytes()).0
    }

    /// The screen after these keys, and the last step.
    fn screen(rows: &[Row], typed: &str, size: (usize, usize)) -> (String, Step) {
        let remove = |_| Ok(());
        let picker = Picker {
            title: "Conversations",
            rows,
            preselected: 0,
            enter: "resumes",
            preview: Some(&preview),
            remove: Some(&remove),
        };
        let mut view = View { list: List::new(rows, 0), is_asking: false, complaint: None };
        let mut last = Step::Open;
        for key in keys(typed) {
            last = view.on_key(key, Areas::of(&picker, size.1).list, true);
            if let Step::Remove(_) = last {
                view.list.remove_current();
            }
        }
        let lines = view.list.current().map(preview).unwrap_or_default();
        let (rows, _) = frame(&picker, &view, &lines, size, Ink { is_colored: false });
        assert_eq!(rows.len(), size.1, "the frame fills the screen");
        for row in &rows {
            assert!(row.width() < size.0.max(MIN_COLUMNS), "{row:?}");
        }
        (rows.iter().map(|row| row.trim_end().to_owned() + "\n").collect(), last)
    }

    #[test]
    fn the_list_the_preview_and_the_keys_fill_the_screen() {
        let rows = rows();
        let mut seen = String::new();
        for (name, typed, size) in [
            ("100 columns", "", (100, 24)),
            ("60 columns, the third row", "\x1b[B\x1b[B", (60, 20)),
            ("a filter", "build", (80, 18)),
            ("nothing matches", "xyz", (80, 18)),
            ("a question before a row goes", "build\x04", (80, 18)),
            ("a low screen", "", (60, 10)),
        ] {
            seen += &format!("==== {name}\n{}\n", screen(&rows, typed, size).0);
        }
        insta::assert_snapshot!(seen);
    }

    #[test]
    fn a_row_is_removed_only_by_a_yes() {
        let rows = rows();
        let step = |typed| screen(&rows, typed, (80, 24)).1;
        assert_eq!(step("\x04y"), Step::Remove(0));
        assert_eq!(step("\x1b[B\x1b[3~y"), Step::Remove(1));
        for kept in ["\x04n", "\x04\r", "\x04\x1b[B", "\x04\x04", "y"] {
            assert_eq!(step(kept), Step::Open, "{kept:?}");
        }
        assert!(screen(&rows, "\x04y", (80, 24)).0.contains("29 of 29"));
        assert_eq!(step("\x04\x03"), Step::Left);
        assert_eq!(step("\x04yyy\r"), Step::Open, "a second y is a filter that finds nothing");
    }

    #[test]
    fn enter_picks_what_is_seen_and_nothing_else() {
        let rows = rows();
        let step = |typed| screen(&rows, typed, (80, 24)).1;
        assert_eq!(step("\r"), Step::Picked(0));
        assert_eq!(step("build\r"), Step::Picked(2));
        assert_eq!(step("xyz\r"), Step::Open);
        assert_eq!(step("\x04y\r"), Step::Picked(1), "indices stay");
        assert_eq!(step("\x1b[1;5"), Step::Open, "half a key");
    }

    #[test]
    fn any_size_of_the_terminal_is_drawn() {
        let rows = rows();
        for size in [(1, 1), (2, 3), (10, 5), (20, 16), (300, 100)] {
            screen(&rows, "q", size);
            screen(&[], "q\x04", size);
        }
    }
}
