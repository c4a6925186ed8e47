//! Counts the values that were removed, by kind. Pure.

use std::{collections::BTreeMap, fmt};

/// The number of replacements of each kind of secret. [`fmt::Display`] writes a line a kind: the count, the kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    counts: BTreeMap<&'static str, u64>,
}

impl Report {
    pub(super) fn count(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// The kinds, by name, with the number of their replacements.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// The number of all replacements.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts().try_for_each(|(kind, count)| writeln!(formatter, "{count:>8}  {kind}"))
    }
}
