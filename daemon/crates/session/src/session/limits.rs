//! Cancels and pauses turns of the session and reports their limits to the client.

use cohab_protocol::{DaemonMessage, TurnId};
use cohab_runtime::middleware::budget::Gauge;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{super::convert, Session};

impl Session {
    /// Cancels the turn with this id if it is running; any turn if `None`.
    pub fn cancel_turn(&self, id: Option<TurnId>) {
        let state = self.lock();
        if let Some(turn) = state.turn.as_ref().filter(|turn| id.is_none_or(|id| id == turn.id)) {
            turn.cancel.cancel();
        }
    }

    /// What ends the running turn, if one runs.
    #[must_use]
    pub fn turn_token(&self) -> Option<CancellationToken> {
        self.lock().turn.as_ref().map(|turn| turn.cancel.clone())
    }

    /// Pauses or continues the turn, if it is the running one.
    pub fn pause_turn(&self, id: TurnId, is_paused: bool) {
        let state = self.lock();
        if state.turn.as_ref().is_some_and(|turn| turn.id == id) {
            self.pause.send_replace(is_paused);
        }
    }

    /// Whether the user wants the running turn to pause, and every change of it.
    #[must_use]
    pub fn pause(&self) -> watch::Receiver<bool> {
        self.pause.subscribe()
    }

    /// Reports to the client that the turn pauses or continues.
    pub fn tell_paused(&self, turn_id: TurnId, is_paused: bool) {
        self.tell(DaemonMessage::TurnPaused { turn_id, is_paused });
    }

    /// Reports the used part of a budget to the client.
    pub fn tell_budget(&self, turn_id: TurnId, gauge: Gauge) {
        self.tell(convert::budget_used(turn_id, gauge));
    }
}
