//! Memory blocks: named texts of the user that every question is given.
//!
//! - [`record::Block`] is one version of a block. [`record::delivered`] are the blocks that exist without being written.
//! - [`change::BlockChange`] is a change of a block's text; [`change::BlockEdit`] names the block as well. Every text is cleaned, and
//!   refused if it is too long or holds a secret.
//! - [`store::BlockStore`] is the contract of a store. `conformance` holds the tests that every implementation has to pass.
//! - [`operations`] choose the block that a label means in a project, change it, make a new one, and go back to an earlier version.
//!
//! Invariants: each change is a new version; a rollback restores a text byte for byte; a block of one project is never seen in another.
//!
//! Nothing here checks what a text asks of the assistant: a block holds words of the user.

pub mod change;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod operations;
pub mod record;
pub mod store;
