//! The keys of the table `tally`, which counts rows, next to the codes of the sources. The triggers of the tables have the same numbers.

/// Lines.
pub(super) const TALLY_LINES: i64 = 100;
/// Turns.
pub(super) const TALLY_TURNS: i64 = 101;
/// Not a count: the version of the index.
pub(super) const TALLY_VERSION: i64 = 103;
/// Not a count: the number of the last turn that a consolidation has looked at.
pub(super) const TALLY_CONSOLIDATED: i64 = 104;
/// Entries of the index: the key of a span is this and the part of their numbers that begins with the span.
pub(super) const TALLY_ENTRIES: i64 = 1 << 32;
