//! Tracks terminal focus and calls the user when a long turn ends or a question needs an answer. Focus is known only as far as the
//! terminal reports it; a terminal without reports counts as focused.

use std::time::Instant;

use cohab_protocol::TurnEndReason;
use cohab_term::program_status::{Need, ProgramStatus};

use super::{App, Surface};
use crate::effect::Effect;

impl App {
    /// Whether the terminal's focus matters now: the terminal is ours, and a turn runs that may become long.
    #[must_use]
    pub fn watches_focus(&self) -> bool {
        self.surface == Surface::Ours && self.activity.turn().is_some_and(|turn| !turn.is_over())
    }

    /// What cohab does, for the terminal.
    #[must_use]
    pub fn status(&self) -> ProgramStatus {
        match self.activity.turn().filter(|turn| !turn.is_over()) {
            Some(turn) if turn.question.is_some() => ProgramStatus::Blocked(Need::Permission),
            Some(_) => self.attention.program_needs.map_or(ProgramStatus::Working, ProgramStatus::Blocked),
            None => self.attention.last_end,
        }
    }

    /// A turn has ended: a user who has turned to something else is called, unless the turn was cancelled.
    pub(super) fn call_user(&mut self, reason: TurnEndReason, now: Instant, effects: &mut Vec<Effect>) {
        self.attention.last_end = match reason {
            TurnEndReason::Cancelled => ProgramStatus::Idle,
            TurnEndReason::Failed => ProgramStatus::Error,
            _ => ProgramStatus::Done,
        };
        let least = self.options.notify_after;
        let Some(turn) = self.activity.turn().filter(|turn| turn.progress.elapsed(now) >= least) else { return };
        if !self.attention.has_left || reason == TurnEndReason::Cancelled {
            return;
        }
        let how = if reason == TurnEndReason::Failed { "failed" } else { "answered" };
        effects.push(Effect::Notify(format!("{how}: {}", turn.progress.title())));
    }

    /// A question for consent has come onto the screen: nothing continues before it is answered, however short the turn was so far.
    pub(super) fn call_for_answer(&self, effects: &mut Vec<Effect>) {
        if self.activity.turn().is_some_and(|turn| turn.question.is_some()) {
            self.call(effects);
        }
    }

    /// A command of the assistant's has written this: its program may say that it waits for the user.
    pub(super) fn on_program_output(&mut self, output: &[u8], effects: &mut Vec<Effect>) {
        if self.attention.read(output) {
            self.call(effects);
        }
    }

    fn call(&self, effects: &mut Vec<Effect>) {
        if let Some(turn) = self.activity.turn().filter(|_| self.attention.has_left) {
            effects.push(Effect::Notify(format!("needs your answer: {}", turn.progress.title())));
        }
    }
}
