//! Model providers: what hosted and local services have in common.
//!
//! A wire is pure and lives in `cohab-wires`: it builds requests and folds the events of answers. `exchange` sends and repeats,
//! `transport` reads one answer, `retry` judges failures. `choice` decides who answers, from what `wishes`
//! found and `service` made of it; `late` gets the key when a question needs it. No network byte reaches a fold but through `sse`,
//! and no tool call leaves a fold before the wire's terminal mark.

pub mod choice;
pub mod detect;
mod exchange;
pub(crate) mod http;
mod http_provider;
pub(crate) mod key;
pub mod key_store;
pub mod ladder;
mod late;
mod limited_command;
pub(crate) mod listing;
pub mod replay;
mod retry;
pub mod scripted;
pub mod scrubbed;
pub(crate) mod service;
mod transport;
mod wishes;

#[cfg(test)]
mod http_tests;
#[cfg(test)]
mod matrix_tests;
