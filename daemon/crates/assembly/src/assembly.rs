//! The assembly puts an agent together for each turn: settings, model, tools, shell and the middleware around the loop. It runs no turn
//! itself: the server does.

mod auxiliary_models;
mod middleware_stack;
mod model_pool;
mod model_selection;
mod shells;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    Agent, TurnError, TurnLimits,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Tool, TurnEvent},
    runner::CommandRunner,
    tasks::Task,
};
use cohab_audit::{AuditLog, Places, PolicySeen};
use cohab_config::{
    ContextSettings,
    model_settings::ModelSettings,
    model_table::{ModelTable, Prices},
    step_rules::Rules,
};
use cohab_context::{
    analysis::Capacity,
    compaction::Shortened,
    fit::spec_tokens,
    report::Fixed,
    sections::{system_prompt, system_sections},
    trust::TrustedFolders,
    workspace::Surroundings,
};
use cohab_guard::{gate::Policy, known_servers::KnownServers, spotlight};
use cohab_model_api::{Message, ModelProvider, ModelService, Secrets, TokenUsage, window_size::WindowSources};
use cohab_models::{
    detect::LocalServer,
    resolution::{Choice, ChoiceError},
    scrubbed::{Withheld, WithheldProvider},
};
use cohab_policy::user_rules::Remembered as _;
use cohab_policy_io::rules_file::{RuleBook, RulesFile};
use cohab_protocol::{ApprovalMode, Paths};
use cohab_runtime::{
    cache::ResponseCache,
    middleware::{
        audit::{Audit, AuditedApprover, Policy as PolicyInForce, Turn},
        model_capacity::ModelCapacity,
        turn_clock::{TurnClock, UnhurriedApprover},
    },
    recording::{RecordingApprover, RecordingRunner},
};
use cohab_sandbox::profile::{Profile, Sandbox};
use cohab_session::{
    Assembler, Introduction, TurnParts, approver::SessionApprover, session::Session, shell::fallback::LiveOrIsolated,
};
use cohab_shell_state::shell::Shell;
use cohab_store::{Store, row::ModelKey, sessions::Limits};
use cohab_text::tokens::estimate_tokens;
use cohab_tools::session_tools;
use cohab_types::{confined_programs::ConfinedPrograms, environment::Variables};
use middleware_stack::MiddlewareStack;
use model_selection::{Answering, introduced};
use tokio::time::{Instant, timeout};

use crate::temporary::TemporaryFolder;
pub use model_pool::{Jobs, ModelPool};

/// Choices of a provider that are kept. Each holds a connection pool.
const MAX_KEPT_CHOICES: usize = 8;
/// A server that was found is looked for again after this time.
const FOUND_KEEP: Duration = Duration::from_secs(60);
/// A question waits at most this long for its surroundings: a disk may hang.
const LOOK_WAIT: Duration = Duration::from_millis(300);

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

/// Chooses the provider of answers.
#[async_trait]
pub trait ProviderChooser: Send + Sync {
    /// Decides from the settings and the client's environment; may look for a server on this machine.
    ///
    /// # Errors
    /// An explicit setting cannot work.
    async fn choose(&self, settings: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError>;
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
    kept: Mutex<Vec<Kept>>,
    answers: Arc<ResponseCache>,
    known_servers: KnownServers,
    rules: Arc<RuleBook>,
    audit: AuditLog,
    policy_seen: Arc<PolicySeen>,
    spotlight: spotlight::Keys,
    temporary: Arc<TemporaryFolder>,
    /// Servers that the user declined, since the daemon runs.
    declined: Mutex<BTreeSet<(String, String)>>,
}

#[derive(Clone)]
struct Kept {
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

impl Kept {
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
            paths,
            parts,
            kept: Mutex::default(),
            answers: Arc::default(),
            known_servers,
            rules,
            audit,
            policy_seen: Arc::default(),
            spotlight: spotlight::Keys::default(),
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
        self.keep(Kept { stamp, variables: variables.clone(), resolved: resolved.clone(), since });
        Ok(resolved)
    }

    fn recall(&self, stamp: Stamp, variables: &Variables) -> Option<Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.stamp == stamp && one.is_fresh());
        kept.iter().find(|one| one.variables == *variables).cloned()
    }

    fn keep(&self, choice: Kept) {
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
        let text = format!("{server} at {url} is not used without your consent; the offline assistant answers.");
        parts.sink.emit(TurnEvent::Notice(text)).await;
        otherwise
    }

    /// The capacity of `provider`'s model, and the prices that the user set for it. `settings` are the model's.
    fn room(
        provider: &dyn ModelProvider,
        settings: Option<&ModelSettings>,
        models: &ModelTable,
    ) -> (ModelCapacity, Option<Prices>) {
        let ModelService { host, is_local, context_window_tokens, max_output_tokens } = provider.service();
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
        let name = session.key().to_string();
        let turn = Turn {
            session: name,
            turn: parts.turn_id.to_string(),
            cwd: session.cwd(),
            home: self.parts.home.clone(),
            keep_days,
            shell,
        };
        let (rules, sink) = (Arc::clone(&self.rules) as _, Arc::clone(&parts.sink));
        let policy =
            PolicyInForce { seen: Arc::clone(&self.policy_seen), mode: Box::new(move || session.approval()), rules };
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

#[async_trait]
impl Assembler for Assembly {
    fn store_trouble(&self) -> Option<String> {
        self.parts.store.take_trouble()
    }

    async fn introduce(&self, variables: &Variables) -> Result<Introduction, TurnError> {
        let resolved = self.resolve(variables).await?;
        let (own, wish) = self.usual(&resolved, variables).await?;
        let provider = own.unwrap_or_else(|| match resolved.choice {
            Choice::Ready(provider) => provider,
            Choice::AskLocal { found, otherwise, .. } if self.is_declined(&found) => otherwise,
            Choice::AskLocal { provider, .. } => provider,
        });
        Ok(Introduction { model: introduced(provider.info(), wish), approval: resolved.settings.approval })
    }

    async fn outlook(&self, variables: &Variables, surroundings: &Surroundings) -> Result<Fixed, TurnError> {
        let resolved = self.resolve(variables).await?;
        let answering = self.usual(&resolved, variables).await?.0;
        let (Choice::Ready(main) | Choice::AskLocal { provider: main, .. }) = resolved.choice;
        let settings = Some(&resolved.settings.model).filter(|_| answering.is_none());
        let provider = answering.unwrap_or(main);
        let (ModelCapacity { model, sources, max_output_tokens }, _) =
            Self::room(provider.as_ref(), settings, &resolved.settings.models);
        let learned = self.parts.store.learned(&model);
        let window = sources.decide(learned.window_tokens);
        let capacity = Capacity { window, max_output_tokens, factor: learned.factor };
        let own = session_tools(&Arc::default(), surroundings, Box::new(|_| ()));
        let tools = resolved.settings.tools.iter().chain(&own).map(|tool| spec_tokens(&tool.spec())).sum();
        let capacity = (!provider.info().is_offline).then_some(capacity);
        let system = system_sections(&surroundings.standing);
        let system = system.iter().map(|(name, text)| (*name, estimate_tokens(text))).collect();
        Ok(Fixed { system, tools_tokens: tools, capacity })
    }

    async fn shorten(&self, session: &Session, messages: &[Message]) -> Result<(Shortened, TokenUsage), TurnError> {
        self.shorten_now(session, messages).await
    }

    async fn surroundings(&self, cwd: PathBuf) -> Arc<Surroundings> {
        let (home, settings) = (self.parts.home.clone(), self.paths.config_dir.clone());
        let trust = TrustedFolders::new(self.paths.trusted_folders_file(), home.clone());
        let looking = tokio::task::spawn_blocking(move || Surroundings::read(&cwd, &home, &settings, &trust));
        let found = timeout(LOOK_WAIT, looking).await.ok().and_then(Result::ok);
        found.map(Arc::new).unwrap_or_default()
    }

    async fn assemble(&self, parts: TurnParts) -> Result<Agent, TurnError> {
        let session = Arc::clone(&parts.session);
        let resolved = self.resolve(&session.variables()).await?;
        let recorder = Arc::clone(&parts.recorder);
        let approver: Arc<dyn Approver> = Arc::new(SessionApprover::new(Arc::clone(&session), parts.turn_id));
        let clock = Arc::new(TurnClock::start());
        let approver = Arc::new(UnhurriedApprover::new(approver, Arc::clone(&clock)));
        let mut approver: Arc<dyn Approver> = Arc::new(RecordingApprover::new(approver, Arc::clone(&recorder)));
        let shell = session.live_shell().map_or(Shell::Bash, |name| Shell::of(Path::new(&name)));
        let audit = self.audit(&parts, &resolved.settings, shell);
        if let Some(audit) = &audit {
            approver = Arc::new(AuditedApprover::new(approver, Arc::clone(audit)));
        }
        let Answering { provider, fallback } = self.answering(&resolved, &parts, approver.as_ref()).await?;
        let here = Arc::clone(&session);
        let provider = WithheldProvider::around(provider, &self.withheld(move || here.cwd()));
        let settings = &resolved.settings;
        recorder.begin(settings.kept, &provider.info());
        let mut unconfined: Option<Arc<dyn Tool>> = None;
        let runner: Arc<dyn CommandRunner> = match session.live_shell() {
            Some(_) => {
                let (isolated, home) = (self.fallback_shell(settings), self.parts.home.clone());
                let asked = Arc::clone(&approver);
                Arc::new(LiveOrIsolated::new(Arc::clone(&session), parts.turn_id, isolated, asked, home))
            }
            // The separate shell is bash or sh, even if the user's is another one.
            None => {
                let (confined, free) = self.own_shells(&session, settings, parts.surroundings.root.as_deref());
                let free = free.map(|free| Arc::new(RecordingRunner::new(free, Arc::clone(&recorder))) as _);
                unconfined = free.and_then(|free| cohab_tools::unconfined(&settings.tools, free));
                confined
            }
        };
        let runner = Arc::new(RecordingRunner::new(runner, recorder));
        let recorder = Arc::clone(&parts.recorder);
        let keep = Box::new(move |tasks: &[Task]| recorder.tasks(tasks));
        let own = session_tools(session.tasks(), &parts.surroundings, keep);
        let tools: BTreeMap<_, _> =
            settings.tools.iter().cloned().chain(own).chain(unconfined).map(|tool| (tool.spec().name, tool)).collect();
        let system = system_prompt(&parts.surroundings.standing);
        let tools_tokens: u64 = tools.values().map(|tool| spec_tokens(&tool.spec())).sum();
        let around = MiddlewareStack {
            assembly: self,
            parts: &parts,
            resolved: &resolved,
            provider: &provider,
            fallback,
            approver,
            audit,
            clock,
            shell,
            beside_tokens: estimate_tokens(&system) + tools_tokens,
        };
        let middleware = around.list().await;
        Ok(Agent { provider, tools, middleware, runner, system, limits: settings.limits })
    }
}

fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let metadata = fs::metadata(path).ok()?;
    // The time of change, not of modification: it also shows that the mode changed.
    Some((metadata.ino(), metadata.len(), metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(test)]
mod tests;
