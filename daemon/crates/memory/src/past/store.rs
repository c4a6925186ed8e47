//! The contract of a store of what was done. Pure.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{
    period::Period,
    record::{Deed, NewRun, NewTurn, PastId, PastItem, PastTurn, RunSource},
};

/// Most runs that a store holds; beyond, the oldest are deleted.
pub const MAX_RUNS: u64 = 1_000_000;
/// Most turns that a store holds; beyond, the oldest are deleted.
pub const MAX_TURNS: u64 = 100_000;
/// Most terms in place of a mistyped one.
pub const MAX_SLIPS: usize = 8;
/// Most folders that a question is compared with.
pub const MAX_FOLDERS: usize = 2_000;
/// Most hits of a search.
pub const MAX_HITS: usize = 512;

/// The number of records that were added, and of those that were stored already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Added.
    pub new: u64,
    /// Stored already: the same source, line and time of a run, or the same turn.
    pub known: u64,
}

/// A word of a question, with what it may have been meant to be; one of them is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGroup {
    /// The term of the question, as [`super::terms::of`] returns it.
    pub term: String,
    /// Terms that count as this one, which is mistyped.
    pub others: Vec<String>,
}

/// A search. All conditions hold together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastQuery {
    /// What a hit holds at least one of, in its line, folder, question, answer or commands. Empty: everything.
    pub groups: Vec<WordGroup>,
    /// The time. A run without a time is in no period.
    pub period: Option<Period>,
    /// The folder, or one below it. A run without a folder is in none.
    pub folder: Option<PathBuf>,
    /// Whether it succeeded. Only runs; a turn succeeds if all of its commands did.
    pub has_succeeded: Option<bool>,
    /// What speaks for a hit, and excludes none.
    pub wishes: Vec<Wish>,
}

impl PastQuery {
    /// The query with each set of its wishes as conditions and with the weight of the set, the most valuable first.
    #[must_use]
    pub fn narrowed(&self) -> Vec<(f64, Self)> {
        let plain = Self { wishes: Vec::new(), ..self.clone() };
        let mut sets = vec![(1.0, plain)];
        for wish in &self.wishes {
            let with: Vec<_> = sets.iter().map(|(weight, query)| (weight * wish.weight(), wish.of(query))).collect();
            sets.extend(with);
        }
        sets.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        sets
    }
}

/// Something that speaks for a hit.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// It was done in this time.
    Period(Period),
    /// It was done in this folder, or one below it.
    Folder(PathBuf),
    /// It succeeded, or failed.
    Outcome(bool),
}

impl Wish {
    /// How often a hit with it counts, where one without it counts once.
    #[must_use]
    pub fn weight(&self) -> f64 {
        match self {
            Self::Period(_) => 2.0,
            Self::Folder(_) => 1.25,
            Self::Outcome(_) => 1.4,
        }
    }

    /// Whether a hit has it.
    #[must_use]
    pub fn is_of(&self, item: &PastItem) -> bool {
        match (self, item) {
            (Self::Period(period), _) => item.at().is_some_and(|at| period.holds(at)),
            (Self::Folder(folder), _) => item.folder().is_some_and(|of_item| of_item.starts_with(folder)),
            (Self::Outcome(wanted), PastItem::Line(line)) => {
                line.last.exit_code.is_some_and(|code| (code == 0) == *wanted)
            }
            (Self::Outcome(wanted), PastItem::Turn(turn)) => {
                turn.turn.commands.iter().all(|command| command.exit_code == Some(0)) == *wanted
            }
        }
    }

    /// The query for hits that have it.
    fn of(&self, query: &PastQuery) -> PastQuery {
        let query = query.clone();
        match self {
            Self::Period(period) => PastQuery { period: Some(*period), ..query },
            Self::Folder(folder) => PastQuery { folder: Some(folder.clone()), ..query },
            Self::Outcome(has_succeeded) => PastQuery { has_succeeded: Some(*has_succeeded), ..query },
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastFound {
    /// Number of stored lines and turns.
    pub total: u64,
    /// For each group the number of lines and turns with its term, and those with each of the others; of
    /// frequent terms it is an estimate, at most `total`.
    pub with_term: Vec<(u64, Vec<u64>)>,
    /// At most [`MAX_HITS`]. Those with the rarest groups, with most groups and with most wishes are among them; without groups the newest
    /// and those with most wishes. A line has the newest of its runs with the most valuable set of wishes. In any order.
    pub hits: Vec<PastItem>,
    /// The turns before and after those among the hits in the same session, if they are no hits themselves.
    pub neighbours: Vec<PastItem>,
}

/// What to forget.
#[derive(Clone, Debug, PartialEq)]
pub enum PastSelection {
    /// These lines with all their runs, and these turns.
    Ids(Vec<PastId>),
    /// All runs of one source.
    Source(RunSource),
    /// All runs and turns before this time, and runs without a time if `timeless`.
    Before {
        /// The time.
        at: Timestamp,
        /// Runs without a time, too.
        timeless: bool,
    },
    /// Everything.
    All,
}

/// Counts of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastCounts {
    /// Runs by source; sources without runs are left out.
    pub runs: Vec<(RunSource, u64)>,
    /// Different lines.
    pub lines: u64,
    /// Turns.
    pub turns: u64,
    /// The oldest time.
    pub since: Option<Timestamp>,
}

/// Keeps what was done.
pub trait PastStore {
    /// A failure of the store.
    type Error: std::error::Error;

    /// Stores all of these, or none.
    ///
    /// # Errors
    /// They cannot be written.
    fn add(&mut self, runs: &[NewRun], turns: &[NewTurn]) -> Result<Added, Self::Error>;

    /// Searches. A term is data, with any characters in it.
    ///
    /// # Errors
    /// It cannot be read.
    fn search(&self, query: &PastQuery) -> Result<PastFound, Self::Error>;

    /// The record of this number; a line with its newest run.
    ///
    /// # Errors
    /// It cannot be read.
    fn get(&self, id: PastId) -> Result<Option<PastItem>, Self::Error>;

    /// The trust of the turn of this id, if it is stored.
    ///
    /// # Errors
    /// It cannot be read.
    fn trust(&self, turn: &str) -> Result<Option<f64>, Self::Error>;

    /// Stored terms that are a slip of the fingers away from this one, at most [`MAX_SLIPS`]; none if it is stored itself. See
    /// [`super::terms::is_slip`].
    ///
    /// # Errors
    /// They cannot be read.
    fn slips(&self, term: &str) -> Result<Vec<String>, Self::Error>;

    /// Folders in which something was done, at most [`MAX_FOLDERS`] of them, those that were seen last.
    ///
    /// # Errors
    /// They cannot be read.
    fn folders(&self) -> Result<Vec<PathBuf>, Self::Error>;

    /// The commands that succeeded in this folder and below since a time, one by one: the newest `limit` runs of the user and the commands
    /// of the newest `limit` turns, in any order of the two, each the oldest first. Runs without a time are left out.
    ///
    /// # Errors
    /// They cannot be read.
    fn deeds(&self, folder: &Path, since: Timestamp, limit: usize) -> Result<Vec<Deed>, Self::Error>;

    /// The turns that no consolidation has looked at, since a time: the oldest `limit`, the oldest first.
    ///
    /// # Errors
    /// They cannot be read.
    fn unconsolidated(&self, since: Timestamp, limit: usize) -> Result<Vec<PastTurn>, Self::Error>;

    /// The turns up to this number have been looked at. A lower number than before changes nothing.
    ///
    /// # Errors
    /// That cannot be written.
    fn set_consolidated(&mut self, turn: u64) -> Result<(), Self::Error>;

    /// Deletes. Afterwards no file of the store contains the text. Returns the number of runs and turns that were deleted.
    ///
    /// # Errors
    /// They cannot be deleted.
    fn forget(&mut self, what: &PastSelection) -> Result<u64, Self::Error>;

    /// What is stored.
    ///
    /// # Errors
    /// It cannot be read.
    fn counts(&self) -> Result<PastCounts, Self::Error>;

    /// Checks every record against its seal; returns the numbers of those that someone else changed.
    ///
    /// # Errors
    /// They cannot be read.
    fn changed(&self) -> Result<Vec<PastId>, Self::Error>;
}
