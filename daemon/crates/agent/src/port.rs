//! The agent's ports: tools, the sink of its events, the person who approves. No implementation is named here or anywhere in this
//! crate.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
pub use cohab_model_api::{JsonObject, TokenUsage, ToolSpec};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::runner::CommandRunner;

pub use super::consent::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Lasts};

// --- tools ------------------------------------------------------------------------------------------------------------

/// Something the model can use. One file each in `tool/`.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// What this call would do, so that the gate can judge and show it before it happens. Reads nothing but what the preview
    /// needs (an edit's diff).
    ///
    /// # Errors
    /// Text for the model, when the arguments make no sense.
    fn intent(&self, args: &JsonObject, cwd: &std::path::Path) -> Result<Intent, String>;

    /// Does it. `Err` is text for the model, too; neither ends the turn. Arguments passed `intent` before.
    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String>;
}

/// What a tool call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its main argument in one line, for the step line: the command, the path, the pattern.
    pub title: String,
    /// What it touches.
    pub effect: Effect,
}

/// What a tool call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Runs a shell line.
    RunCommand {
        /// The exact text. Stands in argument `command`. Shared: it may be megabytes.
        command: Arc<str>,
    },
    /// Reads a file or below a folder.
    Read {
        /// Absolute.
        path: PathBuf,
    },
    /// Writes a file.
    Write {
        /// Absolute.
        path: PathBuf,
        /// Unified diff.
        diff: Arc<str>,
    },
    /// Nothing but the session's own notes, or texts that the user keeps for the assistant.
    Internal,
}

/// What a tool may use while it runs.
pub struct ToolContext<'a> {
    /// The shell: live where there is one, else isolated.
    pub runner: &'a dyn CommandRunner,
    /// Consent for exactly this call, if it was needed; goes to the client with the command.
    pub approval: Option<String>,
    /// `PlannedCall::run_id`.
    pub run_id: String,
    /// Fires when the turn is cancelled.
    pub cancel: &'a CancellationToken,
}

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// Text for the model.
    pub content: String,
    /// A few words for the step line: `12 lines`, `exit 1`, `3 files`.
    pub summary: String,
    /// Whether the step is shown as failed (a command with exit status != 0 is still a result).
    pub is_failure: bool,
}

// --- the user ---------------------------------------------------------------------------------------------------------

/// Takes what happens in a turn, in order. Never waits longer than its bounded queue is full.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Delivers one event.
    async fn emit(&self, event: TurnEvent);
}

/// What happens in a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    /// Text of the answer.
    Text(String),
    /// Visible reasoning.
    Reasoning(String),
    /// The text since the last step is void.
    Reset,
    /// A step begins.
    StepStarted {
        /// Number in the turn, from 0.
        step: u32,
        /// What it is.
        activity: Activity,
    },
    /// A step is over.
    StepFinished {
        /// Number in the turn.
        step: u32,
        /// How it went.
        outcome: StepResult,
        /// A few words.
        summary: String,
        /// How long it took.
        elapsed: Duration,
    },
    /// What the turn took until now, after a model call that took anything.
    Spent {
        /// Summed over its model calls.
        usage: TokenUsage,
        /// Whether a call cost something that is not known, beside what is.
        is_cost_partial: bool,
    },
    /// Something to know.
    Notice(String),
    /// A request will be repeated.
    Retry {
        /// Why.
        reason: String,
        /// Wait before it.
        after: Duration,
    },
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Waits for the model `wire/model`.
    ModelCall {
        /// `wire/model`.
        model: String,
    },
    /// Runs a tool.
    ToolCall {
        /// Its name.
        tool: String,
        /// `Intent::title`, or a remark when the call cannot be run.
        title: String,
    },
    /// Makes the conversation shorter.
    Compaction,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepResult {
    /// As asked.
    Done,
    /// The tool or the model failed.
    Failed,
    /// The user or the policy said no.
    Refused,
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// Asks the person at the keyboard.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the answer. Nobody there, or a lost connection: `Refused`.
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer;

    /// Asks about several things at once; an answer each, in order. `CancelTurn` among them ends it.
    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        let mut answers = Vec::new();
        for question in questions {
            let answer = self.ask(question).await;
            let is_last = answer == ApprovalAnswer::CancelTurn;
            answers.push(answer);
            if is_last {
                break;
            }
        }
        answers
    }
}
