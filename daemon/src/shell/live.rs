//! Runs commands in the user's live shell, through the client that owns it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_protocol::{self as wire, CallId, ExecuteCommand, MAX_COMMAND_BYTES, TurnId};
use cohab_shell_relay::runner::{CommandOutcome, CommandRequest, CommandRunner, Ending, EnvChange, Mode, RelayError};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::server::session::{OpenCall, RECONNECT_GRACE, Session};

/// How long a command may wait for the shell's prompt. The client gives up after 30 s by itself and says why.
const QUEUE_WAIT: Duration = Duration::from_secs(35);
/// How much later than the command's own time limit the client may report it.
const REPORT_MARGIN: Duration = Duration::from_secs(10);
/// How long an interrupted command may take to end.
const INTERRUPT_WAIT: Duration = Duration::from_secs(2);
/// Stands for the value of a variable that looks secret.
const MASKED: &str = "<masked>";
/// Words of `RelayError::Busy`.
const BUSY_CODES: [&str; 2] = ["shell_busy", "fullscreen_app"];
/// Words of `RelayError::NotAtPrompt`; the last stands for any that is not known here.
const NOT_AT_PROMPT_CODES: [&str; 9] = [
    "continuation_line",
    "nested",
    "not_ready",
    "not_integrated",
    "shell_replaced",
    "unsupported_shell",
    "bad_text",
    "not_approved",
    "refused",
];

/// The live shell of a session, for one turn.
pub struct LiveRunner {
    session: Arc<Session>,
    turn_id: TurnId,
}

impl LiveRunner {
    /// The shell of `session`.
    #[must_use]
    pub fn new(session: Arc<Session>, turn_id: TurnId) -> Self {
        Self { session, turn_id }
    }

    fn send(&self, request: &CommandRequest) -> OpenCall {
        self.session.open_call(ExecuteCommand {
            turn_id: self.turn_id,
            call_id: Uuid::try_parse(&request.id).map_or_else(|_| CallId::fresh(), CallId),
            command: request.text.clone(),
            timeout_ms: u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            approval_id: self.session.take_grant(&request.text),
        })
    }

    async fn wait(
        &self,
        call: &mut OpenCall,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<wire::CommandExecutionResult, RelayError> {
        tokio::select! {
            biased;
            result = &mut call.result => return result.map_err(|_| RelayError::Unknown),
            _ = &mut call.started => {}
            () = cancel.cancelled() => return interrupted(call).await,
            () = self.session.abandoned(RECONNECT_GRACE) => return Err(RelayError::Unknown),
            () = sleep(QUEUE_WAIT) => return Err(RelayError::TimedOut { reason: "it did not start the command".into() }),
        }
        tokio::select! {
            biased;
            result = &mut call.result => result.map_err(|_| RelayError::Unknown),
            () = cancel.cancelled() => interrupted(call).await,
            () = self.session.abandoned(RECONNECT_GRACE) => Err(RelayError::Unknown),
            () = sleep(timeout + REPORT_MARGIN) => {
                Err(RelayError::TimedOut { reason: "it did not report on the command".into() })
            }
        }
    }
}

async fn interrupted(call: &mut OpenCall) -> Result<wire::CommandExecutionResult, RelayError> {
    call.interrupt();
    match tokio::time::timeout(INTERRUPT_WAIT, &mut call.result).await {
        Ok(result) => result.map_err(|_| RelayError::Unknown),
        Err(_) => Err(RelayError::TimedOut { reason: "the interrupted command did not end".into() }),
    }
}

#[async_trait]
impl CommandRunner for LiveRunner {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        if request.text.len() > MAX_COMMAND_BYTES {
            let reason = format!("the command is longer than {MAX_COMMAND_BYTES} bytes");
            return Err(RelayError::NotAtPrompt { code: "bad_text", reason });
        }
        let lease = self.session.lease().acquire(QUEUE_WAIT).await;
        let _lease = lease.ok_or_else(|| RelayError::Busy {
            code: BUSY_CODES[0],
            reason: "another command of this session runs in the shell".into(),
        })?;
        if self.session.live_shell().is_none() {
            return Err(RelayError::NoClient);
        }
        let mut call = self.send(&request);
        let result = self.wait(&mut call, request.timeout, cancel).await?;
        outcome(result, request.wants_env_delta)
    }

    fn cwd(&self) -> PathBuf {
        self.session.cwd()
    }
}

fn outcome(result: wire::CommandExecutionResult, wants_env_delta: bool) -> Result<CommandOutcome, RelayError> {
    let ending = match result.ending {
        wire::CommandEnding::Exited => Ending::Exited,
        wire::CommandEnding::Interrupted => Ending::Interrupted,
        wire::CommandEnding::Stopped => Ending::Stopped,
        wire::CommandEnding::StillRunning => Ending::StillRunning,
        wire::CommandEnding::ShellExited => Ending::ShellExited,
        wire::CommandEnding::Refused { code, reason } => return Err(refusal(&code, reason)),
    };
    Ok(CommandOutcome {
        ending,
        status: result.exit_code,
        cwd: result.cwd.to_path_buf(),
        output: result.output,
        total_bytes: result.total_bytes,
        truncated_bytes: result.truncated_bytes,
        duration: Duration::from_millis(result.duration_ms),
        mode: match result.mode {
            wire::RunMode::Live => Mode::Live,
            wire::RunMode::Subshell => Mode::Subshell,
            wire::RunMode::Isolated => Mode::Isolated,
        },
        env_delta: if wants_env_delta { env_changes(result.env_delta) } else { Vec::new() },
    })
}

fn refusal(code: &str, reason: String) -> RelayError {
    let known = |codes: &[&'static str]| codes.iter().copied().find(|one| *one == code);
    match code {
        "shell_gone" => RelayError::ShellGone,
        "timed_out" => RelayError::TimedOut { reason },
        "pty" => RelayError::Pty(reason),
        _ => match known(&BUSY_CODES) {
            Some(code) => RelayError::Busy { code, reason },
            None => RelayError::NotAtPrompt { code: known(&NOT_AT_PROMPT_CODES).unwrap_or("refused"), reason },
        },
    }
}

fn env_changes(delta: wire::EnvDelta) -> Vec<EnvChange> {
    let set = delta.set.into_iter().map(|change| {
        let value = Some(change.value.unwrap_or_else(|| MASKED.into()));
        EnvChange { name: change.name, value }
    });
    let unset = delta.unset.into_iter().map(|name| EnvChange { name, value: None });
    let mut changes: Vec<EnvChange> = set.chain(unset).collect();
    changes.sort_by(|one, other| one.name.cmp(&other.name));
    changes
}

#[cfg(test)]
mod tests;
