//! Runs the loop of a turn: plan, execute, apply, until the planner says stop.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use cohab_model_api::{ModelProvider, TokenUsage};
use tokio_util::sync::CancellationToken;

use super::{
    error::{StopReason, TurnError},
    goal::{GoalEnd, GoalStep, MAX_ROUNDS},
    hook::TurnResult,
    observer::Fact,
    plan::{Next, StepKind, TurnLimits, next_step},
    port::{EventSink, Tool, TurnEvent},
    stack::TurnStack,
    state::{Progress, TurnState},
};
use crate::{TurnPorts, runner::CommandRunner};

/// The result of calls that did not run because a hook ended the turn.
const NOT_RUN: &str = "not run: the turn was stopped before this call";

/// The parts that a turn works with.
pub struct Agent {
    /// The model's provider.
    pub provider: Arc<dyn ModelProvider>,
    /// The tools, by name.
    pub tools: BTreeMap<String, Arc<dyn Tool>>,
    /// The middleware and the observers around the loop.
    pub stack: TurnStack,
    /// What else the loop asks.
    pub ports: TurnPorts,
    /// The shell for the tools.
    pub runner: Arc<dyn CommandRunner>,
    /// The system prompt.
    pub system: String,
    /// The bounds of a turn.
    pub limits: TurnLimits,
}

impl Agent {
    /// Runs a turn to its end. With any result, the conversation in `state` is complete: every call has a result, and shown text is kept.
    ///
    /// # Errors
    /// The turn failed. A tool's failure is not an error of the turn.
    pub async fn run_turn(
        &self,
        state: &mut TurnState,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> TurnResult {
        let result = match self.known_answer(state, sink, cancel).await {
            Some(reason) => Ok(reason),
            None => self.run_until_cut_off(state, sink, cancel).await,
        };
        self.stack.tell(Fact::TurnEnded(state, &result)).await;
        result
    }

    async fn run_until_cut_off(
        &self,
        state: &mut TurnState,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> TurnResult {
        let mut passed = std::pin::pin!(async {
            match &self.ports.deadline {
                Some(deadline) => deadline.passed().await,
                None => std::future::pending().await,
            }
        });
        let mut steps = std::pin::pin!(self.run_steps(state, sink, cancel));
        let mut cut = None;
        loop {
            tokio::select! {
                biased;
                result = &mut steps => {
                    let was_cut = result == Ok(StopReason::Cancelled);
                    return cut.filter(|_| was_cut).map_or(result, Err);
                }
                error = &mut passed, if cut.is_none() => {
                    cut = Some(error);
                    cancel.cancel();
                }
            }
        }
    }

    async fn run_steps(&self, state: &mut TurnState, sink: &dyn EventSink, cancel: &CancellationToken) -> TurnResult {
        loop {
            self.take_additions(state, sink, cancel).await;
            if cancel.is_cancelled() && state.progress() == Progress::Model {
                return Ok(StopReason::Cancelled);
            }
            if let Some(result) = self.reached_goal(state, sink).await {
                return result;
            }
            let step = match next_step(state, self.limits) {
                Next::Stop(StopReason::Answered) if self.ports.goal.is_some() => {
                    if self.check_goal(state, sink).await {
                        continue;
                    }
                    return Ok(StopReason::StepLimit);
                }
                Next::Stop(StopReason::Answered) => match self.objection_to_stop(state, cancel).await {
                    Some(message) => {
                        state.extend(message);
                        continue;
                    }
                    None => return Ok(StopReason::Answered),
                },
                Next::Stop(reason) => return Ok(reason),
                Next::Fail(error) => return Err(error),
                Next::Run(step) => step,
            };
            if let ControlFlow::Break(result) = self.before_step(step, state, cancel).await {
                state.give_up_calls(NOT_RUN);
                return result;
            }
            let record = match step {
                StepKind::ModelCall { allow_tools } => self.call_model(state, allow_tools, sink, cancel).await,
                StepKind::ToolCalls => self.call_tools(state, sink, cancel).await,
            };
            let taken_before = state.usage();
            let applied = state.apply(record);
            self.take_beside(state);
            if state.usage() != taken_before {
                let (usage, is_cost_partial) = (state.usage(), state.is_cost_partial());
                sink.emit(TurnEvent::Spent { usage, is_cost_partial }).await;
            }
            self.stack.tell(Fact::StepEnded(state)).await;
            applied?;
        }
    }

    /// Makes what the user added part of the conversation. Reports it only then: what is not reported is not lost.
    async fn take_additions(&self, state: &mut TurnState, sink: &dyn EventSink, cancel: &CancellationToken) {
        if cancel.is_cancelled() || !state.can_be_extended() {
            return;
        }
        let additions = self.ports.additions.as_ref().map(|take| take()).unwrap_or_default();
        if additions.is_empty() {
            return;
        }
        additions.iter().for_each(|addition| state.extend(addition.message.clone()));
        self.stack.tell(Fact::Extended(state)).await;
        for addition in additions {
            sink.emit(TurnEvent::Extended(addition.words)).await;
        }
    }

    /// What the model should read instead of ending the turn here.
    async fn objection_to_stop(&self, state: &TurnState, cancel: &CancellationToken) -> Option<String> {
        let before_stop = self.ports.before_stop.as_ref()?;
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            objection = before_stop.objection(state) => objection,
        }
    }

    /// The end that the last check of the goal gives the turn, before the model is asked again.
    async fn reached_goal(&self, state: &mut TurnState, sink: &dyn EventSink) -> Option<TurnResult> {
        let goal = self.ports.goal.as_ref().filter(|_| state.progress() == Progress::Model)?;
        match goal.end()? {
            GoalEnd::Reached => {
                let text = format!("The goal is reached: `{}` succeeds.", goal.check());
                sink.emit(TurnEvent::Text(text.clone())).await;
                state.answer_with(text);
                Some(Ok(StopReason::Answered))
            }
            GoalEnd::Refused => {
                let message =
                    format!("the check `{}` was refused, so nothing shows whether the goal is reached", goal.check());
                Some(Err(TurnError::Stopped { message, hint: None }))
            }
        }
    }

    /// The model calls its answer the last one: the check of the goal runs next. False if it ran as often as it may.
    async fn check_goal(&self, state: &mut TurnState, sink: &dyn EventSink) -> bool {
        match self.ports.goal.as_ref().map(|goal| goal.answered()) {
            Some(GoalStep::Check(message, attachments)) => {
                state.extend(message);
                state.attach(attachments);
                true
            }
            Some(GoalStep::Limit) => {
                let text = format!("The goal is not reached after {MAX_ROUNDS} checks.");
                sink.emit(TurnEvent::Notice(text)).await;
                false
            }
            None => false,
        }
    }

    /// Charges the turn with what its tools took. Returns whether that is anything.
    fn take_beside(&self, state: &mut TurnState) -> bool {
        let beside = self.ports.spent_beside.as_ref().map(|take| take()).unwrap_or_default();
        let is_any = beside != TokenUsage::default();
        if is_any {
            state.spend(beside);
        }
        is_any
    }

    /// The same beside a step; the user learns of it.
    async fn charge_beside(&self, state: &mut TurnState, sink: &dyn EventSink) {
        if self.take_beside(state) {
            let (usage, is_cost_partial) = (state.usage(), state.is_cost_partial());
            sink.emit(TurnEvent::Spent { usage, is_cost_partial }).await;
        }
    }

    /// Returns an answer in place of the model's.
    async fn known_answer(
        &self,
        state: &mut TurnState,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Option<StopReason> {
        let answers = self.ports.known_answers.as_ref()?;
        let text = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            text = answers.answer(state) => text,
        }?;
        self.charge_beside(state, sink).await;
        sink.emit(TurnEvent::Text(text.clone())).await;
        state.answer_with(text);
        Some(StopReason::Answered)
    }

    /// Calls the hooks before a step. A turn that is cancelled while a hook waits continues to the step, which notices the cancellation.
    async fn before_step(
        &self,
        step: StepKind,
        state: &mut TurnState,
        cancel: &CancellationToken,
    ) -> ControlFlow<TurnResult> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => ControlFlow::Continue(()),
            flow = self.stack.before_step(step, state) => flow,
        }
    }
}

#[cfg(test)]
mod tests;
