//! The agent as its desk sees it: who gets messages, and where calls wait.

use serde_json::Value;

use crate::inbox::Inbox;

/// An agent that runs.
pub(crate) trait Peer: Send + Sync {
    /// Sends it a message.
    fn send(&self, message: &Value);

    /// Holds what it sent.
    fn inbox(&self) -> &Inbox;
}
