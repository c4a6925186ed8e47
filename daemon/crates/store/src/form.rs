//! The form of a database file, and the names next to it.

use std::path::{Path, PathBuf};

use rusqlite::Transaction;

use super::error::StoreError;

/// What a file is like inside.
pub(super) struct Form {
    /// What brings a file from each version to the next. Append only.
    pub migrations: &'static [&'static str],
    /// Largest file, in pages of 4 KiB.
    pub max_pages: u32,
    /// Run at every opening.
    pub pragmas: &'static str,
    /// Run before the tables of a new file are made. It may write, which costs milliseconds.
    pub pragmas_at_birth: &'static str,
    /// Puts right what rows of a broken file lack that were taken over.
    pub after_salvage: fn(&Transaction<'_>) -> Result<(), StoreError>,
}

/// The path with this behind its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
