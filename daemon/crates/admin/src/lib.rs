//! The commands of the daemon: one file for each subcommand that `cohab` hands on to `cohabd`.
//!
//! - [`cli`] reads the command line and runs a command: settings, sessions and their history, usage, traces, exports, the audit log,
//!   open tasks, undo, trust, models. `cli/definitions.rs` tells the client all of them as data.
//! - [`stats`] counts what is kept anyway.
//! - [`telemetry`] says whether this build can send spans.
//!
//! Invariants: a command reads what is stored and asks no model, unless that is its purpose; text from conversations reaches a terminal
//! only after it was made harmless; with `--json` a command prints one object.
//!
//! No command runs a turn or speaks to a running daemon.

pub mod cli;
pub mod stats;
pub mod telemetry;
