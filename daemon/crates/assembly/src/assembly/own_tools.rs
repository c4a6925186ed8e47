//! Offers the user's own tools to a turn.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cohab_agent::port::{Tool, TurnEvent};
use cohab_context::trust::TrustedFolders;
use cohab_hooks::{
    consent::AllowedFiles,
    own_tools::{ToolPlaces, ToolSetting},
    process,
};
use cohab_protocol::Paths;
use cohab_session::TurnParts;
use cohab_types::environment::Variables;
use tokio::time::timeout;

use super::Assembly;

/// A question waits at most this long for the folders of tools, and for tools to describe themselves.
const LOOK_WAIT: Duration = Duration::from_millis(300);
/// The same for their descriptions, each of which is read once.
const GUIDE_WAIT: Duration = Duration::from_secs(3);
/// A call is stopped after this time.
const CALL_LIMIT: Duration = Duration::from_secs(600);

/// Where the user's own tools are, for a user with this home.
#[must_use]
pub fn tool_places(paths: &Paths, home: PathBuf) -> ToolPlaces {
    ToolPlaces {
        settings: paths.config_dir.clone(),
        trust: TrustedFolders::new(paths.trusted_folders_file(), home),
        allowed: AllowedFiles::at(paths.state_dir.join("allowed-tools.json")),
        unasked: AllowedFiles::at(paths.state_dir.join("unasked-tools.json")),
        prints: Arc::default(),
    }
}

/// How own tools run in an environment.
#[must_use]
pub fn tool_setting(variables: &Variables) -> ToolSetting {
    ToolSetting { environment: process::environment(variables), limit: CALL_LIMIT }
}

impl Assembly {
    /// The own tools for a turn of the user's; none if an agent that is not part of cohab answers. What cannot be used is reported once in a
    /// session.
    pub(super) async fn own_tools(&self, parts: &TurnParts, has_agent: bool) -> Vec<Arc<dyn Tool>> {
        if has_agent || parts.subagent().is_some() {
            return Vec::new();
        }
        let mut places = tool_places(&self.paths, self.parts.home.clone());
        places.prints = Arc::clone(&self.hooks.prints);
        let root = parts.surroundings.root.clone();
        let looking = tokio::task::spawn_blocking(move || places.find(root.as_deref()));
        let found = match timeout(LOOK_WAIT, looking).await {
            Ok(Ok(Ok(found))) if found.is_empty() => return Vec::new(),
            Ok(Ok(Ok(found))) => Ok(found),
            Ok(Ok(Err(error))) => Err(format!("Your own tools are not used: {error}.")),
            Ok(Err(_)) | Err(_) => {
                Err("Your own tools are not used: their folders could not be read in time.".to_owned())
            }
        };
        let (tools, faults) = match found {
            Ok(found) => {
                let setting = tool_setting(&parts.session.environment());
                let described = timeout(GUIDE_WAIT, self.hooks.guides.tools(found, &setting)).await;
                described
                    .unwrap_or_else(|_| (Vec::new(), vec!["Your own tools are not used: they are too slow.".into()]))
            }
            Err(fault) => (Vec::new(), vec![fault]),
        };
        let session = parts.session.key().to_string();
        for fault in faults {
            if self.hooks.known.is_new(&session, &fault) {
                parts.sink.emit(TurnEvent::Notice(fault)).await;
            }
        }
        tools
    }
}
