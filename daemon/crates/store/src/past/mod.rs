//! What was done before, in an SQLite file: commands that ran, and questions with their answers.
//!
//! - [`SqlitePast`] implements [`PastStore`], and [`PastLog`] is the daemon's way to write into it without waiting.
//! - A line is stored once, with a row for each of its runs. An index finds lines and turns by their words.
//! - Each row of a run or turn is sealed with the key of the remembered facts, over all fields, with the text of its line and the path of
//!   its folder. [`PastStore::changed`] compares the rows with their seals. There is no chain of them: a row that someone else deleted is
//!   not noticed, and neither is a change of the index.
//!
//! Invariants: the index holds exactly the terms of the rows and of what their commands do; conditions of a search are applied before
//! anything is cut off; after [`PastStore::forget`] no file contains the text or a term of it. A power failure may lose the last seconds,
//! never more.
//!
//! This module ranks nothing and does not read the time that a question names.

mod deeds;
mod delete;
mod filter;
pub(crate) mod index;
mod log;
mod read;
pub(crate) mod rows;
mod schema;
pub(crate) mod search;
mod tally;
mod verify;
mod write;

use std::{
    io,
    path::{Path, PathBuf},
};

use cohab_memory::past::{
    record::{Deed, NewRun, NewTurn, PastId, PastItem, PastTurn},
    store::{Added, PastCounts, PastFound, PastQuery, PastSelection, PastStore},
};
use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior, config::DbConfig};

pub use self::log::{PastEntry, PastLog, prepared};
use self::{delete::Limits, schema::FORM, write::Additions};
use crate::{
    StoreError, file,
    health::{self, Health},
    key_folder::KeyFolder,
    memory::seal_key,
    seal::Key,
};

/// Number of writes after which the log next to the file is moved into it while no caller waits.
const WRITES_TO_SETTLE: usize = 64;

/// An open store of what was done.
pub struct SqlitePast {
    connection: Connection,
    keys: KeyFolder,
    limits: Limits,
    /// Writes since the log was last moved.
    unsettled: usize,
}

impl SqlitePast {
    /// Opens the file and the key in `key_dir`, and makes what is missing. A file that SQLite cannot open is moved aside; what can be
    /// read of it is taken over.
    ///
    /// # Errors
    /// They cannot be opened, read or changed.
    pub fn create(file: &Path, key_dir: &Path) -> Result<Self, StoreError> {
        let connection = file::create_or_recover(file, &FORM)?;
        let mut store = Self::of(connection, key_dir)?;
        store.key()?;
        if index::is_outdated(&store.connection)? {
            store.write(index::rebuild)?;
        }
        Ok(store)
    }

    /// Opens an existing file. `None` if it does not exist. The key is read once it is needed.
    ///
    /// # Errors
    /// The file cannot be opened, read or changed.
    pub fn open_existing(file: &Path, key_dir: &Path) -> Result<Option<Self>, StoreError> {
        file::open_existing(file, &FORM)?.map(|connection| Self::of(connection, key_dir)).transpose()
    }

    /// The health of the file at this path. `None` if it does not exist. Changes nothing in it.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn health(path: &Path) -> Result<Option<Health>, StoreError> {
        health::look(path, FORM.migrations.len())
    }

    /// Does slow maintenance while no caller waits.
    ///
    /// # Errors
    /// The file cannot be written. Stored records stay.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        if self.unsettled >= WRITES_TO_SETTLE {
            self.unsettled = 0;
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
        Ok(())
    }

    fn of(connection: Connection, key_dir: &Path) -> Result<Self, StoreError> {
        // Otherwise SQLite plans a statement again for each value of a range.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, keys: KeyFolder::at(key_dir), limits: Limits::default(), unsettled: 0 })
    }

    /// The key, made if there is none.
    fn key(&self) -> Result<Key, StoreError> {
        Ok(seal_key(&self.keys)?)
    }

    /// Commits everything that `write` changes, or nothing.
    fn write<T>(&mut self, write: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = write(&transaction)?;
        transaction.commit()?;
        self.unsettled += 1;
        Ok(result)
    }
}

impl PastStore for SqlitePast {
    type Error = StoreError;

    fn add(&mut self, runs: &[NewRun], turns: &[NewTurn]) -> Result<Added, StoreError> {
        let (key, limits) = (self.key()?, self.limits);
        self.write(|transaction| {
            let mut additions = Additions::begin(transaction, &key)?;
            runs.iter().try_for_each(|run| additions.run(run))?;
            turns.iter().try_for_each(|turn| additions.turn(turn))?;
            let added = additions.end()?;
            delete::prune(transaction, limits)?;
            Ok(added)
        })
    }

    fn search(&self, query: &PastQuery) -> Result<PastFound, StoreError> {
        search::search(&self.connection, query)
    }

    fn get(&self, id: PastId) -> Result<Option<PastItem>, StoreError> {
        read::get(&self.connection, id)
    }

    fn trust(&self, turn: &str) -> Result<Option<f64>, StoreError> {
        read::trust(&self.connection, turn)
    }

    fn slips(&self, term: &str) -> Result<Vec<String>, StoreError> {
        index::slips(&self.connection, term)
    }

    fn folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        read::folders(&self.connection)
    }

    fn deeds(&self, folder: &Path, since: Timestamp, limit: usize) -> Result<Vec<Deed>, StoreError> {
        deeds::deeds(&self.connection, &deeds::since(folder, since), limit)
    }

    fn unconsolidated(&self, since: Timestamp, limit: usize) -> Result<Vec<PastTurn>, StoreError> {
        deeds::unconsolidated(&self.connection, since, limit)
    }

    fn set_consolidated(&mut self, turn: u64) -> Result<(), StoreError> {
        self.write(|transaction| deeds::set_consolidated(transaction, turn))
    }

    fn forget(&mut self, what: &PastSelection) -> Result<u64, StoreError> {
        let forgotten = self.write(|transaction| {
            let forgotten = delete::forget(transaction, what)?;
            index::purge(transaction)?;
            Ok(forgotten)
        })?;
        // Also without a deleted row: an earlier call may have failed at this.
        file::purge(&self.connection)?;
        Ok(forgotten)
    }

    fn counts(&self) -> Result<PastCounts, StoreError> {
        read::counts(&self.connection)
    }

    fn changed(&self) -> Result<Vec<PastId>, StoreError> {
        match self.keys.existing_key()? {
            Some(key) => verify::changed(&self.connection, &key),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "the key of its seals is missing").into()),
        }
    }
}

#[cfg(test)]
mod tests;
