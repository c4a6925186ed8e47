//! Asks again before a call that may have run before the end of an earlier daemon, in every mode.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cohab_agent::{
    Denial, Middleware, PlannedCall,
    hook::BY_RULE,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver},
};
use cohab_model_api::JsonObject;
use cohab_store::sessions::steps::Step;
use serde_json::Value;

/// Why it is asked.
const REASON: &str = "it may have run already: the daemon ended suddenly while it was running";

/// Calls that may have run already.
#[derive(Debug, Default)]
pub struct UncertainCalls(Mutex<Vec<(String, Value)>>);

impl UncertainCalls {
    /// Those of these steps.
    #[must_use]
    pub fn of(unknown: &[Step]) -> Self {
        let same = |step: &Step| {
            (
                step.metadata.tool.clone().unwrap_or_default(),
                step.input.arguments().map_or(Value::Null, |args| essence(args)),
            )
        };
        Self(Mutex::new(unknown.iter().map(same).collect()))
    }

    /// The result of this step is known by now.
    pub fn settle(&self, step: &Step) {
        let tool = step.metadata.tool.as_deref().unwrap_or_default();
        step.input.arguments().map(|args| self.take(tool, args));
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether it is one of them. Removes it: the answer settles it.
    fn take(&self, tool: &str, args: &JsonObject) -> bool {
        let essence = essence(args);
        let mut unknown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = unknown.iter().position(|(known, args)| known == tool && *args == essence);
        place.map(|place| unknown.remove(place)).is_some()
    }
}

/// For a continued turn. Stands inside the gate: a call that the user has just approved is not asked about twice.
pub struct Doubt {
    /// What is asked about.
    pub doubts: Arc<UncertainCalls>,
    /// Asks.
    pub approver: Arc<dyn Approver>,
}

/// The identity of a call: of a command only its text, regardless of its time limit.
fn essence(args: &JsonObject) -> Value {
    match args.get("command").and_then(Value::as_str) {
        Some(command) => Value::String(command.trim().to_owned()),
        None => Value::Object(args.clone()),
    }
}

#[async_trait]
impl Middleware for Doubt {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        if self.doubts.is_empty()
            || !self.doubts.take(&call.tool, &call.args)
            || call.approval.as_deref().is_some_and(|approval| approval != BY_RULE)
        {
            return Ok(());
        }
        let subject = ApprovalSubject::Effect { tool: call.tool.clone(), effect: call.intent.effect.clone() };
        let question = ApprovalQuestion {
            is_dangerous: true,
            reasons: vec![REASON.to_owned()],
            ..ApprovalQuestion::about(subject)
        };
        match self.approver.ask(question).await {
            ApprovalAnswer::Approved { approval, .. } => {
                call.approval = approval.or(call.approval.take());
                Ok(())
            }
            ApprovalAnswer::Refused { reason } => Err(Denial::Refused { reason: format!("not run again: {reason}") }),
            ApprovalAnswer::Edited { command, .. } => {
                let reason = format!("not run again; the user would rather run this, so call it: {command}");
                Err(Denial::Refused { reason })
            }
            ApprovalAnswer::CancelTurn => Err(Denial::CancelTurn),
        }
    }
}

#[cfg(test)]
#[path = "uncertain_calls_tests.rs"]
mod tests;
