//! The start of an agent: everything that the pool needs to start it, or to find it again.

use std::path::PathBuf;

use cohab_shell_state::shell::Shell;

use crate::{find::Launch, known::Agent};

/// The agent of a turn.
pub struct AgentStart {
    /// The agent.
    pub agent: Agent,
    /// How it is started.
    pub launch: Launch,
    /// Name of the session.
    pub session: String,
    /// Whether it ends with the turn, and knows nothing of others.
    pub is_for_one_turn: bool,
    /// The kind of the shell in which commands run.
    pub shell: Shell,
    /// The shell's folder.
    pub cwd: Box<dyn Fn() -> PathBuf + Send + Sync>,
}
