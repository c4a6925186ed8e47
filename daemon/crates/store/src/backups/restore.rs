//! Restores what was at the paths of a turn, and keeps what was there until then, so that this can be taken back as well.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    Backups, ChangingCommand, MAX_TURN_BYTES,
    list::{BackupLine, Change, TurnList, add},
    state::{Kept, Left, MovedIdentity, Now, bytes_of, path_from, put_attributes_back, put_back},
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
    /// Folders that were made again.
    made: Vec<PathBuf>,
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
        Ok(Self { folder, has_changes: false, made: Vec::new() })
    }

    /// Keeps what is at `path` now.
    fn keep(&mut self, path: &Path, now: &Now) -> Result<(), String> {
        let kept = now.keep(path, &self.folder, MAX_TURN_BYTES)?;
        self.add(BackupLine::Before { path: bytes_of(path), kept, new_folders: 0 });
        Ok(())
    }

    /// Permissions and time of what is at `path` were changed, which was `before` like this.
    fn attributes(&mut self, path: &Path, before: &Now) {
        let after = Now::at(path).ok().and_then(|now| now.attributes());
        if let (Some(before), Some(after)) = (before.attributes(), after) {
            let kept = Kept::Attributes(before);
            self.add(BackupLine::Before { path: bytes_of(path), kept, new_folders: 0 });
            self.add(BackupLine::After { path: bytes_of(path), left: Left::Attributes(after) });
        }
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
    let Change { path, kept, new_folders, left, .. } = change;
    let told = |error: io::Error| error.to_string();
    if let Some(word) = above(change, &mut opposite.made)? {
        return Ok(word);
    }
    // It was made for what was in it, and is empty by now unless something else is in it.
    if (kept, left) == (&Kept::Nothing, &Some(Left::Nothing))
        && opposite.made.contains(path)
        && fs::remove_dir(path).is_ok()
    {
        remove_empty(path, *new_folders, |_| true);
        return Ok(Word::AsBefore);
    }
    let now = Now::at(path).map_err(told)?;
    if let (Kept::Attributes(before), Some(Left::Attributes(after))) = (kept, left) {
        let attributes = now.attributes().ok_or_else(|| changed_since(&now, &Left::Nothing))?;
        let is_changed = put_attributes_back(&attributes, (before, after), path)?;
        if is_changed {
            opposite.attributes(path, &now);
        }
        return Ok(if is_changed { Word::Restored } else { Word::AsBefore });
    }
    let is_kept = now.is_kept(kept, left.as_ref(), path, copies);
    if is_kept.map_err(|error| format!("it cannot be compared with its copy: {error}"))? {
        // Folders that were only made for what was in them go as well.
        remove_empty(path, *new_folders, |folder| opposite.made.iter().any(|made| made == folder));
        return Ok(Word::AsBefore);
    }
    let Some(left) = left else { return Err("it is unknown whether its change completed".to_owned()) };
    if !now.is_left(left, path).map_err(told)? {
        return Err(changed_since(&now, left));
    }
    if let (Kept::MovedFrom { path: from }, Left::Moved(moved)) = (kept, left) {
        let from = path_from(from);
        put_back(&now, (kept, left), path, copies, MAX_TURN_BYTES)?;
        opposite.moved(path, &from, moved);
        return Ok(Word::MovedBack(from));
    }
    opposite.keep(path, &now)?;
    put_back(&now, (kept, left), path, copies, MAX_TURN_BYTES)?;
    opposite.after(path);
    if let (Now::Nothing, Kept::Folder { .. }) = (&now, kept) {
        opposite.made.push(path.clone());
    }
    if *kept != Kept::Nothing {
        return Ok(Word::Restored);
    }
    remove_empty(path, *new_folders, |_| true);
    Ok(Word::Removed)
}

/// Removes the folders above a path, at most `count`, as long as they are empty and `goes` says so.
fn remove_empty(path: &Path, count: usize, goes: impl Fn(&Path) -> bool) {
    let folders = path.ancestors().skip(1).take(count).take_while(|folder| goes(folder));
    folders.map(fs::remove_dir).take_while(Result::is_ok).for_each(drop);
}

/// What became of a path that the change left in this way.
fn changed_since(now: &Now, left: &Left) -> String {
    let what = match now {
        Now::Nothing => "it was removed since",
        Now::Other => "it is no regular file now",
        Now::Link(_) if !matches!(left, Left::Link { .. }) => "it is a link now",
        Now::Folder(_) if !matches!(left, Left::Folder { .. }) => "it is a folder now",
        _ => "it was changed since",
    };
    what.to_owned()
}

/// Looks at the folders above a path. If what the change removed went with its folder, the folder is made again, and noted as `made`.
///
/// # Errors
/// The reason to leave the path alone.
fn above(Change { path, kept, left, .. }: &Change, made: &mut Vec<PathBuf>) -> Result<Option<Word>, String> {
    let folder = path.parent().unwrap_or(path);
    let there = folder.ancestors().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(folder);
    if there.canonicalize().ok().as_deref() != Some(there) {
        return Err("its folder is a link now".to_owned());
    }
    match (there == folder, kept) {
        (true, _) => Ok(None),
        (false, Kept::Nothing) => Ok(Some(Word::AsBefore)),
        (false, Kept::File { .. } | Kept::Link { .. }) if *left == Some(Left::Nothing) => {
            made.extend(folder.ancestors().take_while(|folder| *folder != there).map(Path::to_owned));
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
            Ok(None)
        }
        (false, _) => Err("its folder is gone".to_owned()),
    }
}
