//! The live shell, and a shell of its own where the live one cannot be used.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_protocol::{DaemonMessage, Notice, NoticeKind, TurnId};
use cohab_shell_relay::{
    runner::{CommandOutcome, CommandRequest, CommandRunner, RelayError},
    scrub::holds_placeholder,
};
use tokio_util::sync::CancellationToken;

use super::live::LiveRunner;
use crate::{assembly::IsolatedShell, server::session::Session};

/// Runs in the live shell of a session. Where that shell cannot take commands, and will not soon, a command runs in a shell of its
/// own: in the folder for which it was judged, with the environment as far as it is known. User and model are told.
pub struct LiveOrIsolated {
    session: Arc<Session>,
    turn_id: TurnId,
    live: LiveRunner,
    isolated_shell: IsolatedShell,
}

impl LiveOrIsolated {
    /// For one turn of `session`.
    #[must_use]
    pub fn new(session: Arc<Session>, turn_id: TurnId, isolated_shell: IsolatedShell) -> Self {
        Self { live: LiveRunner::new(Arc::clone(&session), turn_id), session, turn_id, isolated_shell }
    }

    fn tell(&self, error: &RelayError) {
        let text = format!("The command runs in a shell of its own: {error}. What `cd` and `export` do there is lost.");
        let notice = Notice { turn_id: Some(self.turn_id), kind: NoticeKind::Info, text };
        self.session.tell(DaemonMessage::Notice(notice));
    }
}

/// Whether the live shell is of no use for commands now. Where it is only busy, a refusal lets the model wait for it; where the
/// client refuses for want of consent, or nobody is there to see it, nothing runs anywhere.
fn is_out_of_reach(error: &RelayError) -> bool {
    matches!(error.code(), "not_integrated" | "unsupported_shell" | "shell_replaced" | "nested" | "fullscreen_app")
}

#[async_trait]
impl CommandRunner for LiveOrIsolated {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        let judged_in = self.session.cwd();
        match self.live.run(request.clone(), cancel).await {
            // What a placeholder in it stands for only the terminal knows.
            Err(error) if is_out_of_reach(&error) && !holds_placeholder(&request.text) => {
                self.tell(&error);
                let (make, environment) = (Arc::clone(&self.isolated_shell), self.session.environment());
                let making = tokio::task::spawn_blocking(move || make(&judged_in, &environment));
                let shell = making.await.map_err(|error| RelayError::Pty(error.to_string()))?;
                shell.run(request, cancel).await
            }
            result => result,
        }
    }

    fn cwd(&self) -> PathBuf {
        self.live.cwd()
    }
}

#[cfg(test)]
mod tests;
