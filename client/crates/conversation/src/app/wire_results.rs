//! Converts what the shell reports into messages of the protocol: results, refusals and the user's own commands.

use std::{path::Path, time::Duration};

use cohab_policy::NotFilled;
use cohab_protocol::{
    self as wire, CallId, ClientMessage, CommandEnding, CommandExecutionResult, EnvChange, EnvDelta, RunMode,
    ShellEvent,
};
use cohab_secrets::secret_names::{Use, holds_secret};
use cohab_shell_relay::live::UserCommand;
use cohab_types::{
    command::{CommandOutcome, Ending, Interrupter, Mode, StateAfter},
    refusal::Refusal,
};

use crate::effect::Effect;

/// The answer for a command that does not run.
pub(super) fn refuse(call_id: CallId, refusal: Refusal, reason: String, cwd: &Path) -> Effect {
    Effect::Send(ClientMessage::CommandExecutionResult(refused(call_id, refusal, reason, cwd)))
}

pub(super) fn refused(call_id: CallId, refusal: Refusal, reason: String, cwd: &Path) -> CommandExecutionResult {
    CommandExecutionResult {
        call_id,
        ending: CommandEnding::Refused { code: refusal.code().to_owned(), reason },
        exit_code: None,
        output: String::new(),
        total_bytes: 0,
        truncated_bytes: 0,
        cwd: cwd.into(),
        env_delta: EnvDelta::default(),
        duration_ms: 0,
        mode: RunMode::Live,
        state_after: wire::StateAfter::Prompt,
        first_run: None,
    }
}

/// A placeholder is not filled in: nothing is typed.
pub(super) fn not_filled(call_id: CallId, error: &NotFilled, cwd: &Path) -> Effect {
    refuse(call_id, Refusal::NotApproved, format!("{error}; the command was not run"), cwd)
}

/// The result of a command as the daemon gets it.
pub(super) fn execution_result(call_id: CallId, outcome: CommandOutcome) -> CommandExecutionResult {
    CommandExecutionResult {
        call_id,
        ending: match outcome.ending {
            Ending::Exited => CommandEnding::Exited,
            Ending::Interrupted { by } => CommandEnding::Interrupted { by: interrupter(by) },
            Ending::Stopped => CommandEnding::Stopped,
            Ending::StillRunning => CommandEnding::StillRunning,
            Ending::ShellExited => CommandEnding::ShellExited,
        },
        exit_code: outcome.status,
        output: outcome.output,
        total_bytes: outcome.total_bytes,
        truncated_bytes: outcome.truncated_bytes,
        cwd: outcome.cwd.into(),
        env_delta: env_delta(outcome.env_delta),
        duration_ms: milliseconds(outcome.duration),
        mode: match outcome.mode {
            Mode::Live => RunMode::Live,
            Mode::Subshell => RunMode::Subshell,
            Mode::Isolated => RunMode::Isolated,
        },
        state_after: match outcome.state_after {
            StateAfter::Prompt => wire::StateAfter::Prompt,
            StateAfter::InFront { program, is_full_screen } => wire::StateAfter::InFront { program, is_full_screen },
            StateAfter::Ended => wire::StateAfter::Ended,
        },
        first_run: outcome.first_run,
    }
}

fn interrupter(by: Interrupter) -> wire::Interrupter {
    match by {
        Interrupter::User => wire::Interrupter::User,
        Interrupter::Turn => wire::Interrupter::Turn,
        Interrupter::TimeLimit => wire::Interrupter::TimeLimit,
    }
}

/// What the daemon learns about changed variables: secret-looking values stay here.
pub(super) fn env_delta(changes: Vec<cohab_types::command::EnvChange>) -> EnvDelta {
    let mut delta = EnvDelta::default();
    for change in changes {
        match change.value {
            Some(value) => {
                let is_secret = holds_secret(&change.name, Use::Display) || holds_password(&value);
                let value = (!is_secret).then_some(value);
                delta.set.push(EnvChange { name: change.name, value });
            }
            None => delta.unset.push(change.name),
        }
    }
    delta
}

/// Whether the value is an address with a password in it, as `postgres://ann:secret@host/db`.
fn holds_password(value: &str) -> bool {
    let authorities = value.split("://").skip(1).map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    authorities.filter_map(|authority| authority.rsplit_once('@')).any(|(user, _)| user.contains(':'))
}

/// What the daemon learns about a command of the user that began in this folder, and ended at this time in milliseconds since 1970.
pub(super) fn shell_event(command: UserCommand, ran_in: &Path, ended_ms: u64) -> ShellEvent {
    ShellEvent {
        line: command.line,
        exit_code: command.status,
        cwd: command.cwd.into(),
        duration_ms: milliseconds(command.duration),
        output_tail: command.output_tail,
        output_bytes: command.output_bytes,
        ran_in: ran_in.into(),
        ended_ms,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
