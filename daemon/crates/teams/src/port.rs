//! The port that runs subagents.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{kind::SubagentKind, report::SubagentReport};

/// What a subagent shall do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What it is.
    pub kind: SubagentKind,
    /// The task, with all that it needs to know: it sees nothing of the conversation that orders it.
    pub task: String,
    /// The task in a few words, for the user.
    pub label: String,
}

/// Runs subagents for one turn.
#[async_trait]
pub trait Subagents: Send + Sync {
    /// The kinds that can be ordered, each name once.
    fn kinds(&self) -> &[SubagentKind];

    /// Runs one to its end. Waits while too many run. `cancel` stops it; what it started is over when this returns.
    ///
    /// # Errors
    /// It did not begin; the text says why, for the model.
    async fn run(&self, order: Order, cancel: &CancellationToken) -> Result<SubagentReport, String>;
}
