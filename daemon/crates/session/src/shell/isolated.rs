//! Adapts the daemon's separate shell to the port for runners of commands.

use std::path::PathBuf;

use async_trait::async_trait;
use cohab_agent::runner::CommandRunner;
use cohab_sandbox::isolated::DaemonShell;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use tokio_util::sync::CancellationToken;

/// Runs commands in a separate shell of the daemon.
pub struct IsolatedRunner(pub DaemonShell);

#[async_trait]
impl CommandRunner for IsolatedRunner {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        self.0.run(request, cancel).await
    }

    fn cwd(&self) -> PathBuf {
        self.0.cwd()
    }
}
