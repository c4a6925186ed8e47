//! Collects the user's commands while a turn runs.

use std::collections::VecDeque;

use cohab_context::query::{MAX_HISTORY_EVENTS, PastCommand};

use super::Session;

/// The newest commands that the model of the turn does not know.
#[derive(Default)]
pub(super) struct UnreportedCommands(VecDeque<PastCommand>);

impl UnreportedCommands {
    pub fn push(&mut self, command: PastCommand) {
        if self.0.len() == MAX_HISTORY_EVENTS {
            self.0.pop_front();
        }
        self.0.push_back(command);
    }
}

impl Session {
    /// The user's commands since the turn began, oldest first; each is returned once.
    #[must_use]
    pub fn take_untold(&self) -> Vec<PastCommand> {
        std::mem::take(&mut self.lock().untold).0.into()
    }
}
