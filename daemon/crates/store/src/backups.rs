//! Backups keep the content of files from before the assistant changed them: copies below `backups`, in a folder per session and in it
//! a folder per turn.

mod restore;

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use aws_lc_rs::digest;
use cohab_files::{self, FileError};
use serde::{Deserialize, Serialize};

use super::{
    sessions::id,
    spool::{StoredFile, kept_in, remove, shrink, total},
};

pub use restore::{Restored, Taken, Word};

/// Largest file that is kept, in bytes: no tool changes a larger one.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Most bytes of one turn's copies. Beyond, the turn changes no more files.
const MAX_TURN_BYTES: u64 = 64 * 1024 * 1024;
/// Most bytes of all copies; the turn that was written to first is deleted first.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Most changes of one turn.
const MAX_CHANGES: usize = 1_000;
/// Lifetime of copies.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3_600);
/// The file with the list of changes, in the folder of a turn.
const LIST: &str = "changes.jsonl";

/// The reason why a file's content cannot be kept. `Display` is a phrase.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file cannot be read.
    #[error("{0}")]
    File(#[from] FileError),
    /// A limit is reached.
    #[error("one turn has changed too much to be kept")]
    TooMuch,
}

/// The folder of all copies.
#[derive(Clone, Debug)]
pub struct Backups {
    root: PathBuf,
    max_turn_bytes: u64,
    max_bytes: u64,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BackupLine {
    /// A file is about to be changed.
    Before {
        /// Its path, byte by byte.
        path: Vec<u8>,
        /// The name of its copy; `None` if it is about to be created.
        copy: Option<String>,
        /// The number of folders above it that are about to be created.
        new_folders: usize,
    },
    /// The file was changed.
    After {
        /// Its path.
        path: Vec<u8>,
        /// SHA-256 of its new content, in hexadecimal digits.
        hash: String,
    },
}

/// The facts about a changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    path: PathBuf,
    copy: Option<String>,
    new_folders: usize,
    /// `None` until it is known that it was changed.
    hash: Option<String>,
}

impl Backups {
    /// Backups below `state_dir`, which need not exist.
    #[must_use]
    pub fn at(state_dir: &Path) -> Self {
        Self { root: state_dir.join("backups"), max_turn_bytes: MAX_TURN_BYTES, max_bytes: MAX_BYTES }
    }

    fn turn(&self, session: &str, turn: &str) -> PathBuf {
        self.root.join(id::of_key(session)).join(turn)
    }

    /// Keeps the content of `path`, which has no links in it, before a turn of the session of this name changes it. Blocks.
    ///
    /// # Errors
    /// The content cannot be kept: the file must then not be changed.
    pub fn keep(&self, session: &str, turn: &str, path: &Path) -> Result<(), BackupError> {
        let folder = self.turn(session, turn);
        let content = match cohab_files::read_regular(path, MAX_FILE_BYTES) {
            Ok((content, _)) => Some(content),
            Err(FileError::Missing) => None,
            Err(error) => return Err(error.into()),
        };
        if !folder.exists() {
            self.make_room();
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let changes = changes_in(&folder)?;
        let hash = content.as_deref().map(hash_of);
        // Content that the assistant itself wrote in this turn is nothing to restore.
        if changes.iter().any(|change| change.path == path && change.hash.is_some() && change.hash == hash) {
            return Ok(());
        }
        let length = content.as_ref().map_or(0, Vec::len) as u64;
        if changes.len() >= MAX_CHANGES || total(&kept_in(&folder)) + length > self.max_turn_bytes {
            return Err(BackupError::TooMuch);
        }
        let copy = content.as_ref().map(|_| uuid::Uuid::now_v7().as_simple().to_string());
        if let (Some(copy), Some(content)) = (&copy, &content) {
            write_new(&folder.join(copy), content)?;
        }
        let new_folders = path.ancestors().skip(1).take_while(|folder| !folder.exists()).count();
        add(&folder, &BackupLine::Before { path: path.as_os_str().as_bytes().to_vec(), copy, new_folders })
    }

    /// The change is made, or was not: the file's current content is what the assistant left. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, or the list not written.
    pub fn changed(&self, session: &str, turn: &str, path: &Path) -> Result<(), BackupError> {
        let (content, _) = match cohab_files::read_regular(path, MAX_FILE_BYTES) {
            Err(FileError::Missing) => return Ok(()),
            read => read?,
        };
        let line = BackupLine::After { path: path.as_os_str().as_bytes().to_vec(), hash: hash_of(&content) };
        add(&self.turn(session, turn), &line)
    }

    /// Removes old and surplus copies.
    fn make_room(&self) {
        let since = SystemTime::now().checked_sub(KEEP);
        let mut turns: Vec<StoredFile> = Vec::new();
        for session in kept_in(&self.root) {
            let (old, kept): (Vec<StoredFile>, Vec<StoredFile>) =
                kept_in(&session.path).into_iter().partition(|turn| since.is_some_and(|since| turn.modified < since));
            old.iter().for_each(|turn| remove(&turn.path));
            turns.extend(kept.into_iter().map(|turn| StoredFile { bytes: total(&kept_in(&turn.path)), ..turn }));
            // Only an empty folder is removed.
            let _ = fs::remove_dir(&session.path);
        }
        shrink(turns, usize::MAX, self.max_bytes.saturating_sub(self.max_turn_bytes));
    }
}

fn hash_of(content: &[u8]) -> String {
    digest::digest(&digest::SHA256, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_data()
}

fn add(folder: &Path, line: &BackupLine) -> Result<(), BackupError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = options.open(folder.join(LIST))?;
    let text = serde_json::to_string(line).map_err(io::Error::other)?;
    file.write_all(format!("{text}\n").as_bytes())?;
    Ok(file.sync_data()?)
}

/// The changes of a turn, each file once: from its first copy to its last change.
fn changes_in(folder: &Path) -> io::Result<Vec<Change>> {
    let file = match cohab_files::open_regular(&folder.join(LIST)) {
        Ok((file, _)) => file,
        Err(FileError::Missing) => return Ok(Vec::new()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    let mut changes: Vec<Change> = Vec::new();
    for line in BufReader::new(file).lines() {
        // A line that a dying daemon did not finish is skipped.
        let Ok(line) = serde_json::from_str(&line?) else { continue };
        match line {
            BackupLine::Before { path, copy, new_folders } => {
                let path = PathBuf::from(OsString::from_vec(path));
                changes.retain(|change| change.path != path);
                changes.push(Change { path, copy, new_folders, hash: None });
            }
            BackupLine::After { path, hash } => {
                let path = PathBuf::from(OsString::from_vec(path));
                if let Some(change) = changes.iter_mut().find(|change| change.path == path) {
                    change.hash = Some(hash);
                }
            }
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests;
