//! What can be undone, and an undo that is on.

use cohab_protocol::TurnId;
use cohab_shell_state::state::{Snapshot, StateChange, Undo};
use cohab_text::sanitize::one_line;

use super::shell_history::ShellHistory;

/// Letters of a question that an undo names.
const QUESTION_CHARS: usize = 60;

/// What the last turn that changed anything changed.
#[derive(Debug, Default)]
pub(crate) struct UndoJournal {
    pub turn: Option<TurnId>,
    /// In the shell.
    pub change: StateChange,
    /// It may have changed files; the daemon keeps what they held, as far as it could.
    pub has_files: bool,
    /// The shell could not report what a command of the turn changed.
    pub is_partial: bool,
}

impl UndoJournal {
    fn record(&mut self, turn: TurnId, change: StateChange, is_whole: bool) {
        if change.is_empty() && is_whole {
            return;
        }
        self.begin(turn);
        self.is_partial |= !is_whole;
        self.change.then(change);
    }

    fn record_files(&mut self, turn: TurnId) {
        self.begin(turn);
        self.has_files = true;
    }

    fn begin(&mut self, turn: TurnId) {
        if self.turn != Some(turn) {
            *self = Self { turn: Some(turn), ..Self::default() };
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leaves_shell_alone() && !self.has_files
    }

    pub(crate) fn leaves_shell_alone(&self) -> bool {
        self.change.is_empty() && !self.is_partial
    }
}

/// What can be undone, and whether its key counts.
#[derive(Debug, Default)]
pub(crate) struct UndoOffer {
    pub journal: UndoJournal,
    pub key: UndoKey,
    /// What the turns of this shell changed in it.
    pub history: ShellHistory,
    /// Turns of this shell that began since the one that can be undone; without one only that one.
    later: Option<LaterTurns>,
    /// The last question, in short.
    question: String,
}

/// The turns behind the one that can be undone. They changed nothing.
#[derive(Debug)]
struct LaterTurns {
    /// The question of the turn that can be undone, in short.
    question: String,
    /// The user knows that the undo reaches back.
    is_told: bool,
}

impl UndoOffer {
    /// A turn begins.
    pub(crate) fn turn_begins(&mut self, question: &str) {
        let earlier = std::mem::replace(&mut self.question, one_line(question, QUESTION_CHARS));
        let question = self.later.take().map_or(earlier, |later| later.question);
        self.later = (!self.journal.is_empty()).then_some(LaterTurns { question, is_told: false });
    }

    /// Adds what a command changed; `is_whole` unless it may have changed more than is known.
    pub(crate) fn record(&mut self, turn: TurnId, change: StateChange, is_whole: bool) {
        self.history.record(turn, &change, is_whole);
        self.journal.record(turn, change, is_whole);
        self.forget_earlier(turn);
    }

    /// A tool has changed a file, or a command may have.
    pub(crate) fn record_files(&mut self, turn: TurnId) {
        self.journal.record_files(turn);
        self.forget_earlier(turn);
    }

    /// No turn is behind the one that runs.
    fn forget_earlier(&mut self, turn: TurnId) {
        if self.journal.turn == Some(turn) {
            self.later = None;
        }
    }

    /// The question of the turn that an undo would reach back to, the first time; afterwards it is agreed to.
    pub(crate) fn reaches_back_to(&mut self) -> Option<String> {
        let later = self.later.as_mut().filter(|later| !later.is_told)?;
        later.is_told = true;
        Some(later.question.clone())
    }
}

/// Whether the key for undo counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UndoKey {
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
pub(crate) enum UndoStage {
    Opening,
    /// Our program brings files back.
    Files,
    Looking,
    Restoring(Undo),
}

/// An undo that is on.
#[derive(Debug)]
pub(crate) struct Undoing {
    pub step: UndoStage,
    /// Of the command that runs.
    pub command: String,
    /// What the shell was like after it.
    pub seen: Option<Snapshot>,
    /// What became of the files.
    pub files: Vec<String>,
    /// It is part of a rewind, which continues behind it.
    pub rewind: Option<Rewinding>,
}

/// What of a rewind comes behind the shell.
#[derive(Debug)]
pub(crate) struct Rewinding {
    /// Questions that the conversation loses.
    pub questions: usize,
    /// The turn that can be undone afterwards, without what it changed in the shell.
    pub journal: UndoJournal,
}
