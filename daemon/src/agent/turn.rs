//! The loop: plan, execute, apply, until the planner says stop.

use std::{collections::BTreeMap, sync::Arc};

use cohab_shell_relay::runner::CommandRunner;
use tokio_util::sync::CancellationToken;

use super::{
    error::{StopReason, TurnError},
    hook::Middleware,
    plan::{Next, StepKind, TurnLimits, next_step},
    port::{EventSink, ModelProvider, Tool, TurnEvent},
    state::{Progress, TurnState},
};

/// Everything a turn works with.
pub struct Agent {
    /// Who answers.
    pub provider: Arc<dyn ModelProvider>,
    /// What it can use, by name.
    pub tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Behaviour around the loop, outermost first.
    pub middleware: Vec<Arc<dyn Middleware>>,
    /// The shell for the tools.
    pub runner: Arc<dyn CommandRunner>,
    /// The system prompt.
    pub system: String,
    /// Bounds.
    pub limits: TurnLimits,
}

impl Agent {
    /// Runs a turn to its end. Whatever comes back, the conversation in `state` is complete: every call has a result, and text
    /// that was shown is kept.
    ///
    /// # Errors
    /// When the turn failed. A tool's failure is none.
    pub async fn run_turn(
        &self,
        state: &mut TurnState,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Result<StopReason, TurnError> {
        loop {
            if cancel.is_cancelled() && state.progress() == Progress::Model {
                return Ok(StopReason::Cancelled);
            }
            let record = match next_step(state, self.limits) {
                Next::Stop(reason) => return Ok(reason),
                Next::Fail(error) => return Err(error),
                Next::Run(StepKind::ModelCall { allow_tools }) => {
                    self.call_model(state, allow_tools, sink, cancel).await
                }
                Next::Run(StepKind::ToolCalls) => self.call_tools(state, sink, cancel).await,
            };
            let taken_before = state.usage();
            let applied = state.apply(record);
            if state.usage() != taken_before {
                let (usage, is_cost_partial) = (state.usage(), state.is_cost_partial());
                sink.emit(TurnEvent::Spent { usage, is_cost_partial }).await;
            }
            for middleware in self.middleware.iter().rev() {
                middleware.after_step(state).await;
            }
            applied?;
        }
    }
}

#[cfg(test)]
mod tests;
