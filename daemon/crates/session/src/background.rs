//! Background tasks: questions that are worked on while the prompt of their session is free. Each is a subagent with the conversation of
//! the session as it was, in a copy of the repository; the user looks at what it changed and applies it.

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::port::{EventSink, SubagentProgress, SubagentState, TurnEvent};
use cohab_protocol::{MAX_TASK_DIFF_BYTES, StepActivity, TaskDetails, TaskEnd, TaskStatus, TaskSummary};
use cohab_text::{cut::head, sanitize::one_line};
use cohab_work::background_tasks::{BackgroundTask, BackgroundTasks, TaskState};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::convert;

/// Most tasks that work at the same time; more wait in their order.
const MAX_AT_ONCE: usize = 4;
/// Most tasks that wait or work.
const MAX_OPEN: usize = 100;

/// The background tasks of a daemon.
pub(crate) struct Background {
    /// Their files.
    pub tasks: BackgroundTasks,
    /// One for each task that may work at the same time.
    pub places: Semaphore,
    open: Mutex<HashMap<u32, Open>>,
}

/// A task that waits or works.
struct Open {
    cancel: CancellationToken,
    doing: Arc<Doing>,
}

/// The last news of each subagent of a task, the newest at the end.
#[derive(Default)]
pub(crate) struct Doing(Mutex<Vec<SubagentProgress>>);

impl Doing {
    fn news(&self) -> MutexGuard<'_, Vec<SubagentProgress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one that works does, and the tokens of all.
    fn now(&self) -> (Option<String>, u64) {
        let news = self.news();
        let working = news.iter().rev().find_map(|one| match &one.state {
            SubagentState::Working(activity) => Some(words(&convert::activity(activity.clone()))),
            SubagentState::Ended(_) => None,
        });
        (working, news.iter().map(|one| one.tokens).sum())
    }
}

#[async_trait]
impl EventSink for Doing {
    async fn emit(&self, event: TurnEvent) {
        if let TurnEvent::Subagent(progress) = event {
            let mut news = self.news();
            news.retain(|one| one.number != progress.number);
            news.push(progress);
        }
    }

    fn pause(&self) {}
}

impl Background {
    /// Tasks that an earlier daemon left in the middle are interrupted.
    pub fn new(tasks: BackgroundTasks) -> Self {
        tasks.interrupt();
        Self { tasks, open: Mutex::default(), places: Semaphore::new(MAX_AT_ONCE) }
    }

    /// Whether as many wait or work as may.
    pub fn is_full(&self) -> bool {
        self.open().len() >= MAX_OPEN
    }

    /// A task begins to wait: what stops it, and what takes its news.
    pub fn begin(&self, id: u32) -> (CancellationToken, Arc<Doing>) {
        let open = Open { cancel: CancellationToken::new(), doing: Arc::default() };
        let begun = (open.cancel.clone(), Arc::clone(&open.doing));
        self.open().insert(id, open);
        begun
    }

    /// A task is over.
    pub fn end(&self, id: u32) {
        self.open().remove(&id);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u32, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops a task that waits or works. False if there is none.
    pub fn cancel(&self, id: u32) -> bool {
        self.open().get(&id).inspect(|open| open.cancel.cancel()).is_some()
    }

    fn doing(&self, id: u32) -> Option<(Option<String>, u64)> {
        Some(self.open().get(&id)?.doing.now())
    }

    fn summary(&self, task: &BackgroundTask) -> TaskSummary {
        let doing = self.doing(task.id);
        TaskSummary {
            id: task.id,
            question: one_line(&task.question, usize::MAX),
            folder: task.folder.as_path().into(),
            status: status(&task.state),
            created_ms: task.created_ms,
            ended_ms: task.ended_ms,
            tokens: doing.as_ref().map_or(task.tokens, |(_, tokens)| *tokens),
            has_changes: task.diff.is_some(),
            doing: doing.and_then(|(doing, _)| doing),
        }
    }

    /// All tasks, the newest first. Blocks.
    pub fn summaries(&self) -> Vec<TaskSummary> {
        self.tasks.all().iter().rev().map(|task| self.summary(task)).collect()
    }

    /// One task with all that came of it. Blocks.
    pub fn details(&self, id: u32) -> Option<TaskDetails> {
        let task = self.tasks.find(id)?;
        let error = match &task.state {
            TaskState::Failed(error) => Some(error.clone()),
            _ => None,
        };
        let diff = task.diff.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let is_whole = diff.len() <= MAX_TASK_DIFF_BYTES;
        Some(TaskDetails {
            summary: self.summary(&task),
            question: task.question.clone(),
            answer: task.answer,
            steps: task.steps,
            error,
            diff: head(&diff, MAX_TASK_DIFF_BYTES).to_owned(),
            is_diff_whole: is_whole,
            diff_file: task.diff.filter(|_| !task.has_secrets_left_out).map(|file| file.as_path().into()),
        })
    }
}

/// How far a task is, for clients.
pub(crate) fn status(state: &TaskState) -> TaskStatus {
    match state {
        TaskState::Queued => TaskStatus::Queued,
        TaskState::Running => TaskStatus::Running,
        TaskState::Done => TaskStatus::Ended(TaskEnd::Done),
        TaskState::Limit => TaskStatus::Ended(TaskEnd::Limit),
        TaskState::Refused => TaskStatus::Ended(TaskEnd::Refused),
        TaskState::Failed(_) => TaskStatus::Ended(TaskEnd::Failed),
        TaskState::Cancelled => TaskStatus::Ended(TaskEnd::Cancelled),
        TaskState::Interrupted => TaskStatus::Ended(TaskEnd::Interrupted),
    }
}

fn words(activity: &StepActivity) -> String {
    match activity {
        StepActivity::ModelCall { .. } => "thinking".to_owned(),
        StepActivity::Shared => "shared".to_owned(),
        StepActivity::ToolCall { tool, argument } => format!("{tool} {argument}"),
        StepActivity::Compaction => "shortening its conversation".to_owned(),
        StepActivity::Attachment { path } => format!("reading {path}"),
    }
}
