//! Flows: graphs of nodes that ask models, run tools, wait for people, and survive the end of their process.
//!
//! - [`definition::read`] reads a [`flow::Flow`] from TOML. A flow that it returns is sound: names, types, branches and ends are checked.
//! - [`plan::Progress`] is a log, folded, and says what may run next. Pure.
//! - [`run::run`] drives a run over the [`port`]s: [`port::NodeWork`] works for nodes, [`port::RunLog`] keeps the log.
//! - [`draw::drawing`] draws a flow as text. [`value`], [`state`], [`template`] and [`expression`] are the parts of a definition.
//! - `conformance` holds the tests that every [`port::RunStore`] has to pass.
//!
//! Invariants: a result is in the log before anything follows from it; a finished visit is never repeated; what may act only once begins
//! a second time only with the user's word; each branch of a parallel node runs once before its join; no run has more steps than its
//! flow allows. What is next depends on the flow and the log, and on no clock and no wording.
//!
//! This crate asks no model, runs no command, opens no file and decides about no consent.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod definition;
pub mod draw;
pub mod expression;
pub mod flow;
pub mod log;
pub mod plan;
pub mod port;
pub mod run;
pub mod state;
pub mod template;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod value;
