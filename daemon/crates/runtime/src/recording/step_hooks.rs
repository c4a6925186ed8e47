//! Records steps in two places: outermost are the model's wish and its final result, innermost the intent of a step is written before it
//! runs.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::{Denial, Fact, Middleware, PlannedCall, TurnObserver, state::Record};
use cohab_model_api::ModelProvider;

use super::TurnRecorder;

/// Outside of everything. Names each run of a call, so that records outside of the turn can name it, too.
pub struct Steps {
    /// The recorder.
    pub recorder: Arc<TurnRecorder>,
    /// The current model; after an answer it may be another one than before it.
    pub provider: Arc<dyn ModelProvider>,
}

#[async_trait]
impl Middleware for Steps {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.recorder.steps.planned(call);
        Ok(())
    }
}

#[async_trait]
impl TurnObserver for Steps {
    async fn observe(&self, fact: Fact<'_>) {
        let Self { recorder, provider } = self;
        match fact {
            Fact::Extended(state) => recorder.extended(state.messages(), state.rewrites()).await,
            Fact::ModelEnded(record) => {
                record.usage().into_iter().for_each(|usage| recorder.steps.took(usage));
                if matches!(record, Record::Answer { .. }) {
                    recorder.steps.answered_by(&provider.info());
                }
            }
            Fact::CallEnded(_, _, result) => recorder.steps.ran(result).await,
            Fact::StepEnded(state) => {
                recorder.step_done(state.messages(), state.rewrites());
                recorder.steps.step_done(state);
            }
            Fact::TurnEnded(state, result) => {
                recorder.step_done(state.messages(), state.rewrites());
                recorder.steps.turn_done(state, result).await;
            }
            _ => {}
        }
    }
}

/// Inside of everything: whatever comes after it happens.
pub struct IntentJournal(pub Arc<TurnRecorder>);

#[async_trait]
impl TurnObserver for IntentJournal {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::CallReached(call) = fact {
            self.0.steps.runs(call).await;
        }
    }
}
