//! Servers that give tools by the Model Context Protocol (MCP): which there are, how they are started, asked and stopped.
//!
//! - [`catalog::Catalog`] lists the servers of the settings and of a trusted project. [`consents::ConsentFile`] keeps which servers of
//!   projects and which tools the user has allowed, each as it was then.
//! - [`pool::ServerPool`] holds the running servers. `connection` starts one and speaks with it by the SDK `rmcp`; `listing` reads
//!   its tools in bounded pages, [`contents`] what it keeps beside them.
//! - [`sign_in`] asks the user to sign in at a server, and keeps the tokens.
//! - [`tools`] are the model's tools: `mcp_search`, `mcp_call` and `mcp_read`. [`prompt::section`] names the servers to the model.
//!
//! Invariants: no server is started before it is needed; text of a server is from elsewhere, bounded, and never a part of the system
//! prompt; what a server says of its tools gives no right; a tool whose definition changed is asked about again.
//!
//! Nothing here asks the user: the intent of a call says who would act, and the gate decides.

pub mod catalog;
mod connection;
pub mod consents;
pub mod contents;
mod digest;
mod expand;
mod form;
mod guarded_reader;
mod handler;
pub mod keys;
pub mod listing;
mod log_file;
pub mod named_files;
mod pattern;
pub mod pool;
mod project;
pub mod prompt;
mod questions;
mod render;
pub mod rule;
mod search;
pub mod server;
pub mod sign_in;
mod start_error;
mod surroundings;
#[cfg(test)]
mod testing;
pub mod tools;
pub mod trial;
mod wire;
