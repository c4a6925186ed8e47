//! Data of the commands and questions that wait for the client.

use std::collections::HashMap;

use cohab_protocol::{ApprovalDecision, ApprovalId, CallId, CommandExecutionResult, DaemonMessage};
use tokio::sync::{oneshot, watch};

/// Consents that wait for their command; the record starts again when there are more.
pub(super) const MAX_GRANTS: usize = 256;

/// How far a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallProgress {
    /// On its way.
    Sent,
    /// It runs.
    Started,
    /// It runs and waits for the user: its time stands still.
    WaitsForUser,
    /// It ended, or was refused.
    Ended(Box<CommandExecutionResult>),
}

/// A command that has no result yet.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub progress: watch::Sender<CallProgress>,
    pub was_sent: bool,
    pub was_interrupted: bool,
}

impl PendingCall {
    /// Whether sending the command would be of no use (any more).
    pub fn is_moot(&self) -> bool {
        self.progress.is_closed() || *self.progress.borrow() != CallProgress::Sent
    }

    pub fn is_abandoned(&self) -> bool {
        self.progress.is_closed()
    }

    pub fn sent(&mut self) {
        self.was_sent = true;
    }
}

/// A consent that waits for its command.
pub(super) struct Grant {
    pub approval: ApprovalId,
    pub is_lasting: bool,
}

/// Whether sending it would be of no use (any more).
pub(super) fn is_moot(
    message: &DaemonMessage,
    calls: &HashMap<CallId, PendingCall>,
    approvals: &HashMap<ApprovalId, oneshot::Sender<ApprovalDecision>>,
) -> bool {
    match message {
        DaemonMessage::ExecuteCommand(command) => calls.get(&command.call_id).is_none_or(PendingCall::is_moot),
        DaemonMessage::InterruptCommand { call_id, .. } => !calls.contains_key(call_id),
        DaemonMessage::ApprovalRequest(request) => !approvals.contains_key(&request.approval_id),
        _ => false,
    }
}
