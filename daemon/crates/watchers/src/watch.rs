//! The input of the engine for each watcher.

use jiff::Timestamp;

use crate::condition::Condition;

/// The number of a watcher.
pub type WatcherId = u32;

/// One condition that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The condition.
    pub condition: Condition,
    /// Whether it is waited for again after it held.
    pub is_repeat: bool,
    /// How what it depends on was; see [`begin`](crate::look::begin).
    pub anchor: String,
    /// When its time comes; for conditions that are a time.
    pub due: Option<Timestamp>,
}
