//! The behaviour around each step of a turn.
//!
//! - [`middleware`]: the behaviour that surrounds the agent loop, one file each: accounting, budgets, the window of the model, shortening,
//!   rules for steps, spooling, a model that is stuck, a pause, backups, the audit, spans. Its header has the order.
//! - [`recording`]: notes of a turn. Observers write down its facts, and the agent's sink and runner are wrapped by ones that note what
//!   passes.
//! - [`cache`]: answers that are given again while files and repository are as they were.
//!
//! Invariants: a turn waits for no file, except for what must be on disk before it happens; a record that cannot be written is told
//! once; spans hold no text of a conversation.
//!
//! This crate names no model service, tool, socket or message. May a call run is decided in `cohab-guard`, which model answers in
//! `cohab-models`; `cohabd` puts the list together.

pub mod cache;
pub mod middleware;
pub mod recording;
