//! The contract of a memory store. Pure.

use std::path::Path;

use jiff::Timestamp;

use crate::{
    inbox::ProposalId,
    record::{Memory, MemoryId, NewMemory, Source},
};

/// Most facts that a store holds, their history included.
pub const MAX_MEMORIES: u64 = 100_000;

/// What became of a fact that was stated.
#[derive(Clone, Debug, PartialEq)]
pub enum Remembered {
    /// It is new.
    New(Memory),
    /// The same text with the same scope is remembered already.
    Known(Memory),
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundFacts {
    /// Number of valid facts in the scope of the search.
    pub total: u64,
    /// Number of them that hold each word, in the order of the words; counting may stop at a few hundred.
    pub with_word: Vec<u64>,
    /// The facts that hold a word.
    pub hits: Vec<Hit>,
}

/// A fact that holds words of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The fact.
    pub memory: Memory,
    /// Positions of the words that it holds, ascending.
    pub words: Vec<usize>,
}

/// A fault that [`MemoryStore::faults`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// The seal of this record is not that of its content.
    Changed(MemoryId),
    /// The seal of this proposal is not that of its content.
    Proposal(ProposalId),
    /// Records are missing: their seals are in the journal, but not the rows.
    Missing(MemoryId),
    /// The seal of this version of a block is not that of its content.
    ChangedBlock {
        /// The label as it is stored; it may be what was changed.
        label: String,
        /// Number of the version.
        version: u64,
    },
    /// This version of a block is missing: its seal is in the journal, but not the row.
    MissingBlock(u64),
    /// The journal of changes is cut or was changed, from this entry on, counted from 1.
    Journal(u64),
    /// There is no key to check with.
    NoKey,
}

/// Keeps facts. A valid fact is one that no newer record superseded. Every method that takes a `folder` sees only facts that hold there
/// ([`Scope::holds_in`](crate::record::Scope::holds_in)).
pub trait MemoryStore {
    /// A failure of the store.
    type Error: std::error::Error;

    /// Remembers a fact. A valid one with the same text and scope is returned as it is.
    ///
    /// # Errors
    /// It cannot be written, or [`MAX_MEMORIES`] are stored.
    fn remember(&mut self, new: &NewMemory, now: Timestamp) -> Result<Remembered, Self::Error>;

    /// Remembers all of these, each as stated at its time, or none. Returns how many are new.
    ///
    /// # Errors
    /// They cannot be written, or there would be more than [`MAX_MEMORIES`].
    fn remember_all(&mut self, new: &[(NewMemory, Timestamp)]) -> Result<u64, Self::Error>;

    /// Replaces the valid fact `old` by a new record, which supersedes it. `None` if `old` is not valid or does not exist.
    ///
    /// # Errors
    /// It cannot be written.
    fn replace(&mut self, old: MemoryId, new: &NewMemory, now: Timestamp) -> Result<Option<Memory>, Self::Error>;

    /// The record of this number, valid or superseded.
    ///
    /// # Errors
    /// It cannot be read.
    fn get(&self, id: MemoryId) -> Result<Option<Memory>, Self::Error>;

    /// All versions of the fact that `id` is a version of, oldest first; empty if there is no such record.
    ///
    /// # Errors
    /// They cannot be read.
    fn versions(&self, id: MemoryId) -> Result<Vec<Memory>, Self::Error>;

    /// The valid facts that hold in `folder`, or all with `None`; newest first.
    ///
    /// # Errors
    /// They cannot be read.
    fn list(&self, folder: Option<&Path>) -> Result<Vec<Memory>, Self::Error>;

    /// The valid facts that hold in `folder`, or anywhere with `None`, and have one of these words in any form: `tests` finds `test`.
    /// A word is data, with any characters in it. Facts in quarantine are among them, and marked.
    ///
    /// # Errors
    /// They cannot be read.
    fn search(&self, words: &[String], folder: Option<&Path>) -> Result<FoundFacts, Self::Error>;

    /// The records that come from this source, directly or by way of other facts, with all their versions; ascending.
    ///
    /// # Errors
    /// They cannot be read.
    fn derived_from(&self, source: &Source) -> Result<Vec<MemoryId>, Self::Error>;

    /// Deletes these records and all their versions. Afterwards no file of the store contains their text. Returns the number of
    /// records that were deleted.
    ///
    /// # Errors
    /// They cannot be deleted.
    fn forget(&mut self, ids: &[MemoryId]) -> Result<u64, Self::Error>;

    /// Checks every record and the journal of changes against their seals.
    ///
    /// # Errors
    /// They cannot be read.
    fn faults(&self) -> Result<Vec<MemoryFault>, Self::Error>;
}
