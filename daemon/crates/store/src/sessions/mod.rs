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

/// Sessions that are kept; the one that was left first goes when there are more.
pub const MAX_SESSIONS: u64 = 500;
/// Largest size of all of them together, in bytes.
pub const MAX_BYTES: u64 = 200 * 1024 * 1024;
/// Longest title, in characters.
pub const TITLE_MAX_CHARS: usize = 60;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions.
    pub sessions: u64,
    /// All of them together, in bytes.
    pub bytes: u64,
    /// Since somebody asked something last.
    pub age: Duration,
}

impl Limits {
    /// The usual ones, and so many days.
    #[must_use]
    pub fn of_days(days: u32) -> Self {
        Self { sessions: MAX_SESSIONS, bytes: MAX_BYTES, age: Duration::from_secs(u64::from(days) * 24 * 3600) }
    }
}

/// A session as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its name: `shell:...`, `cli:...`.
    pub key: String,
    /// What people call it by: hexadecimal digits, of which they write as many as are needed.
    pub id: String,
    /// One line.
    pub title: String,
    /// When the first question was asked.
    pub created: Timestamp,
    /// When the last question was asked.
    pub active: Timestamp,
    /// Where the shell was last.
    pub cwd: String,
    /// Who answered last, `wire/model`.
    pub model: String,
    /// Questions.
    pub turns: u64,
    /// Id of the session that this one is a copy of.
    pub forked_from: Option<String>,
}

/// An event with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// Counts up over all sessions and is never given twice.
    pub number: u64,
    /// Name of the session.
    pub session: String,
    /// The turn's id.
    pub turn: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: Event,
}

/// How the shell of a session was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Its folder.
    pub cwd: String,
    /// Exported variables that the assistant's commands set, as far as the model was told their values.
    pub environment: BTreeMap<String, String>,
}

/// Something to be kept. All but `Turn` is dropped for a session that is not there: it was removed meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A turn begins: makes the session if need be, and takes away what is beyond the limits.
    Turn {
        /// Name of the session.
        session: String,
        /// Now.
        at: Timestamp,
        /// Title of a session that has none.
        title: String,
        /// Where the shell is.
        cwd: String,
        /// Who answers.
        model: String,
        /// What is kept.
        limits: Limits,
    },
    /// Something happened.
    Event {
        /// Name of the session.
        session: String,
        /// The turn's id.
        turn: String,
        /// When.
        at: Timestamp,
        /// What.
        event: Event,
    },
    /// The conversation, from this message on. Dropped if messages before it are missing.
    Conversation {
        /// Name of the session.
        session: String,
        /// Messages that stay.
        from: usize,
        /// What follows them.
        messages: Vec<Message>,
    },
    /// A turn or one of its steps is so far.
    Checkpoint(Box<steps::Checkpoint>),
    /// What the session means to do now.
    Tasks {
        /// Name of the session.
        session: String,
        /// All of it.
        tasks: Vec<Task>,
    },
    /// A conversation gets a name; not if it is called otherwise by now.
    Title {
        /// Name of the session.
        session: String,
        /// What it was called.
        instead_of: String,
        /// What it is called.
        title: String,
    },
    /// The shell was left so.
    Left {
        /// Name of the session.
        session: String,
        /// How.
        left: Left,
    },
}

/// Whom the start of an id means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This one.
    One(Box<SessionRow>),
    /// Nobody.
    None,
    /// More than one, the newest first.
    Several(Vec<SessionRow>),
}

/// Keeps sessions. Several processes may use one store at the same time. Names that are not there are no errors: nothing is
/// found, nothing happens.
pub trait StateStore {
    /// Keeps all of these in their order, or none.
    ///
    /// # Errors
    /// They cannot be written.
    fn append(&mut self, entries: &[Scrubbed<Entry>]) -> Result<(), StoreError>;

    /// Sessions in which all of these words occur, in their title, a question, a command or an answer, as the start of a word;
    /// all sessions for no words. The newest first, so many at most.
    ///
    /// # Errors
    /// As all that reads: they cannot be read.
    fn sessions(&self, words: &[String], limit: usize) -> Result<Vec<SessionRow>, StoreError>;

    /// The session whose id begins so; `last` is the newest.
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

    /// The assistant's commands, of one session or all, the newest first, so many at most. Those of a copy are those of its
    /// original unless the copy is asked for.
    ///
    /// # Errors
    /// They cannot be read.
    fn commands(&self, key: Option<&str>, limit: usize) -> Result<Vec<EventRow>, StoreError>;

    /// What the model would be sent to go on.
    ///
    /// # Errors
    /// It cannot be read.
    fn conversation(&self, key: &str) -> Result<Vec<Message>, StoreError>;

    /// How the shell was left.
    ///
    /// # Errors
    /// It cannot be read.
    fn left(&self, key: &str) -> Result<Option<Left>, StoreError>;

    /// What the session means to do.
    ///
    /// # Errors
    /// It cannot be read.
    fn tasks(&self, key: &str) -> Result<Vec<Task>, StoreError>;

    /// Calls a session so. False if it is not there.
    ///
    /// # Errors
    /// It cannot be written.
    fn set_title(&mut self, key: &str, title: &str) -> Result<bool, StoreError>;

    /// Copies a session with all that belongs to it. False if there is none of the first name, or one of the second.
    ///
    /// # Errors
    /// It cannot be written.
    fn fork(&mut self, key: &str, copy: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes sessions with all that belongs to them. Gives how many there were.
    ///
    /// # Errors
    /// They cannot be removed.
    fn remove(&mut self, keys: &[String]) -> Result<usize, StoreError>;

    /// Removes what nobody has asked anything in since `before`. Gives how many there were.
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
