//! The user's rules for steps, by kind, tool or model: let it go ahead, ask, leave it out, stop the turn, repeat what failed. They
//! only ever narrow: what is asked or refused for safety's sake stays so.

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
use globset::GlobMatcher;

/// Kinds of step that rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call of the model.
    Model,
    /// A call of a tool.
    Tool,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// As without a rule; later rules are not looked at.
    Allow,
    /// The user is asked first.
    Ask,
    /// The tool does not run, and the model is told.
    Skip,
    /// The turn ends.
    Stop,
    /// What failed is repeated so often; tools only if they just read.
    Retry(u32),
}

/// One rule. The first that fits decides.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Which steps.
    pub kind: Kind,
    /// Of which tools; all if absent.
    pub tool: Option<GlobMatcher>,
    /// While which models answer; all if absent.
    pub model: Option<GlobMatcher>,
    /// What becomes of them.
    pub action: Action,
    /// Why, in the user's words.
    pub reason: Option<String>,
}

/// All rules, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Rules(pub Vec<Rule>);

impl Rules {
    /// The rule for a call of this model.
    #[must_use]
    pub fn of_model(&self, model: &str) -> Option<&Rule> {
        self.find(Kind::Model, None, model)
    }

    /// The rule for a call of this tool by this model.
    #[must_use]
    pub fn of_tool(&self, tool: &str, model: &str) -> Option<&Rule> {
        self.find(Kind::Tool, Some(tool), model)
    }

    fn find(&self, kind: Kind, tool: Option<&str>, model: &str) -> Option<&Rule> {
        let fits = |pattern: &Option<GlobMatcher>, name: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| name.is_some_and(|name| pattern.is_match(name)))
        };
        self.0.iter().find(|rule| rule.kind == kind && fits(&rule.tool, tool) && fits(&rule.model, Some(model)))
    }

    /// Why a call of this tool is to be asked about, if it is.
    #[must_use]
    pub fn must_ask(&self, tool: &str, model: &str) -> Option<String> {
        let rule = self.of_tool(tool, model).filter(|rule| rule.action == Action::Ask)?;
        Some(rule.because("your rule asks for it"))
    }
}

impl Rule {
    /// The user's reason behind what the rule does.
    fn because(&self, what: &str) -> String {
        match &self.reason {
            Some(reason) => format!("{what}: {reason}"),
            None => what.to_owned(),
        }
    }

    fn stopped(&self, step: &str) -> TurnError {
        TurnError::Stopped {
            message: self.because(&format!("your rule stops the turn before {step}")),
            hint: Some("the rules are `[[step_rules]]` in config.toml".into()),
        }
    }
}

/// Follows the rules in one turn. Asking about tools is the gate's.
pub struct StepRules {
    rules: Arc<Rules>,
    model: String,
    approver: Arc<dyn Approver>,
    /// The user has agreed to this model for the turn.
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
            Action::Stop => ControlFlow::Break(Err(rule.stopped(&step))),
            Action::Ask if !self.has_agreed.load(Ordering::Relaxed) => {
                let what = format!("{}.", rule.because(&format!("The next step is {step}, and your rule asks for it")));
                let question = ApprovalQuestion::about(ApprovalSubject::GoOn { what });
                match self.approver.ask(question).await {
                    ApprovalAnswer::Approved { .. } | ApprovalAnswer::Edited { .. } => {
                        self.has_agreed.store(true, Ordering::Relaxed);
                        ControlFlow::Continue(())
                    }
                    ApprovalAnswer::CancelTurn => ControlFlow::Break(Ok(StopReason::Cancelled)),
                    ApprovalAnswer::Refused { .. } => ControlFlow::Break(Err(rule.stopped(&step))),
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
        // Before any of them runs: half an answer's calls may be worse than none.
        let stopped = state.pending_calls().iter().find_map(|call| {
            let rule = self.rules.of_tool(&call.name, &self.model).filter(|rule| rule.action == Action::Stop)?;
            Some(rule.stopped(&format!("`{}`", call.name)))
        });
        stopped.map_or(ControlFlow::Continue(()), |error| ControlFlow::Break(Err(error)))
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let rule = self.rules.of_tool(&call.tool, &self.model).filter(|rule| rule.action == Action::Skip);
        rule.map_or(Ok(()), |rule| Err(Denial::Refused { reason: rule.because("left out by a rule of the user's") }))
    }

    fn repeats(&self, call: &PlannedCall) -> u32 {
        match (self.rules.of_tool(&call.tool, &self.model).map(|rule| rule.action), &call.intent.effect) {
            (Some(Action::Retry(times)), Effect::Read { .. }) => times,
            _ => 0,
        }
    }
}

#[cfg(test)]
#[path = "step_rules_tests.rs"]
mod tests;
