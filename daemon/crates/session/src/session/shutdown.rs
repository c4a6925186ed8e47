//! Shutdown in the middle of a turn: the turn stays on record as it is, so that the next daemon can continue it.

use super::Session;

impl Session {
    /// Nothing more is told to the client: neither that commands are to be interrupted nor that the turn is over. For the client it
    /// is as if the daemon had been killed: it lets a running command end and keeps its result. Nothing if no turn runs.
    pub fn leave_turn(&self) {
        let mut state = self.lock();
        state.is_left = state.turn.is_some();
    }

    /// Whether a turn was left in its middle.
    #[must_use]
    pub fn has_left_turn(&self) -> bool {
        self.lock().is_left
    }

    /// Whether there is a shell that could go on with an interrupted turn: a single question has none.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        !self.key().0.starts_with("cli:")
    }
}
