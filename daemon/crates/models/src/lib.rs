//! Model services as [`ModelProvider`](cohab_model_api::ModelProvider)s: HTTP, retries, keys, and the choice of the model that answers.
//!
//! - [`resolution`] decides which service and model answer, from what the settings and the environment ask for; [`resolved_endpoint::ResolvedEndpoint`] is the
//!   result, and makes the provider. [`detect`] finds model servers on this machine.
//! - [`key`] and [`key_store`] get and keep keys. A key that needs a command or a store is read when the first question needs it.
//! - [`fallback`] is several models of which one answers: the next takes over when a service fails.
//! - [`scrubbed`] is the only way from a request to what sends it: secrets leave no daemon.
//! - [`scripted`] is a provider that answers from a script, and [`replay`] reads recorded bytes as an answer; both are for tests and
//!   measurements, in any build.
//! - [`model_list`] asks a service which models it has; [`http`] is how each request is sent.
//!
//! A wire is pure and lives in `cohab-wires`: it builds requests and folds the events of answers. Here `exchange` sends a request and
//! repeats it, `transport` reads one answer, and `retry` judges failures.
//!
//! Invariants: a request is sent without secrets, or not at all; a key goes to no host but its owner's; an answer that was shown is not
//! repeated without saying so; each wait and each buffer has a limit.
//!
//! This crate knows no conversation, tool, session or store.

mod choice_error;
pub mod detect;
mod exchange;
pub mod fallback;
pub mod http;
mod http_client_state;
mod http_provider;
mod idle_timer;
pub mod key;
pub mod key_store;
mod lazy_key;
mod limited_command;
pub mod model_list;
pub mod replay;
mod requested_model;
pub mod resolution;
pub mod resolved_endpoint;
mod retry;
pub mod scripted;
pub mod scrubbed;
mod transport;

#[cfg(test)]
mod http_tests;
#[cfg(test)]
mod matrix_tests;
