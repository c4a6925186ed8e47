//! Shutdown in the middle of a turn: the turn stays on record as it is, so that the next daemon can continue it.

use super::Session;

impl Session {
    /// Leaves the running turn without a message to the client: neither about interrupting commands nor about the end of the turn. For
    /// the client the daemon seems killed: it lets a running command end and keeps its result. Does nothing if no turn runs.
    pub fn leave_turn(&self) {
        let mut state = self.lock();
        state.is_left = state.turn.is_some();
    }

    /// Whether a turn was left in the middle.
    #[must_use]
    pub fn has_left_turn(&self) -> bool {
        self.lock().is_left
    }

    /// Whether a shell could continue an interrupted turn: a one-shot question has none.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        !self.key().is_one_shot()
    }
}
