//! Runs hooks before the user is asked: one may object, and the user is not asked then. None can answer for the user.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver};

use crate::{
    event::HookEvent,
    hook_set::Spoken,
    input::{Occasion, ToolUse},
    tool_names::{input_of_effect, shown_name},
    turn::TurnHooks,
};

/// Asks through another approver, unless a hook objects.
pub struct HookedApprover {
    /// The other approver.
    pub inner: Arc<dyn Approver>,
    /// The hooks.
    pub hooks: Arc<TurnHooks>,
}

impl HookedApprover {
    /// The refusal by a hook, if there is one.
    async fn refusal(&self, question: &ApprovalQuestion) -> Option<ApprovalAnswer> {
        let ApprovalSubject::Effect { tool, effect } = &question.subject else { return None };
        let call = ToolUse { id: String::new(), tool: tool.clone(), input: input_of_effect(effect) };
        let outcome = self.hooks.run(&Occasion::PermissionRequest(call)).await;
        if outcome.is_cancelled {
            return Some(ApprovalAnswer::CancelTurn);
        }
        let by = outcome.blocked()?;
        self.hooks.report_block(HookEvent::PermissionRequest, tool, &by);
        let Spoken { hook, text } = by;
        Some(ApprovalAnswer::Refused { reason: format!("not run: the user's hook `{hook}` objects: {text}") })
    }

    fn notify(&self, question: &ApprovalQuestion) {
        let message = match &question.subject {
            ApprovalSubject::Effect { tool, .. } => {
                format!("cohab needs your permission to use {}", shown_name(tool))
            }
            ApprovalSubject::LocalServer { .. } | ApprovalSubject::GoOn { .. } | ApprovalSubject::Input { .. } => {
                "cohab is waiting for your answer".to_owned()
            }
        };
        // The card must not wait for it.
        let hooks = Arc::clone(&self.hooks);
        tokio::spawn(async move { hooks.run(&Occasion::Notification { message }).await });
    }
}

#[async_trait]
impl Approver for HookedApprover {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        if let Some(refusal) = self.refusal(&question).await {
            return refusal;
        }
        self.notify(&question);
        self.inner.ask(question).await
    }

    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        let mut refusals = Vec::with_capacity(questions.len());
        for question in &questions {
            refusals.push(self.refusal(question).await);
        }
        let open = questions.into_iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
        let open: Vec<ApprovalQuestion> = open.map(|(question, _)| question).collect();
        let Some(first) = open.first() else { return refusals.into_iter().flatten().collect() };
        self.notify(first);
        let mut answers = self.inner.ask_all(open).await.into_iter();
        // A list that ends early ends with the user's word to end the turn.
        refusals.into_iter().map_while(|refusal| refusal.or_else(|| answers.next())).collect()
    }
}

#[cfg(test)]
#[path = "approver_tests.rs"]
mod tests;
