//! The line editor says that the user's line is put aside.

use std::time::Instant;

use super::{Cx, Key, LOAD_WAIT, LiveShell, Phase, RelayStep, Repaint, relay::Relay};

/// The key that puts the line aside was given up on, but may still be read: a second one would put an empty line in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overdue {
    /// When the prompt came at which it was sent. It is read before the next one's first key.
    pub prompt: Instant,
    /// Before that nobody need worry.
    pub until: Instant,
}

impl LiveShell {
    pub(super) fn stash_is_overdue(&self) -> bool {
        self.stash_overdue.is_some_and(|overdue| overdue.prompt == self.prompt.ready_at)
    }

    pub(super) fn on_stashed(&mut self, length: usize, cx: &mut Cx<'_>) {
        if let Some(relay) = &mut self.relay
            && relay.is_stashing()
        {
            relay.stashed = length;
            if length > 0 && self.dialect.repaint == Repaint::BeforeNextKey {
                relay.step = RelayStep::Repainting { until: cx.now + LOAD_WAIT };
                self.dialect.press(Key::Query, &mut cx.fx.pty);
            } else {
                relay.step = RelayStep::Loading { until: cx.now + LOAD_WAIT };
                self.dialect.press(Key::Load, &mut cx.fx.pty);
            }
        } else if self.answer.is_some() {
            self.answer_stashed(length, cx);
        } else if self.relay.is_none() && self.phase == Phase::Prompt && self.stash_overdue.take().is_some() {
            // The user's line must not stay away.
            if length > 0 {
                self.dialect.press(Key::Restore, &mut cx.fx.pty);
            }
            self.advance_queue(cx);
        }
    }

    pub(super) fn on_stash_refused(&mut self, cx: &mut Cx<'_>) {
        self.stash_overdue = None;
        if self.relay.as_ref().is_some_and(Relay::is_stashing) {
            self.refuse_relay(
                super::queue::not_at_prompt("continuation_line", "the shell waits for the rest of a line"),
                cx,
            );
        }
    }

    /// The answer to the query that was sent behind the stash. Whether it was one.
    pub(super) fn on_relay_repainted(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(relay) = self.relay.as_mut().filter(|relay| matches!(relay.step, RelayStep::Repainting { .. })) else {
            return false;
        };
        relay.step = RelayStep::Loading { until: cx.now + LOAD_WAIT };
        self.dialect.press(Key::Load, &mut cx.fx.pty);
        true
    }
}
