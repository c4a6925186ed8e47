//! Lists the turns that can be taken back.

use std::{io, path::PathBuf, time::SystemTime};

use super::{
    Backups, ChangingCommand,
    list::{Change, TurnList},
    restore::Which,
};

/// A turn that changed files, or ran a command that may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnSummary {
    /// Its id.
    pub turn: String,
    /// What the user asked in it.
    pub question: String,
    /// The time of its last change.
    pub at: SystemTime,
    /// The paths that can be restored, in the order of their changes.
    pub paths: Vec<PathBuf>,
    /// Its commands.
    pub commands: Vec<ChangingCommand>,
}

impl Backups {
    /// The turns that can be taken back, the newest first. Blocks.
    ///
    /// # Errors
    /// A list cannot be read.
    pub fn turns(&self) -> io::Result<Vec<TurnSummary>> {
        let mut turns = Vec::new();
        for (at, folder) in self.folders(Which::Done).into_iter().rev() {
            let list = TurnList::read(&folder)?;
            if list.is_empty() {
                continue;
            }
            let mut paths: Vec<PathBuf> = Vec::new();
            for Change { path, .. } in list.changes {
                // A path that was moved as well has several changes.
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            turns.push(TurnSummary {
                turn: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                question: list.question,
                at,
                paths,
                commands: list.commands,
            });
        }
        Ok(turns)
    }
}
