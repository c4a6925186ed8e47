//! Tracks terminal focus and calls the user when a long turn ends or a question needs an answer. Focus is known only as far as the
//! terminal reports it; a terminal without reports counts as focused.

use std::time::{Duration, Instant};

use cohab_protocol::TurnEndReason;

use super::{App, Surface};
use crate::effect::Effect;

/// The end of a turn that took longer is worth a ring.
const LONG_TURN: Duration = Duration::from_secs(10);

impl App {
    /// Whether the terminal's focus matters now: the terminal is ours, and a turn runs that may become long.
    #[must_use]
    pub fn watches_focus(&self) -> bool {
        self.surface == Surface::Ours && self.activity.turn().is_some_and(|turn| !turn.is_over())
    }

    /// A turn has ended: a user who has turned to something else is called, unless the turn was cancelled.
    pub(super) fn call_user(&self, reason: TurnEndReason, now: Instant, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn().filter(|turn| turn.progress.elapsed(now) >= LONG_TURN) else { return };
        if !self.attention.has_left || reason == TurnEndReason::Cancelled {
            return;
        }
        let how = if reason == TurnEndReason::Failed { "failed" } else { "answered" };
        effects.push(Effect::Notify(format!("{how}: {}", turn.progress.title())));
    }

    /// A question for consent has come onto the screen: nothing continues before it is answered, however short the turn was so far.
    pub(super) fn call_for_answer(&self, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn().filter(|turn| turn.question.is_some() && self.attention.has_left) else {
            return;
        };
        effects.push(Effect::Notify(format!("needs your answer: {}", turn.progress.title())));
    }
}
