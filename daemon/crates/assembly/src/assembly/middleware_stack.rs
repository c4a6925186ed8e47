//! The middleware stack registers the behaviour around the loop of a turn, as one list in its order.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU32},
};

use cohab_agent::{Middleware, port::Approver};
use cohab_config::model_table::Prices;
use cohab_context::{
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
use cohab_model_api::ModelProvider;
use cohab_models::fallback::FallbackChain;
use cohab_policy::{Lock, user_rules::RuleSource as _};
use cohab_policy_io::files::{FileSystem, program_folders};
use cohab_protocol::ApprovalMode;
use cohab_runtime::{
    middleware::{
        accounting::{Accounting, Answered},
        additions::Additions,
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
        user_activity::Meanwhile,
    },
    recording::{
        hooks::{ApprovedCallRecorder, ProposedCallRecorder},
        step_hooks::{IntentJournal, Steps},
    },
};
use cohab_sandbox::lock;
use cohab_session::{PRIVATE_QUESTION, TurnParts};
use cohab_shell_state::shell::Shell;
use cohab_store::{backups::Backups, spool::Spool};
use cohab_types::confined_programs::ConfinedPrograms;
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
}

impl MiddlewareStack<'_> {
    /// All of it, outermost first; the gate is innermost but for what records, so that it judges what really runs.
    pub async fn list(self) -> Vec<Arc<dyn Middleware>> {
        let TurnParts { session, recorder, memory, .. } = self.parts;
        let is_offline = self.provider.info().is_offline;
        let mut list: Vec<Arc<dyn Middleware>> =
            vec![Arc::new(Steps { recorder: Arc::clone(recorder), provider: Arc::clone(self.provider) })];
        let spool = Spool::at(&self.assembly.paths.state_dir);
        let outputs = spool.folder(&session.key().to_string());
        list.push(Arc::new(self.watch(outputs.clone())));
        // The built-in assistant reads results by their form.
        if !is_offline {
            let keys = self.assembly.spotlight.clone();
            list.push(Arc::new(Spotlight { keys, session: session.key().to_string() }));
        }
        let pause: Arc<dyn Middleware> = Arc::new(self.pause());
        let spans = Arc::new(Spans::new(Arc::clone(self.provider), session.key().to_string()));
        list.push(Arc::clone(&pause));
        if let Some(accounting) = self.accounting().await {
            list.push(Arc::new(accounting));
            list.push(Arc::new(self.budget()));
        }
        list.extend(self.given_again().map(|again| Arc::new(again) as _));
        list.extend(self.naming().map(|naming| Arc::new(naming) as _));
        let room = self.room();
        let window = Arc::new(Window::new(Arc::clone(&self.assembly.parts.store), Box::new(move || room().0)));
        list.push(Arc::clone(&window) as _);
        if !is_offline {
            list.push(Arc::new(self.compaction(Arc::clone(&window), &spans).await));
        }
        if let Some(fallback) = &self.fallback {
            list.push(Arc::new(Escalation::new(fallback.clone(), Arc::clone(&self.parts.sink))));
        }
        list.push(Arc::new(ProposedCallRecorder(Arc::clone(recorder))));
        list.push(Arc::new(Checkpoint::new(Arc::clone(&memory.conversation))));
        list.push(Arc::new(self.step_rules()));
        let kept = self.resolved.settings.kept.map(|_| (spool.clone(), session.key().to_string()));
        list.push(Arc::new(Spooling {
            spool: kept,
            max_bytes: self.result_max_bytes(&window),
            secrets: Arc::clone(&self.assembly.parts.secrets),
        }));
        list.push(Arc::new(Inbound));
        if !is_offline {
            list.push(Arc::new(self.reading(outputs.clone())));
            let session = Arc::clone(session);
            let added = Arc::clone(&session);
            list.push(Arc::new(Additions::new(Box::new(move || added.take_additions()))));
            list.push(Arc::new(Meanwhile::new(Box::new(move || session.take_untold()))));
            list.push(Arc::new(SelfCorrection::new(
                self.resolved.settings.guards.stalled_steps,
                Arc::clone(&self.approver),
            )));
            list.push(Arc::new(LastAnswer::default()));
        }
        list.extend(self.around_calls(outputs, pause, spans));
        list
    }

    /// The middleware around a call itself: permission and records.
    fn around_calls(self, outputs: PathBuf, pause: Arc<dyn Middleware>, spans: Arc<Spans>) -> Vec<Arc<dyn Middleware>> {
        let (session, recorder) = (Arc::clone(&self.parts.session), Arc::clone(&self.parts.recorder));
        let audit = self.audit.clone();
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
        let calls = ApprovedCallRecorder::new(Arc::clone(&recorder), Box::new(is_asked));
        let asked = Arc::clone(&self.parts.session);
        let has_live_shell = Box::new(move || asked.live_shell().is_some());
        let doubt = Doubt { doubts: Arc::clone(&self.parts.doubts), approver: Arc::clone(&self.approver) };
        let as_run = self.as_run(outputs.clone());
        let mut list: Vec<Arc<dyn Middleware>> = vec![
            Arc::new(Unfilled { has_live_shell }),
            Arc::new(self.gate().with_outputs(outputs)),
            Arc::new(as_run),
            pause,
            Arc::new(OldYes),
            Arc::new(doubt),
            spans,
            Arc::new(calls),
            Arc::new(keep_files),
        ];
        list.extend(audit.map(|audit| audit as _));
        list.push(Arc::new(IntentJournal(recorder)));
        list
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
        Compaction {
            compactor: spans.around(summing.compactor(settings.strategy, &spent), spent.clone()),
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
        let (session, turn) = (self.parts.session.key().to_string(), self.parts.turn_id.to_string());
        let room = self.room();
        let answered = move || {
            let (ModelCapacity { model, .. }, prices) = room();
            Answered { wire: provider.info().wire, model, prices }
        };
        let answered = Box::new(answered);
        Some(Accounting { store: Arc::clone(store), session, turn, answered, sent: Mutex::default() })
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
        (resolved.settings.is_cache_on && !provider.info().is_offline).then(|| CacheReplay {
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
        sections::tasks::text(&self.parts.memory.tasks.tasks()).hash(&mut told);
        sections::tone::text(&self.parts.question).hash(&mut told);
        told.finish()
    }

    /// The lock on what runs unasked, where it can be had.
    fn lock(&self) -> Option<Lock<'static>> {
        let session = &self.parts.session;
        let has_lock =
            if session.live_shell().is_some() { session.client_has_lock() } else { lock::launcher().is_ok() };
        let takes_unknown = self.resolved.settings.guards.confined == ConfinedPrograms::All;
        has_lock.then(|| Lock::UNNAMED.with_unknown_programs(takes_unknown))
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
