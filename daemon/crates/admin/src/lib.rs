//! The commands of the daemon: one file for each subcommand that `cohab` hands on to `cohabd`.
//!
//! - [`cli`] reads the command line and runs a command: settings, sessions and their history, usage, traces, exports, the audit log,
//!   tasks, undo, trust, models. `cli/definitions.rs` tells the client all of them as data.
//! - [`setup`] is `cohab setup`: it asks for a service, a key and a model, and tries them before anything is written.
//! - `prompt` asks at a terminal, for setup and for the lists that `cohab sessions` and `cohab history` let the user pick from.
//! - [`stats`] counts what is kept anyway. [`probe`] tries what a model can do.
//! - [`telemetry`] says whether this build can send spans.
//!
//! Invariants: a command reads what is stored and asks no model, unless that is its purpose; text from conversations reaches a terminal
//! only after it was made harmless; with `--json` a command prints one object.
//!
//! No command runs a turn or speaks to a running daemon.

pub mod cli;
pub mod probe;
mod prompt;
pub mod setup;
pub mod stats;
pub mod telemetry;
