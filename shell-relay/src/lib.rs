//! Runs commands in the user's live shell, exactly once and in order.
//!
//! - [`live`]: the shell behind the terminal, as a state machine of bytes and times; its edges are the pseudo terminal and a private
//!   folder.
//! - [`marks`] parses what the integration scripts report out of the shell's output.
//! - [`subshell`] writes a command so that a copy of the shell runs it.
//! - [`leftovers`] removes the folders of clients that were killed.
//!
//! Whether a command may run is not decided here: this crate does not know the policy.

pub mod leftovers;
pub mod live;
pub mod marks;
pub mod subshell;
