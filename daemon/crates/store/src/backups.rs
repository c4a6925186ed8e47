//! Backups keep what was at a path before the assistant changed it: copies below `backups`, in a folder per session and in it a folder
//! per turn. `write` and `edit` change one file each and are refused if it cannot be kept; what a command is going to change is kept as
//! far as it is known and fits.

mod command;
mod compare;
mod git_index;
mod list;
mod restore;
mod state;
mod turns;

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use cohab_system::files::{self, FileError};

pub use self::state::MAX_CHANGES;
use self::{
    list::{BackupLine, TurnList, add},
    state::{Kept, Left, Now, bytes_of, hash_of, mode_of, new_copy, write_new},
};
use super::{
    sessions::id,
    spool::{StoredFile, kept_in, remove, shrink, total},
};

pub use command::{CommandChanges, Pending};
pub use compare::{ChangedFile, ChangedFiles, Compared, Content};
pub use list::ChangingCommand;
pub use restore::{Restored, Taken, Word};
pub use turns::TurnSummary;

/// Largest file that is kept for `write` and `edit`, in bytes: no tool changes a larger one.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Most bytes of one turn's copies. Beyond, `write` and `edit` change no more files, and commands go on without copies.
pub const MAX_TURN_BYTES: u64 = 64 * 1024 * 1024;
/// Most bytes of all copies; the turn that was written to first is deleted first.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Lifetime of copies.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3_600);

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

impl Backups {
    /// Backups below `state_dir`, which need not exist.
    #[must_use]
    pub fn at(state_dir: &Path) -> Self {
        Self { root: state_dir.join("backups"), max_turn_bytes: MAX_TURN_BYTES, max_bytes: MAX_BYTES }
    }

    fn turn(&self, session: &str, turn: &str) -> PathBuf {
        self.root.join(id::of_key(session)).join(turn)
    }

    /// The folder of a turn, made if it is not there: then the list begins with what the user asked.
    fn begin(&self, session: &str, turn: &str, question: &str) -> io::Result<PathBuf> {
        let folder = self.turn(session, turn);
        if !folder.exists() {
            self.make_room();
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            add(&folder, [BackupLine::Turn { question: question.to_owned() }])?;
        }
        Ok(folder)
    }

    /// Keeps the content of `path`, which has no links in it, before a turn of the session of this name changes it. `question` is what
    /// the user asked in this turn. Blocks.
    ///
    /// # Errors
    /// The content cannot be kept: the file must then not be changed.
    pub fn keep(&self, session: &str, turn: &str, question: &str, path: &Path) -> Result<(), BackupError> {
        let content = match files::read_regular(path, MAX_FILE_BYTES) {
            Ok(found) => Some(found),
            Err(FileError::Missing) => None,
            Err(error) => return Err(error.into()),
        };
        let folder = self.begin(session, turn, question)?;
        let list = TurnList::read(&folder)?;
        // What the assistant itself left here in this turn is nothing to restore.
        let is_own =
            list.last(path).and_then(|change| change.left.as_ref()).is_some_and(|left| match (left, &content) {
                (Left::File { hash, .. }, Some((content, _))) => *hash == hash_of(content),
                (Left::Nothing, None) => true,
                _ => false,
            });
        if is_own {
            return Ok(());
        }
        let length = content.as_ref().map_or(0, |(content, _)| content.len()) as u64;
        if list.changes.len() >= MAX_CHANGES || total(&kept_in(&folder)) + length > self.max_turn_bytes {
            return Err(BackupError::TooMuch);
        }
        let kept = match content {
            Some((content, metadata)) => {
                let copy = new_copy();
                write_new(&folder.join(&copy), &content)?;
                Kept::File { copy, mode: list.mode_before(path, mode_of(&metadata)) }
            }
            None => Kept::Nothing,
        };
        let before = BackupLine::Before { path: bytes_of(path), kept, new_folders: new_folders(path) };
        Ok(add(&folder, [before])?)
    }

    /// The change is made, or was not: what is at the path now is what the assistant left. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, or the list not written.
    pub fn changed(&self, session: &str, turn: &str, path: &Path) -> Result<(), BackupError> {
        match Now::at(path)?.left(path)? {
            None | Some(Left::Nothing) => Ok(()),
            Some(left) => Ok(add(&self.turn(session, turn), [BackupLine::After { path: bytes_of(path), left }])?),
        }
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
            let _ = std::fs::remove_dir(&session.path);
        }
        shrink(turns, usize::MAX, self.max_bytes.saturating_sub(self.max_turn_bytes));
    }
}

/// The number of folders above `path` that do not exist.
fn new_folders(path: &Path) -> usize {
    path.ancestors().skip(1).take_while(|folder| !folder.exists()).count()
}

#[cfg(test)]
mod several_turns_tests;
#[cfg(test)]
mod tests;
