//! The assembly puts an agent together for each turn: settings, model, tools, shell and the middleware around the loop. It runs no turn
//! itself: the server does.

mod agents;
mod assembler;
mod auxiliary_models;
mod consolidation;
mod conversations;
mod debate;
mod documents;
mod flow_calls;
mod flow_models;
mod hooks;
mod inbox;
mod mcp_servers;
mod middleware_stack;
mod model_pool;
mod model_selection;
mod own_tools;
mod past;
mod provider_chooser;
mod recollection;
mod shells;
mod subagent;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cohab_acp::AgentPool;
use cohab_agent::{
    TurnError, TurnLimits,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Tool, TurnEvent},
    runner::CommandRunner,
};
use cohab_config::{
    ContextSettings,
    mcp::McpServers,
    model_settings::ModelSettings,
    model_table::{ModelTable, Prices},
    step_rules::Rules,
};
use cohab_guard::{gate::Policy, known_servers::KnownServers, spotlight};
use cohab_mcp::{pool::ServerPool, sign_in::SignIns};
use cohab_model_api::{ModelProvider, ModelService, Secrets, window_size::WindowSources};
use cohab_models::{detect::LocalServer, key_store::KeyStores, resolution::Choice, scrubbed::Withheld};
use cohab_policy::{Lock, user_rules::RuleSource as _};
use cohab_policy_io::rules_file::{RuleBook, RulesFile};
use cohab_protocol::{ApprovalMode, Paths};
use cohab_runtime::{
    cache::ResponseCache,
    middleware::{
        audit::{Audit, AuditedTurn, Policy as PolicyInForce},
        model_capacity::ModelCapacity,
    },
};
use cohab_sandbox::profile::{Profile, Sandbox};
use cohab_session::TurnParts;
use cohab_shell_state::shell::Shell;
use cohab_store::{
    Store,
    audit::{AuditLog, Places, PolicySeen},
    row::ModelKey,
    sessions::Limits,
};
use cohab_types::{confined_programs::ConfinedPrograms, environment::Variables};
use tokio::time::Instant;

use crate::temporary::TemporaryFolder;
pub use flow_calls::{FlowCaller, FlowCalls};
pub use flow_models::FlowModels;
pub use hooks::hook_places;
pub use model_pool::{Jobs, ModelPool};
pub use own_tools::{tool_places, tool_setting};
pub use provider_chooser::ProviderChooser;

/// Choices of a provider that are kept. Each holds a connection pool.
const MAX_KEPT_CHOICES: usize = 8;
/// A server that was found is looked for again after this time.
const FOUND_KEEP: Duration = Duration::from_secs(60);

/// The settings, as far as a turn needs them.
#[derive(Clone)]
pub struct TurnSettings {
    /// `[model]`, or the profile in its place.
    pub model: ModelSettings,
    /// `models.toml`.
    pub models: Arc<ModelTable>,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// Bounds of a turn.
    pub limits: TurnLimits,
    /// Tools, with the limits that the settings give them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Longest result of a tool that the model gets, in bytes.
    pub output_max_bytes: usize,
    /// `[mcp.NAME]`.
    pub mcp: Arc<McpServers>,
    /// When and how conversations are shortened.
    pub context: ContextSettings,
    /// The bounds of stored conversations; `None` if none are stored.
    pub kept: Option<Limits>,
    /// Days that the audit log is kept; `None` if there is no audit log.
    pub audit_days: Option<u32>,
    /// Whether the response cache is on.
    pub is_cache_on: bool,
    /// The models for tiers, roles and fallbacks.
    pub jobs: Jobs,
    /// The profile of separate shells.
    pub sandbox: Profile,
    /// The user's limits on a turn.
    pub guards: Guards,
}

impl TurnSettings {
    /// No text of the turn is to be found later. What it cost, what it did and what files held before it is kept.
    fn keep_nothing(&mut self) {
        self.kept = None;
        self.is_cache_on = false;
    }
}

/// The user's limits on a turn.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    /// The budgets.
    pub budget: cohab_config::budget::Limits,
    /// The rules for single steps.
    pub rules: Arc<Rules>,
    /// Steps in a row without anything new before the user is asked; 0 for any number.
    pub stalled_steps: u32,
    /// The programs that run unasked behind the lock.
    pub confined: ConfinedPrograms,
}

impl Guards {
    /// The lock on what runs unasked, where it can be had.
    fn lock(&self) -> Lock<'static> {
        Lock::UNNAMED.with_unknown_programs(self.confined == ConfinedPrograms::All)
    }
}

/// Reads the settings as they are for a client with these variables. The error is `TurnError::Settings`.
pub type LoadSettings = Box<dyn Fn(&Paths, &Variables) -> Result<TurnSettings, TurnError> + Send + Sync>;
/// As [`IsolatedShell`](cohab_session::shell::fallback::IsolatedShell), confined.
pub type ConfinedShell = Arc<dyn Fn(&Path, &Variables, Sandbox) -> Arc<dyn CommandRunner> + Send + Sync>;

/// The implementations behind the ports.
pub struct Parts {
    /// Reads the settings.
    pub load_settings: LoadSettings,
    /// Chooses the model.
    pub chooser: Arc<dyn ProviderChooser>,
    /// The shell where there is no live one.
    pub isolated_shell: ConfinedShell,
    /// Judges what tools would do.
    pub policy: Policy,
    /// The user's home.
    pub home: PathBuf,
    /// Keeps what model calls take and teach.
    pub store: Arc<Store>,
    /// Removes secrets from stored text.
    pub secrets: Arc<Secrets>,
}

/// Assembles from `Parts`.
pub struct Assembly {
    paths: Paths,
    parts: Parts,
    kept: Mutex<Vec<KeptChoice>>,
    answers: Arc<ResponseCache>,
    known_servers: KnownServers,
    rules: Arc<RuleBook>,
    audit: AuditLog,
    policy_seen: Arc<PolicySeen>,
    spotlight: spotlight::Keys,
    past: past::Past,
    documents: documents::Documents,
    looks: inbox::Looks,
    /// The running MCP servers.
    servers: Arc<ServerPool>,
    /// Held while a model reads finished turns.
    consolidating: tokio::sync::Mutex<()>,
    temporary: Arc<TemporaryFolder>,
    agents: Arc<AgentPool>,
    hooks: hooks::Hooks,
    /// Servers that the user declined, since the daemon runs.
    declined: Mutex<BTreeSet<(String, String)>>,
}

#[derive(Clone)]
struct KeptChoice {
    stamp: Stamp,
    variables: Variables,
    resolved: Resolved,
    since: Instant,
}

/// The settings resolved for an environment.
#[derive(Clone)]
struct Resolved {
    settings: TurnSettings,
    choice: Choice,
    pool: Arc<ModelPool>,
}

/// Identifies the state of the settings and of the table of models that was read.
type Stamp = [Option<(u64, u64, i64, i64)>; 2];

impl KeptChoice {
    fn is_fresh(&self) -> bool {
        match &self.resolved.choice {
            // A model, server or key that appears must be noticed at once when none was there.
            Choice::Ready(provider) => !provider.info().is_offline,
            Choice::AskLocal { .. } => self.since.elapsed() < FOUND_KEEP,
        }
    }
}

impl Assembly {
    /// Keeps the user's consents below `paths`.
    #[must_use]
    pub fn new(paths: Paths, parts: Parts) -> Self {
        let known_servers = KnownServers::new(paths.state_dir.join("known-servers"));
        let rules = Arc::new(RuleBook::new(Arc::new(RulesFile::new(paths.rules_file()))));
        let audit = AuditLog::at(Places::of(&paths));
        Self {
            temporary: Arc::new(TemporaryFolder::new(&paths)),
            agents: AgentPool::new(&paths, parts.home.clone(), std::env::current_exe().ok()),
            past: past::Past::new(&paths, Arc::clone(&parts.secrets)),
            documents: documents::Documents::new(&paths, Arc::clone(&parts.secrets)),
            looks: inbox::Looks::default(),
            servers: Arc::new(ServerPool::new(
                Box::new(KeyStores::new(&paths.config_dir).telling(Arc::clone(&parts.secrets))),
                SignIns::of(&paths, Arc::clone(&parts.secrets)),
                paths.log_dir().join("mcp"),
            )),
            consolidating: tokio::sync::Mutex::default(),
            paths,
            parts,
            kept: Mutex::default(),
            answers: Arc::default(),
            known_servers,
            rules,
            audit,
            policy_seen: Arc::default(),
            spotlight: spotlight::Keys::default(),
            hooks: hooks::Hooks::default(),
            declined: Mutex::default(),
        }
    }

    /// Settings and choice for this environment; resolved again only if the settings file or the environment changed.
    async fn resolve(&self, variables: &Variables) -> Result<Resolved, TurnError> {
        let stamp = [stamp(&self.paths.config_file()), stamp(&self.paths.models_file())];
        if let Some(kept) = self.recall(stamp, variables) {
            return Ok(kept.resolved);
        }
        let settings = (self.parts.load_settings)(&self.paths, variables)?;
        let choice = self.parts.chooser.choose(&settings.model, variables).await;
        let choice = choice.map_err(|error| TurnError::Settings { message: error.message, hint: error.hint })?;
        let since = Instant::now();
        let pool = Arc::new(ModelPool::new(Arc::clone(&self.parts.chooser), settings.jobs.clone(), variables));
        let resolved = Resolved { settings, choice, pool };
        self.keep(KeptChoice { stamp, variables: variables.clone(), resolved: resolved.clone(), since });
        Ok(resolved)
    }

    fn recall(&self, stamp: Stamp, variables: &Variables) -> Option<KeptChoice> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.stamp == stamp && one.is_fresh());
        kept.iter().find(|one| one.variables == *variables).cloned()
    }

    fn keep(&self, choice: KeptChoice) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.variables != choice.variables);
        if kept.len() == MAX_KEPT_CHOICES {
            kept.remove(0);
        }
        kept.push(choice);
    }

    /// Settles on a provider. Asks the user where that is needed.
    async fn settle(&self, choice: Choice, parts: &TurnParts, approver: &dyn Approver) -> Arc<dyn ModelProvider> {
        let (found, provider, otherwise) = match choice {
            Choice::Ready(provider) => return provider,
            Choice::AskLocal { found, provider, otherwise } => (found, provider, otherwise),
        };
        if self.may_use(&found, parts, approver).await {
            return provider;
        }
        let LocalServer { url, server, .. } = found;
        let text = format!("{server} at {url} is not used without your consent; the built-in assistant answers.");
        parts.sink.emit(TurnEvent::Notice(text)).await;
        otherwise
    }

    /// The capacity of `provider`'s model, and the prices that the user set for it. `settings` are the model's.
    fn room(
        provider: &dyn ModelProvider,
        settings: Option<&ModelSettings>,
        models: &ModelTable,
    ) -> (ModelCapacity, Option<Prices>) {
        let ModelService { host, is_local, context_window_tokens, max_output_tokens, is_host: _ } = provider.service();
        let model = provider.info().model;
        let sources = WindowSources {
            settings: settings.and_then(|settings| settings.context_window_tokens),
            server: context_window_tokens,
            table: models.context_window_tokens(&host, &model),
            is_local,
        };
        let prices = models.prices(&host, &model);
        (ModelCapacity { model: ModelKey { host, model }, sources, max_output_tokens }, prices)
    }

    /// The recorder of the turn, if the audit log is on.
    fn audit(&self, parts: &TurnParts, settings: &TurnSettings, shell: Shell) -> Option<Arc<Audit>> {
        let session = Arc::clone(&parts.session);
        let keep_days = settings.audit_days?;
        let accounted = parts.accounted();
        let turn = AuditedTurn {
            session: accounted.session,
            turn: accounted.turn,
            cwd: session.cwd(),
            home: self.parts.home.clone(),
            keep_days,
            shell,
            is_private: parts.memory.is_private,
        };
        let (rules, sink) = (Arc::clone(&self.rules) as _, Arc::clone(&parts.sink));
        // The mode of a subagent is no change of the user's.
        let seen = if parts.subagent().is_some() { Arc::default() } else { Arc::clone(&self.policy_seen) };
        let policy = PolicyInForce { seen, mode: Box::new(move || session.approval()), rules };
        Some(Arc::new(Audit::new(self.audit.clone(), turn, policy, sink)))
    }

    /// The personal data that stays on this machine while the shell is there.
    fn withheld(&self, cwd: impl Fn() -> PathBuf + Send + Sync + 'static) -> Withheld {
        let rules = Arc::clone(&self.rules);
        Arc::new(move || rules.loaded(&cwd()).safety.in_force().personal)
    }

    fn is_declined(&self, found: &LocalServer) -> bool {
        let declined = self.declined.lock().unwrap_or_else(PoisonError::into_inner);
        declined.contains(&(found.url.clone(), found.server.clone()))
    }

    async fn may_use(&self, found: &LocalServer, parts: &TurnParts, approver: &dyn Approver) -> bool {
        let LocalServer { url, server, model, .. } = found;
        if self.known_servers.contains(url, server) {
            return true;
        }
        if self.is_declined(found) || !parts.session.can_approve() {
            return false;
        }
        let subject = ApprovalSubject::LocalServer { url: url.clone(), server: server.clone(), model: model.clone() };
        let mut reasons = vec!["found on this machine; another user's process could be behind the port".into()];
        if found.can_call_tools == Some(false) {
            reasons
                .push("none of its models can call tools: they can answer, but not read files or run commands".into());
        }
        match approver.ask(ApprovalQuestion { reasons, ..ApprovalQuestion::about(subject) }).await {
            ApprovalAnswer::Approved { .. } | ApprovalAnswer::Edited { .. } => {
                if let Err(error) = self.known_servers.add(url, server) {
                    tracing::warn!(%error, "the consent to a local server could not be kept");
                }
                true
            }
            ApprovalAnswer::Refused { .. } => {
                self.declined.lock().unwrap_or_else(PoisonError::into_inner).insert((url.clone(), server.clone()));
                false
            }
            ApprovalAnswer::CancelTurn => {
                parts.session.cancel_turn(Some(parts.turn_id));
                false
            }
        }
    }
}

fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let metadata = fs::metadata(path).ok()?;
    // The time of change, not of modification: it also shows that the mode changed.
    Some((metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(test)]
mod tests;
