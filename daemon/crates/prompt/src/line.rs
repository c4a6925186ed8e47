//! Edits a line of input. Pure.

use super::keys::PromptKey;

/// Longest line, in bytes. Further input is ignored.
const MAX_BYTES: usize = 8 * 1024;

/// The line so far.
#[derive(Default)]
pub(super) struct Line {
    /// The text.
    pub(super) text: String,
}

/// The result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The line is still open.
    Open,
    /// It is complete.
    Done,
    /// The user cancels.
    Cancelled,
}

impl Line {
    /// Handles a key.
    pub(super) fn on_key(&mut self, key: PromptKey) -> Outcome {
        match key {
            PromptKey::Interrupt | PromptKey::EndOfInput | PromptKey::Escape => return Outcome::Cancelled,
            PromptKey::Enter => return Outcome::Done,
            PromptKey::Backspace => drop(self.text.pop()),
            PromptKey::EraseLine => self.text.clear(),
            PromptKey::Char(letter) if self.text.len() + letter.len_utf8() <= MAX_BYTES => self.text.push(letter),
            _ => {}
        }
        Outcome::Open
    }
}
