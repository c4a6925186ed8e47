//! The list of a turn's changes, a file of JSON lines in the turn's folder.

use std::{
    fs::{self, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use cohab_system::files::{self, FileError};
use serde::{Deserialize, Serialize};

use super::state::{Kept, Left, bytes_of, path_from, write_new};

/// The file with the list, in the folder of a turn.
const LIST: &str = "changes.jsonl";

/// A line of the list. Paths are bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BackupLine {
    /// What the user asked in this turn.
    Turn { question: String },
    /// A command that may have changed files: its first line, what of it is not looked at, and what was too large to be kept.
    Command { line: String, uncovered: Vec<String>, left_out: Vec<String> },
    /// A path is about to be changed; `new_folders` above it do not exist yet.
    Before { path: Vec<u8>, kept: Kept, new_folders: usize },
    /// The path was changed.
    After { path: Vec<u8>, left: Left },
    /// The path was not changed.
    Same { path: Vec<u8> },
}

/// The facts about a changed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) kept: Kept,
    pub(super) new_folders: usize,
    /// `None` until it is known that it was changed.
    pub(super) left: Option<Left>,
    /// The earlier change of the turn that counts if this one was none.
    pub(super) earlier: Option<Box<Change>>,
}

/// A command of a turn that may have changed files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangingCommand {
    /// Its first line.
    pub line: String,
    /// The parts of it whose changes of files are unknown, as phrases.
    pub uncovered: Vec<String>,
    /// What was too much to be kept, as phrases.
    pub left_out: Vec<String>,
}

/// What is kept of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnList {
    pub(super) question: String,
    pub(super) commands: Vec<ChangingCommand>,
    /// Each path once, from its first state to its last change, and once more behind each move from or to it.
    pub(super) changes: Vec<Change>,
}

impl TurnList {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.commands.is_empty()
    }

    fn last_place(&self, path: &Path) -> Option<usize> {
        self.changes.iter().rposition(|change| change.path == path)
    }

    /// The last change of a path.
    pub(super) fn last(&self, path: &Path) -> Option<&Change> {
        self.last_place(path).map(|last| &self.changes[last])
    }

    /// The permissions of a path before the turn, which are `now` these: an earlier command of the turn may have set them.
    pub(super) fn mode_before(&self, path: &Path, now: u32) -> u32 {
        match self.last(path) {
            Some(Change { kept: Kept::Attributes(before), left: Some(Left::Attributes(left)), .. })
                if left.mode == now =>
            {
                before.mode
            }
            _ => now,
        }
    }

    /// Whether the path, or a folder above it, was moved there or away since.
    fn is_moved_since(&self, place: usize, path: &Path) -> bool {
        self.changes[place..].iter().any(|change| match &change.kept {
            Kept::MovedFrom { path: from } => path.starts_with(&change.path) || path.starts_with(path_from(from)),
            _ => false,
        })
    }

    fn take(&mut self, line: BackupLine) {
        match line {
            BackupLine::Turn { question } => self.question = question,
            BackupLine::Command { line, uncovered, left_out } => {
                self.commands.push(ChangingCommand { line, uncovered, left_out });
            }
            BackupLine::Before { path, kept, new_folders } => {
                let path = path_from(&path);
                let is_move = matches!(kept, Kept::MovedFrom { .. });
                // What was moved there or away since is taken back first, and then the earlier change.
                let last = self.last_place(&path).filter(|last| !is_move && !self.is_moved_since(*last, &path));
                let earlier = last.map(|last| Box::new(self.changes.remove(last)));
                self.changes.push(Change { path, kept, new_folders, left: None, earlier });
            }
            BackupLine::After { path, left } => {
                if let Some(last) = self.last_place(&path_from(&path)) {
                    self.changes[last].left = Some(left);
                }
            }
            BackupLine::Same { path } => {
                if let Some(last) = self.last_place(&path_from(&path)) {
                    match self.changes[last].earlier.take() {
                        Some(earlier) => self.changes[last] = *earlier,
                        None => drop(self.changes.remove(last)),
                    }
                }
            }
        }
    }

    /// Reads the list of a turn. No list is an empty one.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut list = Self::default();
        let file = match files::open_regular(&folder.join(LIST)) {
            Ok((file, _)) => file,
            Err(FileError::Missing) => return Ok(list),
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        for line in BufReader::new(file).lines() {
            // A line that a dying daemon did not finish is skipped.
            if let Ok(line) = serde_json::from_str(&line?) {
                list.take(line);
            }
        }
        Ok(list)
    }

    /// Replaces the list of a turn by this one.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let commands = self
            .commands
            .iter()
            .cloned()
            .map(|ChangingCommand { line, uncovered, left_out }| BackupLine::Command { line, uncovered, left_out });
        let changes = self.changes.iter().flat_map(|Change { path, kept, new_folders, left, .. }| {
            let path = bytes_of(path);
            let before = BackupLine::Before { path: path.clone(), kept: kept.clone(), new_folders: *new_folders };
            let after = left.clone().map(|left| BackupLine::After { path, left });
            std::iter::once(before).chain(after)
        });
        let turn = std::iter::once(BackupLine::Turn { question: self.question.clone() });
        let temporary = folder.join(format!("{LIST}.new"));
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        write_new(&temporary, &text_of(turn.chain(commands).chain(changes))?)?;
        fs::rename(temporary, folder.join(LIST))
    }
}

/// Appends these lines to the list of a turn, with one write.
///
/// # Errors
/// They cannot be written.
pub(super) fn add(folder: &Path, lines: impl IntoIterator<Item = BackupLine>) -> io::Result<()> {
    let text = text_of(lines)?;
    if text.is_empty() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = options.open(folder.join(LIST))?;
    file.write_all(&text)?;
    file.sync_data()
}

fn text_of(lines: impl IntoIterator<Item = BackupLine>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, &line)?;
        text.push(b'\n');
    }
    Ok(text)
}
