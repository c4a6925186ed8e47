//! A firing of a watcher, on its way to the user.

use serde::{Deserialize, Serialize};

use crate::WirePath;

/// A firing of a watcher. What others may have written is sanitized, and untrusted all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatcherFired {
    /// The watcher's number.
    pub watcher: u32,
    /// Number of the firing, from 1.
    pub fired: u64,
    /// The watcher's name, else its number.
    pub label: String,
    /// What happened, a clause.
    pub what: String,
    /// The local time, `14:02`; with the date if that was not today.
    pub at: String,
    /// The question that the user asks then.
    pub question: Option<String>,
    /// Lines that others may have written, as data for the question.
    pub detail: Option<String>,
    /// The folder in which the watcher was made.
    pub folder: WirePath,
}
