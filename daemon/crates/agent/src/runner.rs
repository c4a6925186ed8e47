//! Defines the port through which the agent runs commands.

use std::path::PathBuf;

use async_trait::async_trait;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use tokio_util::sync::CancellationToken;

/// Runs commands in a shell, one at a time.
#[async_trait]
pub trait CommandRunner: Send + Sync {
    /// Runs one command to its end, its timeout or its cancellation.
    ///
    /// `cancel` interrupts the command (SIGINT to its process group, then harder signals); the outcome is then `Ending::Interrupted` by
    /// the turn, with the output captured so far. Dropping the future does the same without an outcome.
    ///
    /// # Errors
    /// Only if the command did not run, or its fate is unknown; a failed command is an outcome.
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError>;

    /// Returns the folder in which the next command would start.
    fn cwd(&self) -> PathBuf;
}
