//! The log of a run: what happened, in the order in which it counts. It is all that a run needs to continue. Pure.

use serde::{Deserialize, Serialize};

/// Most bytes of one result of a node; a longer one is cut in the middle.
pub const OUTPUT_MAX_BYTES: usize = 64 * 1024;

/// One visit of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Visited {
    /// Name of the node.
    pub node: String,
    /// Its number among the visits of this node, from 1.
    pub visit: u32,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum LogEntry {
    /// A key has this value from the start.
    Set {
        /// Name of the key.
        key: String,
        /// The value as text.
        text: String,
    },
    /// A node that must not run twice begins.
    Began(Visited),
    /// The user lets a node run again that had begun and whose end is unknown.
    Repeated(Visited),
    /// A node is finished.
    Finished {
        /// The visit.
        #[serde(flatten)]
        visited: Visited,
        /// What came out.
        outcome: NodeOutcome,
    },
    /// The run came to a stop.
    Stopped {
        /// Why.
        status: RunStatus,
    },
}

/// What came out of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeOutcome {
    /// The planner decided about it.
    Passed,
    /// A text.
    Text(String),
    /// The output and the exit status of a command.
    Command {
        /// The output.
        text: String,
        /// The status.
        status: i32,
    },
    /// It failed, for this reason.
    Failed(String),
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It came to an end that is done.
    Done,
    /// It came to an end that is failed, or a node failed.
    Failed,
    /// It had as many steps as it may.
    Limit,
    /// The user cancelled it.
    Cancelled,
    /// It waits for the user.
    Waiting,
    /// It runs now. Never in a log.
    Running,
    /// Its process ended before it came to a stop. Never in a log.
    Interrupted,
}

impl RunStatus {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Cancelled => "cancelled",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether nothing more can happen in the run.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Limit)
    }
}
