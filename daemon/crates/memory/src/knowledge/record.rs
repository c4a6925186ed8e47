//! The records of the user's documents: places, files, passages. Pure.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::record::Scope;

/// A folder or file that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedPlace {
    /// Its path, absolute and without links.
    pub root: PathBuf,
    /// From where its passages are found.
    pub scope: Scope,
    /// The time at which the user named it last.
    pub learned: Timestamp,
    /// The time at which all of its files were compared last; `None` if it was never done to the end.
    pub looked: Option<Timestamp>,
}

impl LearnedPlace {
    /// The path of one of its files. A place that is a file has one with an empty path.
    #[must_use]
    pub fn file(&self, path: &Path) -> PathBuf {
        file(&self.root, path)
    }
}

/// The path of a file of the place with this root.
#[must_use]
pub fn file(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) }
}

/// What a file is recognized by as long as it does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    /// Its size.
    pub bytes: u64,
    /// The time of its last change, in nanoseconds since the epoch.
    pub modified_ns: i64,
    /// Its number in its file system.
    pub inode: u64,
}

/// Why a file has no passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// It is larger than [`super::store::MAX_FILE_BYTES`].
    Large,
    /// It is not a text.
    Binary,
    /// Its name says that it holds secrets, or it holds one that spans lines.
    Secret,
}

impl LeftOut {
    /// All of them, each with a phrase that follows a number of files.
    pub const PHRASES: [(Self, &'static str); 3] =
        [(Self::Large, "larger than 1 MB"), (Self::Binary, "not text"), (Self::Secret, "with secrets")];
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The line at which it begins, from 1.
    pub line: u64,
    /// The headings above it, the outermost first, joined by ` > `; empty if there are none.
    pub headings: String,
    /// Its text, as it is in the file but for secrets.
    pub text: String,
}

/// A file of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedFile {
    /// Its path below the place; empty if the place is this file.
    pub path: PathBuf,
    /// What it was when it was read.
    pub stamp: FileStamp,
    /// Its passages, or why it has none.
    pub content: Result<Vec<Passage>, LeftOut>,
}

/// A passage that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPassage {
    /// The path of its file, absolute.
    pub file: PathBuf,
    /// The passage.
    pub passage: Passage,
}

/// A place with what is stored of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceSummary {
    /// The place.
    pub place: LearnedPlace,
    /// Number of files with passages.
    pub files: u64,
    /// Number of files without, by reason; reasons without files are missing.
    pub left_out: Vec<(LeftOut, u64)>,
    /// Number of passages.
    pub passages: u64,
    /// Size of the files with passages.
    pub bytes: u64,
}
