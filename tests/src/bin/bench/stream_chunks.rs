//! The chunks of a long answer, which the model server sends at a pace.

use std::time::Duration;

/// 100 chunks a second.
pub(crate) const PACE: Duration = Duration::from_millis(10);
/// A paragraph of the answer, in chunks.
const PARAGRAPH: usize = 40;

/// The word of a chunk; it says its number.
pub(crate) fn word(index: usize) -> String {
    format!("w{index:05}")
}

/// A word and what follows it.
pub(crate) fn chunk(index: usize) -> String {
    word(index) + if index % PARAGRAPH == PARAGRAPH - 1 { "\n\n" } else { " " }
}
