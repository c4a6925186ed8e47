//! The watchers in an SQLite file, and a signal next to it: a file that is there as long as a daemon is needed for them. It is written again
//! after each change by a command, so that a running daemon hears of the change.
//!
//! This module waits for nothing and reads no conditions.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::OpenOptionsExt,
    },
    path::{Path, PathBuf},
};

use cohab_system::files::make_folder;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::{
    StoreError, file,
    form::Form,
    health::{self, Health},
};

/// Most watchers that are active or paused.
pub const MAX_WATCHERS: u32 = 1_000;
/// Watchers that are over are kept for the list: the newest, and those that nobody was told of.
const MAX_OVER: u32 = 100;
/// Largest file, in pages of 4 KiB: 64 MiB.
const MAX_PAGES: u32 = 16_384;

/// The migrations from each version to the next. Append only.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE watchers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT,
        condition TEXT NOT NULL,
        question TEXT,
        folder BLOB NOT NULL,
        terminal TEXT NOT NULL,
        is_repeat INTEGER NOT NULL,
        state TEXT NOT NULL,
        made_ms INTEGER NOT NULL,
        anchor TEXT NOT NULL,
        due_ms INTEGER,
        fired INTEGER NOT NULL DEFAULT 0,
        shown INTEGER NOT NULL DEFAULT 0,
        announced INTEGER NOT NULL DEFAULT 0,
        fired_ms INTEGER,
        summary TEXT NOT NULL DEFAULT '',
        detail TEXT NOT NULL DEFAULT ''
    ) STRICT;
"];

const FORM: Form =
    Form { migrations: MIGRATIONS, max_pages: MAX_PAGES, pragmas: "", pragmas_at_birth: "", after_salvage: |_| Ok(()) };

const COLUMNS: &str = "id, name, condition, question, folder, terminal, is_repeat, state, made_ms, anchor, due_ms, fired, shown, \
                       announced, fired_ms, summary, detail";

/// How a watcher is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatcherState {
    /// Its condition is waited for.
    Active,
    /// The user has paused it.
    Paused,
    /// It has fired, and does not repeat.
    Done,
    /// Its condition cannot hold any more; the summary says why.
    Failed,
}

impl WatcherState {
    const ALL: [Self; 4] = [Self::Active, Self::Paused, Self::Done, Self::Failed];

    /// The stored word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A watcher to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWatcher {
    /// What the user calls it.
    pub name: Option<String>,
    /// Its condition, as text.
    pub condition: String,
    /// What is asked when it fires, without secrets.
    pub question: Option<String>,
    /// Where it was made.
    pub folder: PathBuf,
    /// The terminal in which it was made.
    pub terminal: String,
    /// Whether it fires again.
    pub is_repeat: bool,
    /// When it was made.
    pub made: Timestamp,
    /// What its condition depends on, as it was then.
    pub anchor: String,
    /// When its time comes.
    pub due: Option<Timestamp>,
}

/// A stored watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatcherRow {
    /// Its number.
    pub id: u32,
    /// How it is.
    pub state: WatcherState,
    /// What the user has said of it.
    pub watcher: NewWatcher,
    /// How often it fired.
    pub fired: u64,
    /// The last firing that its terminal has shown.
    pub shown: u64,
    /// The last firing that another terminal was informed of.
    pub announced: u64,
    /// When it fired last.
    pub fired_at: Option<Timestamp>,
    /// What happened then, or why it failed.
    pub summary: String,
    /// What others may have written about it, in lines, without secrets.
    pub detail: String,
}

impl WatcherRow {
    /// Whether its terminal has not shown the last firing.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.fired > self.shown
    }

    /// Whether a daemon has something to do for it.
    fn needs_daemon(&self) -> bool {
        self.state == WatcherState::Active || self.waits() && self.fired > self.announced
    }
}

/// A firing to note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiringRow {
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub summary: String,
    /// What others may have written about it, in lines, without secrets.
    pub detail: String,
    /// What its condition depends on, as it is now.
    pub anchor: String,
    /// When its time comes next.
    pub due: Option<Timestamp>,
}

/// The open store.
pub struct WatcherStore {
    connection: Connection,
    signal: PathBuf,
}

impl WatcherStore {
    /// Opens the file, and makes it if it is missing. A broken one is moved aside; what can be read of it is taken over.
    ///
    /// # Errors
    /// It cannot be opened, read or changed.
    pub fn create(path: &Path, signal: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: file::create_or_recover(path, &FORM)?, signal: signal.to_owned() })
    }

    /// Opens an existing file. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`WatcherStore::create`].
    pub fn open_existing(path: &Path, signal: &Path) -> Result<Option<Self>, StoreError> {
        if path.exists() { Self::create(path, signal).map(Some) } else { Ok(None) }
    }

    /// The health of the file at this path. `None` if it does not exist. Changes nothing in it.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn health(path: &Path) -> Result<Option<Health>, StoreError> {
        health::look(path, FORM.migrations.len())
    }

    /// All watchers, by number.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn all(&self) -> Result<Vec<WatcherRow>, StoreError> {
        let mut statement = self.connection.prepare(&format!("SELECT {COLUMNS} FROM watchers ORDER BY id"))?;
        let rows = statement.query_map([], row_of)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Adds an active watcher; returns its number, or `None` if there are [`MAX_WATCHERS`]. Of those that are over, only the newest stay.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, new: &NewWatcher) -> Result<Option<u32>, StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let count = "SELECT count(*) FROM watchers WHERE state IN ('active', 'paused')";
        if transaction.query_row(count, [], |row| row.get::<_, u32>(0))? >= MAX_WATCHERS {
            return Ok(None);
        }
        let old = "DELETE FROM watchers WHERE state NOT IN ('active', 'paused') AND max(shown, announced) >= fired AND id NOT IN
            (SELECT id FROM watchers WHERE state NOT IN ('active', 'paused') ORDER BY fired_ms DESC LIMIT ?1)";
        transaction.execute(old, [MAX_OVER])?;
        let insert = "INSERT INTO watchers
            (name, condition, question, folder, terminal, is_repeat, state, made_ms, anchor, due_ms)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING id";
        let values = params![
            new.name,
            new.condition,
            new.question,
            new.folder.as_os_str().as_bytes(),
            new.terminal,
            new.is_repeat,
            WatcherState::Active.word(),
            new.made.as_millisecond(),
            new.anchor,
            new.due.map(Timestamp::as_millisecond),
        ];
        let id = transaction.query_row(insert, values, |row| row.get(0))?;
        transaction.commit()?;
        self.signal()?;
        Ok(Some(id))
    }

    /// Pauses a watcher. False if there is none that is active.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn pause(&mut self, id: u32) -> Result<bool, StoreError> {
        let update = "UPDATE watchers SET state = 'paused' WHERE id = ?1 AND state = 'active'";
        self.change(update, params![id])
    }

    /// Makes a watcher active that is not, with what its condition depends on now. False if there is none.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn resume(&mut self, id: u32, anchor: &str, due: Option<Timestamp>) -> Result<bool, StoreError> {
        let update =
            "UPDATE watchers SET state = 'active', anchor = ?2, due_ms = ?3 WHERE id = ?1 AND state <> 'active'";
        self.change(update, params![id, anchor, due.map(Timestamp::as_millisecond)])
    }

    /// Removes a watcher. False if there is none.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn remove(&mut self, id: u32) -> Result<bool, StoreError> {
        self.change("DELETE FROM watchers WHERE id = ?1", params![id])
    }

    fn change(&mut self, change: &str, values: &[&dyn rusqlite::ToSql]) -> Result<bool, StoreError> {
        let is_changed = self.connection.execute(change, values)? > 0;
        self.signal()?;
        Ok(is_changed)
    }

    /// Notes a firing of an active watcher, and returns it as it is now. `None` if the user has paused or removed it meanwhile.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn fired(&mut self, id: u32, firing: &FiringRow) -> Result<Option<WatcherRow>, StoreError> {
        let update = format!(
            "UPDATE watchers SET fired = fired + 1, fired_ms = ?2, summary = ?3, detail = ?4, anchor = ?5, due_ms = ?6,
                state = CASE WHEN is_repeat THEN 'active' ELSE 'done' END
            WHERE id = ?1 AND state = 'active' RETURNING {COLUMNS}"
        );
        let FiringRow { at, summary, detail, anchor, due } = firing;
        let values = params![id, at.as_millisecond(), summary, detail, anchor, due.map(Timestamp::as_millisecond)];
        Ok(self.connection.query_row(&update, values, row_of).optional()?)
    }

    /// Notes that the condition of an active watcher cannot hold any more, which its terminal is to show.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn failed(&mut self, id: u32, at: Timestamp, reason: &str) -> Result<Option<WatcherRow>, StoreError> {
        let update = format!(
            "UPDATE watchers SET state = 'failed', fired = fired + 1, fired_ms = ?2, summary = ?3, detail = ''
            WHERE id = ?1 AND state = 'active' RETURNING {COLUMNS}"
        );
        Ok(self.connection.query_row(&update, params![id, at.as_millisecond(), reason], row_of).optional()?)
    }

    /// Notes that a firing was shown in its terminal.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn shown(&mut self, id: u32, fired: u64) -> Result<(), StoreError> {
        let update = "UPDATE watchers SET shown = max(shown, min(?2, fired)) WHERE id = ?1";
        self.connection.execute(update, params![id, i64::try_from(fired).unwrap_or(i64::MAX)])?;
        Ok(())
    }

    /// Notes that another terminal was informed of the last firing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn announced(&mut self, id: u32) -> Result<(), StoreError> {
        self.connection.execute("UPDATE watchers SET announced = fired WHERE id = ?1", [id])?;
        Ok(())
    }

    /// The same as [`signal`](Self::signal) where the signal is wrong; a right one is not written again.
    ///
    /// # Errors
    /// As [`signal`](Self::signal).
    pub fn settle_signal(&self) -> Result<(), StoreError> {
        if self.signal.exists() == self.is_daemon_needed()? { Ok(()) } else { self.signal() }
    }

    fn is_daemon_needed(&self) -> Result<bool, StoreError> {
        Ok(self.all()?.iter().any(WatcherRow::needs_daemon))
    }

    /// Makes the signal say whether a daemon is needed. One that runs hears of it.
    ///
    /// # Errors
    /// The watchers cannot be read, or the signal cannot be written.
    pub fn signal(&self) -> Result<(), StoreError> {
        if self.is_daemon_needed()? {
            if let Some(folder) = self.signal.parent() {
                make_folder(folder)?;
            }
            let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&self.signal)?;
            return Ok(file.write_all(b"watchers are active\n")?);
        }
        match fs::remove_file(&self.signal) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn row_of(row: &Row<'_>) -> rusqlite::Result<WatcherRow> {
    let time = |column: usize| -> rusqlite::Result<Option<Timestamp>> {
        Ok(row.get::<_, Option<i64>>(column)?.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
    };
    let count = |column: usize| -> rusqlite::Result<u64> { Ok(row.get::<_, i64>(column)?.max(0).cast_unsigned()) };
    let state: String = row.get(7)?;
    let folder: Vec<u8> = row.get(4)?;
    Ok(WatcherRow {
        id: row.get(0)?,
        // A word of a later release: left alone.
        state: WatcherState::ALL.into_iter().find(|known| known.word() == state).unwrap_or(WatcherState::Paused),
        watcher: NewWatcher {
            name: row.get(1)?,
            condition: row.get(2)?,
            question: row.get(3)?,
            folder: std::ffi::OsString::from_vec(folder).into(),
            terminal: row.get(5)?,
            is_repeat: row.get(6)?,
            made: time(8)?.unwrap_or(Timestamp::UNIX_EPOCH),
            anchor: row.get(9)?,
            due: time(10)?,
        },
        fired: count(11)?,
        shown: count(12)?,
        announced: count(13)?,
        fired_at: time(14)?,
        summary: row.get(15)?,
        detail: row.get(16)?,
    })
}

#[cfg(test)]
#[path = "watchers_tests.rs"]
mod tests;
