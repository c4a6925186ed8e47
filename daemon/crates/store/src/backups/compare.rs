//! Compares the files that turns changed with what was kept of them.

use std::{
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use cohab_system::files;

use super::{
    Backups, ChangingCommand, MAX_FILE_BYTES,
    list::{Change, TurnList},
    restore::Which,
    state::{Kept, Now, path_from},
};
use crate::sessions::id;

/// The turns whose changes are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared<'a> {
    /// The conversation: its name, or the start of its id. Without one, that of the last change.
    pub session: Option<&'a str>,
    /// The id of a turn.
    pub turn: Option<&'a str>,
    /// All turns of the conversation, not only the last one.
    pub is_all: bool,
}

/// What turns changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFiles {
    /// What the user asked in the last of the turns.
    pub question: String,
    /// The time of the last change.
    pub at: SystemTime,
    /// The number of turns.
    pub turns: usize,
    /// The files, in the order of their first changes.
    pub files: Vec<ChangedFile>,
    /// The commands of the turns.
    pub commands: Vec<ChangingCommand>,
}

/// A path before the turns and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path.
    pub path: PathBuf,
    /// Before the first change.
    pub before: Content,
    /// Now.
    pub after: Content,
    /// The path from which it was moved here.
    pub moved_from: Option<PathBuf>,
    /// What is there now is not what the assistant left.
    pub is_changed_since: bool,
}

/// What is or was at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Nothing,
    /// A file with this content.
    File(Vec<u8>),
    /// Something else: a phrase.
    Other(String),
}

impl Backups {
    /// What the turns changed, compared with now. `None` if no such turn is kept. Blocks.
    ///
    /// # Errors
    /// The copies cannot be read.
    pub fn compare(&self, compared: &Compared<'_>) -> io::Result<Option<ChangedFiles>> {
        let mut folders = self.folders(Which::Done);
        let session =
            |folder: &Path| folder.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        if let Some(wanted) = compared.session {
            let (key, is_id) = (id::of_key(wanted), id::is_prefix(wanted));
            let is_wanted = |name: String| name == key || is_id && name.starts_with(wanted);
            folders.retain(|(_, folder)| session(folder).is_some_and(is_wanted));
        }
        if let Some(turn) = compared.turn {
            folders.retain(|(_, folder)| folder.file_name().is_some_and(|name| name == turn));
        }
        let mut turns = Vec::new();
        // The newest first.
        while let Some((at, folder)) = folders.pop() {
            let list = TurnList::read(&folder)?;
            if list.is_empty() {
                continue;
            }
            if !compared.is_all {
                turns.push((at, folder, list));
                break;
            }
            let conversation = session(&folder);
            folders.retain(|(_, other)| session(other) == conversation);
            turns.push((at, folder, list));
        }
        turns.reverse();
        let Some((at, _, last)) = turns.last() else { return Ok(None) };
        let (question, at, count) = (last.question.clone(), *at, turns.len());
        let commands = turns.iter().flat_map(|(.., list)| list.commands.clone()).collect();
        let files =
            first_changes(&turns).into_iter().filter_map(|(change, copies)| changed_file(&change, &copies)).collect();
        Ok(Some(ChangedFiles { question, at, turns: count, files, commands }))
    }
}

/// Each path once, as it was before its first change and as its last change left it; and the folder of its copy.
fn first_changes(turns: &[(SystemTime, PathBuf, TurnList)]) -> Vec<(Change, PathBuf)> {
    let mut all: Vec<(Change, PathBuf)> = Vec::new();
    for (_, folder, list) in turns {
        for change in &list.changes {
            match all.iter_mut().find(|(known, _)| known.path == change.path) {
                Some((known, _)) => known.left.clone_from(&change.left),
                None => all.push((change.clone(), folder.clone())),
            }
        }
    }
    all
}

/// `None` if it is as it was.
fn changed_file(change: &Change, copies: &Path) -> Option<ChangedFile> {
    let now = Now::at(&change.path).unwrap_or(Now::Other);
    if let (Kept::Attributes(before), Some(after)) = (&change.kept, now.attributes()) {
        let told = |mode: u32| Content::Other(format!("permissions {mode:o}"));
        let is_changed_since =
            !change.left.as_ref().is_some_and(|left| now.is_left(left, &change.path).unwrap_or(false));
        let (before, after) = (told(before.mode), told(after.mode));
        let file = ChangedFile { path: change.path.clone(), before, after, moved_from: None, is_changed_since };
        return Some(file).filter(|file| file.before != file.after);
    }
    let before = match &change.kept {
        Kept::Nothing => Content::Nothing,
        Kept::File { copy, .. } => file(&copies.join(copy)),
        Kept::Link { target } => link(target),
        Kept::Folder { .. } => Content::Other("a folder".to_owned()),
        Kept::MovedFrom { .. } | Kept::Attributes(_) => Content::Nothing,
    };
    let moved_from = match &change.kept {
        Kept::MovedFrom { path } => Some(path_from(path)),
        _ => None,
    };
    let after = match &now {
        Now::Nothing => Content::Nothing,
        Now::File(_) => file(&change.path),
        Now::Link(target) => link(target),
        Now::Folder(_) => Content::Other("a folder".to_owned()),
        Now::Other => Content::Other("no regular file".to_owned()),
    };
    let is_as_left = change.left.as_ref().is_some_and(|left| now.is_left(left, &change.path).unwrap_or_default());
    let file = ChangedFile { path: change.path.clone(), before, after, moved_from, is_changed_since: !is_as_left };
    Some(file).filter(|file| file.before != file.after)
}

fn file(path: &Path) -> Content {
    match files::read_regular(path, MAX_FILE_BYTES) {
        Ok((content, _)) => Content::File(content),
        Err(error) => Content::Other(format!("a file that cannot be shown: {error}")),
    }
}

fn link(target: &[u8]) -> Content {
    Content::Other(format!("a link to {}", path_from(target).display()))
}
