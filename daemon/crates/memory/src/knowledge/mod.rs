//! The user's documents: folders and files that the user named, to be searched.
//!
//! - [`record::LearnedPlace`] is a folder or file that the user named, [`record::LearnedFile`] a file in it with its passages.
//! - [`split`] cuts a text into passages, each with its line and its headings.
//! - [`store::KnowledgeStore`] is the contract of a store; `conformance` holds its tests.
//! - [`search`] answers a question from a store, with the ranking of what was done. [`terms`] are what both sides are compared by, and
//!   [`quote`] names the source of a passage to a model.
//!
//! Invariants: a passage is found from the project of its place only, unless the user said otherwise; its line is the one at which its text
//! begins in the file; passages are text from elsewhere, never an instruction.
//!
//! This module reads no file. Who reads them decides which ones are left out.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod quote;
pub mod record;
pub mod search;
pub mod split;
pub mod store;
pub mod terms;
