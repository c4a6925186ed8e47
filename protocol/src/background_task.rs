//! Messages of the daemon about background tasks.

use serde::{Deserialize, Serialize};

use crate::WirePath;

/// A background task in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSummary {
    /// Its number.
    pub id: u32,
    /// The question, one line.
    pub question: String,
    /// The folder that it was asked in.
    pub folder: WirePath,
    /// How far it is.
    pub status: TaskStatus,
    /// When it was asked, in milliseconds of Unix time.
    pub created_ms: i64,
    /// When it ended, in milliseconds of Unix time.
    pub ended_ms: Option<i64>,
    /// Tokens that it took so far.
    pub tokens: u64,
    /// Whether it changed files in its copy of the repository.
    pub has_changes: bool,
    /// What it does now, if it works.
    pub doing: Option<String>,
}

/// How far a background task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskStatus {
    /// It waits for its turn.
    Queued,
    /// It works.
    Running,
    /// It is over.
    Ended(TaskEnd),
}

/// How a background task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskEnd {
    /// With an answer.
    Done,
    /// At a limit: the answer is what was found until then.
    Limit,
    /// The model refused.
    Refused,
    /// With an error.
    Failed,
    /// The user stopped it.
    Cancelled,
    /// The daemon ended while it worked.
    Interrupted,
}

/// A background task with all that came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDetails {
    /// The task in short.
    pub summary: TaskSummary,
    /// The whole question.
    pub question: String,
    /// The answer; empty while there is none.
    pub answer: String,
    /// Its steps, one line each.
    pub steps: Vec<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// The unified diff of what it changed, at most `MAX_TASK_DIFF_BYTES`; empty if it changed nothing.
    pub diff: String,
    /// Whether that is all of it.
    pub is_diff_whole: bool,
    /// The file that holds the diff.
    pub diff_file: Option<WirePath>,
}

/// A background task is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnded {
    /// Its number.
    pub id: u32,
    /// The start of the question, one line.
    pub question: String,
    /// How it ended.
    pub end: TaskEnd,
    /// Whether it changed files in its copy of the repository.
    pub has_changes: bool,
}
