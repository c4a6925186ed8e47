//! Files of work that outlives a turn.
//!
//! - [`background_tasks`]: questions that are worked on behind the prompt, a file each.
//! - [`flows`]: runs of flows, each with a log of what its nodes did.
//!
//! Invariants: a file is written as a whole or by whole lines, so that its reader never sees half a change; one run has one owner; text is stored
//! only after secrets were taken out of it; files belong to the user alone.
//!
//! This crate works on nothing and knows no database.

pub mod background_tasks;
pub mod flows;
