//! Implements the port [`Assembler`] of the sessions: introduces the model of a session and puts the agent of a turn together.

use std::{
    collections::BTreeMap,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    Agent, ObservedApprover, TurnError, TurnObserver,
    port::{Approver, Tool},
    runner::CommandRunner,
    tasks::Task,
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
use cohab_guard::gate::SandboxReach;
use cohab_hooks::{approver::HookedApprover, input::Occasion, turn::TurnHooks};
use cohab_model_api::{Message, ModelProvider, TokenUsage};
use cohab_models::{resolution::Choice, scrubbed::WithheldProvider};
use cohab_runtime::{
    middleware::{
        audit::{Audit, AuditedRunner},
        model_capacity::ModelCapacity,
        turn_clock::{TurnClock, UnhurriedApprover},
    },
    recording::{RecordingRunner, TurnRecorder},
};
use cohab_session::{
    Assembler, Introduction, KnownAgent, QuestionKind, RanCommand, Recollection, TurnParts,
    approver::SessionApprover,
    session::Session,
    shell::{fallback::LiveOrIsolated, live::LiveRunner},
};
use cohab_shell_state::shell::Shell;
use cohab_store::spool::Spool;
use cohab_teams::{Handoffs, KeptDiff};
use cohab_text::tokens::estimate_tokens;
use cohab_tools::session_tools;
use cohab_types::environment::Variables;
use tokio::time::timeout;

use super::{
    Assembly, TurnSettings,
    inbox::MemoryOffer,
    mcp_servers::ServerOffer,
    middleware_stack::MiddlewareStack,
    model_selection::{Answering, check_name, introduced},
    recollection,
    shells::OwnShells,
    subagent,
};

/// A question waits at most this long for its surroundings: a disk may hang.
const LOOK_WAIT: Duration = Duration::from_millis(300);

/// Tools that a skill or command has without naming them: they touch nothing.
const HARMLESS_TOOLS: [&str; 3] = ["skill", "todo_read", "todo_write"];

/// Leaves out the tools that the called skill or command does not name, if it names any.
fn narrow(tools: &mut BTreeMap<String, Arc<dyn Tool>>, kind: &QuestionKind) {
    if let Some(named) = kind.called().and_then(|called| called.tools.as_ref()) {
        tools.retain(|name, _| named.contains(&name.as_str()) || HARMLESS_TOOLS.contains(&name.as_str()));
    }
}

/// Who is asked in a turn: after the user's hooks, on record.
fn approver_of(
    parts: &TurnParts,
    clock: &Arc<TurnClock>,
    audit: Option<Arc<Audit>>,
    hooks: Option<Arc<TurnHooks>>,
) -> Arc<dyn Approver> {
    let approver: Arc<dyn Approver> = match parts.subagent() {
        Some(_) => Arc::new(subagent::NobodyToAsk),
        None => Arc::new(SessionApprover::new(Arc::clone(&parts.session), parts.turn_id)),
    };
    let inner = Arc::new(UnhurriedApprover::new(approver, Arc::clone(clock)));
    let mut observers: Vec<Arc<dyn TurnObserver>> = vec![Arc::clone(&parts.recorder) as _];
    observers.extend(audit.map(|audit| audit as _));
    let inner: Arc<dyn Approver> = Arc::new(ObservedApprover { inner, observers });
    match hooks.filter(|_| parts.subagent().is_none()) {
        Some(hooks) => Arc::new(HookedApprover { inner, hooks }),
        None => inner,
    }
}

/// What runs commands, and keeps a record of them.
fn on_record(
    runner: Arc<dyn CommandRunner>,
    recorder: Arc<TurnRecorder>,
    audit: Option<&Arc<Audit>>,
) -> Arc<dyn CommandRunner> {
    let runner: Arc<dyn CommandRunner> = Arc::new(RecordingRunner::new(runner, recorder));
    match audit {
        Some(audit) => Arc::new(AuditedRunner::new(runner, Arc::clone(audit))),
        None => runner,
    }
}

/// What runs the commands of a turn.
struct Commands {
    runner: Arc<dyn CommandRunner>,
    /// The tool that runs them without the sandbox, if there is one.
    unconfined: Option<Arc<dyn Tool>>,
    /// Where the sandbox lets them write.
    reach: Option<SandboxReach>,
}

#[async_trait]
impl Assembler for Assembly {
    fn store_trouble(&self) -> Option<String> {
        self.parts.store.take_trouble().or_else(|| self.past.take_trouble())
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

    async fn check_model(&self, variables: &Variables) -> Result<bool, TurnError> {
        let Some(name) = variables.get("COHAB_MODEL") else { return Ok(true) };
        let settings = self.resolve(variables).await?.settings.model;
        let Some(names) = self.parts.chooser.model_names(&settings, variables).await else { return Ok(false) };
        check_name(name, &names)?;
        Ok(true)
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
        let (has_conversations, window_tokens) = (resolved.settings.kept.is_some(), window.tokens);
        let memory = self.memory_tools(&MemoryOffer { has_conversations, window_tokens, parts: None });
        let (root, nobody) = (surroundings.root.as_deref(), Arc::new(subagent::NobodyToAsk));
        let servers = self.server_offer(&resolved.settings, root, Variables::default(), (nobody, "")).await;
        let own = session_tools(&Arc::default(), surroundings, Box::new(|_| ())).into_iter().chain(memory);
        let own = own.chain(servers.tools);
        let tools = resolved.settings.tools.iter().cloned().chain(own).map(|tool| spec_tokens(&tool.spec())).sum();
        let capacity = (!provider.info().is_offline).then_some(capacity);
        let mut system = system_sections(&surroundings.standing);
        system.extend((!servers.section.is_empty()).then_some(("MCP servers", servers.section)));
        let system = system.iter().map(|(name, text)| (*name, estimate_tokens(text))).collect();
        Ok(Fixed { system, tools_tokens: tools, capacity })
    }

    async fn shorten(&self, session: &Session, messages: &[Message]) -> Result<(Shortened, TokenUsage), TurnError> {
        self.tell_hooks(session, &Occasion::PreCompact { trigger: "manual" }).await;
        self.shorten_now(session, messages).await
    }

    async fn surroundings(&self, cwd: PathBuf) -> Arc<Surroundings> {
        let (home, settings) = (self.parts.home.clone(), self.paths.config_dir.clone());
        let trust = TrustedFolders::new(self.paths.trusted_folders_file(), home.clone());
        let looking = tokio::task::spawn_blocking(move || Surroundings::read(&cwd, &home, &settings, &trust));
        let found = timeout(LOOK_WAIT, looking).await.ok().and_then(Result::ok);
        found.map(Arc::new).unwrap_or_default()
    }

    async fn recollect(&self, question: &str, folder: &Path) -> Recollection {
        // Most users have no store.
        if !self.paths.memory_file().exists() || !self.past.settings().enabled {
            return Recollection::default();
        }
        let (paths, home) = (self.paths.clone(), self.parts.home.clone());
        let (question, folder) = (question.to_owned(), folder.to_owned());
        let looking = tokio::task::spawn_blocking(move || recollection::look(&paths, &question, &folder, &home));
        timeout(LOOK_WAIT, looking).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn waiting_line(&self, folder: &Path) -> Option<String> {
        Self::waiting_line(self, folder).await
    }

    async fn known_agent(&self, name: &str) -> KnownAgent {
        self.known(name).await
    }

    async fn turn_ended(&self, session: &Session) {
        self.consolidate(session).await;
    }

    async fn conversation_ended(&self, session: &Session, is_cleared: bool) {
        self.forget_agents(session, is_cleared).await;
        self.end_hooks(session, is_cleared).await;
    }

    fn command_ran(&self, ran: &RanCommand) {
        self.past.ran(ran);
    }

    fn place_for_copies(&self) -> Option<PathBuf> {
        let place = self.paths.copies_dir();
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
        made.ok().and_then(|()| place.canonicalize().ok())
    }

    async fn keep_diff(&self, session: &str, diff: String) -> Option<KeptDiff> {
        let spool = Spool::at(&self.paths.state_dir);
        let (text, session) = (self.parts.secrets.scrubbed(diff.clone()), session.to_owned());
        let is_exact = *text == diff;
        let keeping = tokio::task::spawn_blocking(move || spool.keep(&session, &text, usize::MAX));
        let file = keeping.await.ok()?.inspect_err(|error| tracing::warn!(%error, "a diff could not be kept")).ok()?;
        Some(KeptDiff { file, is_exact })
    }

    async fn assemble(&self, parts: TurnParts) -> Result<Agent, TurnError> {
        let session = Arc::clone(&parts.session);
        let mut resolved = self.resolve(&session.variables()).await?;
        fit(&mut resolved.settings, &parts);
        let recorder = Arc::clone(&parts.recorder);
        let clock = Arc::new(TurnClock::start());
        let shell = session.live_shell().map_or(Shell::Bash, |name| Shell::of(Path::new(&name)));
        let audit = self.audit(&parts, &resolved.settings, shell);
        let hooks = self.hooks_of_turn(&parts, audit.clone(), shell).await?;
        let approver = approver_of(&parts, &clock, audit.clone(), hooks.clone());
        let agent = self.agent_turn(&parts, shell).await?;
        let Answering { provider, fallback } = match (&agent, self.model_of_subagent(&resolved, &parts).await) {
            (Some(agent), _) => Answering { provider: agent.model(), fallback: None },
            (None, Some(answering)) => answering,
            (None, None) => self.answering(&resolved, &parts, approver.as_ref()).await?,
        };
        let here = Arc::clone(&session);
        let provider = WithheldProvider::around(provider, &self.withheld(move || here.cwd()));
        let settings = &resolved.settings;
        recorder.begin(settings.kept, &provider.info());
        if parts.subagent().is_none() {
            self.past.log().into_iter().for_each(|past| recorder.store_episode_in(past));
        }
        let Commands { runner, unconfined, reach } = self.commands(&parts, settings, &approver);
        let runner = on_record(runner, recorder, audit.as_ref());
        let runner = agent.as_ref().map_or_else(|| Arc::clone(&runner), |agent| agent.runner(Arc::clone(&runner)));
        let handoffs = Handoffs::new(subagent::taking_over(&parts));
        let tools = match &agent {
            Some(agent) => self.agent_tools(agent, &parts, settings),
            None => self.tools(&parts, settings, provider.as_ref(), unconfined),
        };
        let handed_over = cohab_tools::handoffs(&handoffs).into_iter().filter(|_| agent.is_none());
        let mut tools = tools;
        let servers = match (parts.subagent(), &agent) {
            (None, None) => {
                let root = parts.surroundings.root.as_deref();
                let user = (Arc::clone(&approver), parts.question.as_str());
                self.server_offer(settings, root, session.environment(), user).await
            }
            _ => ServerOffer::default(),
        };
        let own = self.own_tools(&parts, agent.is_some()).await;
        let standing = servers.below(system_prompt(&parts.surroundings.standing));
        tools.extend(handed_over.chain(servers.tools).chain(own).map(|tool| (tool.spec().name, tool)));
        let system = subagent::system(standing, parts.subagent());
        narrow(&mut tools, &parts.kind);
        hooks.iter().for_each(|hooks| hooks.know_tools(&tools));
        let tools_tokens: u64 = tools.values().map(|tool| spec_tokens(&tool.spec())).sum();
        let (stack, ports) = MiddlewareStack {
            assembly: self,
            parts: &parts,
            resolved: &resolved,
            provider: &provider,
            fallback,
            approver,
            audit,
            clock,
            shell,
            reach,
            beside_tokens: estimate_tokens(&system) + tools_tokens,
            handoffs,
            hooks,
            agent,
        }
        .build()
        .await;
        Ok(Agent { provider, tools, stack, ports, runner, system, limits: settings.limits })
    }
}

/// Suits the user's settings to the kind of turn.
fn fit(settings: &mut TurnSettings, parts: &TurnParts) {
    if parts.memory.is_private {
        settings.keep_nothing();
    }
    if let Some(kind) = parts.subagent() {
        settings.suit(kind);
    }
    if parts.kind.is_share() {
        // It lasts until the user ends it, however much is called.
        settings.limits.model_calls = 0;
        settings.guards.budget.time_per_turn = Duration::ZERO;
    }
}

impl Assembly {
    /// What runs the commands of a turn.
    fn commands(&self, parts: &TurnParts, settings: &TurnSettings, approver: &Arc<dyn Approver>) -> Commands {
        let (session, recorder) = (Arc::clone(&parts.session), &parts.recorder);
        if parts.kind.is_share() {
            // In the user's sight or not at all.
            let runner = Arc::new(LiveRunner::new(session, parts.turn_id));
            return Commands { runner, unconfined: None, reach: None };
        }
        if session.live_shell().is_some() {
            let (isolated, home) = (self.fallback_shell(settings), self.parts.home.clone());
            let runner = LiveOrIsolated::new(session, parts.turn_id, isolated, Arc::clone(approver), home);
            return Commands { runner: Arc::new(runner), unconfined: None, reach: None };
        }
        // The separate shell is bash or sh, even if the user's is another one.
        let (cwd, environment) = (session.cwd(), session.environment());
        let OwnShells { confined, free, reach } =
            self.own_shells((&cwd, &environment), settings, parts.surroundings.root.as_deref());
        let free = free.map(|free| Arc::new(RecordingRunner::new(free, Arc::clone(recorder))) as _);
        let unconfined = free.and_then(|free| cohab_tools::unconfined(&settings.tools, free));
        Commands { runner: confined, unconfined, reach }
    }

    /// The tools of a turn, by name.
    fn tools(
        &self,
        parts: &TurnParts,
        settings: &TurnSettings,
        provider: &dyn ModelProvider,
        unconfined: Option<Arc<dyn Tool>>,
    ) -> BTreeMap<String, Arc<dyn Tool>> {
        let (ModelCapacity { model, sources, .. }, _) = Self::room(provider, Some(&settings.model), &settings.models);
        let window_tokens = sources.decide(self.parts.store.learned(&model).window_tokens).tokens;
        let mut own = Vec::new();
        if parts.subagent().is_none() {
            let recorder = Arc::clone(&parts.recorder);
            let keep = Box::new(move |tasks: &[Task]| recorder.tasks(tasks));
            own.extend(session_tools(&parts.memory.tasks, &parts.surroundings, keep));
            let has_conversations = settings.kept.is_some();
            own.extend(self.memory_tools(&MemoryOffer { has_conversations, window_tokens, parts: Some(parts) }));
            own.extend(unconfined);
        }
        if subagent::may_order(provider, window_tokens) {
            own.extend(parts.team.as_ref().map(|(subagents, _)| cohab_tools::delegate(Arc::clone(subagents))));
        }
        settings.tools.iter().cloned().chain(own).map(|tool| (tool.spec().name, tool)).collect()
    }
}
