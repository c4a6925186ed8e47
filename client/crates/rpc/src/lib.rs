//! Lets other programs use cohab over standard input and output, one JSON message a line.
//!
//! - [`rpc`] is `cohab rpc`: sessions, questions, events and approvals as JSON-RPC 2.0, described by a JSON Schema.
//! - [`acp`] is `cohab acp`: cohab as an agent of the Agent Client Protocol, for editors and harnesses.
//! - [`event`] are the events of a turn as JSON, also for `cohab ask --json`.
//! - [`front_end::run`] carries lines and messages for a [`front_end::FrontEnd`]; [`desk`] opens its sessions.
//!
//! Invariants: a front end does no IO of its own, so that its tests need no daemon. A question for consent that is not answered in so
//! many words is refused. Lines, queues and counts have bounds; a program that does not read makes the daemon's messages wait.
//!
//! Commands of these sessions run in a separate shell in the daemon, never in a terminal's shell. This crate decides nothing about what
//! may run: the policy of the daemon does, and the program that is asked.

pub mod acp;
pub mod answer_text;
pub mod desk;
pub mod event;
pub mod front_end;
pub mod message;
mod questions;
pub mod rpc;
mod stdio;
