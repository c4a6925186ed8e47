//! Runs the commands of an agent's turn, which the agent can interrupt one by one.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::runner::CommandRunner;
use cohab_types::{
    command::{CommandOutcome, CommandRequest, Ending, RelayError},
    refusal::Refusal,
};
use tokio_util::sync::CancellationToken;

/// The call of a turn that runs, and the exit statuses of commands that ended.
#[derive(Default)]
pub(crate) struct RunningCall(Mutex<RunningCallState>);

#[derive(Default)]
struct RunningCallState {
    current: Option<(String, CancellationToken)>,
    exits: HashMap<String, i32>,
}

impl RunningCall {
    fn lock(&self) -> MutexGuard<'_, RunningCallState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This call runs from now on; the token interrupts it.
    pub(crate) fn set(&self, call_id: &str, token: CancellationToken) {
        self.lock().current = Some((call_id.to_owned(), token));
    }

    /// The exit status of a call's command, once.
    pub(crate) fn take_exit(&self, call_id: &str) -> Option<i32> {
        self.lock().exits.remove(call_id)
    }
}

/// Runs commands that the agent can interrupt one by one.
pub(crate) struct AgentRunner {
    pub inner: Arc<dyn CommandRunner>,
    pub call: Arc<RunningCall>,
}

#[async_trait]
impl CommandRunner for AgentRunner {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        let Some((call_id, token)) = self.call.lock().current.clone() else {
            return self.inner.run(request, cancel).await;
        };
        if token.is_cancelled() {
            // The caller has gone while the user was asked.
            let reason = "the call was withdrawn".to_owned();
            return Err(RelayError::NotAtPrompt { refusal: Refusal::Cancelled, reason });
        }
        let own = cancel.child_token();
        let mut run = std::pin::pin!(self.inner.run(request, &own));
        let outcome = tokio::select! {
            biased;
            outcome = &mut run => outcome,
            () = token.cancelled() => {
                own.cancel();
                run.await
            }
        };
        if let Ok(CommandOutcome { ending, status, .. }) = &outcome {
            let exit = match ending {
                Ending::Exited | Ending::Interrupted { .. } | Ending::ShellExited => Some(status.unwrap_or(130)),
                Ending::Stopped | Ending::StillRunning => None,
            };
            if let Some(exit) = exit {
                self.call.lock().exits.insert(call_id, exit);
            }
        }
        outcome
    }

    fn cwd(&self) -> PathBuf {
        self.inner.cwd()
    }
}
