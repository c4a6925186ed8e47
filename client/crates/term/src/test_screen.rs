//! A terminal for tests: what a person sees, with what has scrolled off.

use std::{io, num::NonZero};

use unicode_width::UnicodeWidthStr;

const SCROLLBACK_ROWS: usize = 20_000;

/// A terminal of vt100's.
pub struct TestScreen {
    parser: vt100::Parser,
}

impl TestScreen {
    /// So many columns and rows, all blank.
    pub fn new(columns: u16, rows: u16) -> Self {
        Self { parser: vt100::Parser::new(size(rows), size(columns), SCROLLBACK_ROWS) }
    }

    /// Somebody writes.
    pub fn process(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// Rows that are too long are cut, not wrapped.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(size(rows), size(columns));
    }

    /// What stands there now, for its cells and its cursor.
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// One row, without the blanks at its end.
    pub fn row(&self, row: usize) -> String {
        let screen = self.parser.screen();
        screen.rows(0, screen.size().1.get()).nth(row).unwrap_or_default().trim_end().to_owned()
    }

    /// What has scrolled off.
    pub fn scrolled_off(&mut self) -> Vec<String> {
        self.scrolled_off_with(|screen| screen.rows(0, screen.size().1.get()).next().unwrap_or_default())
    }

    /// Everything ever shown that was not erased, without blank rows at the end.
    pub fn all_rows(&mut self) -> Vec<String> {
        let mut rows = self.scrolled_off();
        let screen = self.parser.screen();
        rows.extend(screen.rows(0, screen.size().1.get()));
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// The same for a snapshot: a frame at the right edge, behind it the styles of the row in their order, where one is not plain,
    /// and the column of the cursor, where it is shown.
    pub fn seen(&mut self) -> String {
        let columns = usize::from(self.parser.screen().size().1.get());
        let mut rows = self.scrolled_off_with(|screen| seen_row(screen, 0));
        let screen = self.parser.screen();
        rows.extend((0..screen.size().0.get()).map(|row| seen_row(screen, row)));
        while rows.last().is_some_and(|(text, remarks)| text.is_empty() && remarks.is_empty()) {
            rows.pop();
        }
        let line = |(text, remarks): (String, String)| {
            let blanks = " ".repeat(columns.saturating_sub(text.width()));
            format!("{text}{blanks}| {remarks}").trim_end().to_owned() + "\n"
        };
        rows.into_iter().map(line).collect()
    }

    fn scrolled_off_with<T>(&mut self, first_row: impl Fn(&vt100::Screen) -> T) -> Vec<T> {
        let screen = self.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let count = screen.scrollback();
        let mut rows = Vec::new();
        for offset in (1..=count).rev() {
            screen.set_scrollback(offset);
            rows.push(first_row(screen));
        }
        screen.set_scrollback(0);
        rows
    }
}

impl io::Write for TestScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.process(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Text and remarks.
fn seen_row(screen: &vt100::Screen, row: u16) -> (String, String) {
    let columns = screen.size().1.get();
    let text = screen.rows(0, columns).nth(usize::from(row)).unwrap_or_default().trim_end().to_owned();
    let mut styles: Vec<String> = Vec::new();
    for cell in (0..columns).filter_map(|column| screen.cell(row, column)) {
        let style = style(cell);
        if !cell.contents().trim().is_empty() && styles.last() != Some(&style) {
            styles.push(style);
        }
    }
    if styles.iter().all(|style| style == "plain") {
        styles.clear();
    }
    let (cursor_row, column) = screen.cursor_position();
    let has_cursor = cursor_row == row && screen.scrollback() == 0 && !screen.hide_cursor();
    styles.extend(has_cursor.then(|| format!("cursor at {column}")));
    (text, styles.join(", "))
}

fn style(cell: &vt100::Cell) -> String {
    let named = [
        (cell.bold(), "bold"),
        (cell.dim(), "dim"),
        (cell.italic(), "italic"),
        (cell.underline(), "underlined"),
        (cell.inverse(), "inverse"),
    ];
    let mut words: Vec<String> = named.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect();
    const COLORS: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    words.extend(match cell.fgcolor() {
        vt100::Color::Default => None,
        vt100::Color::Idx(index) => {
            Some(COLORS.get(usize::from(index)).map_or_else(|| format!("colour {index}"), |name| (*name).to_owned()))
        }
        other => Some(format!("{other:?}")),
    });
    if words.is_empty() { "plain".to_owned() } else { words.join(" ") }
}

fn size(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a size of at least one")
}
