//! The keys of the table `tally`, which counts rows, next to the codes of the sources. The triggers of the tables have the same numbers.

/// Lines.
pub(super) const TALLY_LINES: i64 = 100;
/// Turns.
pub(super) const TALLY_TURNS: i64 = 101;
/// Entries of the index.
pub(super) const TALLY_DOCS: i64 = 102;
/// Not a count: the version of the tables of words by which the entries were made.
pub(super) const TALLY_WORDS: i64 = 103;
/// Not a count: the number of the last turn that a consolidation has looked at.
pub(super) const TALLY_CONSOLIDATED: i64 = 104;
