//! `cohab acp`: cohab as an agent of the Agent Client Protocol, version 1, on standard input and output. Facts of the protocol:
//! <https://agentclientprotocol.com>.
//!
//! Commands run in a separate shell in the daemon, with its sandbox; the editor's terminals and files are not used. The policy asks through
//! `session/request_permission`. A session is a conversation like those of terminals: `cohab sessions`, `trace`, `undo` and `audit` know it.

mod agent;
mod history;
mod params;
mod update;

#[cfg(test)]
mod tests;

pub use self::agent::Agent;
