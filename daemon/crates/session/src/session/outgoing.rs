//! What a session sends to its client.

use std::sync::{Arc, Weak};

use cohab_protocol::{ChunkDelta, DaemonMessage};

use super::{
    Session,
    pending::{PendingCall, is_moot},
};
use crate::outlet::Outlet;

impl Session {
    /// Sends a message, at once.
    pub fn tell(&self, message: DaemonMessage) {
        self.lock().timeline.push(message);
        self.outgoing.notify_one();
    }

    /// Adds a piece of the answer. It is sent with the next message, or once the model pauses.
    pub fn add_delta(&self, delta: ChunkDelta) {
        self.lock().timeline.push_delta(delta);
    }

    /// Sends what waits: from here if the client takes it at once, else from the task of its connection, which need not be woken for most
    /// pieces of an answer.
    pub(crate) fn send_waiting(&self) {
        let state = self.lock();
        if !state.timeline.has_waiting() {
            return;
        }
        let client = state.client.as_ref().and_then(|client| Some((client.connection, client.outlet.upgrade()?)));
        drop(state);
        if !client.is_some_and(|(connection, outlet)| outlet.send_now(|| self.next_waiting(connection))) {
            self.outgoing.notify_one();
        }
    }

    /// Lets [`send_waiting`](Self::send_waiting) use the outlet of `connection`, if that is the client.
    pub(crate) fn use_outlet(&self, connection: u64, outlet: Weak<Outlet>) {
        if let Some(client) = self.lock().client.as_mut().filter(|client| client.connection == connection) {
            client.outlet = outlet;
        }
    }

    /// Completes when less than the bound waits for the client.
    pub async fn has_room(&self) {
        loop {
            let changed = self.room.notified();
            if self.lock().timeline.has_room() {
                return;
            }
            self.outgoing.notify_one();
            changed.await;
        }
    }

    /// Waits until something waits for `connection`. False once another one is the client.
    pub(crate) async fn has_outgoing(&self, connection: u64) -> bool {
        loop {
            let ready = self.outgoing.notified();
            match self.waits_for(connection) {
                Some(true) => return true,
                Some(false) => ready.await,
                None => {
                    // The wake-up may have been meant for the new client's writer.
                    self.outgoing.notify_one();
                    return false;
                }
            }
        }
    }

    /// Whether something waits for `connection`; `None` if that is not the client.
    fn waits_for(&self, connection: u64) -> Option<bool> {
        let state = self.lock();
        state.client.as_ref().filter(|client| client.connection == connection)?;
        Some(state.timeline.has_waiting() && !state.is_left)
    }

    /// The next message for `connection`, if one waits.
    #[must_use]
    pub fn next_waiting(&self, connection: u64) -> Option<Arc<DaemonMessage>> {
        let mut state = self.lock();
        let is_client = state.client.as_ref().is_some_and(|client| client.connection == connection);
        if !is_client || state.is_left {
            return None;
        }
        let super::SessionState { timeline, calls, approvals, .. } = &mut *state;
        let message = timeline.next(|message| is_moot(message, calls, approvals));
        match message.as_deref() {
            Some(DaemonMessage::ExecuteCommand(command)) => {
                calls.entry(command.call_id).and_modify(PendingCall::sent);
            }
            Some(DaemonMessage::InterruptCommand { call_id, .. }) => {
                calls.retain(|id, call| id != call_id || !call.is_abandoned());
            }
            _ => {}
        }
        self.room.notify_one();
        message
    }

    /// The next message for `connection`, or `None` once another one is the client.
    #[cfg(test)]
    pub async fn next_outgoing(&self, connection: u64) -> Option<Arc<DaemonMessage>> {
        while self.has_outgoing(connection).await {
            if let Some(message) = self.next_waiting(connection) {
                return Some(message);
            }
        }
        None
    }
}
