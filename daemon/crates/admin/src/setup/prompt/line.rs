//! A line that is written. Pure.

use super::keys::Key;

/// Longest line, in bytes. More is not taken.
const MAX_BYTES: usize = 8 * 1024;

/// What is written so far.
#[derive(Default)]
pub(super) struct Line {
    /// The text.
    pub(super) text: String,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The line goes on.
    Open,
    /// It is complete.
    Done,
    /// The user wants no more questions.
    Cancelled,
}

impl Line {
    /// Takes a key.
    pub(super) fn on_key(&mut self, key: Key) -> Outcome {
        match key {
            Key::Interrupt | Key::Escape => return Outcome::Cancelled,
            Key::Enter => return Outcome::Done,
            Key::Backspace => drop(self.text.pop()),
            Key::EraseLine => self.text.clear(),
            Key::Char(letter) if self.text.len() + letter.len_utf8() <= MAX_BYTES => self.text.push(letter),
            _ => {}
        }
        Outcome::Open
    }
}
