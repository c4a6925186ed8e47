//! Implements the port [`Assembler`] of the sessions: introduces the model of a session and puts the agent of a turn together.

use std::{
    collections::BTreeMap,
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
use cohab_model_api::{Message, TokenUsage};
use cohab_models::{resolution::Choice, scrubbed::WithheldProvider};
use cohab_runtime::{
    middleware::{
        audit::AuditedRunner,
        model_capacity::ModelCapacity,
        turn_clock::{TurnClock, UnhurriedApprover},
    },
    recording::RecordingRunner,
};
use cohab_session::{
    Assembler, Introduction, RanCommand, Recollection, TurnParts, approver::SessionApprover, session::Session,
    shell::fallback::LiveOrIsolated,
};
use cohab_shell_state::shell::Shell;
use cohab_text::tokens::estimate_tokens;
use cohab_tools::session_tools;
use cohab_types::environment::Variables;
use tokio::time::timeout;

use super::{
    Assembly,
    inbox::MemoryOffer,
    middleware_stack::MiddlewareStack,
    model_selection::{Answering, check_name, introduced},
    recollection,
    shells::OwnShells,
};

/// A question waits at most this long for its surroundings: a disk may hang.
const LOOK_WAIT: Duration = Duration::from_millis(300);

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
        let own = session_tools(&Arc::default(), surroundings, Box::new(|_| ())).into_iter().chain(memory);
        let tools = resolved.settings.tools.iter().cloned().chain(own).map(|tool| spec_tokens(&tool.spec())).sum();
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

    async fn turn_ended(&self, session: &Session) {
        self.consolidate(session).await;
    }

    fn command_ran(&self, ran: &RanCommand) {
        self.past.ran(ran);
    }

    async fn assemble(&self, parts: TurnParts) -> Result<Agent, TurnError> {
        let session = Arc::clone(&parts.session);
        let mut resolved = self.resolve(&session.variables()).await?;
        if parts.memory.is_private {
            resolved.settings.keep_nothing();
        }
        let recorder = Arc::clone(&parts.recorder);
        let approver: Arc<dyn Approver> = Arc::new(SessionApprover::new(Arc::clone(&session), parts.turn_id));
        let clock = Arc::new(TurnClock::start());
        let inner = Arc::new(UnhurriedApprover::new(approver, Arc::clone(&clock)));
        let shell = session.live_shell().map_or(Shell::Bash, |name| Shell::of(Path::new(&name)));
        let audit = self.audit(&parts, &resolved.settings, shell);
        let mut observers: Vec<Arc<dyn TurnObserver>> = vec![Arc::clone(&recorder) as _];
        observers.extend(audit.clone().map(|audit| audit as _));
        let approver: Arc<dyn Approver> = Arc::new(ObservedApprover { inner, observers });
        let Answering { provider, fallback } = self.answering(&resolved, &parts, approver.as_ref()).await?;
        let here = Arc::clone(&session);
        let provider = WithheldProvider::around(provider, &self.withheld(move || here.cwd()));
        let settings = &resolved.settings;
        recorder.begin(settings.kept, &provider.info());
        self.past.log().into_iter().for_each(|past| recorder.store_episode_in(past));
        let (mut unconfined, mut reach): (Option<Arc<dyn Tool>>, _) = (None, None);
        let runner: Arc<dyn CommandRunner> = match session.live_shell() {
            Some(_) => {
                let (isolated, home) = (self.fallback_shell(settings), self.parts.home.clone());
                let asked = Arc::clone(&approver);
                Arc::new(LiveOrIsolated::new(Arc::clone(&session), parts.turn_id, isolated, asked, home))
            }
            // The separate shell is bash or sh, even if the user's is another one.
            None => {
                let OwnShells { confined, free, reach: kept } =
                    self.own_shells(&session, settings, parts.surroundings.root.as_deref());
                reach = kept;
                let free = free.map(|free| Arc::new(RecordingRunner::new(free, Arc::clone(&recorder))) as _);
                unconfined = free.and_then(|free| cohab_tools::unconfined(&settings.tools, free));
                confined
            }
        };
        let runner: Arc<dyn CommandRunner> = Arc::new(RecordingRunner::new(runner, recorder));
        let runner = match &audit {
            Some(audit) => Arc::new(AuditedRunner::new(runner, Arc::clone(audit))),
            None => runner,
        };
        let recorder = Arc::clone(&parts.recorder);
        let keep = Box::new(move |tasks: &[Task]| recorder.tasks(tasks));
        let (ModelCapacity { model, sources, .. }, _) =
            Self::room(provider.as_ref(), Some(&settings.model), &settings.models);
        let window = sources.decide(self.parts.store.learned(&model).window_tokens);
        let (has_conversations, window_tokens) = (settings.kept.is_some(), window.tokens);
        let memory = self.memory_tools(&MemoryOffer { has_conversations, window_tokens, parts: Some(&parts) });
        let own = session_tools(&parts.memory.tasks, &parts.surroundings, keep).into_iter().chain(memory);
        let tools: BTreeMap<_, _> =
            settings.tools.iter().cloned().chain(own).chain(unconfined).map(|tool| (tool.spec().name, tool)).collect();
        let system = system_prompt(&parts.surroundings.standing);
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
        }
        .build()
        .await;
        Ok(Agent { provider, tools, stack, ports, runner, system, limits: settings.limits })
    }
}
