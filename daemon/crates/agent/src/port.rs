//! Defines the agent's ports: tools, the sink of its events, the user who approves. This crate names no implementation of them.

use std::{path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_model_api::Image;
pub use cohab_model_api::{JsonObject, TokenUsage, ToolSpec};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{TurnError, TurnState, runner::CommandRunner};

pub use super::consent::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Lasts};

// --- tools ------------------------------------------------------------------------------------------------------------

/// A tool of the model. Each implementation is one file in `tool/`.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the description for the model.
    fn spec(&self) -> ToolSpec;

    /// Returns the intent of a call, so that the gate can judge and show the call before it runs. Reads nothing except the input of the
    /// preview (an edit's diff).
    ///
    /// # Errors
    /// Text for the model, when the arguments are not valid.
    fn intent(&self, args: &JsonObject, cwd: &std::path::Path) -> Result<Intent, String>;

    /// Whether calls may run at the same time as others. Those that only read files always do.
    fn runs_beside_others(&self) -> bool {
        false
    }

    /// Runs the call; its arguments have passed `intent` before. `Err` is text for the model, too; neither result ends the turn.
    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String>;
}

/// The intent of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its main argument in one line, for the step line: the command, the path, the pattern.
    pub title: String,
    /// Its effect.
    pub effect: Effect,
}

/// The effect of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Runs a shell line.
    RunCommand {
        /// The exact text, equal to the argument `command`. Shared, since it may be megabytes.
        command: Arc<str>,
    },
    /// Reads a file, or files below a folder.
    Read {
        /// Absolute.
        path: PathBuf,
        /// The expression that is searched for there; `None` if the file itself is read.
        pattern: Option<String>,
    },
    /// Writes a file.
    Write {
        /// Absolute.
        path: PathBuf,
        /// Unified diff.
        diff: Arc<str>,
    },
    /// Touches only the session's own notes, or texts that the user keeps for the assistant.
    Internal,
    /// Has something done by a program that is not part of cohab, such as an MCP server.
    Foreign {
        /// Who acts, in one line: `MCP server time`.
        by: String,
        /// Name of the action there. It is text of that program.
        action: String,
        /// What the user should see of the action, such as its arguments as text.
        details: Arc<str>,
        /// What the user said of this action beforehand. Consent for the session holds for further actions of the same name.
        agreed: Agreed,
    },
}

/// What the user said of an action before it came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// Nothing.
    No,
    /// A rule allows such actions.
    ByRule,
    /// The question of this turn asks for exactly this.
    InQuestion,
}

/// The environment of a running tool.
pub struct ToolContext<'a> {
    /// The shell: the live one if there is one, else an isolated one.
    pub runner: &'a dyn CommandRunner,
    /// Consent for exactly this call, if it was needed; goes to the client with the command.
    pub approval: Option<String>,
    /// `PlannedCall::run_id`.
    pub run_id: String,
    /// Whether the call checks a goal: a command that did not end with status 0 is a failure then.
    pub is_check: bool,
    /// Fires when the turn is cancelled.
    pub cancel: &'a CancellationToken,
    /// Takes news of the call: how far it is.
    pub sink: &'a dyn EventSink,
}

/// The output of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// Text for the model.
    pub content: String,
    /// A few words for the step line: `12 lines`, `exit 1`, `3 files`.
    pub summary: String,
    /// Whether the step is shown as failed. A command with exit status != 0 is still a result.
    pub is_failure: bool,
    /// An image that was read. The model sees it if the question names its file; the model's own calls give text alone.
    pub image: Option<Image>,
}

impl ToolOutput {
    /// The output of a call that did what it should.
    #[must_use]
    pub fn text(content: String, summary: String) -> Self {
        Self { content, summary, is_failure: false, image: None }
    }
}

// --- the user ---------------------------------------------------------------------------------------------------------

/// Receives the events of a turn, in order. Waits only while its bounded queue is full.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Delivers one event. Text may wait for the next pause or event of another kind.
    async fn emit(&self, event: TurnEvent);

    /// The model has sent no more so far: all text must go to the user now.
    fn pause(&self);
}

/// A sink for calls whose news nobody reads.
pub struct NoSink;

#[async_trait]
impl EventSink for NoSink {
    async fn emit(&self, _: TurnEvent) {}

    fn pause(&self) {}
}

/// An event of a turn.
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
        /// The activity of the step.
        activity: Activity,
    },
    /// A step is over.
    StepFinished {
        /// Number in the turn.
        step: u32,
        /// The outcome.
        outcome: StepResult,
        /// The outcome in a few words.
        summary: String,
        /// Duration of the step.
        elapsed: Duration,
        /// What the user should see of it.
        detail: Option<StepDetail>,
        /// Whether the step could only read.
        only_reads: bool,
    },
    /// The usage of the turn so far; sent after each model call that used anything.
    Spent {
        /// Summed over its model calls.
        usage: TokenUsage,
        /// Whether a call had a cost that is unknown, in addition to the known cost.
        is_cost_partial: bool,
    },
    /// How far the running step is, in a few words, one line: `40 %, reading files`.
    StepProgress(String),
    /// News of a subagent that works for the turn.
    Subagent(SubagentProgress),
    /// These words, which the user added to the turn, are part of the conversation.
    Extended(String),
    /// A notice for the user.
    Notice(String),
    /// A request will be repeated.
    Retry {
        /// The reason.
        reason: String,
        /// Wait before it.
        after: Duration,
    },
}

/// How far a subagent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentProgress {
    /// Its number in the turn, from 1.
    pub number: u32,
    /// Its kind: `explore`.
    pub kind: String,
    /// Its task in a few words, one line.
    pub label: String,
    /// What it does.
    pub state: SubagentState,
    /// Tokens that it took so far.
    pub tokens: u64,
    /// Time since it began.
    pub elapsed: Duration,
}

/// What a subagent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubagentState {
    /// It works.
    Working(Activity),
    /// It is over.
    Ended(StepResult),
}

/// More about a finished step, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepDetail {
    /// The unified diff of the file that the step has changed.
    Change(Arc<str>),
    /// The result of a command that has failed.
    Failure(String),
    /// Lines of a result that is more than a glance.
    Lines(u32),
}

/// The activity of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Waits for the model `wire/model`.
    ModelCall {
        /// `wire/model`.
        model: String,
        /// Whether it waits for programs that come by themselves.
        is_host: bool,
    },
    /// Runs a tool.
    ToolCall {
        /// Its name.
        tool: String,
        /// `Intent::title`, or a remark if the call cannot be run.
        title: String,
    },
    /// Makes the conversation shorter.
    Compaction,
    /// Reads what the question names.
    Attachment {
        /// `Intent::title` of the call that reads it.
        path: String,
    },
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepResult {
    /// The step did what was asked.
    Done,
    /// The tool or the model failed.
    Failed,
    /// The user or the policy said no.
    Refused,
    /// The turn was cancelled during the step.
    Cancelled,
}

/// Asks the user for consent.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the answer. Without an attached client, or when the connection is lost, the answer is `Refused`.
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer;

    /// Asks several questions together and returns one answer each, in order. A `CancelTurn` among the answers ends the turn.
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

// --- the turn ---------------------------------------------------------------------------------------------------------

/// Knows answers without the model.
#[async_trait]
pub trait KnownAnswers: Send + Sync {
    /// Returns the answer to the question of a turn that begins, if it is known. The turn ends with it.
    async fn answer(&self, state: &TurnState) -> Option<String>;
}

/// Returns what the user added to the turn since it was called last; each addition is returned once. Called where the model can read
/// another message of the user, and where it ended its answer: the turn then continues. Must not wait.
pub type TakeAdditions = Arc<dyn Fn() -> Vec<Addition> + Send + Sync>;

/// Returns the tokens that were used since it was called last, accounted for. Called after each step. Must not wait.
pub type TakeSpent = Arc<dyn Fn() -> TokenUsage + Send + Sync>;

/// Words that the user adds to a running turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// As the user wrote them.
    pub words: String,
    /// The message for the model.
    pub message: String,
}

/// May object to the end of a turn.
#[async_trait]
pub trait BeforeStop: Send + Sync {
    /// The model calls its answer the last one. Returns what it should read to continue; the turn ends with `None`. Dropped if the turn is
    /// cancelled meanwhile.
    async fn objection(&self, state: &TurnState) -> Option<String>;
}

/// Bounds the time of a turn.
#[async_trait]
pub trait Deadline: Send + Sync {
    /// Completes when the turn must end immediately. The turn is then cancelled and ends with this error.
    async fn passed(&self) -> TurnError;
}
