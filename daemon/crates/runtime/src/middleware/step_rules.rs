//! Applies the user's rules for steps, by kind, tool or model: allow, ask, skip, stop the turn, retry failures. Rules only narrow: a
//! question or refusal for safety's sake remains.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use cohab_agent::{
    Denial, Middleware, PlannedCall, StopReason, TurnError, TurnState,
    hook::TurnResult,
    plan::StepKind,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect},
};
use cohab_config::step_rules::{Action, Rule, Rules};

/// Applies the rules in one turn. Questions about tools are the gate's task.
pub struct StepRules {
    rules: Arc<Rules>,
    model: String,
    approver: Arc<dyn Approver>,
    /// Whether the user agreed to this model for the turn.
    has_agreed: AtomicBool,
}

impl StepRules {
    /// For a turn that `model` answers.
    #[must_use]
    pub fn new(rules: Arc<Rules>, model: String, approver: Arc<dyn Approver>) -> Self {
        Self { rules, model, approver, has_agreed: AtomicBool::new(false) }
    }

    async fn before_model_call(&self) -> ControlFlow<TurnResult> {
        let Some(rule) = self.rules.of_model(&self.model) else { return ControlFlow::Continue(()) };
        let step = format!("asking {}", self.model);
        match rule.action {
            Action::Stop => ControlFlow::Break(Err(stopped(rule, &step))),
            Action::Ask if !self.has_agreed.load(Ordering::Relaxed) => {
                let what =
                    format!("{}.", rule.because(&format!("The next step is {step}; your rule requires a question")));
                let question = ApprovalQuestion::about(ApprovalSubject::GoOn { what });
                match self.approver.ask(question).await {
                    ApprovalAnswer::Approved { .. } | ApprovalAnswer::Edited { .. } => {
                        self.has_agreed.store(true, Ordering::Relaxed);
                        ControlFlow::Continue(())
                    }
                    ApprovalAnswer::CancelTurn => ControlFlow::Break(Ok(StopReason::Cancelled)),
                    ApprovalAnswer::Refused { .. } => ControlFlow::Break(Err(stopped(rule, &step))),
                }
            }
            Action::Allow | Action::Ask | Action::Skip | Action::Retry(_) => ControlFlow::Continue(()),
        }
    }
}

#[async_trait]
impl Middleware for StepRules {
    async fn before_step(&self, step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        if matches!(step, StepKind::ModelCall { .. }) {
            return self.before_model_call().await;
        }
        // Checked before any of them runs: half of an answer's calls may be worse than none.
        let stopped = state.pending_calls().iter().find_map(|call| {
            let rule = self.rules.of_tool(&call.name, &self.model).filter(|rule| rule.action == Action::Stop)?;
            Some(stopped(rule, &format!("`{}`", call.name)))
        });
        stopped.map_or(ControlFlow::Continue(()), |error| ControlFlow::Break(Err(error)))
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let Some(rule) = self.rules.of_tool(&call.tool, &self.model) else { return Ok(()) };
        match (rule.action, &call.intent.effect) {
            (Action::Skip, _) => {
                return Err(Denial::Refused { reason: rule.because("left out by a rule of the user's") });
            }
            // What only reads may run again. No hook makes a read of anything else.
            (Action::Retry(times), Effect::Read { .. }) => call.repeats = times,
            _ => {}
        }
        Ok(())
    }
}

fn stopped(rule: &Rule, step: &str) -> TurnError {
    TurnError::Stopped {
        message: rule.because(&format!("your rule stops the turn before {step}")),
        hint: Some("the rules are `[[step_rules]]` in config.toml".into()),
    }
}

#[cfg(test)]
#[path = "step_rules_tests.rs"]
mod tests;
