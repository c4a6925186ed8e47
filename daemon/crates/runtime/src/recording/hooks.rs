//! Records tool calls with two observers: one outside the gate sees the model's wish and its final result, one inside sees the call that
//! really runs.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::{Fact, PlannedCall, TurnObserver, hook::BY_RULE, port::Effect};
use cohab_model_api::ToolResult;
use cohab_store::sessions::event::{Approval, Call, CallResult, Event, OUTPUT_TAIL_BYTES};
use cohab_text::{cut::tail, sanitize::sanitize};

use super::{OpenCall, TurnRecorder};

/// Records the user's answers.
#[async_trait]
impl TurnObserver for TurnRecorder {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::Answered(question, answer, waited) => {
                self.steps.waited(waited);
                self.asked(question, answer);
            }
            Fact::AllAnswered(questions, answers, waited) => {
                self.steps.waited(waited);
                self.asked_beforehand(questions, answers);
            }
            _ => {}
        }
    }
}

/// Outside the gate.
pub struct ProposedCallRecorder(pub Arc<TurnRecorder>);

#[async_trait]
impl TurnObserver for ProposedCallRecorder {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::CallReached(call) => self.proposed(call),
            Fact::CallEnded(_, _, result) => self.ended(result),
            _ => {}
        }
    }
}

impl ProposedCallRecorder {
    fn proposed(&self, call: &PlannedCall) {
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
    }

    fn ended(&self, result: &ToolResult) {
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
    /// The recorder.
    pub recorder: Arc<TurnRecorder>,
    /// Whether the user is asked at all.
    pub is_asked: Box<dyn Fn() -> bool + Send + Sync>,
}

#[async_trait]
impl TurnObserver for ApprovedCallRecorder {
    async fn observe(&self, fact: Fact<'_>) {
        let Fact::CallReached(call) = fact else { return };
        let unasked = match call.approval.as_deref() {
            _ if !(self.is_asked)() => Approval::Mode,
            Some(BY_RULE) => Approval::Rule,
            Some(_) => Approval::Session,
            None => Approval::NotNeeded,
        };
        let kept = {
            let mut state = self.recorder.state();
            let Some(open) = state.calls.get_mut(&call.call_id) else { return };
            let approval = if open.was_asked { open.call.approval } else { unasked };
            let now = noted(call, approval);
            let was_changed = now.command != open.call.command;
            let proposed = if was_changed { open.call.command.take() } else { None };
            open.call = Call { proposed, ..now };
            open.is_allowed = true;
            if matches!(call.intent.effect, Effect::Read { .. }) {
                return;
            }
            open.is_kept = true;
            open.call.clone()
        };
        self.recorder.keep(Event::Call(kept));
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
        Effect::Read { .. } | Effect::Write { .. } | Effect::Internal | Effect::Foreign { .. } => None,
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
