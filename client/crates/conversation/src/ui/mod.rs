//! The user interface: lines and bytes, produced without any IO.

pub mod card;
pub mod change_summary;
pub mod diff;
pub mod key_table;
pub mod long_command;
pub mod progress;
pub mod recap;
pub mod status;

#[cfg(test)]
mod hostile_tests;
