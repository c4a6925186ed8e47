//! The contract of a store of the user's documents. Pure.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::record::{FileStamp, FoundPassage, LearnedFile, LearnedPlace, PlaceSummary};
use crate::past::store::WordGroup;

/// Most places.
pub const MAX_PLACES: usize = 200;
/// Most files of all places together.
pub const MAX_FILES: usize = 50_000;
/// Largest file that is read.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Most hits of a search.
pub const MAX_HITS: usize = 128;
/// Most stored terms in place of one that is not stored.
pub const MAX_ALTERNATIVES: usize = 32;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnowledgeFound {
    /// Number of passages.
    pub total: u64,
    /// For each group the number of passages with its term, and those with each of the others.
    pub with_term: Vec<(u64, Vec<u64>)>,
    /// At most [`MAX_HITS`], in any order. Those with the rarest groups and with most groups are among them.
    pub hits: Vec<FoundPassage>,
}

/// Keeps the user's documents.
pub trait KnowledgeStore {
    /// A failure of the store.
    type Error: std::error::Error;

    /// All places in the order of their paths.
    ///
    /// # Errors
    /// They cannot be read.
    fn places(&self) -> Result<Vec<PlaceSummary>, Self::Error>;

    /// Adds a place without files, or changes the scope of a known one. Places below it are removed with their files: theirs are its own
    /// now.
    ///
    /// # Errors
    /// It cannot be written.
    fn learn(&mut self, place: &LearnedPlace) -> Result<(), Self::Error>;

    /// The files of a place.
    ///
    /// # Errors
    /// They cannot be read.
    fn files(&self, root: &Path) -> Result<BTreeMap<PathBuf, FileStamp>, Self::Error>;

    /// Replaces these files of a place and removes those that are `gone`: all of it, or nothing. False if the place is not there any more:
    /// nothing is stored then.
    ///
    /// # Errors
    /// It cannot be written.
    fn replace(&mut self, root: &Path, files: &[LearnedFile], gone: &[PathBuf]) -> Result<bool, Self::Error>;

    /// Notes that all files of a place were compared.
    ///
    /// # Errors
    /// It cannot be written.
    fn looked(&mut self, root: &Path, at: Timestamp) -> Result<(), Self::Error>;

    /// The passages with a term of one of these groups, in their text, headings or path; only of places whose passages are found from
    /// `folder`, unless it is `None`. A term is data, with any characters in it.
    ///
    /// # Errors
    /// They cannot be read.
    fn search(&self, groups: &[WordGroup], folder: Option<&Path>) -> Result<KnowledgeFound, Self::Error>;

    /// Stored terms that may be meant by this one: those that contain it, and those that are a slip of the fingers away. At most
    /// [`MAX_ALTERNATIVES`]; none if it is stored itself.
    ///
    /// # Errors
    /// They cannot be read.
    fn alternatives(&self, term: &str) -> Result<Vec<String>, Self::Error>;

    /// Removes a place. Afterwards no file of the store contains a text of it. Returns the number of its files with passages; `None` if it
    /// is not known.
    ///
    /// # Errors
    /// It cannot be removed, or something of it may be left.
    fn unlearn(&mut self, root: &Path) -> Result<Option<u64>, Self::Error>;

    /// Checks every record against its seal; returns the paths of the places and files that someone else changed.
    ///
    /// # Errors
    /// They cannot be read.
    fn changed(&self) -> Result<Vec<PathBuf>, Self::Error>;
}
