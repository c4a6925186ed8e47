//! Decides the next step of a turn from its state alone. Pure.

use cohab_model_api::{ProviderError, ProviderErrorKind, StopClass};

use super::{
    error::{StopReason, TurnError},
    state::{Progress, TurnState},
};

/// Number of answers in a row without a single usable call after which the turn fails.
pub const MAX_BAD_ANSWERS: u32 = 3;

/// Bounds of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Model calls with tools, 0 for any number; one more call without tools follows for a summary.
    pub model_calls: u32,
}

/// The decision of [`next_step`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run a step.
    Run(StepKind),
    /// End the turn.
    Stop(StopReason),
    /// End the turn as a failure.
    Fail(TurnError),
}

/// Kinds of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Ask the model.
    ModelCall {
        /// Whether the model may call tools.
        allow_tools: bool,
    },
    /// Run the pending calls.
    ToolCalls,
}

/// Decides the next step from the state alone.
#[must_use]
pub fn next_step(state: &TurnState, limits: TurnLimits) -> Next {
    match state.progress() {
        Progress::Tools { .. } | Progress::Attaching => Next::Run(StepKind::ToolCalls),
        Progress::Model => {
            let (answers, last) = state.bad_answers();
            if answers >= MAX_BAD_ANSWERS {
                return Next::Fail(TurnError::BrokenCalls { answers, last: last.to_owned() });
            }
            model_call(state, limits)
        }
        Progress::Answered(StopClass::Length) => Next::Stop(StopReason::Length),
        Progress::Answered(StopClass::Refusal) => Next::Stop(StopReason::Refused),
        // The provider has continued the answer as often as it may; the text so far is the answer.
        Progress::Answered(StopClass::Pause) => Next::Stop(StopReason::Answered),
        Progress::Answered(StopClass::End | StopClass::Tool) if state.is_final() => Next::Stop(StopReason::StepLimit),
        Progress::Answered(StopClass::End | StopClass::Tool) if state.has_spoken() => Next::Stop(StopReason::Answered),
        Progress::Answered(StopClass::End | StopClass::Tool) => Next::Fail(TurnError::Provider(empty_answer())),
    }
}

fn model_call(state: &TurnState, limits: TurnLimits) -> Next {
    if limits.model_calls == 0 || state.model_calls() < limits.model_calls {
        Next::Run(StepKind::ModelCall { allow_tools: true })
    } else if state.is_final() {
        Next::Stop(StopReason::StepLimit)
    } else {
        Next::Run(StepKind::ModelCall { allow_tools: false })
    }
}

fn empty_answer() -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::EmptyAnswer,
        message: "the model gave an empty answer".into(),
        hint: Some("local models do this when the conversation is too long for them".into()),
        retry_after: None,
        overflow: None,
    }
}

#[cfg(test)]
mod tests;
