//! Restores what was at the paths of a turn, and keeps what was there until then, so that this can be taken back as well.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    Backups, ChangingCommand, MAX_TURN_BYTES,
    list::{BackupLine, Change, TurnList, add},
    state::{Kept, Left, MovedIdentity, Now, bytes_of, path_from, put_back},
};
use crate::spool::{kept_in, remove};

/// The end of the name of a folder with what an undo took back.
const UNDONE: &str = "-undone";

/// The result for a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The turn.
    pub turn: String,
    /// What the user asked in it.
    pub question: String,
    /// Its paths, the last changed one first.
    pub files: Vec<Taken>,
    /// Its commands; what they changed elsewhere stays.
    pub commands: Vec<ChangingCommand>,
}

/// The result for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The path.
    pub path: PathBuf,
    /// The action.
    pub word: Word,
}

/// The action on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// What was there before is there again.
    Restored,
    /// It was removed: the turn had created it.
    Removed,
    /// It was moved back, to this path.
    MovedBack(PathBuf),
    /// It was already as before the turn.
    AsBefore,
    /// It is left alone.
    Refused {
        /// The reason, as a phrase.
        reason: String,
        /// The copy of its earlier content, if it existed.
        copy: Option<PathBuf>,
    },
}

/// The turns that an undo may be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Turns of a conversation.
    Done,
    /// What an undo took back.
    Undone,
}

impl Which {
    pub(super) fn of(folder: &Path) -> Self {
        let is_undone = folder.file_name().is_some_and(|name| name.to_string_lossy().ends_with(UNDONE));
        if is_undone { Self::Undone } else { Self::Done }
    }
}

impl Backups {
    /// Takes back the changes of this turn, or of the last one that changed a file or ran a command that may have. `None` if there is no
    /// such turn. Copies of refused files are kept. Blocks.
    ///
    /// # Errors
    /// The copies cannot be read.
    pub fn restore(&self, turn: Option<&str>) -> io::Result<Option<Restored>> {
        self.take(Which::Done, turn)
    }

    /// Takes back the last undo: its files are again as the turn had left them. `None` if there was none. Blocks.
    ///
    /// # Errors
    /// The copies cannot be read.
    pub fn redo(&self) -> io::Result<Option<Restored>> {
        self.take(Which::Undone, None)
    }

    fn take(&self, which: Which, turn: Option<&str>) -> io::Result<Option<Restored>> {
        let mut turns = self.folders(which);
        turns.retain(|(_, path)| turn.is_none_or(|turn| path.file_name().is_some_and(|name| name == turn)));
        while let Some((_, folder)) = turns.pop() {
            let list = TurnList::read(&folder)?;
            if !list.is_empty() {
                return restore_turn(&folder, list).map(Some);
            }
        }
        Ok(None)
    }

    /// The folders of turns, the one that was written to last at the end.
    pub(super) fn folders(&self, which: Which) -> Vec<(SystemTime, PathBuf)> {
        let sessions = kept_in(&self.root).into_iter().flat_map(|session| kept_in(&session.path));
        let mut turns: Vec<(SystemTime, PathBuf)> = sessions.map(|turn| (turn.modified, turn.path)).collect();
        turns.retain(|(_, path)| Which::of(path) == which);
        turns.sort();
        turns
    }
}

fn restore_turn(folder: &Path, mut list: TurnList) -> io::Result<Restored> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut opposite = Opposite::of(folder, &name, &list.question)?;
    let mut files = Vec::new();
    let mut left = Vec::new();
    while let Some(change) = list.changes.pop() {
        let word = take_back(&change, folder, &mut opposite).unwrap_or_else(|reason| {
            let copy = match &change.kept {
                Kept::File { copy, .. } => Some(folder.join(copy)),
                _ => None,
            };
            Word::Refused { reason, copy }
        });
        files.push(Taken { path: change.path.clone(), word: word.clone() });
        if matches!(word, Word::Refused { .. }) {
            left.push(change);
        }
    }
    opposite.finish();
    let commands = std::mem::take(&mut list.commands);
    let restored =
        Restored { turn: name.trim_end_matches(UNDONE).to_owned(), question: list.question.clone(), files, commands };
    if left.is_empty() {
        remove(folder);
    } else {
        left.reverse();
        list.changes = left;
        list.write(folder)?;
    }
    Ok(restored)
}

/// The folder in which an undo keeps what it takes back, or a redo what it brings back.
struct Opposite {
    folder: PathBuf,
    has_changes: bool,
}

impl Opposite {
    fn of(folder: &Path, name: &str, question: &str) -> io::Result<Self> {
        let other = match name.strip_suffix(UNDONE) {
            Some(turn) => turn.to_owned(),
            None => format!("{name}{UNDONE}"),
        };
        let folder = folder.with_file_name(other);
        // Left over from an undo of the same turn that was refused in part.
        if !folder.exists() {
            fs::create_dir(&folder)?;
            add(&folder, [BackupLine::Turn { question: question.to_owned() }])?;
        }
        Ok(Self { folder, has_changes: false })
    }

    /// Keeps what is at `path` now.
    fn keep(&mut self, path: &Path, now: &Now) -> Result<(), String> {
        let kept = now.keep(path, &self.folder, MAX_TURN_BYTES)?;
        self.add(BackupLine::Before { path: bytes_of(path), kept, new_folders: 0 });
        Ok(())
    }

    fn moved(&mut self, from: &Path, to: &Path, moved: &MovedIdentity) {
        self.add(BackupLine::Before {
            path: bytes_of(to),
            kept: Kept::MovedFrom { path: bytes_of(from) },
            new_folders: 0,
        });
        self.add(BackupLine::After { path: bytes_of(to), left: Left::Moved(moved.clone()) });
    }

    fn after(&mut self, path: &Path) {
        if let Ok(Some(left)) = Now::at(path).and_then(|now| now.left(path)) {
            self.add(BackupLine::After { path: bytes_of(path), left });
        }
    }

    fn add(&mut self, line: BackupLine) {
        match add(&self.folder, [line]) {
            Ok(()) => self.has_changes = true,
            Err(error) => tracing::warn!(%error, "an undo cannot be taken back"),
        }
    }

    fn finish(self) {
        if !self.has_changes && TurnList::read(&self.folder).is_ok_and(|list| list.is_empty()) {
            remove(&self.folder);
        }
    }
}

/// # Errors
/// The reason to leave the path alone.
fn take_back(change: &Change, copies: &Path, opposite: &mut Opposite) -> Result<Word, String> {
    let Change { path, kept, new_folders, left } = change;
    let told = |error: io::Error| error.to_string();
    if path.parent().and_then(|folder| folder.canonicalize().ok()).as_deref() != path.parent() {
        let is_gone = !path.parent().is_some_and(Path::exists);
        return match (is_gone, kept) {
            (true, Kept::Nothing) => Ok(Word::AsBefore),
            (true, _) => Err("its folder is gone".to_owned()),
            (false, _) => Err("its folder is a link now".to_owned()),
        };
    }
    let now = Now::at(path).map_err(told)?;
    if now.is_kept(kept, path, copies).map_err(|error| format!("it cannot be compared with its copy: {error}"))? {
        return Ok(Word::AsBefore);
    }
    let Some(left) = left else { return Err("it is unknown whether its change completed".to_owned()) };
    if !now.is_left(left, path).map_err(told)? {
        let what = match now {
            Now::Nothing => "it was removed since",
            Now::Other => "it is no regular file now",
            Now::Link(_) if !matches!(left, Left::Link { .. }) => "it is a link now",
            Now::Folder(_) if *left != Left::Folder => "it is a folder now",
            _ => "it was changed since",
        };
        return Err(what.to_owned());
    }
    if let (Kept::MovedFrom { path: from }, Left::Moved(moved)) = (kept, left) {
        let from = path_from(from);
        put_back(&now, kept, path, copies, MAX_TURN_BYTES)?;
        opposite.moved(path, &from, moved);
        return Ok(Word::MovedBack(from));
    }
    opposite.keep(path, &now)?;
    put_back(&now, kept, path, copies, MAX_TURN_BYTES)?;
    opposite.after(path);
    if *kept != Kept::Nothing {
        return Ok(Word::Restored);
    }
    // Only empty folders are removed.
    path.ancestors().skip(1).take(*new_folders).map(fs::remove_dir).take_while(Result::is_ok).for_each(drop);
    Ok(Word::Removed)
}
