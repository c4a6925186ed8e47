//! Gives the terminal back while the assistant only waits, and begins the answer again when the user leaves the prompt alone.

use std::time::Instant;

use super::{
    AnswerStep, Effects, LiveEvent, LiveShell, PendingAnswer, Phase, Probe, StepContext, TYPING_WAIT, WidgetKey,
    queue::Readiness,
};

impl LiveShell {
    /// Begins an answer as [`begin_answer`](Self::begin_answer) does, but not before the user leaves the prompt alone: at once at an
    /// untouched prompt, 2 s after the last key in a line, otherwise at the next prompt. Any other answer takes its place. A second call
    /// changes nothing.
    pub fn begin_answer_when_idle(&mut self, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        self.pending_answer.get_or_insert_default();
        self.advance_pending_answer(&mut StepContext { probe, now, fx });
    }

    pub(super) fn advance_pending_answer(&mut self, cx: &mut StepContext<'_>) {
        if self.pending_answer.is_none() {
            return;
        }
        let look_at = match self.pending_answer_readiness(cx) {
            Readiness::Ready => return self.start_answer(WidgetKey::Stash, true, cx),
            Readiness::At(at) => Some(at),
            Readiness::Later | Readiness::Refused(_) => None,
        };
        self.pending_answer = Some(PendingAnswer { look_at });
    }

    fn pending_answer_readiness(&self, cx: &StepContext<'_>) -> Readiness {
        let is_free = self.phase == Phase::Prompt && self.answer.is_none() && self.held.is_empty();
        if !is_free || !self.queue.is_empty() {
            return Readiness::Later;
        }
        let typed_at = self.prompt.last_key.filter(|_| self.prompt.may_hold_a_line());
        match (self.readiness(cx), typed_at.map(|at| at + TYPING_WAIT)) {
            (Readiness::Ready, Some(until)) if cx.now < until => Readiness::At(until),
            (readiness, _) => readiness,
        }
    }

    pub(super) fn pending_answer_deadline(&self) -> Option<Instant> {
        self.pending_answer?.look_at
    }

    pub(super) fn tick_pending_answer(&mut self, cx: &mut StepContext<'_>) {
        if self.pending_answer_deadline().is_some_and(|at| cx.now >= at) {
            self.advance_pending_answer(cx);
        }
    }

    /// Whether the assistant has the terminal, and nothing was typed or runs.
    pub(super) fn is_waited_for(&self) -> bool {
        let is_ready = self.answer.as_ref().is_some_and(|answer| answer.step == AnswerStep::Ready);
        is_ready && self.held.is_empty() && self.relay.is_none()
    }

    /// Keys wait for the end of the answer, and nothing of the agent's runs: reported once in an answer.
    pub(super) fn tell_of_held_keys(&mut self, cx: &mut StepContext<'_>) {
        if self.held.is_empty() || self.relay.is_some() {
            return;
        }
        if let Some(answer) = self.answer.as_mut().filter(|answer| answer.step == AnswerStep::Ready)
            && !std::mem::replace(&mut answer.has_told_of_keys, true)
        {
            cx.fx.events.push(LiveEvent::KeysWait);
        }
    }
}
