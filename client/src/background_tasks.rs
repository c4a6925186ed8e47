//! Runs tasks on separate threads, so that a disk that hangs does not hold up the terminal.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use cohab_conversation::background_task::{GIT_LIMIT, LOOK_LIMIT, Task, TaskResult};
use cohab_impact::{Note, left_out::left_out, walk};
use cohab_policy::GitEnvironment;
use cohab_policy_io::{git_settings, rules_file::RulesFile};
use tokio::sync::mpsc;

/// Tasks under way at once; more than that hang, and none is added.
const MAX_RUNNING: usize = 4;

/// Runs tasks and reports when they are done.
#[derive(Debug)]
pub struct BackgroundTasks {
    rules: Arc<RulesFile>,
    running: Arc<AtomicUsize>,
    sender: mpsc::UnboundedSender<TaskResult>,
    done: mpsc::UnboundedReceiver<TaskResult>,
}

impl BackgroundTasks {
    /// Rules go to `rules`.
    #[must_use]
    pub fn new(rules: Arc<RulesFile>) -> Self {
        let (sender, done) = mpsc::unbounded_channel();
        Self { rules, running: Arc::default(), sender, done }
    }

    /// Begins a task. If too many hang, or no thread can be started, it is dropped: every caller has a limit.
    pub fn begin(&self, task: Task) {
        if self.running.fetch_add(1, Ordering::Relaxed) >= MAX_RUNNING {
            self.running.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let (rules, running, sender) = (Arc::clone(&self.rules), Arc::clone(&self.running), self.sender.clone());
        let work = move || {
            let done = run(task, &rules);
            running.fetch_sub(1, Ordering::Relaxed);
            // The receiver may be gone.
            let _ = sender.send(done);
        };
        if std::thread::Builder::new().name("task".into()).spawn(work).is_err() {
            self.running.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The next task that is done. Waits while no task is. Cancel-safe.
    pub async fn next(&mut self) -> TaskResult {
        match self.done.recv().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }
}

/// Does it. May take long.
fn run(task: Task, rules: &RulesFile) -> TaskResult {
    match task {
        Task::Look { question, plans, is_dangerous } => {
            let deadline = Instant::now() + LOOK_LIMIT * 2 / 3;
            let look = |plan| {
                let mut impact = walk::look(plan, deadline);
                let left_out = if is_dangerous { left_out(plan, deadline) } else { Vec::new() };
                impact.notes.extend((!left_out.is_empty()).then_some(Note::LeftOut(left_out)));
                impact
            };
            let impacts = plans.iter().map(look).collect();
            TaskResult::Looked { question, impacts }
        }
        Task::Store { question, rules: added } => {
            let result = rules.add(&added).map_err(|error| error.to_string());
            TaskResult::Stored { question, result }
        }
        Task::AskGit { call, folders, environment } => {
            let environment =
                environment.unwrap_or_else(|| GitEnvironment::of_variables(|name| std::env::var_os(name)));
            let caveat = git_settings::why_not_unasked(&folders, &environment, Instant::now() + GIT_LIMIT);
            TaskResult::GitTold { call, caveat }
        }
    }
}
