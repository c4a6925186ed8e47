//! The daemon's own shell as a runner of commands.

use std::path::PathBuf;

use async_trait::async_trait;
use cohab_sandbox::isolated::DaemonShell;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use tokio_util::sync::CancellationToken;

use crate::agent::runner::CommandRunner;

#[async_trait]
impl CommandRunner for DaemonShell {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Self::run(self, request, cancel).await
    }

    fn cwd(&self) -> PathBuf {
        Self::cwd(self)
    }
}
