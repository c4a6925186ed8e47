//! What waits for the client: commands that run in its shell, questions to its user.

use std::sync::Arc;

use cohab_protocol::{
    ApprovalDecision, ApprovalId, ApprovalRequest, CallId, CommandExecutionResult, DaemonMessage, ExecuteCommand,
    RunMode,
};
use tokio::sync::oneshot;

use super::{Grant, MAX_GRANTS, PendingCall, Session};

/// A call that waits for the client. Dropping it interrupts a command that has not ended.
pub struct OpenCall {
    session: Arc<Session>,
    call_id: CallId,
    /// Fires when the command starts.
    pub started: oneshot::Receiver<()>,
    /// Fires when the command ended.
    pub result: oneshot::Receiver<CommandExecutionResult>,
}

impl OpenCall {
    /// Asks the client to interrupt the command.
    pub fn interrupt(&self) {
        self.session.tell(DaemonMessage::InterruptCommand { call_id: self.call_id });
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // Interrupted first: an interrupt for a call that is not pending is moot and would not be sent.
        let is_pending = self.session.lock().calls.contains_key(&self.call_id);
        if is_pending {
            self.interrupt();
        }
    }
}

/// A question that waits for the user. Dropping it makes the question void.
pub struct OpenApproval {
    session: Arc<Session>,
    /// Its id.
    pub id: ApprovalId,
    /// Fires with the answer.
    pub decision: oneshot::Receiver<ApprovalDecision>,
}

impl Drop for OpenApproval {
    fn drop(&mut self) {
        self.session.lock().approvals.remove(&self.id);
    }
}

impl Session {
    /// Sends a command; its answers come through the handle.
    #[must_use]
    pub fn open_call(self: &Arc<Self>, command: ExecuteCommand) -> OpenCall {
        let (started_tx, started) = oneshot::channel();
        let (result_tx, result) = oneshot::channel();
        let call_id = command.call_id;
        let mut state = self.lock();
        // A dropped call stays only until its interrupt is sent.
        state.calls.retain(|_, call| !call.result.is_closed());
        state.calls.insert(call_id, PendingCall { started: Some(started_tx), result: result_tx });
        drop(state);
        self.tell(DaemonMessage::ExecuteCommand(command));
        OpenCall { session: Arc::clone(self), call_id, started, result }
    }

    /// Notes that a command started.
    pub fn command_started(&self, call_id: CallId) {
        let started = self.lock().calls.get_mut(&call_id).and_then(|call| call.started.take());
        if let Some(started) = started {
            // Nobody waits for it if the call was dropped meanwhile.
            let _ = started.send(());
        }
    }

    /// Takes the result of a command. False if nobody waits for it (any more).
    pub fn command_ended(&self, result: CommandExecutionResult) -> bool {
        let mut state = self.lock();
        if result.mode == RunMode::Live && !result.cwd.as_path().as_os_str().is_empty() {
            state.cwd = result.cwd.to_path_buf();
        }
        let call = state.calls.remove(&result.call_id);
        drop(state);
        call.is_some_and(|call| call.result.send(result).is_ok())
    }

    /// Asks the user; the answer comes through the handle.
    #[must_use]
    pub fn open_approval(self: &Arc<Self>, request: ApprovalRequest) -> OpenApproval {
        let (sender, decision) = oneshot::channel();
        let id = request.approval_id;
        self.lock().approvals.insert(id, sender);
        self.tell(DaemonMessage::ApprovalRequest(request));
        OpenApproval { session: Arc::clone(self), id, decision }
    }

    /// Takes the user's answer. False if the question is void.
    pub fn approval_replied(&self, id: ApprovalId, decision: ApprovalDecision) -> bool {
        let sender = self.lock().approvals.remove(&id);
        sender.is_some_and(|sender| sender.send(decision).is_ok())
    }

    /// Notes consent to exactly this command, for [`take_grant`](Self::take_grant).
    pub fn grant(&self, command: String, approval: ApprovalId, is_lasting: bool) {
        let mut state = self.lock();
        if state.grants.len() >= MAX_GRANTS {
            state.grants.clear();
        }
        state.grants.insert(command, Grant { approval, is_lasting });
    }

    /// The consent to exactly this command, if there is one; one for a single run is gone then.
    #[must_use]
    pub fn take_grant(&self, command: &str) -> Option<ApprovalId> {
        let mut state = self.lock();
        let grant = state.grants.get(command)?;
        let approval = grant.approval;
        if !grant.is_lasting {
            state.grants.remove(command);
        }
        Some(approval)
    }
}
