//! `cohab rpc`: sessions, questions, events and approvals as JSON-RPC 2.0 on standard input and output, one message a line.

pub mod calls;
mod server;
mod turn;

#[cfg(test)]
mod tests;

pub use self::server::{Beginning, Server};
