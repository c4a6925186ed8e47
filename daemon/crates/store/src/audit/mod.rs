//! The audit log: what the assistant did and who agreed, in lines of JSON that only grow.
//!
//! Each record is sealed with a key over all its fields and the seal of the record before. The records are in the folder of states; the
//! key and the head (how many records there are, and the last seal) are in the folder of settings.
//!
//! - [`AuditLog`]: the daemon's way to the records. A thread writes them; [`Kept`] says whether one is on disk.
//! - [`record`]: the events that are recorded, as data. [`Places`]: the files. [`Journal`]: the writer.
//! - [`verify`] checks the whole chain and names the [`Fault`]; [`follow`] reads records as they are written.
//! - [`PolicySeen`]: notices when the rules or the mode in force have changed.
//!
//! Invariants: a record is never changed; whoever changes, removes, repeats or cuts records without the key leaves a trace that
//! [`verify`] names. Who can read the key can forge records.
//!
//! This module decides nothing and never keeps a command from running; its callers do, by what [`Kept`] says.

mod chain;
mod files;
pub mod follow;
mod head;
mod journal;
mod log;
mod open_files;
mod policy_changes;
pub mod record;
pub mod verify;

pub use self::{
    chain::Fault,
    files::Places,
    journal::Journal,
    log::{AuditLog, Kept},
    policy_changes::{PolicySeen, rule_shown},
};
