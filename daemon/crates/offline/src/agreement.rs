//! Which intents with patterns in code and which intents of the tables mean the same: `intents/patterns.table`.

use std::{collections::HashMap, sync::LazyLock};

/// For each intent with patterns those of the tables, the best first: `files.tree: files.tree files.show_tree`.
static AGREEMENT: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let rows = include_str!("../intents/patterns.table").lines().filter_map(|line| line.split_once(": "));
    rows.map(|(pattern, tables)| (pattern, tables.split(' ').collect())).collect()
});

/// In front of the others it says that none of them does all that the code does.
const ALONE: &str = "-";

/// Whether an intent with patterns and an intent of the tables mean the same.
pub(super) fn agree(pattern: &str, table: &str) -> bool {
    AGREEMENT.get(pattern).is_some_and(|tables| tables.contains(&table))
}

/// Whether the tables have nothing that does all that an intent with patterns does.
pub(super) fn is_alone(pattern: &str) -> bool {
    AGREEMENT.get(pattern).is_none_or(|tables| tables.first() == Some(&ALONE))
}

/// The intents of the tables that do the same as an intent with patterns, the best first; none if it is alone.
#[cfg(any(test, feature = "training"))]
pub(super) fn same_in_tables(pattern: &str) -> &'static [&'static str] {
    AGREEMENT.get(pattern).filter(|_| !is_alone(pattern)).map_or(&[], Vec::as_slice)
}
