//! Pauses of a turn, and the limits that the client is told.

use cohab_protocol::{DaemonMessage, TurnId};
use cohab_runtime::middleware::budget::Gauge;
use tokio::sync::watch;

use super::{super::convert, Session};

impl Session {
    /// Holds the turn or lets it go on, if it is the one that runs.
    pub fn pause_turn(&self, id: TurnId, is_paused: bool) {
        let state = self.lock();
        if state.turn.as_ref().is_some_and(|turn| turn.id == id) {
            self.pause.send_replace(is_paused);
        }
    }

    /// Whether the user wants the running turn to hold, and every change of it.
    #[must_use]
    pub fn pause(&self) -> watch::Receiver<bool> {
        self.pause.subscribe()
    }

    /// Tells that the turn holds, or goes on.
    pub fn tell_paused(&self, turn_id: TurnId, is_paused: bool) {
        self.tell(DaemonMessage::TurnPaused { turn_id, is_paused });
    }

    /// Tells how much of a budget is used.
    pub fn tell_budget(&self, turn_id: TurnId, gauge: Gauge) {
        self.tell(convert::budget_used(turn_id, gauge));
    }
}
