//! What can be undone, and an undo that is on.

use cohab_protocol::TurnId;
use cohab_shell_state::state::{Snapshot, StateChange, Undo};

/// What the last turn that changed anything changed.
#[derive(Debug, Default)]
pub struct UndoJournal {
    pub turn: Option<TurnId>,
    /// In the shell.
    pub change: StateChange,
    /// It may have changed files; the daemon keeps what they held, as far as it could.
    pub has_files: bool,
    /// The shell could not report what a command of the turn changed.
    pub is_partial: bool,
}

impl UndoJournal {
    /// Adds what a command changed; `is_whole` unless it may have changed more than is known.
    pub fn record(&mut self, turn: TurnId, change: StateChange, is_whole: bool) {
        if change.is_empty() && is_whole {
            return;
        }
        self.begin(turn);
        self.is_partial |= !is_whole;
        self.change.then(change);
    }

    /// A tool has changed a file, or a command may have.
    pub fn record_files(&mut self, turn: TurnId) {
        self.begin(turn);
        self.has_files = true;
    }

    fn begin(&mut self, turn: TurnId) {
        if self.turn != Some(turn) {
            *self = Self { turn: Some(turn), ..Self::default() };
        }
    }

    pub fn is_empty(&self) -> bool {
        self.leaves_shell_alone() && !self.has_files
    }

    pub fn leaves_shell_alone(&self) -> bool {
        self.change.is_empty() && !self.is_partial
    }
}

/// What can be undone, and whether its key counts.
#[derive(Debug, Default)]
pub struct UndoOffer {
    pub journal: UndoJournal,
    pub key: UndoKey,
}

/// Whether the key for undo counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndoKey {
    #[default]
    Passes,
    /// A turn has just ended; its prompt is about to be reported.
    Ended,
    /// It was pressed ahead of that prompt.
    PressedAhead,
    /// Its prompt stands.
    Counts,
}

/// How far an undo is.
#[derive(Debug)]
pub enum UndoStage {
    Opening,
    /// Our program brings files back.
    Files,
    Looking,
    Restoring(Undo),
}

/// An undo that is on.
#[derive(Debug)]
pub struct Undoing {
    pub step: UndoStage,
    /// Of the command that runs.
    pub command: String,
    /// What the shell was like after it.
    pub seen: Option<Snapshot>,
    /// What became of the files.
    pub files: Vec<String>,
}
