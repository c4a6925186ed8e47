//! Asks for a final answer without tools after the step limit, and gives the model the reason.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use cohab_agent::{Middleware, TurnState, hook::TurnResult, plan::StepKind};

const NOTE: &str = "[The limit of steps for one question is reached: no tool runs any more. Answer now with what you know, and say \
                    what is done, what is not, and how to go on.]";

/// For one turn.
#[derive(Default)]
pub struct LastAnswer(AtomicBool);

#[async_trait]
impl Middleware for LastAnswer {
    async fn before_step(&self, step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        self.0.store(step == StepKind::ModelCall { allow_tools: false }, Ordering::Relaxed);
        ControlFlow::Continue(())
    }

    fn pending_notes(&self) -> Option<String> {
        self.0.swap(false, Ordering::Relaxed).then(|| NOTE.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_answer_is_told_of() {
        let middleware = LastAnswer::default();
        let mut state = TurnState::new(Vec::new(), "q".into());
        for (step, is_told) in [
            (StepKind::ModelCall { allow_tools: true }, false),
            (StepKind::ToolCalls, false),
            (StepKind::ModelCall { allow_tools: false }, true),
        ] {
            assert!(middleware.before_step(step, &mut state).await.is_continue());
            assert_eq!(middleware.pending_notes().is_some(), is_told, "{step:?}");
            assert_eq!(middleware.pending_notes(), None, "told once");
        }
    }
}
