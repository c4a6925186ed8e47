//! May this line run? Pure: no file is touched, no program started.

use std::path::Path;

/// What the policy says, from lax to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plainly read-only: runs at once.
    Allow,
    /// Shown in full; one key approves.
    Ask,
    /// Known to do harm; asked loudly, never remembered.
    Danger,
    /// Not run.
    Deny,
}

/// A level and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The strictest level of all parts.
    pub level: Level,
    /// Why it is not `Allow`, a short sentence each, strictest first.
    pub reasons: Vec<String>,
}

/// What a line is judged against.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Working directory of the shell.
    pub cwd: &'a Path,
    /// The user's home.
    pub home: &'a Path,
}

/// Judges a shell line of any number of commands.
#[must_use]
pub fn assess_line(_line: &str, _context: Context<'_>) -> Verdict {
    Verdict { level: Level::Ask, reasons: vec!["not classified".into()] }
}

/// Judges reading a file. `path` may be relative to `context.cwd`.
#[must_use]
pub fn assess_read(_path: &Path, _context: Context<'_>) -> Verdict {
    Verdict { level: Level::Ask, reasons: vec!["not classified".into()] }
}

/// Judges writing a file: at least `Ask`.
#[must_use]
pub fn assess_write(_path: &Path, _context: Context<'_>) -> Verdict {
    Verdict { level: Level::Ask, reasons: vec!["writes a file".into()] }
}
