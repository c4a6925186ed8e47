//! Records tool calls with two hooks: one outside the gate sees the model's wish and its final result, one inside sees the call that
//! really runs.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::{Denial, Middleware, PlannedCall, hook::BY_RULE, port::Effect};
use cohab_model_api::ToolResult;
use cohab_store::sessions::event::{Approval, Call, CallResult, Event, OUTPUT_TAIL_BYTES};
use cohab_text::{cut::tail, sanitize::sanitize};

use super::{OpenCall, TurnRecorder};

/// Outside the gate.
pub struct ProposedCallRecorder(pub Arc<TurnRecorder>);

#[async_trait]
impl Middleware for ProposedCallRecorder {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let beforehand = self.0.take_beforehand(&call.intent.effect);
        let open = OpenCall {
            step: call.step,
            call: noted(call, beforehand.unwrap_or(Approval::Refused)),
            is_allowed: false,
            is_kept: false,
            was_asked: beforehand.is_some(),
            is_running: false,
            ran: CallResult::default(),
        };
        let mut state = self.0.state();
        state.current.clone_from(&call.call_id);
        state.calls.insert(call.call_id.clone(), open);
        Ok(())
    }

    async fn after_tool(&self, result: &mut ToolResult) {
        let Some(open) = self.0.state().calls.remove(&result.call_id) else {
            // No arguments that a tool could be called with.
            return;
        };
        if !open.is_kept {
            let approval = if open.is_allowed { open.call.approval } else { Approval::Refused };
            self.0.keep(Event::Call(Call { approval, ..open.call }));
        }
        let mut ran = open.ran;
        if ran.cwd.is_none() {
            ran.output = tail(&result.content, OUTPUT_TAIL_BYTES).to_owned();
        }
        ran.is_error = result.is_error && !open.is_running;
        self.0.keep(Event::Result(ran));
    }
}

/// Inside the gate.
pub struct ApprovedCallRecorder {
    recorder: Arc<TurnRecorder>,
    is_asked: Box<dyn Fn() -> bool + Send + Sync>,
}

impl ApprovedCallRecorder {
    /// `is_asked` says whether the user is asked at all.
    #[must_use]
    pub fn new(recorder: Arc<TurnRecorder>, is_asked: Box<dyn Fn() -> bool + Send + Sync>) -> Self {
        Self { recorder, is_asked }
    }
}

#[async_trait]
impl Middleware for ApprovedCallRecorder {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let unasked = match call.approval.as_deref() {
            _ if !(self.is_asked)() => Approval::Mode,
            Some(BY_RULE) => Approval::Rule,
            Some(_) => Approval::Session,
            None => Approval::NotNeeded,
        };
        let kept = {
            let mut state = self.recorder.state();
            let Some(open) = state.calls.get_mut(&call.call_id) else { return Ok(()) };
            let approval = if open.was_asked { open.call.approval } else { unasked };
            let now = noted(call, approval);
            let was_changed = now.command != open.call.command;
            let proposed = if was_changed { open.call.command.take() } else { None };
            open.call = Call { proposed, ..now };
            open.is_allowed = true;
            if matches!(call.intent.effect, Effect::Read { .. }) {
                return Ok(());
            }
            open.is_kept = true;
            open.call.clone()
        };
        self.recorder.keep(Event::Call(kept));
        Ok(())
    }
}

/// The command as harmless text; the same one where it is harmless already.
fn harmless(command: &Arc<str>) -> Arc<str> {
    let clean = sanitize(command);
    if clean == **command { Arc::clone(command) } else { clean.into() }
}

fn noted(call: &PlannedCall, approval: Approval) -> Call {
    let command = match &call.intent.effect {
        Effect::RunCommand { command } => Some(harmless(command)),
        Effect::Read { .. } | Effect::Write { .. } | Effect::Internal => None,
    };
    Call {
        tool: call.tool.clone(),
        title: sanitize(&call.intent.title),
        command,
        proposed: None,
        cwd: call.cwd.to_string_lossy().into_owned(),
        approval,
    }
}
