//! Copies of files from before the assistant changed them: a folder for each session, and in it one for each turn, below `backups`.

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
    spool::{Kept, kept_in, remove, shrink, total},
};

pub use restore::{Restored, Taken, Word};

/// Largest file that is kept, in bytes: no tool changes a larger one.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// All copies of one turn, in bytes. Beyond, nothing more is changed in it.
const MAX_TURN_BYTES: u64 = 64 * 1024 * 1024;
/// All copies, in bytes; the turn that was written to first goes first.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Changes of one turn.
const MAX_CHANGES: usize = 1_000;
/// Copies are kept so long.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3_600);
/// The file that says what is what, in the folder of a turn.
const LIST: &str = "changes.jsonl";

/// Why a file's content cannot be kept. `Display` is a phrase.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The system says no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file cannot be read.
    #[error("{0}")]
    File(#[from] FileError),
    /// A bound is reached.
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
enum Line {
    /// A file is about to be changed.
    Before {
        /// Its path, byte by byte.
        path: Vec<u8>,
        /// The name of its copy; `None` if it is about to be made.
        copy: Option<String>,
        /// How many folders above it are about to be made.
        new_folders: usize,
    },
    /// It has been changed.
    After {
        /// Its path.
        path: Vec<u8>,
        /// SHA-256 of what it holds now, in hexadecimal digits.
        hash: String,
    },
}

/// What is known of a changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    path: PathBuf,
    copy: Option<String>,
    new_folders: usize,
    /// `None` while it is not known that it has been changed.
    hash: Option<String>,
}

impl Backups {
    /// Below `state_dir`, which need not exist.
    #[must_use]
    pub fn at(state_dir: &Path) -> Self {
        Self { root: state_dir.join("backups"), max_turn_bytes: MAX_TURN_BYTES, max_bytes: MAX_BYTES }
    }

    fn turn(&self, session: &str, turn: &str) -> PathBuf {
        self.root.join(id::of_key(session)).join(turn)
    }

    /// Keeps what `path`, which has no links in it, holds before a turn of the session of this name changes it. Blocks.
    ///
    /// # Errors
    /// It cannot be kept: the file must then not be changed.
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
        // What the assistant itself wrote in this turn is nothing to go back to.
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
        add(&folder, &Line::Before { path: path.as_os_str().as_bytes().to_vec(), copy, new_folders })
    }

    /// The change is made, or was not: whatever the file holds now is what the assistant left. Blocks.
    ///
    /// # Errors
    /// It cannot be read, or not be written down.
    pub fn changed(&self, session: &str, turn: &str, path: &Path) -> Result<(), BackupError> {
        let (content, _) = match cohab_files::read_regular(path, MAX_FILE_BYTES) {
            Err(FileError::Missing) => return Ok(()),
            read => read?,
        };
        let line = Line::After { path: path.as_os_str().as_bytes().to_vec(), hash: hash_of(&content) };
        add(&self.turn(session, turn), &line)
    }

    /// Removes what is too old or too much.
    fn make_room(&self) {
        let since = SystemTime::now().checked_sub(KEEP);
        let mut turns: Vec<Kept> = Vec::new();
        for session in kept_in(&self.root) {
            let (old, kept): (Vec<Kept>, Vec<Kept>) =
                kept_in(&session.path).into_iter().partition(|turn| since.is_some_and(|since| turn.modified < since));
            old.iter().for_each(|turn| remove(&turn.path));
            turns.extend(kept.into_iter().map(|turn| Kept { bytes: total(&kept_in(&turn.path)), ..turn }));
            // Only an empty one goes.
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

fn add(folder: &Path, line: &Line) -> Result<(), BackupError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = options.open(folder.join(LIST))?;
    let text = serde_json::to_string(line).map_err(io::Error::other)?;
    file.write_all(format!("{text}\n").as_bytes())?;
    Ok(file.sync_data()?)
}

/// The changes of a turn, each file once: the last time before it was changed, the last time after.
fn changes_in(folder: &Path) -> io::Result<Vec<Change>> {
    let file = match cohab_files::open_regular(&folder.join(LIST)) {
        Ok((file, _)) => file,
        Err(FileError::Missing) => return Ok(Vec::new()),
        Err(error) => return Err(io::Error::other(error.to_string())),
    };
    let mut changes: Vec<Change> = Vec::new();
    for line in BufReader::new(file).lines() {
        // A line that a dying daemon did not finish says nothing.
        let Ok(line) = serde_json::from_str(&line?) else { continue };
        match line {
            Line::Before { path, copy, new_folders } => {
                let path = PathBuf::from(OsString::from_vec(path));
                changes.retain(|change| change.path != path);
                changes.push(Change { path, copy, new_folders, hash: None });
            }
            Line::After { path, hash } => {
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
