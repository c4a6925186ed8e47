//! Behaviour around the loop: one implementation per file in `middleware/` or `safety/`.

use std::{ops::ControlFlow, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_model_api::{JsonObject, ModelRequest, Overflow, TokenUsage, ToolCall, ToolResult};
use cohab_policy::Verdict;
use tokio::time::Instant;

use super::{
    error::{StopReason, TurnError},
    plan::StepKind,
    port::{Intent, StepResult},
    state::{Record, TurnState},
};

/// How a turn ends.
pub type TurnResult = Result<StopReason, TurnError>;

/// Takes part in a turn. Before-hooks run in the order of the list, after-hooks in reverse: the last of the list is innermost.
#[async_trait]
pub trait Middleware: Send + Sync {
    /// Before the first step. An answer that is known without the model ends the turn; no hook after this one is asked.
    async fn before_turn(&self, _state: &TurnState) -> Option<String> {
        None
    }

    /// Before each step, while nothing else happens in the turn. May wait; before a model call it may change the conversation
    /// ([`TurnState::rewrite`]). `Break` ends the turn so; calls that wait for results are not run then.
    async fn before_step(&self, _step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        ControlFlow::Continue(())
    }

    /// Completes when the turn must end whatever it does just now. It is cancelled then, and ends so.
    async fn cut_off(&self) -> TurnError {
        std::future::pending().await
    }

    /// What the model must learn before its next call, told once. It stands behind what the model reads last, and stays there: later
    /// requests begin with the same bytes. Must not wait.
    fn news(&self) -> Option<String> {
        None
    }

    /// May change a request before it is sent.
    async fn before_model(&self, _request: &mut ModelRequest) {}

    /// The service refused `request` as too long, with what it said of sizes. May shorten it; true if it is shorter now.
    async fn on_overflow(&self, _request: &mut ModelRequest, _sizes: Overflow) -> bool {
        false
    }

    /// An answer came, or a part of one. May complete what is known of its cost. Must not wait.
    fn after_model(&self, _usage: &mut TokenUsage) {}

    /// A model call is over, with all that came of it and what it took, after [`Middleware::after_model`]. Also of one that failed
    /// or was cancelled. Must not wait.
    fn model_ended(&self, _record: &Record) {}

    /// Sees the calls of an answer that has several, before the first of them runs. `Break`: the user ended the turn.
    async fn before_tools(&self, _calls: &[PlannedCall]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// May change a call before it runs, or deny it.
    ///
    /// # Errors
    /// The denial; the call does not run and no hook after this one is asked.
    async fn before_tool(&self, _call: &mut PlannedCall) -> Result<(), Denial> {
        Ok(())
    }

    /// How often a call that has failed may be repeated before the model learns of it.
    fn repeats(&self, _call: &PlannedCall) -> u32 {
        0
    }

    /// A call that was allowed has run. Calls that run at once end in any order, and nothing is told here of one that was cancelled.
    /// Must not wait.
    fn tool_ran(&self, _call: &PlannedCall, _outcome: StepResult) {}

    /// May change a result before the model sees it. Also called for calls that failed, were denied or were cancelled.
    async fn after_tool(&self, _result: &mut ToolResult) {}

    /// A call is over, with what the model is told of it, after [`Middleware::after_tool`]. In the order of the calls, also for those
    /// that could not be run. Must not wait.
    fn call_ended(&self, _call: &ToolCall, _outcome: StepResult, _result: &ToolResult) {}

    /// After each step, when the state holds what came of it. Must not wait.
    async fn after_step(&self, _state: &TurnState) {}

    /// The turn is over. Must not wait.
    async fn after_turn(&self, _state: &TurnState, _result: &TurnResult) {}
}

/// The consent of a call that a rule of the user's allows.
pub const BY_RULE: &str = "rule";

/// A tool call that is about to run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCall {
    /// Id of the call, as in [`ToolResult::call_id`].
    pub call_id: String,
    /// Number of its step in the turn, from 0; `None` while it is only foreseen.
    pub step: Option<u32>,
    /// What this run is known by elsewhere, and after the daemon's end; empty if it is not kept. Hexadecimal digits.
    pub run_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: Arc<JsonObject>,
    /// What they would do.
    pub intent: Intent,
    /// Working directory of the shell.
    pub cwd: PathBuf,
    /// The policy's word on it, once it is judged.
    pub verdict: Option<Verdict>,
    /// Consent for exactly this call, if it was needed: the client's record, or [`BY_RULE`].
    pub approval: Option<String>,
    /// When the user agreed to this one run, if they did.
    pub agreed_at: Option<Instant>,
    /// What the model must know to understand the result: stands before it.
    pub note: Option<String>,
}

impl PlannedCall {
    /// A call that nobody has judged yet, of no step.
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
}

/// Why a call does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The model is told and may go on.
    Refused {
        /// For the model.
        reason: String,
    },
    /// The user ended the turn.
    CancelTurn,
}
