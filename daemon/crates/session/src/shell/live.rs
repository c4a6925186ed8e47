//! Runs commands in the user's live shell, through the client that owns it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_agent::runner::CommandRunner;
use cohab_protocol::{
    self as wire, CallId, DaemonMessage, ExecuteCommand, MAX_COMMAND_BYTES, Notice, NoticeKind, TurnId,
};
use cohab_types::{
    command::{CommandOutcome, CommandRequest, Ending, EnvChange, Interrupter, MASKED, Mode, RelayError, StateAfter},
    refusal::Refusal,
};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    lease::Held,
    session::{CallProgress, OpenCall, RECONNECT_GRACE, Session},
};

/// Longest wait of a command for the shell's prompt. The client gives up after 30 s by itself and gives the reason.
const QUEUE_WAIT: Duration = Duration::from_secs(35);
/// Longest wait for the client's report of the start or a refusal: that wait, and the time of a slow shell to take a long command.
const START_WAIT: Duration = Duration::from_secs(75);
/// Allowed delay of the client's report behind the command's time limit.
const REPORT_MARGIN: Duration = Duration::from_secs(10);
/// Time for an interrupted command to end: the client kills it after 5 s.
const INTERRUPT_WAIT: Duration = Duration::from_secs(7);
/// Longest title of a command.
const TITLE_MAX_CHARS: usize = 60;

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

    /// Waits for the shell; informs the user if that takes time.
    async fn lease(&self, command: &str) -> Result<Held, RelayError> {
        let what = title(command);
        let tell = |holder: &str| {
            let text = format!("Waiting for the shell: `{holder}` is using it.");
            let notice = Notice { turn_id: Some(self.turn_id), kind: NoticeKind::Info, text };
            self.session.tell(DaemonMessage::Notice(notice));
        };
        let held = self.session.lease().acquire(what, QUEUE_WAIT, tell).await;
        held.map_err(|error| RelayError::Busy { refusal: Refusal::ShellBusy, reason: error.to_string() })
    }

    fn send(&self, call_id: CallId, request: &CommandRequest) -> OpenCall {
        self.session.open_call(ExecuteCommand {
            turn_id: self.turn_id,
            call_id,
            command: request.text.clone(),
            timeout_ms: u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            approval_id: self.session.take_grant(&request.text),
        })
    }
}

/// The first line of a command, for people.
fn title(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(TITLE_MAX_CHARS).collect();
    if title.len() < command.trim().len() {
        title.push('…');
    }
    title
}

/// Follows a command to its result. On `cancel` or at its time limit it is interrupted and gets some time to end.
pub(super) async fn follow(
    session: &Session,
    mut call: OpenCall,
    timeout: Duration,
    cancel: &CancellationToken,
) -> Result<wire::CommandExecutionResult, RelayError> {
    let mut limit = Some((Instant::now() + START_WAIT, "it did not start the command"));
    loop {
        match &*call.progress.borrow_and_update() {
            CallProgress::Sent => {}
            CallProgress::Started => {
                limit = Some((Instant::now() + timeout + REPORT_MARGIN, "it did not report on the command"));
            }
            CallProgress::WaitsForUser => limit = None,
            CallProgress::Ended(result) => return Ok((**result).clone()),
        }
        let deadline = limit.map(|(at, _)| at);
        tokio::select! {
            biased;
            changed = call.progress.changed() => changed.map_err(|_| RelayError::Unknown)?,
            () = cancel.cancelled() => {
                let reason = "the interrupted command did not end";
                return interrupted(&mut call, wire::Interrupter::Turn, reason).await;
            }
            () = session.abandoned(RECONNECT_GRACE) => return Err(RelayError::Unknown),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                let reason = limit.map_or("", |(_, reason)| reason);
                return interrupted(&mut call, wire::Interrupter::TimeLimit, reason).await;
            }
        }
    }
}

/// Its last result, or `reason` if it was never run or has no result.
async fn interrupted(
    call: &mut OpenCall,
    by: wire::Interrupter,
    reason: &str,
) -> Result<wire::CommandExecutionResult, RelayError> {
    call.interrupt(by);
    let ended = call.progress.wait_for(|progress| matches!(progress, CallProgress::Ended(_)));
    if let Ok(Ok(progress)) = timeout(INTERRUPT_WAIT, ended).await
        && let CallProgress::Ended(result) = &*progress
        && !matches!(result.ending, wire::CommandEnding::Refused { .. })
    {
        return Ok((**result).clone());
    }
    Err(RelayError::TimedOut { reason: reason.into() })
}

/// Dropped when the caller gives up: stops the command, and informs its follower.
struct StopOnDrop {
    session: Arc<Session>,
    call_id: CallId,
    stop: CancellationToken,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.session.interrupt_call(self.call_id, wire::Interrupter::Turn);
        self.stop.cancel();
    }
}

impl LiveRunner {
    /// Runs a command that the caller may still need: it may be megabytes.
    pub(super) async fn run_it(
        &self,
        request: &CommandRequest,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, RelayError> {
        if request.text.len() > MAX_COMMAND_BYTES {
            let reason = format!("the command is longer than {MAX_COMMAND_BYTES} bytes");
            return Err(RelayError::NotAtPrompt { refusal: Refusal::BadText, reason });
        }
        let call_id = Uuid::try_parse(&request.id).map_or_else(|_| CallId::fresh(), CallId);
        let (lease, call) = match self.session.join_call(call_id) {
            Some(call) => (None, call),
            None => {
                let lease = self.lease(&request.text).await?;
                self.session.is_attended(RECONNECT_GRACE).await;
                if self.session.live_shell().is_none() {
                    return Err(RelayError::NoClient);
                }
                (Some(lease), self.send(call_id, request))
            }
        };
        let stop = cancel.child_token();
        let _stop_on_drop = StopOnDrop { session: Arc::clone(&self.session), call_id, stop: stop.clone() };
        let (session, timeout) = (Arc::clone(&self.session), request.timeout);
        // In a separate task: if this future is dropped, the shell is still not free before the command has ended.
        let following = tokio::spawn(async move {
            let result = follow(&session, call, timeout, &stop).await;
            drop(lease);
            result
        });
        let result = following.await.map_err(|_| RelayError::Unknown)??;
        outcome(result, request.wants_env_delta)
    }
}

#[async_trait]
impl CommandRunner for LiveRunner {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        self.run_it(&request, cancel).await
    }

    fn cwd(&self) -> PathBuf {
        self.session.cwd()
    }
}

pub(super) fn outcome(
    result: wire::CommandExecutionResult,
    wants_env_delta: bool,
) -> Result<CommandOutcome, RelayError> {
    let ending = match result.ending {
        wire::CommandEnding::Exited => Ending::Exited,
        wire::CommandEnding::Interrupted { by } => Ending::Interrupted { by: interrupter(by) },
        wire::CommandEnding::Stopped => Ending::Stopped,
        wire::CommandEnding::StillRunning => Ending::StillRunning,
        wire::CommandEnding::ShellExited => Ending::ShellExited,
        wire::CommandEnding::Refused { code, reason } => return Err(refused(Refusal::of_code(&code), reason)),
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
        state_after: match result.state_after {
            wire::StateAfter::Prompt => StateAfter::Prompt,
            wire::StateAfter::InFront { program, is_full_screen } => StateAfter::InFront { program, is_full_screen },
            wire::StateAfter::Ended => StateAfter::Ended,
        },
        env_delta: if wants_env_delta { env_changes(result.env_delta) } else { Vec::new() },
        first_run: result.first_run,
    })
}

fn interrupter(by: wire::Interrupter) -> Interrupter {
    match by {
        wire::Interrupter::User => Interrupter::User,
        wire::Interrupter::Turn => Interrupter::Turn,
        wire::Interrupter::TimeLimit => Interrupter::TimeLimit,
    }
}

fn refused(refusal: Refusal, reason: String) -> RelayError {
    match refusal {
        Refusal::ShellGone => RelayError::ShellGone,
        Refusal::TimedOut => RelayError::TimedOut { reason },
        Refusal::Pty => RelayError::Pty(reason),
        refusal if refusal.is_busy() => RelayError::Busy { refusal, reason },
        refusal => RelayError::NotAtPrompt { refusal, reason },
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
mod order_tests;
#[cfg(test)]
pub(super) mod tests;
