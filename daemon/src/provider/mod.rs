//! Model providers share one implementation for hosted and local services.
//!
//! A wire is pure and lives in `cohab-wires`: it builds requests and folds the events of answers. `exchange` sends and repeats,
//! `transport` reads one answer, `retry` judges failures. `choice` picks the service, from the settings in `wishes`, as `service`
//! resolves it; `late` fetches the key when a question needs it. Network bytes reach a fold only through `sse`, and no tool call leaves
//! a fold before the wire's terminal mark. This module runs no tool and keeps no conversation.

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
pub mod whole_answer;
mod wishes;

#[cfg(test)]
mod http_tests;
#[cfg(test)]
mod matrix_tests;
