//! Tracks the requests that wait for the client: commands in its shell, questions to its user.

use std::sync::Arc;

use cohab_protocol::{
    ApprovalDecision, ApprovalId, ApprovalRequest, CallId, CommandExecutionResult, DaemonMessage, ExecuteCommand,
    Interrupter, RunMode,
};
use tokio::sync::{oneshot, watch};

pub use super::pending::CallProgress;
use super::{
    Session, SessionState,
    pending::{Grant, MAX_GRANTS, PendingCall, is_moot},
};

/// A call that waits for the client. Dropping it interrupts a command that has not ended.
pub struct OpenCall {
    session: Arc<Session>,
    call_id: CallId,
    /// Closed without `Ended`: the result will never come.
    pub progress: watch::Receiver<CallProgress>,
}

impl OpenCall {
    /// Asks the client to interrupt the command on behalf of `by`, once.
    pub fn interrupt(&self, by: Interrupter) {
        self.session.interrupt_call(self.call_id, by);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.interrupt(Interrupter::Turn);
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
        let mut state = self.session.lock();
        state.approvals.remove(&self.id);
        state.forget_moot();
    }
}

impl SessionState {
    /// A request was answered: it is not sent again.
    fn forget_moot(&mut self) {
        let Self { timeline, calls, approvals, .. } = self;
        timeline.forget_moot(|message| is_moot(message, calls, approvals));
    }
}

impl Session {
    /// Sends a command; its answers come through the handle.
    #[must_use]
    pub fn open_call(self: &Arc<Self>, command: ExecuteCommand) -> OpenCall {
        let (sender, progress) = watch::channel(CallProgress::Sent);
        let call_id = command.call_id;
        let mut state = self.lock();
        // A dropped call stays only until its interrupt is sent.
        state.calls.retain(|_, call| !call.is_abandoned());
        state.calls.insert(call_id, PendingCall { progress: sender, was_sent: false, was_interrupted: false });
        drop(state);
        self.tell(DaemonMessage::ExecuteCommand(command));
        OpenCall { session: Arc::clone(self), call_id, progress }
    }

    /// A second handle on a command without a result: one result answers both.
    #[must_use]
    pub fn join_call(self: &Arc<Self>, call_id: CallId) -> Option<OpenCall> {
        let progress = self.lock().calls.get(&call_id)?.progress.subscribe();
        Some(OpenCall { session: Arc::clone(self), call_id, progress })
    }

    /// Stops a command without a result, on behalf of `by`; one that was never sent is forgotten.
    pub fn interrupt_call(&self, call_id: CallId, by: Interrupter) {
        let mut state = self.lock();
        let Some(call) = state.calls.get_mut(&call_id) else { return };
        if !call.was_sent {
            state.calls.remove(&call_id);
        } else if !std::mem::replace(&mut call.was_interrupted, true) {
            state.timeline.push(DaemonMessage::InterruptCommand { call_id, by });
            drop(state);
            self.outgoing.notify_one();
        }
    }

    /// Notes that a command started.
    pub fn command_started(&self, call_id: CallId) {
        self.advance(call_id, CallProgress::Started);
    }

    /// Notes that a running command waits for the user.
    pub fn command_waits(&self, call_id: CallId) {
        self.advance(call_id, CallProgress::WaitsForUser);
    }

    fn advance(&self, call_id: CallId, to: CallProgress) {
        if let Some(call) = self.lock().calls.get(&call_id) {
            call.progress.send_if_modified(|now| {
                let is_new = *now != to && *now != CallProgress::WaitsForUser;
                if is_new {
                    *now = to;
                }
                is_new
            });
        }
    }

    /// Takes the result of a command. False if no caller waits for it (any more).
    pub fn command_ended(&self, result: CommandExecutionResult) -> bool {
        let mut state = self.lock();
        if result.mode == RunMode::Live && !result.cwd.as_path().as_os_str().is_empty() {
            state.cwd = result.cwd.to_path_buf();
            state.environment.change(&result.env_delta);
        }
        let call = state.calls.remove(&result.call_id);
        state.forget_moot();
        drop(state);
        call.is_some_and(|call| call.progress.send(CallProgress::Ended(Box::new(result))).is_ok())
    }

    /// Asks the user; the answer comes through the handle.
    #[must_use]
    pub fn open_approval(self: &Arc<Self>, request: ApprovalRequest) -> OpenApproval {
        let open = self.await_reply(request.approval_id);
        self.tell(DaemonMessage::ApprovalRequest(request));
        open
    }

    /// Asks the user about several commands: one answer to the question decides all, or one to each of `ids`.
    #[must_use]
    pub fn open_batch(
        self: &Arc<Self>,
        request: ApprovalRequest,
        ids: &[ApprovalId],
    ) -> (OpenApproval, Vec<OpenApproval>) {
        let each = ids.iter().map(|id| self.await_reply(*id)).collect();
        (self.open_approval(request), each)
    }

    fn await_reply(self: &Arc<Self>, id: ApprovalId) -> OpenApproval {
        let (sender, decision) = oneshot::channel();
        self.lock().approvals.insert(id, sender);
        OpenApproval { session: Arc::clone(self), id, decision }
    }

    /// Takes the user's answer. False if the question is void.
    pub fn approval_replied(&self, id: ApprovalId, decision: ApprovalDecision) -> bool {
        let sender = self.lock().approvals.remove(&id);
        sender.is_some_and(|sender| sender.send(decision).is_ok())
    }

    /// Notes consent to exactly this command, for [`take_grant`](Self::take_grant).
    pub fn grant(&self, command: Arc<str>, approval: ApprovalId, is_lasting: bool) {
        let mut state = self.lock();
        if state.grants.len() >= MAX_GRANTS {
            state.grants.clear();
        }
        state.grants.insert(command, Grant { approval, is_lasting });
    }

    /// The consent to exactly this command, if there is one; a consent for a single run is used up.
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
