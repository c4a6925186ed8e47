//! Runs commands in the live shell, or in a separate shell where the live one cannot be used.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use cohab_agent::{
    builtin_tools::LIVE,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect},
    runner::CommandRunner,
};
use cohab_guard::repository::{self, Caveat, RepositorySettings};
use cohab_protocol::{ApprovalMode, DaemonMessage, Notice, NoticeKind, TurnId};
use cohab_secrets::holds_placeholder;
use cohab_types::{
    command::{CommandOutcome, CommandRequest, RelayError},
    environment::Variables,
    refusal::Refusal,
};
use tokio_util::sync::CancellationToken;

use super::live::LiveRunner;
use crate::session::Session;

/// Makes a shell of its own, which starts in this folder with these variables; with the daemon's own if there are none. May block.
pub type IsolatedShell = Arc<dyn Fn(&Path, &Variables) -> Arc<dyn CommandRunner> + Send + Sync>;

/// Added to the question.
const OWN_SHELL: &str = "it runs in a separate shell, because the live shell takes no commands now";

/// Runs commands in the live shell of a session. Where that shell cannot take commands, and will not soon, a command runs in a separate
/// shell: in the folder for which it was judged, with the known environment. User and model are informed.
pub struct LiveOrIsolated {
    session: Arc<Session>,
    turn_id: TurnId,
    live: LiveRunner,
    isolated_shell: IsolatedShell,
    approver: Arc<dyn Approver>,
    home: PathBuf,
}

impl LiveOrIsolated {
    /// For one turn of `session`, with the user's `home` and questions through `approver`.
    #[must_use]
    pub fn new(
        session: Arc<Session>,
        turn_id: TurnId,
        isolated_shell: IsolatedShell,
        approver: Arc<dyn Approver>,
        home: PathBuf,
    ) -> Self {
        let live = LiveRunner::new(Arc::clone(&session), turn_id);
        Self { live, session, turn_id, isolated_shell, approver, home }
    }

    fn tell(&self, error: &RelayError) {
        let text =
            format!("The command runs in a separate shell: {error}. The effects of its `cd` and `export` are lost.");
        let notice = Notice { turn_id: Some(self.turn_id), kind: NoticeKind::Info, text };
        self.session.tell(DaemonMessage::Notice(notice));
    }

    /// Asks about programs that a repository's settings would make git start: the live shell's client had no part in this.
    async fn ask_about_settings(&self, command: &str, cwd: &Path) -> Result<(), RelayError> {
        let mode = self.session.approval();
        if mode == ApprovalMode::All {
            return Ok(());
        }
        let consents = self.session.consents().clone();
        let settings = RepositorySettings::new(&self.home, &self.session.environment(), consents);
        let caveats = settings.why_asked(command, cwd).await;
        if caveats.is_empty() {
            return Ok(());
        }
        if mode == ApprovalMode::ReadOnly {
            return Err(not_approved(&repository::joined(&caveats)));
        }
        let effect = Effect::RunCommand { command: command.into() };
        let subject = ApprovalSubject::Effect { tool: LIVE.to_owned(), effect };
        let shown = Caveat::question(&caveats).into_iter().chain([OWN_SHELL.to_owned()]).collect();
        let question = ApprovalQuestion { reasons: shown, is_each_time: true, ..ApprovalQuestion::about(subject) };
        let answer = self.approver.ask(question).await;
        // The live shell must not take it for a consent to run it there.
        let _ = self.session.take_grant(command);
        match answer {
            ApprovalAnswer::Approved { .. } => {
                settings.settle(caveats);
                Ok(())
            }
            ApprovalAnswer::Edited { command, .. } => {
                let _ = self.session.take_grant(&command);
                Err(not_approved(&format!("the user would rather run this, so call it: {command}")))
            }
            ApprovalAnswer::Refused { reason } => Err(not_approved(&reason)),
            ApprovalAnswer::CancelTurn => {
                self.session.cancel_turn(Some(self.turn_id));
                Err(not_approved("the user stopped the turn"))
            }
        }
    }
}

fn not_approved(reason: &str) -> RelayError {
    RelayError::NotAtPrompt { refusal: Refusal::NotApproved, reason: format!("not run: {reason}") }
}

/// Whether the live shell cannot run commands now. Where it is only busy, a refusal lets the model wait for it; where the client
/// refuses for lack of consent, or no user is there to see it, the command runs nowhere.
fn is_out_of_reach(error: &RelayError) -> bool {
    matches!(
        error.refusal(),
        Refusal::NotIntegrated
            | Refusal::UnsupportedShell
            | Refusal::ShellReplaced
            | Refusal::Nested
            | Refusal::FullscreenApp
    )
}

#[async_trait]
impl CommandRunner for LiveOrIsolated {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        let judged_in = self.session.cwd();
        match self.live.run_it(&request, cancel).await {
            // Only the terminal knows the secret behind a placeholder.
            Err(error) if is_out_of_reach(&error) && !holds_placeholder(&request.text) => {
                self.tell(&error);
                self.ask_about_settings(&request.text, &judged_in).await?;
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
