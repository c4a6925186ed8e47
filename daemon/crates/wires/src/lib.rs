//! The protocols of model services, as pure functions: requests out of neutral ones, neutral events out of answers.
//!
//! - [`wire::Wire`]: builds the request of a protocol and folds the events of its answer into neutral ones.
//!   [`WIRES`] lists all of them; each is a separate folder (`anthropic`, `openai_chat`, `openai_responses`, `gemini`,
//!   [`ollama`]).
//! - [`wire::Vendor`]: a service that speaks a wire, with its addresses and deviations; [`vendor`] looks them up by name or host.
//! - [`sse`] turns the bytes of an answer into payloads; [`tool_arguments`] collects and checks the arguments of calls.
//! - [`error`] reads the errors of services and sorts them into the families of `cohab-model-api`.
//!
//! Invariants: network bytes reach a fold only through [`sse`]; no tool call leaves a fold before the wire's terminal mark; the same
//! request gives the same bytes.
//!
//! This crate does not send, wait, retry or read settings.
//!
//! A new wire is one folder with an implementation of [`wire::Wire`] and one row of `wires!` below.

/// Declares the wires: one row for the file or folder of a wire and the type in it.
macro_rules! wires {
    ($($visibility:vis $file:ident::$wire:ident;)+) => {
        $($visibility mod $file;)+

        /// All wires, in the order in which they are shown.
        pub static WIRES: &[&dyn wire::Wire] = &[$(&$file::$wire),+];
    };
}

wires! {
    anthropic::Anthropic;
    openai_chat::OpenAiChat;
    openai_responses::OpenAiResponses;
    gemini::Gemini;
    pub ollama::Ollama;
}

pub mod error;
mod fast_path;
#[cfg(test)]
mod fold_testing;
mod history;
#[cfg(test)]
mod image_tests;
pub mod listed_models;
pub mod sse;
#[cfg(test)]
mod sse_reference;
mod surrogates;
pub mod tool_arguments;
pub mod vendor;
pub mod wire;
