//! Answers what a server asks of its client, and notes what it announces. A server may ask the user, who alone answers; it is refused a
//! model and folders.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationCapability, ErrorData,
        FormElicitationCapability, Implementation, InitializeRequestParams, ProgressNotificationParam, ProtocolVersion,
        UrlElicitationCapability,
    },
    service::{NotificationContext, RequestContext},
};

use crate::questions::Questions;

/// The client's side of a connection.
#[derive(Clone, Default)]
pub(crate) struct Handler {
    /// How often the server announced another list of tools.
    pub(crate) revision: Arc<AtomicU64>,
    /// The calls that are on, with the users that it may ask.
    pub(crate) questions: Questions,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> InitializeRequestParams {
        let client = Implementation::new("cohab", env!("CARGO_PKG_VERSION"));
        let form = FormElicitationCapability::new();
        let asks = ElicitationCapability::new().with_form(form).with_url(UrlElicitationCapability::new());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(asks);
        InitializeRequestParams::new(capabilities, client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.questions.ask(request, &context.ct).await)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.questions.said(&progress);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.revision.fetch_add(1, Ordering::Relaxed);
    }
}
