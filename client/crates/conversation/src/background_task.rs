//! The tasks that the client requests on the side, as data: what looks at a disk that may hang does not hold up the terminal.

use std::{path::PathBuf, time::Duration};

use cohab_impact::{Impact, plan::Plan};
use cohab_policy::{Caveat, GitEnvironment, user_rules::Rule};
use cohab_protocol::{ApprovalId, CallId};

/// Limit for looking at files, for a disk that hangs.
pub const LOOK_LIMIT: Duration = Duration::from_millis(150);
/// Git reports its settings within this time, or they count as unknown.
pub const GIT_LIMIT: Duration = Duration::from_secs(2);

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
        environment: Option<GitEnvironment>,
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
