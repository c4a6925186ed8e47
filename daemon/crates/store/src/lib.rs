//! Stores what outlives the daemon: conversations and their steps, usage, long outputs of tools, copies of changed files, the audit
//! log.
//!
//! - [`sessions`]: conversations. [`sessions::StateStore`] and [`sessions::steps::CheckpointStore`] are the contracts, each with a
//!   conformance suite; [`sessions::SqliteStore`] implements both in a file, and [`sessions::Archive`] is the daemon's way to it.
//! - [`Store`]: what model calls took, by [`row::CallRow`], and what answers taught about models. [`daily_spend`] sums up a day.
//! - [`spool`]: long outputs, a folder for each session. [`backups`]: what files held before a tool changed them.
//! - [`memory`]: what the user asked cohab to remember, with a sealed journal of its changes.
//! - [`past`]: which commands ran and what the assistant was asked, with an index of their words.
//! - [`knowledge`]: documents that the user named, cut into passages, with an index of their words.
//! - [`atuin`]: reads the history database of atuin, to import it.
//! - [`watchers`]: what the user waits for, and the signal that a daemon is needed for it.
//! - [`audit`]: what the assistant did and who agreed, in a chain of sealed lines.
//! - [`worker::Worker`]: the thread that writes a file. It lives as long as there is something to write.
//! - [`health`]: whether the files can be read, for `cohab doctor`. A broken file is moved aside and what can be read of it is kept.
//!
//! Invariants: no question waits for a file, except for what must be on disk before it happens; what cannot be written is lost with
//! one line in the log; files belong to the user alone; text is stored only after secrets were taken out of it.
//!
//! This crate runs nothing, asks no model and decides about no consent. SQLite is not named outside of it.

pub mod atuin;
pub mod audit;
pub mod backups;
pub mod daily_spend;
mod database;
mod error;
mod file;
mod form;
pub mod health;
mod key_folder;
pub mod knowledge;
pub mod memory;
mod pace;
pub mod past;
mod recovery;
pub mod row;
mod seal;
pub mod sessions;
pub mod spool;
mod usage;
pub mod watchers;
pub mod worker;

pub use self::{
    database::Database,
    error::StoreError,
    usage::{Store, UsageHold},
};
