//! Handles the line editor's report that the user's line was put aside.

use cohab_types::refusal::Refusal;

use super::{LateKey, LiveShell, Phase, RelayStep, Repaint, StepContext, WidgetKey, relayed_command::Relay};

impl LiveShell {
    pub(super) fn stash_is_late(&self) -> bool {
        self.typing.late.stash.is_some_and(|late| late.prompt == self.prompt.ready_at)
    }

    /// The key that puts the line aside was given up on.
    pub(super) fn stash_given_up(&mut self, until: std::time::Instant) {
        self.typing.late.stash = Some(LateKey { prompt: self.prompt.ready_at, until });
    }

    pub(super) fn on_stashed(&mut self, length: usize, cx: &mut StepContext<'_>) {
        self.typing.key_pace.answered(cx.now, 0);
        if let Some(relay) = &mut self.relay
            && relay.is_stashing()
        {
            relay.stashed = length;
            if length > 0 && self.dialect.repaint == Repaint::BeforeNextKey {
                relay.step = RelayStep::Repainting { until: self.typing.key_pace.asked(cx.now, 0) };
                self.dialect.press(WidgetKey::Query, &mut cx.fx.pty);
            } else {
                self.press_load(cx);
            }
        } else if self.answer.is_some() {
            self.answer_stashed(length, cx);
        } else if self.relay.is_none() && self.phase == Phase::Prompt && self.typing.late.stash.take().is_some() {
            // The user's line must be restored.
            if length > 0 {
                self.dialect.press(WidgetKey::Restore, &mut cx.fx.pty);
            }
            self.advance_queue(cx);
        }
    }

    pub(super) fn on_stash_refused(&mut self, cx: &mut StepContext<'_>) {
        self.typing.late.stash = None;
        if self.relay.as_ref().is_some_and(Relay::is_stashing) {
            self.refuse_relay(
                super::queue::not_at_prompt(Refusal::ContinuationLine, "the shell waits for the rest of a line"),
                cx,
            );
        }
    }

    /// Handles the answer to the query that was sent behind the stash. Returns whether it was such an answer.
    pub(super) fn on_relay_repainted(&mut self, cx: &mut StepContext<'_>) -> bool {
        if !self.relay.as_ref().is_some_and(|relay| matches!(relay.step, RelayStep::Repainting { .. })) {
            return false;
        }
        self.press_load(cx);
        true
    }
}
