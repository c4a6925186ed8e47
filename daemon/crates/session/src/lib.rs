//! Sessions and the connections that come and go.
//!
//! - [`session::Session`] outlives its connections. Each turn runs in a task of its own and talks to its session only; a connection
//!   carries what the session has to say and hands in what the client says. So a client that is slow, gone or hostile harms its own
//!   session at most.
//! - [`Daemon`] has all sessions in memory, and ends them in order. [`listener`] takes connections from the socket.
//! - [`Assembler`] is the port to everything that answers: it puts an [`Agent`](cohab_agent::Agent) together from [`TurnParts`].
//! - [`shell`]: commands of the agent in the user's live shell, through the client that holds the [`lease`], or in a shell of their own.
//! - [`SubagentTurn`]: a subagent's turn has a session of its own, which no client knows.
//! - [`FiringSource`] and [`Terminals`] are the two ends of the way of a watcher's firing to its terminal.
//! - [`approver`] asks the user through the client; [`convert`] makes messages of the agent's words, and back.
//!
//! Invariants: a session has one turn at a time; every queue has a bound; a command id is sent once, and claimed again after a
//! reconnection; nothing is told to a client that it has acknowledged.
//!
//! This crate knows no model, tool, setting or file of a store by name.

pub mod approver;
mod assembler;
mod attachments;
mod background;
mod background_work;
mod connection;
pub mod convert;
mod daemon;
mod firings;
pub mod lease;
pub mod listener;
mod memory;
mod outlet;
mod question_kind;
mod question_prompt;
mod quiet_socket;
mod recap;
mod recollection;
mod requests;
mod resume;
pub mod session;
pub mod shell;
mod sink;
mod subagents;
mod terminals;
mod timeline;
mod turn_recovery;
mod turn_task;

pub use cohab_protocol::WatcherFired;

pub use self::{
    assembler::{
        Accounted, Assembler, Facts, Introduction, KnownAgent, Recollection, SubagentTurn, TurnPart, TurnParts,
    },
    daemon::Daemon,
    firings::{FiringSource, Terminals},
    memory::{PRIVATE_QUESTION, TurnMemory},
    question_kind::{QuestionKind, addressed},
    recollection::Remembered,
    session::RanCommand,
};
