//! The user's documents in an SQLite file: places that the user named, their files, and passages of these with an index of their words.
//!
//! - [`SqliteKnowledge`] implements [`KnowledgeStore`].
//! - Each row is sealed with the key of the remembered facts. The seal of a file is over its place as well, that of a passage over its file.
//!   A file's row has the number of its passages, so that a missing one is noticed; a missing file is not.
//!
//! Invariants: the index has one entry for each passage, with the terms of its text, headings and path and the mark of its place; after
//! [`KnowledgeStore::unlearn`] no file contains a text of the place or a term of it.
//!
//! This module reads no documents and ranks nothing.

mod delete;
mod read;
mod schema;
mod search;
mod verify;
mod write;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use cohab_memory::{
    knowledge::{
        record::{FileStamp, LearnedFile, LearnedPlace, PlaceSummary},
        store::{KnowledgeFound, KnowledgeStore},
    },
    past::store::WordGroup,
};
use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::schema::FORM;
use crate::{
    StoreError, file,
    health::{self, Health},
    key_folder::KeyFolder,
    memory::seal_key,
    past::index::purge,
    seal::Key,
};

/// An open store of documents.
pub struct SqliteKnowledge {
    connection: Connection,
    keys: KeyFolder,
}

impl SqliteKnowledge {
    /// Opens the file and the key in `key_dir`, and makes what is missing. A file that SQLite cannot open is moved aside; what can be
    /// read of it is taken over.
    ///
    /// # Errors
    /// They cannot be opened, read or changed.
    pub fn create(file: &Path, key_dir: &Path) -> Result<Self, StoreError> {
        let connection = file::create_or_recover(file, &FORM)?;
        let store = Self::of(connection, key_dir);
        store.key()?;
        Ok(store)
    }

    /// Opens an existing file. `None` if it does not exist. The key is read once it is needed.
    ///
    /// # Errors
    /// The file cannot be opened, read or changed.
    pub fn open_existing(file: &Path, key_dir: &Path) -> Result<Option<Self>, StoreError> {
        Ok(file::open_existing(file, &FORM)?.map(|connection| Self::of(connection, key_dir)))
    }

    /// The health of the file at this path. `None` if it does not exist. Changes nothing in it.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn health(path: &Path) -> Result<Option<Health>, StoreError> {
        health::look(path, FORM.migrations.len())
    }

    fn of(connection: Connection, key_dir: &Path) -> Self {
        connection.set_prepared_statement_cache_capacity(32);
        Self { connection, keys: KeyFolder::at(key_dir) }
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
        Ok(result)
    }
}

impl KnowledgeStore for SqliteKnowledge {
    type Error = StoreError;

    fn places(&self) -> Result<Vec<PlaceSummary>, StoreError> {
        read::places(&self.connection)
    }

    fn learn(&mut self, place: &LearnedPlace) -> Result<(), StoreError> {
        let key = self.key()?;
        self.write(|transaction| {
            delete::below(transaction, &place.root)?;
            write::place(transaction, &key, place)
        })
    }

    fn files(&self, root: &Path) -> Result<BTreeMap<PathBuf, FileStamp>, StoreError> {
        read::files(&self.connection, root)
    }

    fn replace(&mut self, root: &Path, files: &[LearnedFile], gone: &[PathBuf]) -> Result<bool, StoreError> {
        let key = self.key()?;
        self.write(|transaction| {
            let Some(place) = read::place_id(transaction, root)? else { return Ok(false) };
            for path in gone.iter().chain(files.iter().map(|file| &file.path)) {
                delete::file(transaction, place, path)?;
            }
            files.iter().try_for_each(|file| write::file(transaction, &key, (place, root), file))?;
            Ok(true)
        })
    }

    fn looked(&mut self, root: &Path, at: Timestamp) -> Result<(), StoreError> {
        self.write(|transaction| write::looked(transaction, root, at))
    }

    fn search(&self, groups: &[WordGroup], folder: Option<&Path>) -> Result<KnowledgeFound, StoreError> {
        search::search(&self.connection, groups, folder)
    }

    fn alternatives(&self, term: &str) -> Result<Vec<String>, StoreError> {
        search::alternatives(&self.connection, term)
    }

    fn unlearn(&mut self, root: &Path) -> Result<Option<u64>, StoreError> {
        let deleted = self.write(|transaction| {
            let deleted = delete::place(transaction, root)?;
            purge(transaction)?;
            write::drop_words(transaction)?;
            Ok(deleted)
        })?;
        // Also without a deleted row: an earlier call may have failed at this.
        file::purge(&self.connection)?;
        Ok(deleted)
    }

    fn changed(&self) -> Result<Vec<PathBuf>, StoreError> {
        match self.keys.existing_key()? {
            Some(key) => verify::changed(&self.connection, &key),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "the key of its seals is missing").into()),
        }
    }
}

#[cfg(test)]
mod tests;
