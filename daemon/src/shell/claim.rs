//! Results of commands that the client ran while no daemon was there.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use cohab_protocol::{CallId, CommandEnding, ExecuteCommand, TurnId};
use cohab_shell_relay::runner::{CommandOutcome, CommandRequest, CommandRunner, RelayError};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::live::{follow, outcome};
use crate::server::session::{Progress, Session};

/// A client answers at once whether it knows the command.
const ANSWER_WAIT: Duration = Duration::from_secs(3);
/// The word of a client that has begun the turn itself and has never given the command to its shell. A command that it refused in a
/// way that lets it run elsewhere is answered with that refusal.
const NEVER_BEGUN: &str = "turn_over";

/// "Runs" commands by asking the client what came of them. Nothing is ever run: to the client they are of a turn that is over, and
/// of those it only tells results, those of commands that still run at their end.
pub struct Claims {
    session: Arc<Session>,
    turn_id: TurnId,
    was_never_begun: AtomicBool,
}

impl Claims {
    /// Commands of this turn, which is over.
    #[must_use]
    pub fn new(session: Arc<Session>, turn_id: TurnId) -> Self {
        Self { session, turn_id, was_never_begun: AtomicBool::new(false) }
    }

    /// Whether the client that holds the turn has said that the command was never given to its shell.
    #[must_use]
    pub fn was_never_begun(&self) -> bool {
        self.was_never_begun.load(Ordering::Relaxed)
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
        let answered = call.progress.wait_for(|progress| *progress != Progress::Sent);
        if !matches!(timeout(ANSWER_WAIT, answered).await, Ok(Ok(_))) {
            return Err(RelayError::Unknown);
        }
        let result = follow(&self.session, call, request.timeout, cancel).await?;
        if matches!(&result.ending, CommandEnding::Refused { code, .. } if code == NEVER_BEGUN) {
            self.was_never_begun.store(true, Ordering::Relaxed);
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
