//! The state of a request to the line editor.

use std::time::Instant;

/// A request to the line editor for its line; the user's Enter was passed to the editor, or is held.
#[derive(Debug)]
pub(super) struct Ask {
    pub hotkey: bool,
    /// The key itself, in case it is not for us.
    pub key: Vec<u8>,
    /// The key came by itself.
    pub is_alone: bool,
    /// The shell has the key, or its replacement, and waits for our answer.
    pub is_passed: bool,
    pub step: AskStep,
}

/// The progress of such a request.
#[derive(Debug)]
pub(super) enum AskStep {
    Asked {
        since: Instant,
        /// The report was caused by Enter itself, and not by a query.
        told: bool,
    },
    /// The driver decides.
    Answered { text: String },
}
