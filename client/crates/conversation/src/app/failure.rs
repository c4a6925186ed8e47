//! Asks about the user's last command after it failed, by the hotkey on the empty line. Nothing pops up by itself; the output is known
//! as part of the shell's history.

use std::time::Instant;

use cohab_shell_relay::live::{LineDecision, UserCommand};

use super::{
    App,
    state::{asked::Asked, failure::Failure},
};
use crate::effect::Effect;

impl App {
    /// A command of the user's has ended.
    pub(super) fn note_failure(&mut self, command: &UserCommand, effects: &mut Vec<Effect>) {
        self.failure = Failure::of(command);
        // Once in a shell is enough.
        if let Some(key) = self.failure.as_ref().and_then(|_| self.options.failure_key.take()) {
            effects.push(Effect::Announce(format!("{key}: why?")));
        }
    }

    /// The hotkey on the empty line: true if there was something to ask about.
    pub(super) fn ask_about_failure(&mut self, now: Instant, effects: &mut Vec<Effect>) -> bool {
        let Some(failure) = self.failure.take() else { return false };
        if self.is_in_background() {
            self.queue_question(Asked::plain(failure.question()), effects);
            return true;
        }
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        self.open_turn(Asked::plain(failure.question()), now, effects);
        true
    }
}
