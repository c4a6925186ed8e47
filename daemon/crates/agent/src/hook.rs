//! Hooks into the loop: [`Middleware`] sees each step of a turn and may change it. What only looks is a `TurnObserver`.
//! Each implementation is one file of `cohab-runtime` or `cohab-guard`; none is named here.

use std::{ops::ControlFlow, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_model_api::{JsonObject, ModelRequest, Overflow, ToolCall, ToolResult};
use cohab_policy::{Level, Verdict};
use tokio::time::Instant;

use super::{
    error::{StopReason, TurnError},
    plan::StepKind,
    port::{Effect, Intent},
    state::TurnState,
};

/// The result of a turn.
pub type TurnResult = Result<StopReason, TurnError>;

/// Takes part in a turn. Before-hooks run in the order of the list, after-hooks in reverse: the last of the list is innermost.
#[async_trait]
pub trait Middleware: Send + Sync {
    /// Runs before each step, while nothing else happens in the turn. May wait; before a model call it may change the conversation
    /// ([`TurnState::rewrite`]). `Break` ends the turn with that result; calls that wait for results do not run then.
    async fn before_step(&self, _step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        ControlFlow::Continue(())
    }

    /// Returns a note for the model's next call; each note is returned once. The note is appended to the text that the model reads next
    /// and stays there, so that later requests begin with the same bytes. Must not wait.
    fn pending_notes(&self) -> Option<String> {
        None
    }

    /// May change a request before it is sent. `refused` are the sizes that the service named when it refused the same request as too
    /// long; returns whether that one is shorter now. It is sent once more then.
    async fn before_model(&self, _request: &mut ModelRequest, _refused: Option<Overflow>) -> bool {
        false
    }

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

    /// May change a result before the model sees it. Also called for calls that failed, were denied or were cancelled.
    async fn after_tool(&self, _result: &mut ToolResult) {}
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
    /// The reason to ask the user about just this call, whatever else allows it.
    pub must_ask: Option<String>,
    /// The number of times that the call may be repeated before the model learns that it failed.
    pub repeats: u32,
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
            must_ask: None,
            repeats: 0,
        }
    }

    /// Whether the call changes nothing, for all that is known.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        match &self.intent.effect {
            Effect::RunCommand { .. } => self.verdict.as_ref().is_some_and(|verdict| verdict.level == Level::Allow),
            Effect::Read { .. } | Effect::Internal => true,
            Effect::Write { .. } | Effect::Foreign { .. } => false,
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
