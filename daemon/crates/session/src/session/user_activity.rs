//! Collects the user's commands while a turn runs.

use std::collections::VecDeque;

use cohab_context::query::{MAX_HISTORY_EVENTS, PastCommand};

/// The newest of them that the model of the turn does not know.
#[derive(Default)]
pub(super) struct UnreportedCommands(VecDeque<PastCommand>);

impl UnreportedCommands {
    pub fn push(&mut self, command: PastCommand) {
        if self.0.len() == MAX_HISTORY_EVENTS {
            self.0.pop_front();
        }
        self.0.push_back(command);
    }

    pub fn take(&mut self) -> Vec<PastCommand> {
        std::mem::take(&mut self.0).into()
    }
}
