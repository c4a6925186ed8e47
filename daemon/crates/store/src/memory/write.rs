//! Changes facts. Each change appends to the journal.

use std::{collections::BTreeSet, os::unix::ffi::OsStrExt};

use cohab_memory::{
    record::{Memory, MemoryId, NewMemory},
    store::MAX_MEMORIES,
};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    journal::{self, ADD, Entry, FAULT, FORGET, SUPERSEDE, Sealed, Tail},
    read,
    rows::{self, MEMORIES, number, root},
    schema::index,
    sealed_file::SealedFile,
};
use crate::{
    StoreError,
    seal::{Key, Mac},
};

/// A write that is not committed yet.
pub(super) struct Change<'a> {
    transaction: &'a Transaction<'a>,
    key: &'a Key,
    tail: Tail,
    /// Number of records, once it was counted.
    records: Option<u64>,
}

impl<'a> Change<'a> {
    /// A change of a file whose journal ends here.
    pub fn begin(transaction: &'a Transaction<'a>, key: &'a Key, tail: Tail) -> Self {
        Self { transaction, key, tail, records: None }
    }

    pub fn transaction(&self) -> &Transaction<'a> {
        self.transaction
    }

    /// The file for reading.
    pub fn sealed(&self) -> SealedFile<'a> {
        SealedFile { connection: self.transaction, key: Some(self.key) }
    }

    /// The end of the journal after the changes so far.
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// Records that the head does not belong to the journal: otherwise the next head would hide it.
    pub fn note_fault(&mut self) -> Result<(), StoreError> {
        let at_ms = Timestamp::now().as_millisecond();
        self.append(&Entry { what: FAULT, id: 0, at_ms, other: None, row_mac: None })
    }

    /// Adds a fact.
    pub fn add(&mut self, new: &NewMemory, now: Timestamp) -> Result<Memory, StoreError> {
        let records = match self.records {
            Some(records) => records,
            None => read::records(self.transaction)?,
        };
        if records >= MAX_MEMORIES {
            return Err(StoreError::Full(MAX_MEMORIES));
        }
        self.records = Some(records + 1);
        let at_ms = now.as_millisecond();
        let insert = "INSERT INTO memories (text, root, origin, folder, trust, stated_ms, sources, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, x'')";
        let (folder, origin) = (new.folder.as_os_str().as_bytes(), new.origin.word());
        // What is no number is not trusted.
        let trust = if new.trust.is_nan() { 0.0 } else { new.trust.clamp(0.0, new.origin.trust_at_birth()) };
        let sources = rows::sources_text(&new.sources);
        let values = params![new.text, root(&new.scope), origin, folder, trust, at_ms, sources];
        let id = self.transaction.prepare_cached(insert)?.insert(values)?;
        index(self.transaction, id, &root(&new.scope), &new.text)?;
        let row_mac = Some(self.seal(&MEMORIES, id)?);
        self.append(&Entry { what: ADD, id, at_ms, other: None, row_mac })?;
        // What was sealed is what is stored: a trigger that another program left in the file could have changed it.
        let stored = read::get(self.sealed(), MemoryId(id.cast_unsigned()))?;
        stored.filter(|stored| is_same(stored, new)).ok_or(StoreError::Broken)
    }

    /// Ends the validity of `old`, whose place `new` takes.
    pub fn supersede(&mut self, old: MemoryId, new: MemoryId, now: Timestamp) -> Result<(), StoreError> {
        let (Some(id), other) = (number(old), number(new)) else { return Ok(()) };
        let at_ms = now.as_millisecond();
        let update = "UPDATE memories SET valid_to_ms = ?2, superseded_by = ?3 WHERE id = ?1";
        self.transaction.prepare_cached(update)?.execute(params![id, at_ms, other])?;
        self.transaction.prepare_cached("DELETE FROM memory_search WHERE rowid = ?1")?.execute([id])?;
        let row_mac = self.seal_of(&MEMORIES, id)?;
        self.append(&Entry { what: SUPERSEDE, id, at_ms, other, row_mac })
    }

    /// Deletes these records and all their versions; returns how many there were.
    pub fn forget(&mut self, ids: &[MemoryId], now: Timestamp) -> Result<u64, StoreError> {
        let at_ms = now.as_millisecond();
        let mut all = BTreeSet::new();
        for id in ids {
            if !all.contains(id) {
                all.extend(read::versions(self.sealed(), *id)?.into_iter().map(|version| version.id));
            }
        }
        for id in all.iter().copied().filter_map(number) {
            let row_mac = self.seal_of(&MEMORIES, id)?;
            self.transaction.prepare_cached("DELETE FROM memory_search WHERE rowid = ?1")?.execute([id])?;
            self.transaction.prepare_cached("DELETE FROM memories WHERE id = ?1")?.execute([id])?;
            self.append(&Entry { what: FORGET, id, at_ms, other: None, row_mac })?;
        }
        if !all.is_empty() {
            // The index keeps beginnings of deleted words to find its pages by.
            self.transaction.execute("INSERT INTO memory_search (memory_search) VALUES ('rebuild')", [])?;
        }
        self.records = None;
        Ok(all.len() as u64)
    }

    /// Seals a row that was just written.
    pub fn seal(&self, of: &Sealed, id: i64) -> Result<Mac, StoreError> {
        journal::seal_row(self.transaction, self.key, of, id)
    }

    /// The stored seal of a row.
    pub fn seal_of(&self, of: &Sealed, id: i64) -> Result<Option<Mac>, StoreError> {
        let query = format!("SELECT mac FROM {} WHERE {} = ?1", of.table, of.number);
        let found = self.transaction.prepare_cached(&query)?.query_row([id], |row| journal::mac(row, 0)).optional()?;
        Ok(found.flatten())
    }

    /// Appends to the journal.
    pub fn append(&mut self, entry: &Entry<'_>) -> Result<(), StoreError> {
        self.tail = journal::append(self.transaction, self.key, self.tail, entry)?;
        Ok(())
    }
}

fn is_same(stored: &Memory, new: &NewMemory) -> bool {
    let of_stored = (&stored.text, &stored.scope, stored.origin, &stored.folder);
    stored.is_sound && of_stored == (&new.text, &new.scope, new.origin, &new.folder)
}
