//! Agents that others wrote, at work in the user's live shell: `? @codex fix the failing test`.
//!
//! - [`known`] lists the agents, [`find`] finds their programs; nothing is ever downloaded.
//! - [`AgentTurn`] is an agent in the place of a model. What the agent wants done (a command, a file, a permission) ends the model's answer
//!   with a tool call, so that the loop judges, asks, runs and records it as any other; the next request brings the result.
//! - [`AgentPool`] keeps the running agents, one for each session and name. `link` is the connection to one, over JSON lines of the
//!   Agent Client Protocol (`wire`); `desk` takes its requests and `inbox` holds them for the turn.
//!   `own_calls` recognizes the live shell in an agent's questions, `shown_files` knows what must not be written back.
//! - `door` offers the live shell as an MCP server (`mcp`) to agents that bring a shell of their own; [`shim`] connects them with it.
//! - [`share_host`] takes the place of an agent in a turn that shares the shell (`shares`); [`serve`] passes calls of programs elsewhere on
//!   to that shell.
//! - [`tools`] are the tools of the loop that only agents call.
//!
//! Invariants: an agent's process has no terminal and ends with all that it started; lines, queues and waits are bounded; nothing that an
//! agent sends answers a question to the user; an agent gets no text that was not rid of secrets.
//!
//! Nothing here judges a command or asks the user.

mod ask;
mod desk;
mod door;
mod failure;
pub mod find;
mod inbox;
pub mod known;
mod lines;
mod link;
mod mcp;
mod own_calls;
mod peer;
mod permission;
mod pool;
mod process;
mod runner;
mod saved;
pub mod serve;
pub mod share_host;
mod shares;
mod shell_line;
pub mod shim;
mod shown_files;
mod start;
mod tool_names;
pub mod tools;
mod turn;
mod wire;

pub use self::{
    pool::AgentPool,
    shares::{SharedShell, Shares},
    start::AgentStart,
    turn::{AgentTurn, AgentTurnParts, WIRE},
};
