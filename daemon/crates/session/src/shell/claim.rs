//! Claims the results of commands that the client ran while no daemon was running.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::runner::CommandRunner;
use cohab_protocol::{CallId, CommandEnding, ExecuteCommand, TurnId};
use cohab_types::{
    command::{CommandOutcome, CommandRequest, RelayError},
    refusal::Refusal,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::live::{follow, outcome};
use crate::session::{CallProgress, Session};

/// A client answers at once whether it knows the command.
const ANSWER_WAIT: Duration = Duration::from_secs(3);
/// Refusals of a client whose shell never got the command: the turn began there and the command did not, or it was withdrawn before the
/// hand-over. Other refusals are not as certain: the command may have run in another shell.
const NEVER_BEGUN: [Refusal; 2] = [Refusal::TurnOver, Refusal::Cancelled];

/// The client's report on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It was never given to the client's shell.
    NeverBegun,
    /// It began and did not finish by itself.
    NotFinished,
    /// It ran to its end.
    Ended,
}

impl Claimed {
    fn of(ending: &CommandEnding) -> Option<Self> {
        match ending {
            CommandEnding::Refused { code, .. } => {
                NEVER_BEGUN.contains(&Refusal::of_code(code)).then_some(Self::NeverBegun)
            }
            CommandEnding::Interrupted { .. } | CommandEnding::Stopped | CommandEnding::StillRunning => {
                Some(Self::NotFinished)
            }
            CommandEnding::Exited | CommandEnding::ShellExited => Some(Self::Ended),
        }
    }
}

/// "Runs" commands by asking the client for their results. No command is ever run: for the client they belong to a finished turn, of
/// which it only reports results, also of commands that are still running, at their end.
pub struct Claims {
    session: Arc<Session>,
    turn_id: TurnId,
    claimed: OnceLock<Claimed>,
}

impl Claims {
    /// Claims for commands of this turn, which is over.
    #[must_use]
    pub fn new(session: Arc<Session>, turn_id: TurnId) -> Self {
        Self { session, turn_id, claimed: OnceLock::new() }
    }

    /// The client's report on the requested command; `None` without a certain one.
    #[must_use]
    pub fn claimed(&self) -> Option<Claimed> {
        self.claimed.get().copied()
    }
}

#[async_trait]
impl CommandRunner for Claims {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        let call_id = Uuid::try_parse(&request.id).map(CallId).map_err(|_| RelayError::Unknown)?;
        let mut call = self.session.open_call(ExecuteCommand {
            turn_id: self.turn_id,
            call_id,
            command: request.text,
            timeout_ms: u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            approval_id: None,
        });
        let answered = call.progress.wait_for(|progress| *progress != CallProgress::Sent);
        if !matches!(timeout(ANSWER_WAIT, answered).await, Ok(Ok(_))) {
            return Err(RelayError::Unknown);
        }
        let result = follow(&self.session, call, request.timeout, cancel).await?;
        if let Some(claimed) = Claimed::of(&result.ending) {
            // The first command's, if there are several requests.
            let _ = self.claimed.set(claimed);
        }
        outcome(result, request.wants_env_delta)
    }

    fn cwd(&self) -> PathBuf {
        self.session.cwd()
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
