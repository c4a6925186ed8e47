//! Errors of the settings file: message, position and advice.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of byte `offset` of `text`. An invalid byte sequence counts as one character.
    #[must_use]
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        Self {
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..]).trim_start_matches('\u{feff}').chars().count(),
        }
    }
}

/// An error of the settings file. `Display` is one line, `file:line:column: message`; never a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// Position in the file, if the error has one.
    pub position: Option<Position>,
    /// Full name of the key, if the error is about one.
    pub key: Option<String>,
    /// The error.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<String>,
}

impl ConfigError {
    pub(super) fn new(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), position: None, key: None, message: message.into(), hint: None }
    }

    pub(super) fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    pub(super) fn key(mut self, key: &str) -> Self {
        self.key = Some(key.into());
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for ConfigError {}
