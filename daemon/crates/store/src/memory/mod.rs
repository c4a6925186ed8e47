//! Remembered facts and memory blocks in an SQLite file, with a sealed journal of their changes.
//!
//! - [`SqliteMemory`] implements [`MemoryStore`] and [`BlockStore`](cohab_memory::blocks::store::BlockStore). A search index holds the
//!   valid facts.
//! - Each row is sealed with a key over all fields that never change. Each change is an entry of the journal, which is chained by its
//!   seals and holds no text. The key and the head (how many entries there are, and the last seal) are kept apart from the file.
//! - [`MemoryStore::faults`] compares rows, journal and head.
//!
//! Invariants: a query for a folder names the roots that it may see, so that a fact of another project is neither returned nor counted;
//! the head never lags behind the file, and is ahead of it by one write at most; after [`MemoryStore::forget`] no file contains the text
//! or a word of it. Who can read the key can forge rows, and who restores an old file together with its old head is not noticed.
//!
//! This module decides nothing about relevance and does not check whether a text may be remembered.

mod block_rows;
mod blocks;
mod head;
mod inbox;
mod journal;
mod proposal_rows;
mod read;
mod rows;
mod schema;
mod sealed_file;
mod verify;
mod write;

use std::{cell::OnceCell, path::Path};

use cohab_memory::{
    record::{Memory, MemoryId, NewMemory, Source},
    store::{FoundFacts, MemoryFault, MemoryStore, Remembered},
};
use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use self::{head::LockedHead, schema::FORM, sealed_file::SealedFile, write::Change};
use crate::{
    StoreError, file,
    health::{self, Health},
    key_folder::KeyFolder,
    pace::Pace,
    seal::Key,
};

/// The key in this folder, made with its head if there is none.
pub(crate) fn seal_key(keys: &KeyFolder) -> std::io::Result<Key> {
    match keys.existing_key()? {
        Some(key) => Ok(key),
        None => Ok(LockedHead::lock(keys, &Pace::default())?.key),
    }
}

/// An open store of facts.
pub struct SqliteMemory {
    connection: Connection,
    keys: KeyFolder,
    /// The key, once it was read.
    key: OnceCell<Option<Key>>,
    pace: Pace,
}

impl SqliteMemory {
    /// Opens the file and the key in `key_dir`, and makes what is missing. A file that SQLite cannot open is moved aside; what can be
    /// read of it is taken over.
    ///
    /// # Errors
    /// They cannot be opened, read or changed.
    pub fn create(file: &Path, key_dir: &Path) -> Result<Self, StoreError> {
        let connection = file::create_or_recover(file, &FORM)?;
        let store = Self::of(connection, key_dir)?;
        LockedHead::lock(&store.keys, &store.pace)?;
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

    fn of(connection: Connection, key_dir: &Path) -> Result<Self, StoreError> {
        // The head must not be ahead of the disk after a power failure.
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(Self { connection, keys: KeyFolder::at(key_dir), key: OnceCell::new(), pace: Pace::default() })
    }

    /// The file for reading, with the key if it can be read.
    fn sealed(&self) -> SealedFile<'_> {
        let read = || {
            self.keys.existing_key().unwrap_or_else(|error| {
                tracing::warn!(%error, "the key of the remembered facts cannot be read");
                None
            })
        };
        SealedFile { connection: &self.connection, key: self.key.get_or_init(read).as_ref() }
    }

    /// Commits everything that `write` changes, or nothing. The head allows the old and the new end of the journal before the commit,
    /// and only the new one after it: a process that dies in between leaves no false alarm.
    fn write<T>(&mut self, write: impl FnOnce(&mut Change<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut head = LockedHead::lock(&self.keys, &self.pace)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = journal::tail(&transaction)?;
        let mut change = Change::begin(&transaction, &head.key, before);
        if !head.allows(before) {
            change.note_fault()?;
        }
        let result = write(&mut change)?;
        let after = change.tail();
        if after == before {
            return Ok(result);
        }
        head.announce(before, after, &self.pace)?;
        self.pace.step();
        transaction.commit()?;
        self.pace.step();
        if let Err(error) = head.settle(after, &self.pace) {
            // The head still allows this end; the next write settles it.
            tracing::warn!(%error, "the head of the remembered facts cannot be written");
        }
        Ok(result)
    }
}

impl MemoryStore for SqliteMemory {
    type Error = StoreError;

    fn remember(&mut self, new: &NewMemory, now: Timestamp) -> Result<Remembered, StoreError> {
        self.write(|change| remember(change, new, now))
    }

    fn remember_all(&mut self, new: &[(NewMemory, Timestamp)]) -> Result<u64, StoreError> {
        self.write(|change| {
            let mut count = 0;
            for (new, stated) in new {
                count += u64::from(matches!(remember(change, new, *stated)?, Remembered::New(_)));
            }
            Ok(count)
        })
    }

    fn replace(&mut self, old: MemoryId, new: &NewMemory, now: Timestamp) -> Result<Option<Memory>, StoreError> {
        self.write(|change| {
            let valid = read::get(change.sealed(), old)?.filter(|memory| memory.valid_to.is_none());
            let Some(valid) = valid else { return Ok(None) };
            let memory = change.add(new, now)?;
            change.supersede(valid.id, memory.id, now)?;
            Ok(Some(memory))
        })
    }

    fn get(&self, id: MemoryId) -> Result<Option<Memory>, StoreError> {
        read::get(self.sealed(), id)
    }

    fn versions(&self, id: MemoryId) -> Result<Vec<Memory>, StoreError> {
        read::versions(self.sealed(), id)
    }

    fn list(&self, folder: Option<&Path>) -> Result<Vec<Memory>, StoreError> {
        read::list(self.sealed(), folder)
    }

    fn search(&self, words: &[String], folder: Option<&Path>) -> Result<FoundFacts, StoreError> {
        read::search(self.sealed(), words, folder)
    }

    fn derived_from(&self, source: &Source) -> Result<Vec<MemoryId>, StoreError> {
        read::derived_from(self.sealed(), source)
    }

    fn forget(&mut self, ids: &[MemoryId]) -> Result<u64, StoreError> {
        let forgotten = self.write(|change| change.forget(ids, Timestamp::now()))?;
        // Also without a deleted row: an earlier call may have failed at this.
        file::purge(&self.connection)?;
        Ok(forgotten)
    }

    fn faults(&self) -> Result<Vec<MemoryFault>, StoreError> {
        verify::faults(&self.connection, &self.keys)
    }
}

fn remember(change: &mut Change<'_>, new: &NewMemory, now: Timestamp) -> Result<Remembered, StoreError> {
    match read::known(change.sealed(), new)? {
        Some(known) => Ok(Remembered::Known(known)),
        None => change.add(new, now).map(Remembered::New),
    }
}

#[cfg(test)]
mod tests;
