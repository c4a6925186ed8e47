//! The middleware stack registers what stands around the loop of a turn, as one list in its order: middleware changes the turn, observers
//! look at it.
//!
//! Hooks and facts before a step run from the first to the last, those after it from the last to the first. So this matters:
//!
//! - [`Steps`] is outermost: a run has its name before anything holds or denies it, and the end of a turn is on disk when all others
//!   know of it. [`Checkpoint`] is inside of it: an addition is in memory and then on disk before the user learns of it.
//! - [`Watch`] labels the conversation before [`Reading`] scans it; [`Spotlight`] marks results before [`Window`] measures the request.
//! - [`Reading`] is inside of [`Inbound`], which takes out the letters that it looks for; [`Spooling`] stores what [`Inbound`] has cleaned.
//! - [`UserActivity`], [`SelfCorrection`] and [`LastAnswer`] are in the order in which the model reads their notes.
//! - [`TurnHooks`] is outside of the gate, which judges what hooks let pass, and inside of [`Inbound`]: a hook sees results as they are.
//! - [`ProposedCallRecorder`] is outside of the gate and [`ApprovedCallRecorder`] inside of it. [`Unfilled`] is before the gate: no question
//!   is asked about what cannot run. [`ExecutionTaint`] is behind it: the gate judges a call by what was read before.
//! - An agent's [`AgentTurn`] is the last of all: a call that reaches it runs.
//! - [`Pause`] is on both sides of the gate, as the user may hold a turn while a card is open; so [`OldYes`] is behind the second one.
//! - [`Spans`] is behind all that waits for the user. [`KeepFiles`] is behind all else that denies, [`Audit`] behind that, and
//!   [`IntentJournal`] is innermost: what it writes happens.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU32},
};

use cohab_acp::AgentTurn;
use cohab_agent::{
    Goal, TurnPorts, TurnStack,
    port::{Addition, Approver, TakeAdditions, TakeSpent},
};
use cohab_config::model_table::Prices;
use cohab_context::{
    addition,
    sections::{self, system_prompt},
    workspace::Surroundings,
};
use cohab_guard::{
    expired_approvals::OldYes,
    gate::{Gate, SandboxReach},
    pipeline::reading::{Notes, Reading},
    placeholder_check::Unfilled,
    provenance::UserPlaces,
    sanitize_results::Inbound,
    spotlight::Spotlight,
    taint::{ExecutionTaint, Watch},
};
use cohab_hooks::{compactor::HookedCompactor, turn::TurnHooks};
use cohab_model_api::ModelProvider;
use cohab_models::fallback::FallbackChain;
use cohab_policy::{Lock, user_rules::RuleSource as _};
use cohab_policy_io::files::{FileSystem, program_folders};
use cohab_protocol::ApprovalMode;
use cohab_runtime::{
    middleware::{
        accounting::{Accounting, Answered},
        audit::Audit,
        auto_title::Naming,
        backups::{KeepFiles, KeptTurn},
        budget::Budget,
        checkpoint::Checkpoint,
        compaction::{Compaction, Spent},
        escalation::Escalation,
        final_answer::LastAnswer,
        model_capacity::{ModelCapacity, Window},
        pause::Pause,
        response_cache::CacheReplay,
        self_correction::SelfCorrection,
        spans::Spans,
        spooling::Spooling,
        step_rules::StepRules,
        turn_clock::TurnClock,
        uncertain_calls::Doubt,
        user_activity::UserActivity,
    },
    recording::{
        hooks::{ApprovedCallRecorder, ProposedCallRecorder},
        step_hooks::{IntentJournal, Steps},
    },
};
use cohab_sandbox::lock;
use cohab_session::{Accounted, PRIVATE_QUESTION, QuestionKind, TurnParts};
use cohab_shell_state::shell::Shell;
use cohab_store::{backups::Backups, spool::Spool};
use cohab_teams::Handoffs;
use jiff::Zoned;

use super::{Assembly, Resolved};

/// One result may take this part of a request.
const RESULT_SHARE: u64 = 4;
/// Bytes per estimated token of program output, rather too few.
const BYTES_PER_TOKEN: u64 = 3;
/// A result may have at least this many bytes, however small the context is.
const LEAST_RESULT_BYTES: usize = 4 * 1024;

/// What the behaviour of one turn is made of.
pub(super) struct MiddlewareStack<'a> {
    pub assembly: &'a Assembly,
    pub parts: &'a TurnParts,
    pub resolved: &'a Resolved,
    pub provider: &'a Arc<dyn ModelProvider>,
    pub fallback: Option<Arc<FallbackChain>>,
    pub approver: Arc<dyn Approver>,
    pub audit: Option<Arc<Audit>>,
    pub clock: Arc<TurnClock>,
    pub shell: Shell,
    /// Where the sandbox of a separate shell lets commands write.
    pub reach: Option<SandboxReach>,
    /// Estimate of the system prompt and of all tools.
    pub beside_tokens: u64,
    /// The agents that may take over the turn.
    pub handoffs: Handoffs,
    /// The hooks of the user.
    pub hooks: Option<Arc<TurnHooks>>,
    /// The agent that answers in the place of a model.
    pub agent: Option<Arc<AgentTurn>>,
}

impl MiddlewareStack<'_> {
    /// All of it, outermost first; the gate is innermost but for what records, so that it judges what really runs.
    pub async fn build(self) -> (TurnStack, TurnPorts) {
        let TurnParts { session, recorder, memory, .. } = self.parts;
        let is_offline = self.provider.info().is_offline;
        let (mut stack, mut ports) = (TurnStack::default(), TurnPorts::default());
        stack.change_and_observe(Arc::new(Steps {
            recorder: Arc::clone(recorder),
            provider: Arc::clone(self.provider),
        }));
        let spool = Spool::at(&self.assembly.paths.state_dir);
        let outputs = spool.folder(&session.key().to_string());
        stack.observe(Arc::new(self.watch(outputs.clone())));
        // The built-in assistant reads results by their form, and an agent gets them as they are.
        if !is_offline && self.agent.is_none() {
            let keys = self.assembly.spotlight.clone();
            stack.change(Arc::new(Spotlight { keys, session: session.key().to_string() }));
        }
        let pause = Arc::new(self.pause());
        let spans = Arc::new(Spans::new(Arc::clone(self.provider), session.key().to_string()));
        stack.change(Arc::clone(&pause) as _);
        if let Some(accounting) = self.accounting().await {
            let (accounting, budget) = (Arc::new(accounting), Arc::new(self.budget()));
            stack.observe(Arc::clone(&accounting) as _);
            stack.change_and_observe(Arc::clone(&budget));
            ports.account = Some(accounting.account());
            ports.deadline = Some(budget);
        }
        if let Some(replay) = self.given_again().map(Arc::new) {
            stack.observe(Arc::clone(&replay) as _);
            ports.known_answers = Some(replay);
        }
        self.around_the_question(&mut stack, &mut ports).await;
        self.naming().into_iter().for_each(|naming| stack.observe(Arc::new(naming)));
        let room = self.room();
        let window = Arc::new(Window::new(Arc::clone(&self.assembly.parts.store), Box::new(move || room().0)));
        stack.change_and_observe(Arc::clone(&window));
        // An agent keeps its conversation itself.
        if !is_offline && self.agent.is_none() {
            stack.change(Arc::new(self.compaction(Arc::clone(&window), &spans).await));
        }
        if let Some(fallback) = &self.fallback {
            stack.change(Arc::new(Escalation::new(fallback.clone(), Arc::clone(&self.parts.sink))));
        }
        stack.observe(Arc::new(ProposedCallRecorder(Arc::clone(recorder))));
        stack.observe(Arc::new(Checkpoint(Arc::clone(&memory.conversation))));
        stack.change(Arc::new(self.step_rules()));
        let kept = self.resolved.settings.kept.map(|_| (spool.clone(), session.key().to_string()));
        stack.change(Arc::new(Spooling {
            spool: kept,
            max_bytes: self.result_max_bytes(&window),
            secrets: Arc::clone(&self.assembly.parts.secrets),
        }));
        stack.change(Arc::new(Inbound));
        if !is_offline {
            stack.change(Arc::new(self.reading(outputs.clone())));
            ports.additions = Some(self.additions());
            let session = Arc::clone(session);
            stack.change(Arc::new(UserActivity(Box::new(move || session.take_unreported()))));
            // Programs elsewhere look as often as they like.
            if !self.parts.kind.is_share() {
                stack.change_and_observe(Arc::new(SelfCorrection::new(
                    self.resolved.settings.guards.stalled_steps,
                    Arc::clone(&self.approver),
                )));
            }
            stack.change(Arc::new(LastAnswer::default()));
        }
        if let Some(hooks) = &self.hooks {
            stack.change_and_observe(Arc::clone(hooks));
            ports.before_stop = Some(Arc::clone(hooks) as _);
        }
        self.around_calls(&mut stack, outputs, pause, spans);
        (stack, ports)
    }

    /// What the kind of the question brings, and the others who work on it.
    async fn around_the_question(&self, stack: &mut TurnStack, ports: &mut TurnPorts) {
        if self.parts.kind == QuestionKind::Debate && !self.provider.info().is_offline {
            let approver = Arc::clone(&self.approver);
            let debate = self.assembly.debate(self.resolved, self.provider, self.parts, approver).await;
            ports.known_answers = Some(Arc::new(debate));
        }
        if let QuestionKind::Goal { check } = &self.parts.kind {
            let goal = Arc::new(Goal::new(check));
            stack.observe(Arc::clone(&goal) as _);
            ports.goal = Some(goal);
        }
        ports.spent_beside = self.parts.team.as_ref().map(|(_, team)| {
            let team = team.clone();
            Arc::new(move || team.take_spent()) as TakeSpent
        });
        if !self.handoffs.agents().is_empty() {
            stack.change(Arc::new(self.handoffs.clone()));
        }
    }

    /// What stands around a call itself: permission and records.
    fn around_calls(self, stack: &mut TurnStack, outputs: PathBuf, pause: Arc<Pause>, spans: Arc<Spans>) {
        let (session, recorder) = (Arc::clone(&self.parts.session), Arc::clone(&self.parts.recorder));
        let (audit, agent) = (self.audit.clone(), self.agent.clone());
        let keep_files = KeepFiles::new(KeptTurn {
            backups: Backups::at(&self.assembly.paths.state_dir),
            session: session.key().to_string(),
            turn: self.parts.turn_id.to_string(),
            question: self.kept_question(),
            home: self.assembly.parts.home.clone(),
            shell: self.shell,
            lock: self.lock(),
        });
        let is_asked = move || session.approval() != ApprovalMode::All;
        let calls = ApprovedCallRecorder { recorder: Arc::clone(&recorder), is_asked: Box::new(is_asked) };
        let asked = Arc::clone(&self.parts.session);
        let has_live_shell = Box::new(move || asked.live_shell().is_some());
        let doubt = Doubt { doubts: Arc::clone(&self.parts.doubts), approver: Arc::clone(&self.approver) };
        let as_run = self.as_run(outputs.clone());
        stack.change(Arc::new(Unfilled { has_live_shell }));
        stack.change(Arc::new(self.gate().with_outputs(outputs)));
        stack.observe(Arc::new(as_run));
        stack.change(pause);
        stack.change(Arc::new(OldYes));
        stack.change(Arc::new(doubt));
        stack.observe(spans);
        stack.observe(Arc::new(calls));
        stack.change_and_observe(Arc::new(keep_files));
        audit.into_iter().for_each(|audit| stack.observe(audit));
        stack.observe(Arc::new(IntentJournal(recorder)));
        agent.into_iter().for_each(|agent| stack.observe(agent));
    }

    /// What the user adds to the turn; the model reads it with its next call.
    fn additions(&self) -> TakeAdditions {
        let (session, hooks) = (Arc::clone(&self.parts.session), self.hooks.clone());
        Arc::new(move || {
            let addition = |words: String| {
                hooks.iter().for_each(|hooks| hooks.added(&words));
                Addition { message: addition::message(&words), words }
            };
            session.take_additions().into_iter().map(addition).collect()
        })
    }

    /// The words that stand for the turn next to what it changed.
    fn kept_question(&self) -> String {
        if self.parts.memory.is_private { PRIVATE_QUESTION.to_owned() } else { self.parts.question.clone() }
    }

    /// Longest result of a tool, in bytes: in a small context less than the settings allow. The built-in assistant has none.
    fn result_max_bytes(&self, window: &Window) -> usize {
        let most = self.resolved.settings.output_max_bytes;
        if self.provider.info().is_offline {
            return most;
        }
        let share = window.request_tokens() / RESULT_SHARE * BYTES_PER_TOKEN;
        most.min(usize::try_from(share).unwrap_or(most).max(LEAST_RESULT_BYTES))
    }

    /// The watch for untrusted text; `outputs` is the folder of long outputs.
    fn watch(&self, outputs: PathBuf) -> Watch {
        Watch { taint: self.parts.memory.consents.taint().clone(), place: self.place(outputs) }
    }

    /// The same, of each call as it runs.
    fn as_run(&self, outputs: PathBuf) -> ExecutionTaint {
        ExecutionTaint::new(self.parts.memory.consents.taint().clone(), self.place(outputs))
    }

    /// The scan for text that reads like instructions.
    fn reading(&self, outputs: PathBuf) -> Reading {
        let (session, rules) = (Arc::clone(&self.parts.session), Arc::clone(&self.assembly.rules));
        Reading {
            suspicions: self.parts.memory.consents.suspicions().clone(),
            taint: self.parts.memory.consents.taint().clone(),
            place: self.place(outputs),
            secrets: Arc::clone(&self.assembly.parts.secrets),
            sink: Arc::clone(&self.parts.sink),
            safety: Box::new(move || rules.loaded(&session.cwd()).safety.in_force()),
            notes: Notes::default(),
        }
    }

    fn place(&self, outputs: PathBuf) -> UserPlaces {
        UserPlaces {
            home: self.assembly.parts.home.clone(),
            workspace: self.workspace(),
            outputs: Some(outputs),
            shell: self.shell,
            files: Some(&FileSystem),
        }
    }

    /// The folder whose files are the user's own work.
    fn workspace(&self) -> PathBuf {
        let root = self.parts.surroundings.git.as_ref().map(|git| git.root.clone());
        root.unwrap_or_else(|| self.parts.session.cwd())
    }

    /// The middleware that shortens the conversation.
    async fn compaction(&self, window: Arc<Window>, spans: &Spans) -> Compaction {
        let MiddlewareStack { assembly, parts, resolved, provider, .. } = self;
        let summing = assembly.summing(resolved, provider, &parts.session, parts.turn_id.to_string()).await;
        let spent = Spent::default();
        let settings = resolved.settings.context;
        let mut compactor = spans.around(summing.compactor(settings.strategy, &spent), spent.clone());
        if let Some(hooks) = self.hooks.clone() {
            compactor = Arc::new(HookedCompactor { inner: compactor, hooks, trigger: "auto" });
        }
        Compaction {
            compactor,
            window,
            settings,
            beside_tokens: self.beside_tokens,
            spent,
            sink: Arc::clone(&parts.sink),
            recorder: Arc::clone(&parts.recorder),
            last_call: AtomicU32::default(),
        }
    }

    /// Counts the tokens of the turn; `None` where no model answers.
    async fn accounting(&self) -> Option<Accounting> {
        let provider = Arc::clone(self.provider);
        if provider.info().is_offline {
            return None;
        }
        let store = &self.assembly.parts.store;
        store.ready().await;
        let Accounted { session, turn } = self.parts.accounted();
        let room = self.room();
        let answered = move || {
            let (ModelCapacity { model, .. }, prices) = room();
            Answered { wire: provider.info().wire, model, prices }
        };
        let answered = Box::new(answered);
        Some(Accounting {
            store: Arc::clone(store),
            session,
            turn,
            answered,
            sent: Mutex::default(),
            hold: store.hold(),
        })
    }

    /// How much who answers at the moment takes, and what it costs.
    fn room(&self) -> impl Fn() -> (ModelCapacity, Option<Prices>) + Send + Sync + 'static {
        let (provider, fallback, settings) =
            (Arc::clone(self.provider), self.fallback.clone(), self.resolved.settings.clone());
        move || {
            let other = fallback.as_ref().and_then(|fallback| settings.jobs.profiles.get(&fallback.profile()));
            let own = other.or(Some(&settings.model));
            Assembly::room(provider.as_ref(), own, &settings.models)
        }
    }

    fn pause(&self) -> Pause {
        let (session, turn_id) = (Arc::clone(&self.parts.session), self.parts.turn_id);
        let is_wanted = session.pause();
        let tell = move |is_paused| session.tell_paused(turn_id, is_paused);
        Pause::new(is_wanted, Arc::clone(&self.clock), Box::new(tell))
    }

    fn budget(&self) -> Budget {
        let (session, turn_id) = (Arc::clone(&self.parts.session), self.parts.turn_id);
        let tell = move |gauge| session.tell_budget(turn_id, gauge);
        Budget {
            limits: self.resolved.settings.guards.budget,
            store: Arc::clone(&self.assembly.parts.store),
            clock: Arc::clone(&self.clock),
            today: || Zoned::now().date(),
            tell: Box::new(tell),
        }
    }

    fn step_rules(&self) -> StepRules {
        let (rules, model) = (Arc::clone(&self.resolved.settings.guards.rules), self.provider.info().model);
        StepRules::new(rules, model, Arc::clone(&self.approver))
    }

    /// What gives answers again; nothing does where no model answers.
    fn given_again(&self) -> Option<CacheReplay> {
        let MiddlewareStack { assembly, parts, provider, resolved, .. } = self;
        let mut history = DefaultHasher::new();
        parts.session.history().hash(&mut history);
        (resolved.settings.is_cache_on && !provider.info().is_offline && self.agent.is_none()).then(|| CacheReplay {
            cache: Arc::clone(&assembly.answers),
            provider: Arc::clone(provider),
            sink: Arc::clone(&parts.sink),
            session: parts.session.key().to_string(),
            history: history.finish(),
            told: self.told(),
            cwd: parts.session.cwd(),
            home: assembly.parts.home.clone(),
            key: Mutex::default(),
        })
    }

    /// Names the conversation, if it is stored and the user configured a model for that.
    fn naming(&self) -> Option<Naming> {
        let MiddlewareStack { assembly, parts, resolved, .. } = self;
        resolved.settings.kept?;
        let title_model = assembly.namer(resolved, &parts.session, parts.turn_id.to_string())?;
        Some(Naming { title_model, recorder: Arc::clone(&parts.recorder) })
    }

    /// Fingerprint of the model's texts besides the question and the user's commands: another day or hour gives the same answer.
    fn told(&self) -> u64 {
        let Surroundings { standing, project_notes, project_identity, .. } = self.parts.surroundings.as_ref();
        let mut told = DefaultHasher::new();
        system_prompt(standing).hash(&mut told);
        (project_notes, project_identity, self.parts.surroundings.told_skills()).hash(&mut told);
        self.parts.kind.called().hash(&mut told);
        sections::tasks::text(&self.parts.memory.tasks.tasks()).hash(&mut told);
        sections::tone::text(&self.parts.question).hash(&mut told);
        told.finish()
    }

    /// The lock on what runs unasked, where it can be had.
    fn lock(&self) -> Option<Lock<'static>> {
        let session = &self.parts.session;
        let has_lock =
            if session.live_shell().is_some() { session.client_has_lock() } else { lock::launcher().is_ok() };
        has_lock.then(|| self.resolved.settings.guards.lock())
    }

    fn gate(self) -> Gate {
        let (rules, model) = (Arc::clone(&self.resolved.settings.guards.rules), self.provider.info().model);
        let must_ask = move |tool: &str| rules.must_ask(tool, &model);
        let session = Arc::clone(&self.parts.session);
        let consents = self.parts.memory.consents.clone();
        let programs = session.environment().get("PATH").map_or_else(Vec::new, |path| program_folders(path.as_ref()));
        let mode = Arc::new(move || session.approval());
        let (home, workspace) = (self.assembly.parts.home.clone(), self.workspace());
        let own = self.assembly.paths.own_folders();
        // In the live shell the client checks.
        let is_live = self.parts.session.live_shell().is_some();
        let lock = self.lock();
        let settings = (!is_live).then(|| self.assembly.repository_settings(&self.parts.session));
        Gate::new(self.assembly.parts.policy, mode, self.approver, consents, home, self.shell)
            .with_repository_settings(settings)
            .with_lock(lock)
            .with_reach(self.reach)
            .with_remembered(Arc::clone(&self.assembly.rules) as _)
            .with_own_folders(own)
            .with_program_folders(programs)
            .in_workspace(workspace)
            .with_secrets(Arc::clone(&self.assembly.parts.secrets))
            .that_asks(Box::new(must_ask))
    }
}
