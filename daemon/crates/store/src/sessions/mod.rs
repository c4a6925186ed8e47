//! The session store keeps conversations beyond the daemon's life: questions, answers, commands and consents, and the messages that
//! continue each conversation.
//!
//! [`StateStore`] is the interface of a session store; [`SqliteStore`] implements it with a file, and every other implementation has to
//! pass the same tests. [`steps::CheckpointStore`] with its tests does the same for turns and their steps. [`Archive`] is the daemon's
//! access to both: only entries that must be on disk before their action wait for the disk.
//!
//! Only text that the model got or wrote is stored: cleaned text, cut output. A shell without questions leaves no record.

mod archive;
pub mod event;
pub mod id;
mod scrubbed;
mod search;
mod sqlite;
pub mod steps;

use std::{collections::BTreeMap, time::Duration};

use cohab_agent::tasks::Task;
use jiff::Timestamp;

pub use archive::{Archive, Stored, interrupted, recovered, written};
use event::Event;
pub use sqlite::SqliteStore;

use cohab_model_api::{Message, Scrubbed};

use super::StoreError;

/// Most stored sessions; with more the least recently used is deleted.
pub const MAX_SESSIONS: u64 = 500;
/// Largest size of all of them together, in bytes.
pub const MAX_BYTES: u64 = 200 * 1024 * 1024;
/// Longest title, in characters.
pub const TITLE_MAX_CHARS: usize = 60;

/// The limits of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions.
    pub sessions: u64,
    /// All of them together, in bytes.
    pub bytes: u64,
    /// Time since the last question.
    pub age: Duration,
}

impl Limits {
    /// The default limits, with this number of days.
    #[must_use]
    pub fn of_days(days: u32) -> Self {
        Self { sessions: MAX_SESSIONS, bytes: MAX_BYTES, age: Duration::from_secs(u64::from(days) * 24 * 3600) }
    }
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its name: `shell:...`, `cli:...`.
    pub key: String,
    /// Its id for people: hexadecimal digits, of which they type as many as needed.
    pub id: String,
    /// One line.
    pub title: String,
    /// When the first question was asked.
    pub created: Timestamp,
    /// When the last question was asked.
    pub active: Timestamp,
    /// The shell's last folder.
    pub cwd: String,
    /// The last model, `wire/model`.
    pub model: String,
    /// Questions.
    pub turns: u64,
    /// Id of the session that this one is a copy of.
    pub forked_from: Option<String>,
}

/// An event with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Increases over all sessions and is never reused.
    pub number: u64,
    /// Name of the session.
    pub session: String,
    /// The turn's id.
    pub turn: String,
    /// Its time.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
}

/// The last state of a session's shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Its folder.
    pub cwd: String,
    /// Exported variables that the assistant's commands set, with the values that the model saw.
    pub environment: BTreeMap<String, String>,
}

/// An entry to store. All except `Turn` are dropped for a deleted session.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A turn begins: creates the session if needed, and deletes what exceeds the limits.
    Turn {
        /// Name of the session.
        session: String,
        /// Now.
        at: Timestamp,
        /// Title of a session that has none.
        title: String,
        /// The shell's folder.
        cwd: String,
        /// The model.
        model: String,
        /// The limits of the store.
        limits: Limits,
    },
    /// An event.
    Event {
        /// Name of the session.
        session: String,
        /// The turn's id.
        turn: String,
        /// Its time.
        at: Timestamp,
        /// The event.
        event: Event,
    },
    /// The conversation, from this message on. Dropped if messages before it are missing.
    Conversation {
        /// Name of the session.
        session: String,
        /// Number of kept messages.
        from: usize,
        /// The messages behind them.
        messages: Vec<Message>,
    },
    /// The current state of a turn or of one of its steps.
    Checkpoint(Box<steps::Checkpoint>),
    /// The session's new tasks.
    Tasks {
        /// Name of the session.
        session: String,
        /// All tasks.
        tasks: Vec<Task>,
    },
    /// Names a conversation, unless its title has changed.
    Title {
        /// Name of the session.
        session: String,
        /// The expected title.
        instead_of: String,
        /// The new title.
        title: String,
    },
    /// Gives the session another name and keeps its id: the next turn under the old name begins a new session.
    SetAside {
        /// Name of the session.
        session: String,
        /// The new name.
        under: String,
    },
    /// The last state of the shell.
    Left {
        /// Name of the session.
        session: String,
        /// The state.
        left: Left,
    },
}

/// The sessions that the start of an id matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// One session.
    One(Box<SessionRow>),
    /// No session.
    None,
    /// More than one, the newest first.
    Several(Vec<SessionRow>),
}

/// Stores sessions. Several processes may use one store at the same time. Unknown names are no errors: nothing is found, nothing
/// happens.
pub trait StateStore {
    /// Stores all of these in their order, or none.
    ///
    /// # Errors
    /// They cannot be written.
    fn append(&mut self, entries: &[Scrubbed<Entry>]) -> Result<(), StoreError>;

    /// Sessions with all of these words in their title, a question, a command or an answer, as the start of a word; all sessions for no
    /// words. The newest first, at most `limit`.
    ///
    /// # Errors
    /// The sessions cannot be read.
    fn sessions(&self, words: &[String], limit: usize) -> Result<Vec<SessionRow>, StoreError>;

    /// The session whose id begins with `id`; `last` is the newest.
    ///
    /// # Errors
    /// It cannot be read.
    fn find(&self, id: &str) -> Result<Found, StoreError>;

    /// The session of this name.
    ///
    /// # Errors
    /// It cannot be read.
    fn session(&self, key: &str) -> Result<Option<SessionRow>, StoreError>;

    /// All events of a session, or of one turn of it, in their order.
    ///
    /// # Errors
    /// They cannot be read.
    fn events(&self, key: &str, turn: Option<&str>) -> Result<Vec<EventRow>, StoreError>;

    /// The event of this number.
    ///
    /// # Errors
    /// It cannot be read.
    fn event(&self, number: u64) -> Result<Option<EventRow>, StoreError>;

    /// The assistant's commands, of one session or all, the newest first, at most `limit`. Commands of a copy count for its original
    /// unless the copy is requested.
    ///
    /// # Errors
    /// They cannot be read.
    fn commands(&self, key: Option<&str>, limit: usize) -> Result<Vec<EventRow>, StoreError>;

    /// Calls `take` with the events that have all of these words in their text, as the start of a word, of one session or all, the newest
    /// first, until it returns false. Events of a copy count for its original unless the copy is requested. Without words there are none.
    ///
    /// # Errors
    /// They cannot be read.
    fn matching(
        &self,
        words: &[String],
        key: Option<&str>,
        take: &mut dyn FnMut(EventRow) -> bool,
    ) -> Result<(), StoreError>;

    /// The first question of each session.
    ///
    /// # Errors
    /// They cannot be read.
    fn first_questions(&self) -> Result<Vec<EventRow>, StoreError>;

    /// The messages with which a model would continue.
    ///
    /// # Errors
    /// It cannot be read.
    fn conversation(&self, key: &str) -> Result<Vec<Message>, StoreError>;

    /// The last state of the shell.
    ///
    /// # Errors
    /// It cannot be read.
    fn left(&self, key: &str) -> Result<Option<Left>, StoreError>;

    /// The session's tasks.
    ///
    /// # Errors
    /// It cannot be read.
    fn tasks(&self, key: &str) -> Result<Vec<Task>, StoreError>;

    /// Sets the title of a session. False if it does not exist.
    ///
    /// # Errors
    /// It cannot be written.
    fn set_title(&mut self, key: &str, title: &str) -> Result<bool, StoreError>;

    /// Copies a session with all that belongs to it. False if `key` does not exist, or `copy` does.
    ///
    /// # Errors
    /// It cannot be written.
    fn fork(&mut self, key: &str, copy: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes sessions with all that belongs to them. Returns their number.
    ///
    /// # Errors
    /// They cannot be removed.
    fn remove(&mut self, keys: &[String]) -> Result<usize, StoreError>;

    /// Removes the sessions without a question since `before`. Returns their number.
    ///
    /// # Errors
    /// They cannot be removed.
    fn remove_older(&mut self, before: Timestamp) -> Result<usize, StoreError>;
}

/// For tests: keeps entries as [`Archive`] does.
#[cfg(any(test, feature = "testing"))]
pub trait KeepAll: StateStore {
    /// Keeps these entries, scrubbed.
    ///
    /// # Errors
    /// They cannot be written.
    fn keep_all(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        let secrets = cohab_model_api::Secrets::default();
        let clean: Vec<_> = entries.iter().cloned().map(|entry| secrets.scrubbed(entry)).collect();
        self.append(&clean)
    }
}

#[cfg(any(test, feature = "testing"))]
impl<S: StateStore + ?Sized> KeepAll for S {}

#[cfg(test)]
mod tests;
