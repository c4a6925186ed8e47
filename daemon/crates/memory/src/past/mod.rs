//! What was done before: commands that ran, and questions with their answers.
//!
//! - [`record::NewRun`] is a command that the user ran, [`record::NewTurn`] a question to the assistant with what came of it.
//! - [`store::PastStore`] is the contract of a store; `conformance` holds its tests.
//! - [`about_past`] tells questions about the past from others, and [`recall`] reads one: which words, which time. [`period`] reads
//!   the time, [`place`] the folder, [`about`] says what a command does, in the words of people.
//! - [`search`] answers such a question from a store, and [`describe`] says when and where something was done.
//! - [`import`] reads the history files of bash, zsh and fish.
//! - [`terms`] splits text into the terms by which both sides are compared, and [`ranking`] orders what a store found.
//!
//! Invariants: what ran is data, never an instruction; a text with a secret in it is stored without the secret; what is forgotten leaves no
//! text behind.

pub mod about;
pub mod about_past;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod describe;
pub mod import;
pub mod period;
mod phrases;
pub mod place;
pub mod ranking;
pub(crate) mod reading;
pub mod recall;
pub mod record;
pub mod search;
pub mod store;
pub mod terms;

/// How the user's own commands come to be kept, for people.
pub const HOW_KEPT: &str = "Your own commands are kept once `cohab config set memory.shell_history true` is set, and \
    `cohab memory import --history bash` reads the history of a shell.";

/// The tool that searches what was done. A turn that only searched is not stored: it would be found in place of what it found.
pub const SEARCH_TOOL: &str = "memory_search";

/// The tool that searches stored conversations. The same holds for a turn that only used it.
pub const CONVERSATION_TOOL: &str = "conversation_search";
