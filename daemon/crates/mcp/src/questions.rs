//! What a server asks the user in the middle of a call, as cards: only the user answers, and only for the call that caused it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver};
use cohab_text::sanitize::sanitize;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;

use crate::form::{FormField, ServerForm, content};

/// So often a value is asked for that does not fit.
const MAX_TRIES: usize = 3;
/// Longest message of a server, in characters.
const MESSAGE_MAX_CHARS: usize = 2_000;
/// What the user does with an address of a server.
const OPEN: &str = "open this address yourself, then say yes";

/// A call whose user can be asked.
#[derive(Clone)]
struct AskingCall {
    id: u64,
    /// Who asks, in one line.
    by: String,
    approver: Arc<dyn Approver>,
}

/// The calls of one connection whose users can be asked.
#[derive(Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<QuestionsState>>);

#[derive(Default)]
struct QuestionsState {
    made: u64,
    calls: Vec<AskingCall>,
    /// Number of questions that are not answered.
    open: usize,
}

/// A call that is on; its user is not asked any more once it is dropped.
pub(crate) struct OpenCall {
    questions: Questions,
    id: u64,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.questions.lock().calls.retain(|call| call.id != self.id);
    }
}

/// Counts a question as open until it is dropped.
struct OpenQuestion<'a>(&'a Questions);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.lock().open -= 1;
    }
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, QuestionsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins, whose user can be asked.
    pub(crate) fn begin(&self, by: String, approver: Arc<dyn Approver>) -> OpenCall {
        let mut state = self.lock();
        state.made += 1;
        let id = state.made;
        state.calls.push(AskingCall { id, by, approver });
        drop(state);
        OpenCall { questions: self.clone(), id }
    }

    /// Whether a user is being asked.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().open > 0
    }

    /// Asks the user. Declined where no call is on, or several: then it is not known whose question it is.
    pub(crate) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let call = {
            let mut state = self.lock();
            let [call] = state.calls.as_slice() else { return ElicitResult::new(ElicitationAction::Decline) };
            let call = call.clone();
            state.open += 1;
            call
        };
        let _open = OpenQuestion(self);
        match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                match ServerForm::read(&schema) {
                    Ok(form) => call.fill(&shown(&message), &form).await,
                    Err(reason) => {
                        tracing::info!(server = call.by, reason, "a form of a server is not shown");
                        ElicitResult::new(ElicitationAction::Decline)
                    }
                }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                let message = format!("{}\n{}", shown(&message), shown(&url));
                result(call.confirm(message, OPEN).await.map(|()| None))
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }
}

/// A text of the server, harmless and not long.
fn shown(text: &str) -> String {
    sanitize(&text.chars().take(MESSAGE_MAX_CHARS).collect::<String>())
}

fn result(answered: Result<Option<Value>, ElicitationAction>) -> ElicitResult {
    match answered {
        Ok(Some(content)) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
        Ok(None) => ElicitResult::new(ElicitationAction::Accept),
        Err(action) => ElicitResult::new(action),
    }
}

impl AskingCall {
    async fn fill(&self, message: &str, form: &ServerForm) -> ElicitResult {
        if form.fields.is_empty() {
            let agreed = self.confirm(message.to_owned(), "yes agrees, no declines").await;
            return result(agreed.map(|()| Some(content([]))));
        }
        let mut values = Vec::new();
        for (at, field) in form.fields.iter().enumerate() {
            let place = match form.fields.len() {
                1 => String::new(),
                count => format!(" ({} of {count})", at + 1),
            };
            match self.value(format!("{message}{place}"), field).await {
                Ok(Some(value)) => values.push((field.name().to_owned(), value)),
                Ok(None) => {}
                Err(action) => return ElicitResult::new(action),
            }
        }
        result(Ok(Some(content(values))))
    }

    /// Asks for a value until it fits.
    async fn value(&self, message: String, field: &FormField) -> Result<Option<Value>, ElicitationAction> {
        let (mut proposed, mut reasons) = (field.proposed(), Vec::new());
        for _ in 0..MAX_TRIES {
            let subject = ApprovalSubject::Input {
                by: self.by.clone(),
                message: message.clone(),
                label: field.label(),
                value: Some(proposed.clone()),
            };
            let typed = match self.approver.ask(ApprovalQuestion { reasons, ..ApprovalQuestion::about(subject) }).await
            {
                ApprovalAnswer::Approved { .. } => proposed.clone(),
                ApprovalAnswer::Edited { command, .. } => command,
                ApprovalAnswer::Refused { .. } => return Err(ElicitationAction::Decline),
                ApprovalAnswer::CancelTurn => return Err(ElicitationAction::Cancel),
            };
            match field.parse(&typed) {
                Ok(value) => return Ok(value),
                Err(reason) => (proposed, reasons) = (typed, vec![reason]),
            }
        }
        Err(ElicitationAction::Decline)
    }

    async fn confirm(&self, message: String, label: &str) -> Result<(), ElicitationAction> {
        let subject = ApprovalSubject::Input { by: self.by.clone(), message, label: label.to_owned(), value: None };
        match self.approver.ask(ApprovalQuestion::about(subject)).await {
            ApprovalAnswer::Approved { .. } => Ok(()),
            ApprovalAnswer::Edited { .. } | ApprovalAnswer::Refused { .. } => Err(ElicitationAction::Decline),
            ApprovalAnswer::CancelTurn => Err(ElicitationAction::Cancel),
        }
    }
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
