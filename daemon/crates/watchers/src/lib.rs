//! Watchers: the user names a condition, and hears when it holds, or has a question asked then.
//!
//! - [`parse::parse`] reads a [`condition::Condition`]: a process ends, a file or folder changes, a port opens, a line of a log matches, a
//!   time comes. [`time_rule::TimeRule`] and [`cron::Cron`] say when that is. These are pure.
//! - [`look`] compares what a condition depends on with an anchor, the text of how it was last seen.
//! - [`engine::Engine`] waits for the conditions of all watchers: for events of files ([`folder_events`]), for what no file says
//!   ([`outside`]), and for one time ([`clock`]).
//! - [`service`] reads the stored watchers, has the engine wait for them, notes what fires and passes it to the terminal in which the watcher
//!   was made; a terminal that is gone keeps its firings for later.
//! - [`roster::Roster`] is what a command does with watchers. It writes the store, whose signal the service hears of.
//!
//! Invariants: nothing wakes up while nothing happens, except for times that are due and, as long as a port of this machine is watched, one
//! look in a second. A watcher fires at most once in a second. What others may have written is kept apart from the words of the user.
//!
//! This crate asks no question and decides about no consent: the user's terminal asks the question of a watcher as any other.

pub mod clock;
pub mod condition;
pub mod cron;
pub mod engine;
pub mod files;
pub mod folder_events;
pub mod log_lines;
pub mod look;
pub mod outside;
pub mod parse;
pub mod roster;
pub mod service;
mod system;
pub mod time_rule;
pub mod watch;
