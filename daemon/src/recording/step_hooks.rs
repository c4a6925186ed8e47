//! Steps on record: one hook outside of everything sees what is wanted and what the model is told in the end, one inside of
//! everything writes down what is about to run.

use std::sync::Arc;

use async_trait::async_trait;

use super::TurnRecorder;
use crate::agent::{
    Denial, Middleware, PlannedCall, TurnResult, TurnState,
    port::{TokenUsage, ToolResult},
};

/// Outside of everything.
pub struct Steps(pub Arc<TurnRecorder>);

#[async_trait]
impl Middleware for Steps {
    fn after_model(&self, usage: &mut TokenUsage) {
        self.0.steps.took(usage);
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.0.steps.planned(call);
        Ok(())
    }

    async fn after_tool(&self, result: &mut ToolResult) {
        self.0.steps.ran(result);
    }

    async fn after_step(&self, state: &TurnState) {
        self.0.step_done(state.messages(), state.rewrites());
        self.0.steps.step_done(state);
    }

    async fn after_turn(&self, state: &TurnState, result: &TurnResult) {
        self.0.step_done(state.messages(), state.rewrites());
        self.0.steps.turn_done(state, result).await;
    }
}

/// Inside of everything: whatever comes after it happens.
pub struct Intents(pub Arc<TurnRecorder>);

#[async_trait]
impl Middleware for Intents {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.0.steps.runs(call).await;
        Ok(())
    }
}
