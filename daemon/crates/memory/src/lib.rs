//! Remembers what the user states, and finds what is relevant to a question.
//!
//! - [`record::Memory`] is one remembered fact: its text, where it holds, where it came from, how far it is trusted, and until when it
//!   was valid. A changed fact is a new record; the old one stays as its history until it is forgotten.
//! - [`store::MemoryStore`] is the contract of a store. `conformance` holds the tests that every implementation has to pass.
//! - [`statement`] reads what a user states: one line of clean text, and the scope that its words name.
//! - [`knowledge`] is about documents that the user named, and passages in them.
//! - [`past`] is about what was done: commands that ran, and questions with their answers.
//! - [`blocks`] are named texts that every question is given.
//! - [`inbox`] holds what is proposed, until the user accepts or rejects it. [`proposals`] are facts that commands speak for,
//!   and [`procedures`] drafts of what was done several times; [`consolidation`] reads them off what was done.
//! - [`relevance`] chooses the facts that a question is given. [`words`] are what both sides are compared by.
//!
//! Invariants: nothing is remembered that the user did not state; a fact of one project is never found from another; trust is set at
//! birth and only the user can raise it; what is forgotten leaves no text behind.
//!
//! This crate opens no file, asks no model and reads no clock.

pub mod blocks;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod consolidation;
pub mod inbox;
pub mod knowledge;
pub mod past;
pub mod procedures;
pub mod proposals;
pub mod record;
pub mod relevance;
pub mod statement;
pub mod store;
pub mod words;
