//! A command that the agent wants to run in the live shell, from its admission to its end.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use cohab_policy::{Caveat, Unasked};
use cohab_protocol::{ApprovalId, CallId, ClientMessage, ExecuteCommand};

use crate::{background_task::GIT_LIMIT, consent::RunAuthority, effect::Effect};

/// How long a command waits for the terminal; the daemon gives up a little later.
const TERMINAL_LIMIT: Duration = Duration::from_secs(30);
/// The thread that looks at git's settings has a separate limit; this one holds when there is no thread to look.
const GIT_THREAD_LIMIT: Duration = GIT_LIMIT.saturating_add(Duration::from_secs(1));

/// A command that was admitted. A turn has at most one.
#[derive(Debug)]
pub(crate) struct AgentCommand {
    pub request: ExecuteCommand,
    /// Where the shell was when it was judged.
    pub cwd: PathBuf,
    pub state: CommandState,
}

/// What a command waits for, or that it runs.
#[derive(Debug)]
pub(crate) enum CommandState {
    /// The terminal is not ours yet; then it runs by this authority.
    WaitingForTerminal { authority: RunAuthority, since: Instant },
    /// The shell reports what its names stand for, by the command of this id, which does nothing.
    ResolvingNames { id: String },
    /// Git reports its settings. The command is then typed so.
    CheckingGitSettings { typed: Unasked, since: Instant },
    /// The client itself asks the user. A yes settles `confirms` for later commands, too; then it runs by `then`.
    AwaitingLocalApproval { confirms: Vec<Caveat>, then: RunAuthority },
    /// The shell has it.
    Running(Running),
}

/// A command that the shell has.
#[derive(Debug)]
pub(crate) struct Running {
    /// The id that the shell runs it under.
    pub id: String,
    pub has_started: bool,
    /// The user pressed Escape, which interrupts it.
    pub got_escape: bool,
    /// The launcher starts its programs.
    pub is_locked: bool,
}

impl AgentCommand {
    /// One that waits until the terminal is ours.
    pub(crate) fn waiting(request: ExecuteCommand, authority: RunAuthority, cwd: PathBuf, since: Instant) -> Self {
        Self { request, cwd, state: CommandState::WaitingForTerminal { authority, since } }
    }

    pub(crate) fn is_call(&self, call_id: CallId) -> bool {
        self.request.call_id == call_id
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, CommandState::WaitingForTerminal { .. })
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, CommandState::Running(_))
    }

    pub(crate) fn running(&self) -> Option<&Running> {
        match &self.state {
            CommandState::Running(running) => Some(running),
            _ => None,
        }
    }

    pub(crate) fn running_mut(&mut self) -> Option<&mut Running> {
        match &mut self.state {
            CommandState::Running(running) => Some(running),
            _ => None,
        }
    }

    /// The question that the client itself asks about it.
    pub(crate) fn question(&self) -> Option<ApprovalId> {
        matches!(self.state, CommandState::AwaitingLocalApproval { .. }).then(|| question_of(self.request.call_id))
    }

    /// When its wait is given up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            CommandState::WaitingForTerminal { since, .. } => Some(*since + TERMINAL_LIMIT),
            CommandState::CheckingGitSettings { since, .. } => Some(*since + GIT_THREAD_LIMIT),
            CommandState::ResolvingNames { .. }
            | CommandState::AwaitingLocalApproval { .. }
            | CommandState::Running(_) => None,
        }
    }

    /// The reply when the daemon asks for the command again: that it has started, or that the user is asked.
    pub(crate) fn progress(&self) -> Option<Effect> {
        match &self.state {
            CommandState::Running(running) => running.has_started.then(|| started(self.request.call_id)),
            CommandState::AwaitingLocalApproval { .. } => Some(waits(self.request.call_id)),
            CommandState::WaitingForTerminal { .. }
            | CommandState::ResolvingNames { .. }
            | CommandState::CheckingGitSettings { .. } => None,
        }
    }
}

/// The id of the client's own question about a command.
pub(crate) fn question_of(call_id: CallId) -> ApprovalId {
    ApprovalId(call_id.0)
}

/// Makes the daemon's clock stand still.
pub(crate) fn waits(call_id: CallId) -> Effect {
    Effect::Send(ClientMessage::CommandWaiting { call_id })
}

/// The acknowledgement that starts the daemon's timer.
pub(crate) fn started(call_id: CallId) -> Effect {
    Effect::Send(ClientMessage::CommandOutput { call_id, bytes: Default::default() })
}
