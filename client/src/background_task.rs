//! Runs tasks on separate threads, so that a disk that hangs does not hold up the terminal.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use cohab_impact::{Impact, Note, left_out::left_out, plan::Plan, walk};
use cohab_policy::{Caveat, user_rules::Rule};
use cohab_policy_io::{
    git_settings::{self, Environment},
    rules_file::RulesFile,
};
use cohab_protocol::{ApprovalId, CallId};
use tokio::sync::mpsc;

use crate::approval::LOOK_LIMIT;

/// Errands under way at once; more than that hang, and none is added.
const MAX_RUNNING: usize = 4;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Look at what commands would touch.
    Look {
        /// For whom.
        question: ApprovalId,
        /// A command each.
        plans: Vec<Plan>,
        /// What an undo will not bring back is looked for, too.
        is_dangerous: bool,
    },
    /// Add rules to the file: all or none.
    Store {
        /// For whom.
        question: ApprovalId,
        /// The rules.
        rules: Vec<Rule>,
    },
    /// Ask git what is set where a command starts it.
    AskGit {
        /// For which command.
        call: CallId,
        /// Where it starts git.
        folders: Vec<PathBuf>,
        /// The shell's variables that have a say in it; our own, if it does not report.
        environment: Option<Environment>,
    },
}

/// It is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskResult {
    /// What was seen, a command each.
    Looked {
        /// For whom.
        question: ApprovalId,
        /// What was seen.
        impacts: Vec<Impact>,
    },
    /// A rule was stored, or why not.
    Stored {
        /// For whom.
        question: ApprovalId,
        /// Why not, in a few words.
        result: Result<(), String>,
    },
    /// Git's settings are known, or not to be had.
    GitTold {
        /// For which command.
        call: CallId,
        /// Why it is not to run unasked, if so.
        caveat: Option<Caveat>,
    },
}

impl Task {
    /// Does it. May take long.
    #[must_use]
    pub fn run(self, rules: &RulesFile) -> TaskResult {
        match self {
            Self::Look { question, plans, is_dangerous } => {
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
            Self::Store { question, rules: added } => {
                let result = rules.add(&added).map_err(|error| error.to_string());
                TaskResult::Stored { question, result }
            }
            Self::AskGit { call, folders, environment } => {
                let environment =
                    environment.unwrap_or_else(|| Environment::of_variables(|name| std::env::var_os(name)));
                let caveat =
                    git_settings::why_not_unasked(&folders, &environment, Instant::now() + git_settings::LIMIT);
                TaskResult::GitTold { call, caveat }
            }
        }
    }
}

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
        let run = move || {
            let done = task.run(&rules);
            running.fetch_sub(1, Ordering::Relaxed);
            // The receiver may be gone.
            let _ = sender.send(done);
        };
        if std::thread::Builder::new().name("task".into()).spawn(run).is_err() {
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
