//! Shows a few dim words at the right edge of the prompt's row while typing pauses: the receiver of the line, or a remark that is shown
//! once. Pure: bytes and times in, bytes out.
//!
//! The user's line is never drawn again, and nothing is sent to the shell. The words stand only where the cells are known to be blank,
//! and are gone before the next key reaches the shell and before the shell writes.

mod rows;
mod typed;

use std::time::{Duration, Instant};

use cohab_shell_state::shell::Shell;
use cohab_term::{
    ansi::{self, ColorSupport},
    output_style::OutputStyle,
    theme,
};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

pub use rows::PromptRows;
pub use typed::TypedLine;

use cohab_line_classifier::Decision;

/// The words come so long after the last key.
const PAUSE: Duration = Duration::from_millis(250);
/// After a key they come back so often when the shell has written: a prompt with a clock must not make them blink.
const RETURNS_MAX: u8 = 2;
/// Synchronized updates, so that no terminal shows half of it.
const BEGIN: &[u8] = b"\x1b[?2026h\x1b7\x1b[m\x1b(B";
const END: &[u8] = b"\x1b8\x1b[?2026l";

/// A line about which a decision is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// To be given back with the decision.
    pub id: u64,
    /// As typed; not empty.
    pub line: String,
}

/// See the module's description.
#[derive(Debug)]
pub struct PromptHint {
    is_drawn: bool,
    flip_key: &'static str,
    typed: TypedLine,
    rows: PromptRows,
    /// The primary prompt stands and reads keys.
    stands: bool,
    due: Option<Instant>,
    /// A key has gone to the shell and nothing has come back yet. Until then there is no time to watch: arming a timer is work on the way
    /// of a key.
    awaits_echo: bool,
    returns_left: u8,
    shown: Option<ShownHint>,
    /// Counts the states of the line: a decision about an earlier one is late.
    version: u64,
    /// Of the classifier, about this version.
    decision: Option<Decision>,
    /// By the user, about this line until it is run or emptied.
    flipped: Option<Decision>,
    wants_flip: bool,
    /// What the user decided about the line that Enter was pressed on.
    entered: Option<(String, Decision)>,
    announcement: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShownHint {
    /// From 0.
    column: usize,
    width: usize,
}

impl PromptHint {
    /// For a terminal with so many columns. `flip_key` is its name as shown; without a name no line can be flipped.
    #[must_use]
    pub fn new(shell: Shell, columns: u16, output_style: OutputStyle, flip_key: &'static str) -> Self {
        Self {
            is_drawn: output_style.choose(true, false),
            flip_key,
            typed: TypedLine::new(shell),
            rows: PromptRows::new(columns),
            stands: false,
            due: None,
            awaits_echo: false,
            returns_left: 0,
            shown: None,
            version: 0,
            decision: None,
            flipped: None,
            wants_flip: false,
            entered: None,
            announcement: None,
        }
    }

    /// Shows this at the prompt that stands untouched, else at the next one, after a moment and if it has room, until the first key or
    /// the prompt after.
    pub fn announce(&mut self, text: &str, now: Instant) {
        self.announcement = Some(text.to_owned());
        if self.stands && self.is_empty() {
            self.due = self.is_drawn.then(|| now + PAUSE);
        }
    }

    /// A new prompt stands, with this line; `None`: keys have gone to it that were not followed.
    pub fn prompt_ready(&mut self, line: Option<&str>, now: Instant) {
        self.new_version();
        self.stands = true;
        self.flipped = None;
        self.entered = None;
        match line {
            Some(line) => self.typed.begin(line),
            None => self.typed.forget(),
        }
        self.returns_left = RETURNS_MAX;
        self.awaits_echo = false;
        self.due = self.has_something_to_say().then(|| now + PAUSE);
    }

    /// Takes keys that are about to go to the shell, or to the program that reads them now; `at_prompt` says whether that is the line
    /// editor. Appends what is to be written to the terminal before. Returns whether they go to the line that is followed.
    pub fn keys(&mut self, keys: &[u8], at_prompt: bool, now: Instant, out: &mut Vec<u8>) -> bool {
        self.hide(out);
        if self.stands {
            self.announcement = None;
        }
        if !at_prompt || !self.stands {
            self.leave();
            return false;
        }
        if let Some(last) = self.typed.before_enter(keys) {
            self.typed.push(last);
            let flipped = self.flipped.take();
            self.entered = self.typed.text().map(str::to_owned).zip(flipped);
            self.leave();
            return true;
        }
        self.typed.push(keys);
        self.new_version();
        self.returns_left = RETURNS_MAX;
        if self.typed.text().is_none_or(str::is_empty) {
            self.flipped = None;
        }
        self.due = self.has_something_to_say().then(|| now + PAUSE);
        self.awaits_echo = true;
        true
    }

    /// The key that flips the decision about this line: whether it is for us. `is_fixed`: this line cannot be flipped.
    #[must_use]
    pub fn takes_flip(&self, is_fixed: impl Fn(&str) -> bool) -> bool {
        let line = self.typed.text().filter(|line| !line.trim().is_empty());
        self.stands && !self.flip_key.is_empty() && line.is_some_and(|line| !is_fixed(line))
    }

    /// Flips it. What is given back wants a decision first.
    pub fn flip(&mut self, out: &mut Vec<u8>) -> Option<Wanted> {
        self.hide(out);
        if let Some(decision) = self.flipped.or(self.decision) {
            self.flipped = Some(opposite(decision));
            self.show(out);
            return None;
        }
        self.wants_flip = true;
        self.wanted()
    }

    /// What the user decided about the line that Enter was pressed on last, if it was this one.
    pub fn take_flipped(&mut self, line: &str) -> Option<Decision> {
        self.entered.take().filter(|(entered, _)| entered == line).map(|(_, decision)| decision)
    }

    /// The shell is about to write.
    pub fn before_output(&mut self, out: &mut Vec<u8>) {
        self.hide(out);
    }

    /// The shell has written, and its line editor reads keys or is about to; else see [`left`](Self::left).
    pub fn after_output(&mut self, bytes: &[u8], now: Instant) {
        self.rows.push(bytes);
        self.awaits_echo = false;
        if self.stands && self.due.is_none() && self.has_something_to_say() && self.returns_left > 0 {
            self.returns_left -= 1;
            self.due = Some(now + PAUSE);
        }
    }

    /// A program has written, or we have: whether the cursor stands at the beginning of a blank row.
    pub fn left(&mut self, is_blank_row: bool) {
        self.rows.begin(is_blank_row);
    }

    /// The terminal has another size. Words that still fit stand where they stood and are taken away; the place of others is unknown.
    pub fn resized(&mut self, columns: u16, out: &mut Vec<u8>) {
        if self.shown.is_some_and(|shown| shown.column + shown.width <= usize::from(columns)) {
            self.hide(out);
        }
        self.shown = None;
        self.due = None;
        self.rows.resize(columns);
    }

    /// When [`tick`](Self::tick) is due; `None` while nothing waits for time to pass, or a key for its echo.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.due.filter(|_| !self.awaits_echo)
    }

    /// Lets time pass. What is given back wants a decision.
    pub fn tick(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Wanted> {
        if self.deadline().is_none_or(|due| now < due) {
            return None;
        }
        self.due = None;
        if self.flipped.is_none() && self.decision.is_none() && !self.is_empty() {
            return self.wanted();
        }
        self.show(out);
        None
    }

    /// The decision about the line with this id.
    pub fn decided(&mut self, id: u64, decision: Decision, out: &mut Vec<u8>) {
        if id != self.version || !self.stands {
            return;
        }
        self.decision = Some(decision);
        if std::mem::take(&mut self.wants_flip) {
            self.flipped = Some(opposite(decision));
        }
        if self.due.is_none() {
            self.hide(out);
            self.show(out);
        }
    }

    fn wanted(&self) -> Option<Wanted> {
        let line = self.typed.text().filter(|line| !line.trim().is_empty())?;
        Some(Wanted { id: self.version, line: line.to_owned() })
    }

    fn new_version(&mut self) {
        self.version += 1;
        self.decision = None;
        self.wants_flip = false;
    }

    fn leave(&mut self) {
        self.new_version();
        self.stands = false;
        self.due = None;
        self.flipped = None;
        self.typed.forget();
    }

    fn is_empty(&self) -> bool {
        self.typed.text().is_some_and(str::is_empty)
    }

    fn has_something_to_say(&self) -> bool {
        self.is_drawn && if self.is_empty() { self.announcement.is_some() } else { self.typed.text().is_some() }
    }

    fn words(&self) -> Option<String> {
        if self.is_empty() {
            return self.announcement.as_ref().map(|text| format!(" {text} "));
        }
        self.typed.text()?;
        let flip =
            |verb: &str| if self.flip_key.is_empty() { String::new() } else { format!(" {}: {verb} ", self.flip_key) };
        match self.flipped.or(self.decision)? {
            Decision::Assistant => Some(format!(" ask {}", flip("run"))),
            // Said only of a line that would be asked otherwise.
            Decision::Shell if self.flipped.is_some() => Some(format!(" run {}", flip("ask"))),
            Decision::Shell => None,
        }
    }

    fn show(&mut self, out: &mut Vec<u8>) {
        let Some(words) = self.words().filter(|_| self.is_drawn && self.stands && self.shown.is_none()) else { return };
        let width = words.width();
        let Some(column) = self.rows.room_for(width) else { return };
        self.shown = Some(ShownHint { column, width });
        out.extend_from_slice(BEGIN);
        out.extend_from_slice(format!("\x1b[{}G", column + 1).as_bytes());
        ansi::write_line(&Line::styled(words, theme::DIM), ColorSupport::Ansi16, out);
        out.extend_from_slice(END);
    }

    fn hide(&mut self, out: &mut Vec<u8>) {
        if let Some(ShownHint { column, width }) = self.shown.take() {
            out.extend_from_slice(BEGIN);
            out.extend_from_slice(format!("\x1b[{}G\x1b[{width}X", column + 1).as_bytes());
            out.extend_from_slice(END);
        }
    }
}

fn opposite(decision: Decision) -> Decision {
    match decision {
        Decision::Shell => Decision::Assistant,
        Decision::Assistant => Decision::Shell,
    }
}

#[cfg(test)]
mod tests;
