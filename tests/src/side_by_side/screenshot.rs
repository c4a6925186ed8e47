//! Compares two terminals: cells, cursor, modes, scrollback, title, end of the program.

use std::{ops::Range, path::Path};

use portable_pty::ExitStatus;
use vt100::{Cell, Screen};

use crate::terminal::View;

/// Most cells named in a report; the first show the cause.
const CELLS_NAMED: usize = 8;

/// One terminal, with its permitted differences.
pub(crate) struct Shot<'view> {
    pub(crate) view: &'view View,
    /// The home folder, which has another name in each terminal.
    pub(crate) home: &'view Path,
    pub(crate) masks_pids: bool,
}

impl Shot<'_> {
    fn screen(&self) -> &Screen {
        self.view.screen()
    }

    fn row(&self, row: u16) -> Vec<&Cell> {
        let cells: Vec<&Cell> =
            (0..self.screen().size().1.get()).filter_map(|column| self.screen().cell(row, column)).collect();
        let letters: Vec<char> = cells.iter().map(|cell| cell.contents().chars().next().unwrap_or(' ')).collect();
        let masked = self.masked(&letters);
        cells
            .into_iter()
            .enumerate()
            .filter(|(at, _)| !masked.iter().any(|range| range.contains(at)))
            .map(|(_, cell)| cell)
            .collect()
    }

    /// The parts of a row that are not compared: the name of the temporary folder that holds the home, and process ids on demand.
    fn masked(&self, letters: &[char]) -> Vec<Range<usize>> {
        let name =
            self.home.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().chars().collect::<Vec<_>>());
        let name = name.unwrap_or_default();
        let starts = letters.windows(name.len().max(1)).enumerate().filter(|(_, window)| *window == name);
        let mut masked: Vec<Range<usize>> = starts.map(|(at, _)| at..at + name.len()).collect();
        masked.extend(self.masks_pids.then(|| pid_of_a_job(letters)).flatten());
        masked
    }

    fn plain(&self, text: &str) -> String {
        self.without_masked(&text.replace(&self.home.display().to_string(), "~"))
    }

    fn modes(&self) -> Vec<(String, String)> {
        let screen = self.screen();
        let exit = self.view.exit().map(exit_code);
        let mut modes = vec![
            ("size", format!("{:?}", screen.size())),
            ("cursor (row, column)", format!("{:?}", screen.cursor_position())),
            ("rows above the screen", screen.scrollback_len().to_string()),
            ("alternate screen", screen.alternate_screen().to_string()),
            ("exit", format!("{exit:?}")),
        ];
        // A shell may leave modes behind when it ends; cohab puts the terminal back as it was.
        if exit.is_none() {
            modes.extend(self.modes_of_input());
        }
        let named = |prefix: &'static str| {
            move |(name, value): (&String, &String)| (format!("{prefix} {name}"), self.plain(value))
        };
        let reports = self.view.reports();
        let modes = modes.into_iter().map(|(name, value)| (name.to_owned(), value));
        modes.chain(reports.modes.iter().map(named("mode"))).chain(reports.osc.iter().map(named("OSC"))).collect()
    }

    fn modes_of_input(&self) -> Vec<(&'static str, String)> {
        let (screen, reports) = (self.screen(), self.view.reports());
        vec![
            ("application keypad", screen.application_keypad().to_string()),
            ("application cursor keys", screen.application_cursor().to_string()),
            ("hidden cursor", screen.hide_cursor().to_string()),
            ("bracketed paste", screen.bracketed_paste().to_string()),
            ("mouse", format!("{:?}", screen.mouse_protocol_mode())),
            ("mouse encoding", format!("{:?}", screen.mouse_protocol_encoding())),
            ("cursor style", format!("{:?}", screen.cursor_style())),
            ("title", self.plain(&reports.title)),
            ("bells", reports.bells.to_string()),
        ]
    }

    fn history(&self) -> Vec<String> {
        self.view.history().lines().map(|line| self.without_masked(line)).collect()
    }

    fn without_masked(&self, line: &str) -> String {
        let letters: Vec<char> = line.chars().collect();
        let masked = self.masked(&letters);
        let kept = letters.iter().enumerate().filter(|(at, _)| !masked.iter().any(|range| range.contains(at)));
        kept.map(|(_, letter)| letter).collect()
    }
}

/// The status as a shell reports it: cohab ends with 128 and the number of the signal that ended its shell.
fn exit_code(exit: &ExitStatus) -> String {
    match exit.signal() {
        Some("Hangup") => "129".into(),
        Some("Killed") => "137".into(),
        Some("Terminated") => "143".into(),
        Some(other) => other.into(),
        None => exit.exit_code().to_string(),
    }
}

/// The place of the process id in a notice of job control: `[1] 1234`, `[1]  + 1234 done`.
fn pid_of_a_job(letters: &[char]) -> Option<Range<usize>> {
    let text: String = letters.iter().collect();
    let inner = text.strip_prefix('[')?;
    let (job, rest) = inner.split_once(']')?;
    let is_job = !job.is_empty() && job.chars().all(|digit| digit.is_ascii_digit());
    let number = rest.trim_start_matches([' ', '+', '-']);
    let digits = number.chars().take_while(char::is_ascii_digit).count();
    let start = text.chars().count() - number.chars().count();
    (is_job && digits > 0).then(|| start..start + digits)
}

/// The differences, one per line; none if the terminals are equal.
pub(crate) fn differences(plain: &Shot, cohab: &Shot) -> Vec<String> {
    let mut found = Vec::new();
    let (left, right) = (plain.modes(), cohab.modes());
    for name in left.iter().chain(&right).map(|(name, _)| name) {
        let value = |modes: &[(String, String)]| modes.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        let (a, b) = (value(&left), value(&right));
        let line = format!("{name}: plain {}, cohab {}", shown(a.as_deref()), shown(b.as_deref()));
        if a != b && !found.contains(&line) {
            found.push(line);
        }
    }
    let mut cells = differing_cells(plain, cohab);
    let more = cells.len().saturating_sub(CELLS_NAMED);
    cells.truncate(CELLS_NAMED);
    found.extend(cells);
    if more > 0 {
        found.push(format!("and {more} more cells"));
    }
    found
}

fn shown(value: Option<&str>) -> String {
    value.map_or_else(|| "(unset)".to_owned(), |value| format!("`{}`", value.escape_debug()))
}

/// The differences of the scrollback's text.
pub(crate) fn history_differences(plain: &Shot, cohab: &Shot) -> Vec<String> {
    let (left, right) = (plain.history(), cohab.history());
    let longest = left.len().max(right.len());
    let differs = (0..longest).filter(|at| left.get(*at) != right.get(*at));
    let named = differs.map(|at| {
        let row = |rows: &[String]| shown(rows.get(at).map(String::as_str));
        format!("row {at} of the history: plain {}, cohab {}", row(&left), row(&right))
    });
    named.take(CELLS_NAMED).collect()
}

fn differing_cells(plain: &Shot, cohab: &Shot) -> Vec<String> {
    let rows = plain.screen().size().0.get().min(cohab.screen().size().0.get());
    let mut found = Vec::new();
    for row in 0..rows {
        let (left, right) = (plain.row(row), cohab.row(row));
        for (column, (a, b)) in left.iter().zip(&right).enumerate() {
            if !look_alike(a, b) {
                found.push(format!("row {row}, column {column}: plain {}, cohab {}", described(a), described(b)));
            }
        }
    }
    found
}

/// Whether a person sees the same: an empty cell is a blank, and only some attributes show on a blank.
fn look_alike(a: &Cell, b: &Cell) -> bool {
    let (left, right) = (letters(a), letters(b));
    let of_the_ground = a.bgcolor() == b.bgcolor() && a.inverse() == b.inverse() && a.underline() == b.underline();
    let of_the_letter =
        a.fgcolor() == b.fgcolor() && a.bold() == b.bold() && a.dim() == b.dim() && a.italic() == b.italic();
    left == right && of_the_ground && (of_the_letter || (left == " " && !a.inverse() && !a.underline()))
}

fn letters(cell: &Cell) -> &str {
    // The second half of a wide letter is empty, too, but is compared with its first.
    if cell.has_contents() { cell.contents() } else { " " }
}

fn described(cell: &Cell) -> String {
    let flags = [
        (cell.bold(), "bold"),
        (cell.dim(), "dim"),
        (cell.italic(), "italic"),
        (cell.underline(), "underline"),
        (cell.inverse(), "inverse"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter_map(|(is_set, name)| is_set.then_some(name)).collect();
    let colours = match (cell.fgcolor(), cell.bgcolor()) {
        (vt100::Color::Default, vt100::Color::Default) => String::new(),
        (letter, ground) => format!(" {letter:?} on {ground:?}"),
    };
    let flags = if flags.is_empty() { String::new() } else { format!(" {}", flags.join(" ")) };
    format!("`{}`{colours}{flags}", letters(cell))
}
