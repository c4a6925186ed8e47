//! Hooks: programs of the user that run at fixed points of a turn, hear what happens, and may object. Their files have the format of Claude
//! Code.
//!
//! - [`event`] names the points. [`mod@file`] reads a file, [`matcher`] says which calls a hook is for. [`tool_names`] translates tools and their
//!   arguments, [`input`] is what a hook reads, [`output`] reads what it said. These are pure.
//! - [`places`] finds the files and decides which count; [`consent`] stores what the user allowed; [`consented`] compares a file with that, and
//!   the [`scripts`] that it names; [`own_file`] takes over hooks of others.
//! - [`own_tools`] are tools of the user: they run like hooks, and the gate judges each call. [`program_prints`] saves reading each of them.
//! - [`process`] runs a hook, within bounds; nothing of it outlives its run. [`hook_set::HookSet`] runs all hooks of an event.
//! - [`turn::TurnHooks`] is the middleware of a turn, [`approver`] and [`compactor`] stand around what asks the user and what shortens a
//!   conversation. [`sessions`] remembers what was reported in a session.
//!
//! Invariants: a hook can object and ask, never allow; the gate judges what a hook let pass or changed like any other call. A hook that
//! guards and does not work blocks. No hook of a project runs without the user's consent to its exact content, which is compared whenever it
//! runs. Nothing is read or started where no file of hooks is.
//!
//! This crate shows nothing to the user, and stores nothing but consents.

pub mod approver;
pub mod compactor;
pub mod consent;
pub mod consented;
pub mod event;
pub mod file;
pub mod hook_set;
pub mod input;
pub mod matcher;
pub mod output;
pub mod own_file;
pub mod own_tools;
pub mod places;
pub mod process;
pub mod program_prints;
pub mod scripts;
pub mod sessions;
pub mod tool_names;
pub mod turn;
