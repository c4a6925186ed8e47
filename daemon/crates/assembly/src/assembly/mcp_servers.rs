//! The MCP servers of a turn: those of the settings, and of a project that the user trusts and allowed.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use cohab_agent::port::{Approver, Tool};
use cohab_context::trust::TrustedFolders;
use cohab_mcp::{
    catalog::{self, Catalog},
    consents::ConsentFile,
    pool::Surroundings,
    prompt,
    tools::{self, TurnServers},
};
use cohab_types::environment::Variables;
use tokio::time::timeout;

use super::{Assembly, TurnSettings};

/// A question waits at most this long for the list of servers: a disk may hang.
const LIST_WAIT: Duration = Duration::from_millis(300);

/// What servers add to a turn.
#[derive(Default)]
pub(super) struct ServerOffer {
    /// The tools that reach them.
    pub(super) tools: Vec<Arc<dyn Tool>>,
    /// The section of the system prompt that names them.
    pub(super) section: String,
}

impl ServerOffer {
    /// The system prompt with the section of the servers.
    pub(super) fn below(&self, system: String) -> String {
        if self.section.is_empty() { system } else { format!("{system}\n{}", self.section) }
    }
}

impl Assembly {
    /// What servers add to a turn in this project. No server is started.
    pub(super) async fn server_offer(
        &self,
        settings: &TurnSettings,
        root: Option<&Path>,
        variables: Variables,
        (user, question): (Arc<dyn Approver>, &str),
    ) -> ServerOffer {
        // Most users have none.
        if settings.mcp.is_empty() && root.is_none() {
            return ServerOffer::default();
        }
        let catalog = self.catalog(settings, root.map(Path::to_owned)).await;
        if catalog.servers.is_empty() {
            return ServerOffer::default();
        }
        let section = prompt::section(&catalog.servers);
        let servers = Arc::new(TurnServers {
            pool: Arc::clone(&self.servers),
            catalog,
            surroundings: Surroundings { variables, folder: self.parts.home.clone() },
            consents: ConsentFile::of(&self.paths),
            search_wait: tools::SEARCH_WAIT,
            output_max_bytes: settings.output_max_bytes,
            user,
            question: question.to_owned(),
            judged: Mutex::default(),
        });
        ServerOffer { tools: tools::tools(&servers), section }
    }

    /// The servers that can be used; none if the disk hangs.
    async fn catalog(&self, settings: &TurnSettings, root: Option<PathBuf>) -> Catalog {
        let trust = TrustedFolders::new(self.paths.trusted_folders_file(), self.parts.home.clone());
        let (own, consents) = (Arc::clone(&settings.mcp), ConsentFile::of(&self.paths));
        let reading = tokio::task::spawn_blocking(move || {
            let project = root.filter(|root| catalog::has_servers(root));
            if own.is_empty() && project.is_none() {
                return Catalog::default();
            }
            Catalog::read(&own, project.as_deref(), &trust, &consents)
        });
        timeout(LIST_WAIT, reading).await.ok().and_then(Result::ok).unwrap_or_default()
    }
}
