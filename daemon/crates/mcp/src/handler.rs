//! Answers what a server asks of its client, and notes what it announces. cohab declares no capability: a server is refused what it asks
//! for all the same, and only the user answers cards.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, Implementation, InitializeRequestParams, ProtocolVersion},
    service::NotificationContext,
};

/// The client's side of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handler {
    /// How often the server announced another list of tools.
    pub(crate) revision: Arc<AtomicU64>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> InitializeRequestParams {
        let client = Implementation::new("cohab", env!("CARGO_PKG_VERSION"));
        InitializeRequestParams::new(ClientCapabilities::default(), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.revision.fetch_add(1, Ordering::Relaxed);
    }
}
