//! Compares a shell under cohab with the same shell alone.
//!
//! The same keys go to both, in terminals of the same size and in homes with the same files; then the two screens are compared cell
//! by cell. The cases are tables of keys in `tests/side_by_side/*.cases` ([`case`] describes their form); [`runner`] drives them.

pub mod case;
mod keys;
mod pair;
pub mod runner;
mod screenshot;
mod settle;
pub mod shell;
mod words;
