//! Stores sessions in an SQLite file.

mod read;
mod repair;
mod rows;
mod steps;
mod write;

use std::{borrow::Borrow, path::Path};

use cohab_agent::tasks::Task;
use cohab_model_api::{Message, Scrubbed};
use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use self::write::Appended;
use super::{
    Entry, EventRow, Found, Left, SessionRow, StateStore,
    steps::{Checkpoint, CheckpointStore, Step, StepFacts, Turn},
};
use crate::{
    StoreError, file,
    form::Form,
    health::{self, Health},
};

/// Largest file, in pages of 4 KiB: 256 MiB. The limit of the sessions is lower.
const MAX_PAGES: u32 = 65_536;

/// The migrations from each version to the next. Append only.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE sessions (
        key TEXT NOT NULL PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        active_ms INTEGER NOT NULL,
        cwd TEXT NOT NULL,
        model TEXT NOT NULL,
        turns INTEGER NOT NULL,
        forked_from TEXT,
        environment TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_time ON sessions (active_ms);
    CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL,
        turn TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL,
        copy_of INTEGER
    ) STRICT;
    CREATE INDEX events_by_session ON events (session, turn);
    CREATE INDEX events_by_kind ON events (kind, number);
    CREATE TABLE messages (
        session TEXT NOT NULL,
        position INTEGER NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (session, position)
    ) STRICT, WITHOUT ROWID;
    CREATE VIRTUAL TABLE search USING fts5 (text);
    INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
",
    "
    CREATE TABLE tasks (
        session TEXT NOT NULL,
        position INTEGER NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (session, position)
    ) STRICT, WITHOUT ROWID;
",
    steps::MIGRATION,
];

/// Removed rows are overwritten, and their room is given back.
const FORM: Form = Form {
    migrations: MIGRATIONS,
    max_pages: MAX_PAGES,
    pragmas: "PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4096;",
    pragmas_at_birth: "PRAGMA auto_vacuum = INCREMENTAL;",
    after_salvage: repair::mend,
};

/// Number of writes after which the log next to the file is moved into it while no caller waits: that takes as long as the disk takes,
/// 10 ms and more. Within a write it only happens once the log has 4,096 pages (16 MiB).
const WRITES_TO_SETTLE: usize = 256;

/// An open store.
pub struct SqliteStore {
    connection: Connection,
    /// Writes since the log was last moved.
    unsettled: usize,
}

impl SqliteStore {
    /// Opens the file, creates it if it is missing, and migrates it to this release's form.
    ///
    /// # Errors
    /// It cannot be opened, read or changed.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: file::create(path, &FORM)?, unsettled: 0 })
    }

    /// Opens an existing file. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`SqliteStore::create`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        Ok(file::open_existing(path, &FORM)?.map(|connection| Self { connection, unsettled: 0 }))
    }

    /// The health of the file at this path. `None` if it does not exist. Changes nothing in it.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn health(path: &Path) -> Result<Option<Health>, StoreError> {
        health::look(path, MIGRATIONS.len())
    }

    /// A store in memory.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let mut connection = Connection::open_in_memory()?;
        file::prepare(&mut connection, &FORM)?;
        Ok(Self { connection, unsettled: 0 })
    }

    /// Commits everything that `write` writes, or nothing.
    fn write<T>(&mut self, write: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = write(&transaction)?;
        transaction.commit()?;
        self.unsettled += 1;
        Ok(result)
    }

    /// Stores all or none of these. One is held at a time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append_each<E: Borrow<Scrubbed<Entry>>>(
        &mut self,
        entries: impl Iterator<Item = E>,
    ) -> Result<Appended, StoreError> {
        let appended = self.write(|transaction| write::append(transaction, entries))?;
        if appended.has_removed {
            self.shrink()?;
        }
        Ok(appended)
    }

    /// Does slow maintenance while no caller waits.
    ///
    /// # Errors
    /// The file cannot be written. Stored entries stay.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        if self.unsettled >= WRITES_TO_SETTLE {
            self.unsettled = 0;
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Gives the room of removed rows back to the disk.
    fn shrink(&self) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut rows = statement.query([])?;
        // A page a step.
        while rows.next()?.is_some() {}
        Ok(())
    }
}

impl StateStore for SqliteStore {
    fn append(&mut self, entries: &[Scrubbed<Entry>]) -> Result<(), StoreError> {
        self.append_each(entries.iter()).map(|_| ())
    }

    fn sessions(&self, words: &[String], limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        read::sessions(&self.connection, words, limit)
    }

    fn find(&self, id: &str) -> Result<Found, StoreError> {
        read::find(&self.connection, id)
    }

    fn session(&self, key: &str) -> Result<Option<SessionRow>, StoreError> {
        read::session(&self.connection, key)
    }

    fn events(&self, key: &str, turn: Option<&str>) -> Result<Vec<EventRow>, StoreError> {
        read::events(&self.connection, key, turn)
    }

    fn event(&self, number: u64) -> Result<Option<EventRow>, StoreError> {
        read::event(&self.connection, number)
    }

    fn commands(&self, key: Option<&str>, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        read::commands(&self.connection, key, limit)
    }

    fn matching(
        &self,
        words: &[String],
        key: Option<&str>,
        take: &mut dyn FnMut(EventRow) -> bool,
    ) -> Result<(), StoreError> {
        read::matching(&self.connection, words, key, take)
    }

    fn first_questions(&self) -> Result<Vec<EventRow>, StoreError> {
        read::first_questions(&self.connection)
    }

    fn conversation(&self, key: &str) -> Result<Vec<Message>, StoreError> {
        read::conversation(&self.connection, key)
    }

    fn left(&self, key: &str) -> Result<Option<Left>, StoreError> {
        read::left(&self.connection, key)
    }

    fn tasks(&self, key: &str) -> Result<Vec<Task>, StoreError> {
        read::tasks(&self.connection, key)
    }

    fn set_title(&mut self, key: &str, title: &str) -> Result<bool, StoreError> {
        let changed = self.connection.execute("UPDATE sessions SET title = ?2 WHERE key = ?1", [key, title])?;
        Ok(changed > 0)
    }

    fn fork(&mut self, key: &str, copy: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.write(|transaction| write::fork(transaction, key, copy, at))
    }

    fn remove(&mut self, keys: &[String]) -> Result<usize, StoreError> {
        let removed = self.write(|transaction| {
            keys.iter().try_fold(0, |sum, key| Ok(sum + usize::from(write::remove(transaction, key)?)))
        })?;
        self.shrink()?;
        Ok(removed)
    }

    fn remove_older(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        let removed = self.write(|transaction| write::remove_older(transaction, before.as_millisecond()))?;
        self.shrink()?;
        Ok(removed)
    }
}

impl CheckpointStore for SqliteStore {
    fn checkpoint(&mut self, checkpoints: &[Checkpoint]) -> Result<(), StoreError> {
        self.write(|transaction| checkpoints.iter().try_for_each(|one| steps::keep(transaction, one)))
    }

    fn turns(&self, key: &str, limit: usize) -> Result<Vec<Turn>, StoreError> {
        steps::turns(&self.connection, key, limit)
    }

    fn steps(&self, key: &str, turn: &str) -> Result<Vec<Step>, StoreError> {
        steps::steps(&self.connection, key, turn)
    }

    fn unfinished(&self, limit: usize) -> Result<Vec<Turn>, StoreError> {
        steps::unfinished(&self.connection, limit)
    }

    fn turns_since(&self, since: Timestamp, take: &mut dyn FnMut(Turn, Vec<StepFacts>)) -> Result<(), StoreError> {
        steps::turns_since(&self.connection, since, take)
    }
}
