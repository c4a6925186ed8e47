//! Handles the passing of time.

use std::time::Instant;

use super::{Effects, EnterPaint, INTEGRATION_WAIT, LiveShell, Phase, Probe, StepContext};

impl LiveShell {
    /// The time at which [`LiveShell::tick`] is due; `None` if another event must come first.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Boot => Some(self.last_output + INTEGRATION_WAIT),
            Phase::Precmd { look_at, .. } => look_at,
            _ => None,
        };
        let restore =
            self.restore.as_ref().filter(|_| self.phase == Phase::Prompt).and_then(|_| self.prompt.unsettled_until());
        [
            phase,
            self.doubtful_prompt_at,
            restore,
            self.ask_deadline(),
            self.editor.enter_paint.as_ref().and_then(EnterPaint::deadline),
            self.relay_deadline(),
            self.answer_deadline(),
            self.queue_deadline(),
            self.pending_answer_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Carries out all actions that are due; harmless if none is.
    pub fn tick(&mut self, probe: &dyn Probe, now: Instant, fx: &mut Effects) {
        let cx = &mut StepContext { probe, now, fx };
        self.tick_boot(cx);
        self.tick_precmd(cx);
        self.tick_doubtful_prompt(cx);
        self.try_restore(cx);
        self.tick_enter_paint(cx);
        self.tick_ask(cx);
        self.tick_relay(cx);
        self.tick_answer(cx);
        self.tick_queue(cx);
        self.tick_pending_answer(cx);
    }
}
