//! The prompt of a shell that is shared with programs elsewhere.

use cohab_shell_relay::live::LineDecision;

use super::{App, Surface, state::turn::Turn};
use crate::{
    effect::Effect,
    slash::{self, CommandKind, Parsed},
    ui::status::STOPPED,
};

/// Said when the user ends it.
const UNSHARED: &str = "This shell is no longer shared.";

impl App {
    /// A question at this prompt: `/unshare` ends the sharing, all others have to wait for that. False if the shell is not shared.
    pub(super) fn take_unshare(&mut self, question: &str, is_private: bool, effects: &mut Vec<Effect>) -> bool {
        let turn = self.activity.turn().filter(|turn| turn.is_shared() && !question.is_empty());
        let Some(now) = turn.map(|turn| turn.last_seen) else { return false };
        self.surface = Surface::Opening;
        let decision = if is_private { LineDecision::Unrecorded } else { LineDecision::Assistant };
        effects.push(Effect::DecideLine(decision));
        if matches!(slash::parse(question), Parsed::Command(command, "") if command.kind == CommandKind::Unshare) {
            self.stop_background_turn(now, effects);
        } else {
            let label = format!("not asked; end it by {} /unshare: ", self.options.question_prefix);
            self.answer_line(&label, question);
        }
        true
    }

    /// What is said when the user stops the turn.
    pub(super) fn stopped(&self) -> &'static str {
        let is_shared = self.activity.turn().is_some_and(Turn::is_shared);
        if is_shared { UNSHARED } else { STOPPED }
    }
}
