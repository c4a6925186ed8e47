//! Describes kinds of shells, their start, and their state.
//!
//! - [`quote`]: words of a shell. There is no other quoter.
//! - [`shell`]: bash, zsh, fish; their arguments and startup files, with the integration scripts of `assets/`.
//! - [`state`]: a [`state::Snapshot`] of variables, options, aliases and functions, the [`state::StateChange`] between two of them,
//!   and the lines that undo a change.
//!
//! This crate is pure: it makes scripts and reads listings, and starts no shell.

pub mod quote;
pub mod shell;
pub mod state;
