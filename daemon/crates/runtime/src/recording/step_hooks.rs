//! Records steps with two hooks: the outermost sees the model's wish and its final result, the innermost writes the intent of a step
//! before it runs.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::{Denial, Middleware, PlannedCall, TurnResult, TurnState, state::Record};
use cohab_model_api::{ModelProvider, TokenUsage, ToolResult};

use super::TurnRecorder;

/// The outermost hook.
pub struct Steps {
    /// The recorder.
    pub recorder: Arc<TurnRecorder>,
    /// The current model; after an answer it may be another one than before it.
    pub provider: Arc<dyn ModelProvider>,
}

#[async_trait]
impl Middleware for Steps {
    fn after_model(&self, usage: &mut TokenUsage) {
        self.recorder.steps.took(usage);
    }

    fn model_ended(&self, record: &Record) {
        if matches!(record, Record::Answer { .. }) {
            self.recorder.steps.answered_by(&self.provider.info());
        }
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.recorder.steps.planned(call);
        Ok(())
    }

    async fn after_tool(&self, result: &mut ToolResult) {
        self.recorder.steps.ran(result);
    }

    async fn extended(&self, state: &TurnState) {
        self.recorder.extended(state.messages(), state.rewrites()).await;
    }

    async fn after_step(&self, state: &TurnState) {
        self.recorder.step_done(state.messages(), state.rewrites());
        self.recorder.steps.step_done(state);
    }

    async fn after_turn(&self, state: &TurnState, result: &TurnResult) {
        self.recorder.step_done(state.messages(), state.rewrites());
        self.recorder.steps.turn_done(state, result).await;
    }
}

/// Inside of everything: whatever comes after it happens.
pub struct IntentJournal(pub Arc<TurnRecorder>);

#[async_trait]
impl Middleware for IntentJournal {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.0.steps.runs(call).await;
        Ok(())
    }
}
