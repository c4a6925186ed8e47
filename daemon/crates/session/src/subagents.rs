//! Runs subagents for a turn: each is a turn of a session of its own, which ends with it.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    TurnState,
    port::{EventSink, StepResult},
};
use cohab_context::workspace::Surroundings;
use cohab_model_api::Message;
use cohab_protocol::{ApprovalMode, TurnId};
use cohab_runtime::recording::{Opening, TurnRecorder};
use cohab_teams::{
    Access, CopyChanges, Order, ProgressSink, ReportEnd, SubagentKind, SubagentReport, Subagents, Team, WorkingCopy,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Accounted, Daemon, SubagentTurn, TurnMemory, TurnPart, TurnParts,
    question_kind::QuestionKind,
    question_prompt::{self, Asked},
    recollection::Remembered,
    session::Session,
};

/// The subagents of one turn, or of a subagent's turn.
pub(crate) struct SessionSubagents {
    pub daemon: Arc<Daemon>,
    /// Whose turn orders them.
    pub session: Arc<Session>,
    /// The session and the turn of the user, which their usage is counted for.
    pub accounted: Accounted,
    /// What the turn reads and leaves behind.
    pub memory: TurnMemory,
    /// Takes their news.
    pub sink: Arc<dyn EventSink>,
    /// What lies around the question.
    pub surroundings: Arc<Surroundings>,
    /// Root of the user's project, also for subagents of one that works in a copy.
    pub project: Option<PathBuf>,
    /// What they share.
    pub team: Team,
}

/// Where a subagent works.
struct Ground {
    kind: SubagentKind,
    cwd: PathBuf,
    surroundings: Arc<Surroundings>,
    copy: Option<WorkingCopy>,
    approval: ApprovalMode,
}

impl SessionSubagents {
    /// The subagents of a user's turn with these parts, and what they share.
    pub fn of(daemon: &Arc<Daemon>, parts: &TurnParts) -> (Arc<dyn Subagents>, Team) {
        let team = Team::default();
        let subagents = Self {
            daemon: Arc::clone(daemon),
            session: Arc::clone(&parts.session),
            accounted: parts.accounted(),
            memory: parts.memory.clone(),
            sink: Arc::clone(&parts.sink),
            surroundings: Arc::clone(&parts.surroundings),
            project: parts.surroundings.root.clone(),
            team: team.clone(),
        };
        (Arc::new(subagents), team)
    }

    /// Where a subagent of this kind works. In a session that only reads, and where there is no repository to copy, it only reads.
    async fn ground(&self, kind: SubagentKind) -> Result<Ground, String> {
        let cwd = self.session.cwd();
        let reads = |kind: SubagentKind| {
            let (surroundings, approval) = (Arc::clone(&self.surroundings), ApprovalMode::ReadOnly);
            Ground { kind, cwd: cwd.clone(), surroundings, copy: None, approval }
        };
        if kind.access() == Access::Reads {
            return Ok(reads(kind));
        }
        if self.session.approval() == ApprovalMode::ReadOnly {
            return Ok(reads(kind.only_reading()));
        }
        let root = self.surroundings.git.as_ref().map(|git| git.root.clone());
        let (Some(root), Some(place)) = (root, self.daemon.assembler.place_for_copies()) else {
            return Ok(reads(kind.only_reading()));
        };
        let copy = WorkingCopy::of(&root, &cwd, &place).await.map_err(|error| error.to_string())?;
        let mut surroundings = Surroundings::clone(&self.surroundings);
        surroundings.root = Some(copy.root());
        if let Some(git) = &mut surroundings.git {
            git.root = copy.root();
        }
        let (cwd, approval) = (copy.cwd().to_owned(), ApprovalMode::Auto);
        Ok(Ground { kind, cwd, surroundings: Arc::new(surroundings), copy: Some(copy), approval })
    }

    fn parts(
        &self,
        ground: &Ground,
        number: u32,
        task: &str,
        sink: &Arc<ProgressSink>,
        cancel: &CancellationToken,
    ) -> TurnParts {
        let session = Arc::new(self.session.for_subagent(number, ground.approval, ground.cwd.clone()));
        let memory = self.memory.for_subagent();
        let opening = Opening { session: session.key().to_string(), question: task.to_owned(), ..Opening::default() };
        let recorder = TurnRecorder::new(self.daemon.archive.clone(), Arc::clone(session.record()), opening);
        let team = self.team.below();
        let below = team.may_order().then(|| {
            let below = Self {
                daemon: Arc::clone(&self.daemon),
                session: Arc::clone(&session),
                accounted: self.accounted.clone(),
                memory: memory.clone(),
                sink: Arc::clone(sink) as _,
                surroundings: Arc::clone(&ground.surroundings),
                project: self.project.clone(),
                team: team.clone(),
            };
            (Arc::new(below) as Arc<dyn Subagents>, team)
        });
        TurnParts {
            session,
            turn_id: TurnId::fresh(),
            question: task.to_owned(),
            memory,
            sink: Arc::clone(sink) as _,
            recorder: Arc::new(recorder),
            doubts: Arc::default(),
            surroundings: Arc::clone(&ground.surroundings),
            part: TurnPart::Subagent(Box::new(SubagentTurn {
                kind: ground.kind.clone(),
                accounted: self.accounted.clone(),
                project: self.project.clone(),
                cancel: cancel.clone(),
            })),
            kind: QuestionKind::Plain,
            team: below,
        }
    }
}

/// What a copy differs in from the state at its begin.
async fn changes(copy: &WorkingCopy) -> Result<Option<CopyChanges>, String> {
    let diff = copy.diff().await.map_err(|error| error.to_string())?;
    Ok((!diff.is_empty()).then_some(CopyChanges { diff, kept: None }))
}

#[async_trait]
impl Subagents for SessionSubagents {
    fn kinds(&self) -> &[SubagentKind] {
        &self.surroundings.agents
    }

    async fn run(&self, order: Order, cancel: &CancellationToken) -> Result<SubagentReport, String> {
        let mut report = self.work(order, Vec::new(), cancel).await?;
        if let Some(changes) = &mut report.changes {
            changes.kept = self.daemon.assembler.keep_diff(&self.accounted.session, changes.diff.clone()).await;
            if changes.kept.is_none() {
                report.end = ReportEnd::Failed("its changes could not be kept".to_owned());
            }
        }
        Ok(report)
    }
}

impl SessionSubagents {
    /// Runs one on top of a conversation.
    pub async fn work(
        &self,
        order: Order,
        history: Vec<Message>,
        cancel: &CancellationToken,
    ) -> Result<SubagentReport, String> {
        let Order { kind, task, label } = order;
        let place = self.team.place().await?;
        let name = format!("{} {}", kind.name, place.number);
        let sink = Arc::new(ProgressSink::new(Arc::clone(&self.sink), place.number, kind.name.clone(), label));
        let ground = self.ground(kind).await?;
        let parts = self.parts(&ground, place.number, &task, &sink, cancel);
        let (session, taint) = (Arc::clone(&parts.session), parts.memory.consents.taint().clone());
        let agent = self.daemon.assembler.assemble(parts).await.map_err(|error| error.to_string())?;
        let asked = Asked {
            text: &task,
            cwd: ground.cwd.clone(),
            columns: 0,
            piped_input: None,
            tasks: Vec::new(),
            remembered: Remembered::default(),
            called: None,
        };
        let question = question_prompt::question(&self.daemon, &session, &ground.surroundings, &history, &asked);
        let mut state = TurnState::new(history, question);
        let result = agent.run_turn(&mut state, sink.as_ref(), &cancel.child_token()).await;
        let outside = taint.source();
        outside.iter().for_each(|source| self.memory.consents.taint().raise(source));
        self.team.spend(state.usage());
        let mut end = ReportEnd::of(&result);
        let changes = match &ground.copy {
            Some(copy) => changes(copy).await.unwrap_or_else(|error| {
                end = ReportEnd::Failed(error);
                None
            }),
            None => None,
        };
        ground.copy.into_iter().for_each(WorkingCopy::discard);
        let report = SubagentReport {
            name,
            answer: last_text(state.messages()),
            steps: sink.steps(),
            end,
            usage: state.usage(),
            elapsed: sink.elapsed(),
            changes,
            outside,
        };
        sink.ended(if report.is_done() { StepResult::Done } else { StepResult::Failed }).await;
        Ok(report)
    }
}

fn last_text(messages: &[Message]) -> String {
    let text = messages.iter().rev().find_map(|message| match message {
        Message::Assistant(message) if !message.text.trim().is_empty() => Some(message.text.clone()),
        _ => None,
    });
    text.unwrap_or_else(|| "(no answer)".to_owned())
}
