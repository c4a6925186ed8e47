//! What the tools of one turn share: the servers that can be used, and what the user said of their tools.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cohab_agent::port::Approver;
use cohab_context::{
    attachments::mentions,
    called::{ServerPrompt, server_prompt},
};
use cohab_model_api::JsonObject;
use cohab_text::{nearest, sanitize::one_line};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    catalog::Catalog,
    consents::{ConsentFile, ServerConsent, ToolConsent},
    listing::ListedTool,
    pool::{ServerPool, Surroundings},
    rule::{ToolRule, of_tool},
    server::Server,
};

/// Longest part of the model's words that is shown, in columns.
pub(super) const SHOWN_COLUMNS: usize = 100;

/// How long a search usually waits for each server.
pub const SEARCH_WAIT: Duration = Duration::from_secs(30);

/// What the tools of one turn share.
pub struct TurnServers {
    /// The running servers.
    pub pool: Arc<ServerPool>,
    /// The servers that can be used.
    pub catalog: Catalog,
    /// Where they are started.
    pub surroundings: Surroundings,
    /// Where it is kept what a tool was like when it was first allowed.
    pub consents: ConsentFile,
    /// A search waits so long for each server; one that starts slower is found later.
    pub search_wait: Duration,
    /// Longest result, in bytes.
    pub output_max_bytes: usize,
    /// Whom servers may ask.
    pub user: Arc<dyn Approver>,
    /// What the user typed in this turn; may be empty.
    pub question: String,
    /// The definitions by which calls were judged.
    pub judged: Mutex<HashMap<(String, String), Judged>>,
}

/// How a call was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub(super) digest: Option<String>,
    pub(super) rule: ToolRule,
}

impl TurnServers {
    /// Whether the question names this resource of a server by `@server:address`.
    pub(super) fn is_named(&self, resource: &str) -> bool {
        mentions(&self.question).iter().flatten().any(|name| name == resource)
    }

    /// The prompt of a server that the question asks for, if there is such a server.
    pub(super) fn asked_prompt(&self) -> Option<ServerPrompt<'_>> {
        server_prompt(&self.question).filter(|asked| self.catalog.find(asked.server).is_some())
    }

    pub(super) fn find(&self, name: &str) -> Result<&Server, String> {
        self.catalog.find(name).ok_or_else(|| {
            let names: Vec<&str> = self.catalog.servers.iter().map(|server| server.name.as_str()).collect();
            let shown = one_line(name, SHOWN_COLUMNS);
            let advice = match nearest::to(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the servers are: {}", one_line(&names.join(", "), 2_000)),
            };
            format!("there is no server `{shown}`; {advice}")
        })
    }

    pub(super) fn consent(&self, server: &Server) -> Option<ServerConsent> {
        self.catalog.consent(server)
    }

    /// What the user's rules say of a tool, and the digest of its definition if that is known.
    pub(super) fn judge(&self, server: &Server, tool: &str) -> Judged {
        let known = self.pool.known_tools(server);
        let digest = known.and_then(|tools| tools.find(tool).map(|tool| tool.digest.clone()));
        let rule = of_tool(&server.settings, self.consent(server).as_ref(), tool, digest.as_deref());
        Judged { digest, rule }
    }

    pub(super) fn remember(&self, server: &Server, tool: &str, judged: Judged) {
        let mut all = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert((server.id(), tool.to_owned()), judged);
    }

    /// Checks that the tool is still as it was judged. The error is text for the model.
    pub(super) fn check(&self, server: &Server, tool: &ListedTool) -> Result<(), String> {
        // A consent that was given before the tool was known is to it as it is now, or as it was when it was first seen.
        let is_as_first_seen = self.pool.action(server, &tool.name, Some(&tool.digest)) == tool.name;
        let rule = of_tool(&server.settings, self.consent(server).as_ref(), &tool.name, Some(&tool.digest));
        let judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let judged = judged.get(&(server.id(), tool.name.clone()));
        let is_other = judged.is_some_and(|judged| {
            let differs = judged.digest.as_ref().map_or(!is_as_first_seen, |digest| *digest != tool.digest);
            differs || judged.rule == ToolRule::Allowed && rule != ToolRule::Allowed
        });
        if is_other {
            return Err(
                "not called: the server has changed the tool since; look at it with `mcp_search` and call it again"
                    .into(),
            );
        }
        Ok(())
    }

    /// Keeps what a tool that the settings allow by name is like, when it is called for the first time.
    pub(super) async fn note_first_use(&self, server: &Server, tool: &ListedTool) {
        let Some(consent) = self.consent(server) else { return };
        let is_known = consent.tools.contains_key(&tool.name);
        let rule = of_tool(&server.settings, Some(&consent), &tool.name, Some(&tool.digest));
        if is_known || rule != ToolRule::Allowed {
            return;
        }
        let (file, id, name) = (self.consents.clone(), server.id(), tool.name.clone());
        let seen = ToolConsent::Seen { definition: tool.digest.clone() };
        let kept = tokio::task::spawn_blocking(move || {
            file.change(|all| {
                all.servers.entry(id).or_default().tools.entry(name).or_insert(seen);
            })
        });
        if let Ok(Err(error)) = kept.await {
            tracing::warn!(%error, "what a tool of a server is like could not be kept");
        }
    }
}

/// `3 lines`.
pub(super) fn lines_of(text: &str) -> String {
    match text.lines().count() {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    }
}

/// The arguments of a call. The error is text for the model.
pub(super) fn arguments<T: DeserializeOwned>(args: &JsonObject) -> Result<T, String> {
    serde_json::from_value(Value::Object(args.clone())).map_err(|error| error.to_string())
}
