//! The user interface: lines and bytes, produced without any IO.

pub(crate) mod card;
pub(crate) mod change_summary;
pub mod diff;
pub mod key_table;
pub(crate) mod long_command;
pub mod progress;
pub(crate) mod recap;
pub mod status;
pub(crate) mod subagents;

#[cfg(test)]
mod hostile_tests;
