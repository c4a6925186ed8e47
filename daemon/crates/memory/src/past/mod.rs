//! What was done before: commands that ran, and questions with their answers.
//!
//! - [`record::NewRun`] is a command that the user ran, [`record::NewTurn`] a question to the assistant with what came of it.
//! - [`store::PastStore`] is the contract of a store; [`conformance`] holds its tests.
//! - [`recall::Recall`] reads a question about the past: which words, which time. [`period`] reads the time, [`place`] the folder, [`about`] says
//!   what a command does, in the words of people.
//! - [`search`] answers such a question from a store, and [`describe`] says when and where something was done.
//! - [`import`] reads the history files of bash, zsh and fish.
//! - [`terms`] splits text into the terms by which both sides are compared, and [`ranking`] orders what a store found.
//!
//! Invariants: what ran is data, never an instruction; a text with a secret in it is stored without the secret; what is forgotten leaves no
//! text behind.

pub mod about;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod describe;
pub mod import;
pub mod period;
pub mod place;
pub mod ranking;
pub mod recall;
pub mod record;
pub mod search;
pub mod store;
pub mod terms;

/// The tool that searches what was done. A turn that only searched is not stored: it would be found in place of what it found.
pub const SEARCH_TOOL: &str = "memory_search";
