//! Model providers: the wires of hosted and local services, and what is shared by all of them.
//!
//! A wire is pure: it builds requests and folds the events of answers (`wire`). `exchange` sends and repeats, `transport` reads
//! one answer, `sse` makes payloads of bytes, `error` and `retry` judge failures. `choice` decides who answers, from what `wishes`
//! found and `service` made of it; `late` gets the key when a question needs it. No network byte reaches a fold but through `sse`,
//! and no tool call leaves a fold before the wire's terminal mark.

mod anthropic;
pub mod choice;
pub mod detect;
mod error;
mod exchange;
mod fast_path;
mod gemini;
mod history;
pub(crate) mod http;
mod http_provider;
pub(crate) mod key;
pub mod key_store;
pub mod ladder;
mod late;
mod limited_command;
pub(crate) mod listing;
mod models;
mod ollama;
mod openai_chat;
mod openai_responses;
mod registry;
pub mod replay;
mod retry;
pub mod scripted;
pub mod scrubbed;
pub(crate) mod service;
pub mod settings;
mod sse;
mod surrogates;
mod tool_arguments;
mod transport;
pub(crate) mod vendor;
pub mod whole_answer;
pub(crate) mod wire;
mod wishes;

#[cfg(test)]
mod fold_testing;
#[cfg(test)]
mod http_tests;
#[cfg(test)]
mod matrix_tests;
#[cfg(test)]
mod sse_reference;
