//! Hooks into the loop: [`Middleware`] sees each step of a turn and may change it.
//! Each implementation is one file in `middleware/` or `safety/` of the daemon; none is named here.

use std::{ops::ControlFlow, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_model_api::{JsonObject, ModelRequest, Overflow, TokenUsage, ToolCall, ToolResult};
use cohab_policy::{Level, Verdict};
use tokio::time::Instant;

use super::{
    error::{StopReason, TurnError},
    plan::StepKind,
    port::{Effect, Intent, StepResult},
    state::{Record, TurnState},
};

/// The result of a turn.
pub type TurnResult = Result<StopReason, TurnError>;

/// Takes part in a turn. Before-hooks run in the order of the list, after-hooks in reverse: the last of the list is innermost.
#[async_trait]
pub trait Middleware: Send + Sync {
    /// Runs before the first step. An answer that is known without the model ends the turn; later hooks are not asked then.
    async fn before_turn(&self, _state: &TurnState) -> Option<String> {
        None
    }

    /// Runs before each step, while nothing else happens in the turn. May wait; before a model call it may change the conversation
    /// ([`TurnState::rewrite`]). `Break` ends the turn with that result; calls that wait for results do not run then.
    async fn before_step(&self, _step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        ControlFlow::Continue(())
    }

    /// Completes when the turn must end immediately. The turn is then cancelled and ends with this error.
    async fn abort_signal(&self) -> TurnError {
        std::future::pending().await
    }

    /// Returns a note for the model's next call; each note is returned once. The note is appended to the text that the model reads next
    /// and stays there, so that later requests begin with the same bytes. Must not wait.
    fn pending_notes(&self) -> Option<String> {
        None
    }

    /// Returns what the user added to the turn since this was called last; each addition is returned once. Called where the model can read
    /// another message of the user, and where it ended its answer: the turn then continues. Must not wait.
    fn additions(&self) -> Vec<Addition> {
        Vec::new()
    }

    /// Runs when additions are part of the conversation, before the user learns of it.
    async fn extended(&self, _state: &TurnState) {}

    /// May change a request before it is sent.
    async fn before_model(&self, _request: &mut ModelRequest) {}

    /// Handles a request that the service refused as too long; `sizes` are the sizes that the service named. May shorten the request;
    /// returns whether it is shorter now.
    async fn on_overflow(&self, _request: &mut ModelRequest, _sizes: Overflow) -> bool {
        false
    }

    /// Runs when an answer, or a part of one, arrived. May complete its cost. Must not wait.
    fn after_model(&self, _usage: &mut TokenUsage) {}

    /// Runs when a model call is over, with its outcome and its usage, after [`Middleware::after_model`]. Also runs for a call that failed
    /// or was cancelled. Must not wait.
    fn model_ended(&self, _record: &Record) {}

    /// Sees the calls of an answer with several calls, before the first of them runs. `Break`: the user ended the turn.
    async fn before_tools(&self, _calls: &[PlannedCall]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// May change a call before it runs, or deny it.
    ///
    /// # Errors
    /// The denial; the call does not run, and later hooks are not asked.
    async fn before_tool(&self, _call: &mut PlannedCall) -> Result<(), Denial> {
        Ok(())
    }

    /// Returns the number of times that a failed call may be repeated before the model learns of the failure.
    fn repeats(&self, _call: &PlannedCall) -> u32 {
        0
    }

    /// Runs after an allowed call has run. Calls that run at the same time end in any order. Is not called for a cancelled call. Must not
    /// wait.
    fn tool_ran(&self, _call: &PlannedCall, _outcome: StepResult) {}

    /// May change a result before the model sees it. Also called for calls that failed, were denied or were cancelled.
    async fn after_tool(&self, _result: &mut ToolResult) {}

    /// Runs when a call is over, with the result for the model, after [`Middleware::after_tool`]. Runs in the order of the calls, also for
    /// calls that could not be run. Must not wait.
    fn call_ended(&self, _call: &ToolCall, _outcome: StepResult, _result: &ToolResult) {}

    /// Runs after each step, when the state holds its outcome. Must not wait.
    async fn after_step(&self, _state: &TurnState) {}

    /// Runs when the turn is over. Must not wait.
    async fn after_turn(&self, _state: &TurnState, _result: &TurnResult) {}
}

/// Words that the user adds to a running turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// As the user wrote them.
    pub words: String,
    /// The message for the model.
    pub message: String,
}

/// Stands for the consent of a call that one of the user's rules allows.
pub const BY_RULE: &str = "rule";

/// A tool call that is about to run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCall {
    /// Id of the call, as in [`ToolResult::call_id`].
    pub call_id: String,
    /// Number of its step in the turn, from 0; `None` while the call is only previewed.
    pub step: Option<u32>,
    /// Id of this run in records outside the turn, also after the daemon ends; empty if the run is not recorded. Hexadecimal digits.
    pub run_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: Arc<JsonObject>,
    /// The effect that it would have.
    pub intent: Intent,
    /// Working directory of the shell.
    pub cwd: PathBuf,
    /// The policy's verdict, once there is one.
    pub verdict: Option<Verdict>,
    /// Consent for exactly this call, if it was needed: the client's record, or [`BY_RULE`].
    pub approval: Option<String>,
    /// The time at which the user agreed to this one run, if they did.
    pub agreed_at: Option<Instant>,
    /// A note that the model needs to understand the result: stands before the result.
    pub note: Option<String>,
}

impl PlannedCall {
    /// Makes a call without a verdict and without a step.
    #[must_use]
    pub fn new(call: &ToolCall, args: impl Into<Arc<JsonObject>>, intent: Intent, cwd: PathBuf) -> Self {
        let (call_id, tool, args) = (call.id.clone(), call.name.clone(), args.into());
        Self {
            call_id,
            step: None,
            run_id: String::new(),
            tool,
            args,
            intent,
            cwd,
            verdict: None,
            approval: None,
            agreed_at: None,
            note: None,
        }
    }

    /// Whether the call changes nothing, for all that is known.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        match &self.intent.effect {
            Effect::RunCommand { .. } => self.verdict.as_ref().is_some_and(|verdict| verdict.level == Level::Allow),
            Effect::Read { .. } | Effect::Internal => true,
            Effect::Write { .. } => false,
        }
    }
}

/// The reason for a call not to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The model gets the reason and may continue.
    Refused {
        /// The reason, for the model.
        reason: String,
    },
    /// The user ended the turn.
    CancelTurn,
}
