//! Restores files from their backups.

use std::{
    fs,
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use cohab_files::{self, Expected, FileError};

use super::{BackupLine, Backups, Change, LIST, MAX_FILE_BYTES, changes_in, hash_of, write_new};
use crate::spool::{kept_in, remove};

/// The result for the files of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The turn.
    pub turn: String,
    /// Its files, the last changed one first.
    pub files: Vec<Taken>,
}

/// The result for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The file.
    pub path: PathBuf,
    /// The action.
    pub word: Word,
}

/// The action on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The earlier content was restored.
    Restored,
    /// The file was removed: the assistant had created it.
    Removed,
    /// The file already had its earlier content.
    AsBefore,
    /// The file is left alone.
    Refused {
        /// The reason, as a phrase.
        reason: String,
        /// The copy of its earlier content, if it existed.
        copy: Option<PathBuf>,
    },
}

impl Backups {
    /// Takes back the changes of this turn, or of the last turn that changed a file. `None` if there is no such turn. Copies of refused
    /// files are kept. Blocks.
    ///
    /// # Errors
    /// The copies cannot be read.
    pub fn restore(&self, turn: Option<&str>) -> io::Result<Option<Restored>> {
        let mut turns: Vec<(SystemTime, PathBuf)> = Vec::new();
        for session in kept_in(&self.root) {
            turns.extend(kept_in(&session.path).into_iter().map(|turn| (turn.modified, turn.path)));
        }
        turns.retain(|(_, path)| turn.is_none_or(|turn| path.file_name().is_some_and(|name| name == turn)));
        turns.sort();
        while let Some((_, folder)) = turns.pop() {
            let changes = changes_in(&folder)?;
            if !changes.is_empty() {
                return restore_turn(&folder, changes).map(Some);
            }
        }
        Ok(None)
    }
}

fn restore_turn(folder: &Path, mut changes: Vec<Change>) -> io::Result<Restored> {
    let turn = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut files = Vec::new();
    let mut left = Vec::new();
    while let Some(change) = changes.pop() {
        let copy = change.copy.as_ref().map(|copy| folder.join(copy));
        let word = take_back(&change, copy.as_deref()).unwrap_or_else(|reason| Word::Refused { reason, copy });
        files.push(Taken { path: change.path.clone(), word: word.clone() });
        if matches!(word, Word::Refused { .. }) {
            left.push(change);
        }
    }
    if left.is_empty() {
        remove(folder);
    } else {
        left.reverse();
        rewrite(folder, &left)?;
    }
    Ok(Restored { turn, files })
}

/// The list with only these changes.
fn rewrite(folder: &Path, left: &[Change]) -> io::Result<()> {
    let mut text = Vec::new();
    for Change { path, copy, new_folders, hash } in left {
        let path = path.as_os_str().as_bytes().to_vec();
        let before = BackupLine::Before { path: path.clone(), copy: copy.clone(), new_folders: *new_folders };
        let after = hash.clone().map(|hash| BackupLine::After { path, hash });
        for line in [Some(before), after].into_iter().flatten() {
            serde_json::to_writer(&mut text, &line)?;
            text.write_all(b"\n")?;
        }
    }
    let temporary = folder.join(format!("{LIST}.new"));
    remove_if_there(&temporary)?;
    write_new(&temporary, &text)?;
    fs::rename(temporary, folder.join(LIST))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// # Errors
/// The reason to leave the file alone.
fn take_back(change: &Change, copy: Option<&Path>) -> Result<Word, String> {
    let Change { path, hash, new_folders, .. } = change;
    let named = |error: FileError| error.to_string();
    let before = copy.map(|copy| cohab_files::read_regular(copy, MAX_FILE_BYTES)).transpose();
    let before = before.map_err(|error| format!("its copy cannot be read: {error}"))?;
    if path.parent().and_then(|folder| folder.canonicalize().ok()).as_deref() != path.parent() {
        let is_gone = !path.parent().is_some_and(Path::exists);
        return match (is_gone, &before) {
            (true, None) => Ok(Word::AsBefore),
            (true, Some(_)) => Err("its folder is gone".to_owned()),
            (false, _) => Err("its folder is a link now".to_owned()),
        };
    }
    let (content, metadata) = match cohab_files::read_regular(path, MAX_FILE_BYTES) {
        Ok(found) => found,
        Err(FileError::Missing) if before.is_none() => return Ok(Word::AsBefore),
        Err(FileError::Missing) => return Err("it was removed since".to_owned()),
        Err(error) => return Err(named(error)),
    };
    let now = hash_of(&content);
    match (before, hash) {
        (Some((before, _)), _) if before == content => Ok(Word::AsBefore),
        (_, None) => Err("it is unknown whether its change completed".to_owned()),
        (_, Some(hash)) if *hash != now => Err("it was changed since".to_owned()),
        (Some((before, _)), _) => {
            cohab_files::replace(path, &before, Expected::Same(&metadata), None).map_err(named)?;
            Ok(Word::Restored)
        }
        (None, _) => {
            fs::remove_file(path).map_err(|error| error.to_string())?;
            // Only empty folders are removed.
            let folders = path.ancestors().skip(1).take(*new_folders);
            folders.map(fs::remove_dir).take_while(Result::is_ok).for_each(drop);
            Ok(Word::Removed)
        }
    }
}
