//! The calls that are on: cards on which a server asks the user in the middle of one, which only the user answers and only for the call
//! that caused it, and what the server says of how far the call is.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver};
use cohab_text::sanitize::{one_line, sanitize};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ProgressNotificationParam};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::form::{FormField, ServerForm, content};

/// Most cards of one call; a server that asks on is declined.
const MAX_CARDS: usize = 40;
/// Longest address of a server, in bytes.
const ADDRESS_MAX_BYTES: usize = 1_000;
/// Most lines of a message.
const MESSAGE_MAX_LINES: usize = 12;
/// So often a value is asked for that does not fit.
const MAX_TRIES: usize = 3;
/// Longest message about how far a call is, in columns.
const PROGRESS_MAX_COLUMNS: usize = 60;
/// Longest message of a server, in characters.
const MESSAGE_MAX_CHARS: usize = 2_000;

/// A call whose user can be asked.
#[derive(Clone)]
struct AskingCall {
    id: u64,
    /// Who asks, in one line.
    by: String,
    approver: Arc<dyn Approver>,
    /// Cancelled when the call is over.
    over: CancellationToken,
    cards: Arc<AtomicUsize>,
    /// How far it is.
    said: watch::Sender<String>,
}

/// The calls of one connection whose users can be asked.
#[derive(Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<QuestionsState>>);

#[derive(Default)]
struct QuestionsState {
    made: u64,
    calls: Vec<AskingCall>,
    /// A question is not answered yet.
    is_open: bool,
    /// The server said how far its call is since that was last looked at.
    has_moved: bool,
}

/// A call that is on; its user is not asked any more once it is dropped.
pub(crate) struct OpenCall {
    questions: Questions,
    id: u64,
    said: watch::Receiver<String>,
}

impl OpenCall {
    /// Waits until the server says how far the call is, and returns the newest of that.
    pub(crate) async fn next_news(&mut self) -> String {
        // The sender lives until this call is dropped.
        let _ = self.said.changed().await;
        self.said.borrow_and_update().clone()
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut state = self.questions.lock();
        state.calls.iter().filter(|call| call.id == self.id).for_each(|call| call.over.cancel());
        state.calls.retain(|call| call.id != self.id);
    }
}

/// A question that is open until it is dropped.
struct OpenQuestion<'a>(&'a Questions);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.lock().is_open = false;
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
        let (over, cards, (news, said)) = (CancellationToken::new(), Arc::default(), watch::channel(String::new()));
        state.calls.push(AskingCall { id, by, approver, over, cards, said: news });
        drop(state);
        OpenCall { questions: self.clone(), id, said }
    }

    /// The server says how far its call is. Dropped where no call is on, or several.
    pub(crate) fn said(&self, progress: &ProgressNotificationParam) {
        let mut state = self.lock();
        state.has_moved = true;
        let said = how_far(progress);
        if let [call] = state.calls.as_slice()
            && !said.is_empty()
        {
            call.said.send_replace(said);
        }
    }

    /// Whether a call that takes long is not stuck: the user is being asked, or the server said since the last look how far it is.
    pub(crate) fn has_moved(&self) -> bool {
        let mut state = self.lock();
        std::mem::take(&mut state.has_moved) || state.is_open
    }

    /// Asks the user, until the call is over or the server withdraws. Declined where no call is on, or several: then it is not known
    /// whose question it is. Declined, too, while another question is open.
    pub(crate) async fn ask(&self, request: ElicitRequestParams, withdrawn: &CancellationToken) -> ElicitResult {
        let call = {
            let mut state = self.lock();
            let [call] = state.calls.as_slice() else { return ElicitResult::new(ElicitationAction::Decline) };
            let call = call.clone();
            if std::mem::replace(&mut state.is_open, true) {
                return ElicitResult::new(ElicitationAction::Decline);
            }
            call
        };
        let _open = OpenQuestion(self);
        tokio::select! {
            biased;
            () = call.over.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
            () = withdrawn.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
            result = call.answer(request) => result,
        }
    }
}

impl AskingCall {
    async fn answer(&self, request: ElicitRequestParams) -> ElicitResult {
        match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                match ServerForm::read(&schema) {
                    Ok(form) => self.fill(&shown(&message), &form).await,
                    Err(reason) => {
                        tracing::info!(server = self.by, reason, "a form of a server is not shown");
                        ElicitResult::new(ElicitationAction::Decline)
                    }
                }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                // One that is shown otherwise than it is written would lead elsewhere.
                let is_plain = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme))
                    && url.len() <= ADDRESS_MAX_BYTES
                    && url.bytes().all(|byte| byte.is_ascii_graphic());
                if !is_plain {
                    return ElicitResult::new(ElicitationAction::Decline);
                }
                let label = format!("that you open {url} yourself, then say yes");
                result(self.confirm(shown(&message), &label).await.map(|()| None))
            }
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }
}

/// `40 %, reading files`: how far a call is, in one line.
fn how_far(progress: &ProgressNotificationParam) -> String {
    let done = match progress.total {
        Some(total) if total > 0.0 => format!("{:.0} %", (100.0 * progress.progress / total).clamp(0.0, 100.0)),
        _ => String::new(),
    };
    let message = one_line(progress.message.as_deref().unwrap_or_default().trim(), PROGRESS_MAX_COLUMNS);
    let parts: Vec<String> = [done, message].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// A text of the server, harmless and not long, without empty lines.
fn shown(text: &str) -> String {
    let text = sanitize(&text.chars().take(MESSAGE_MAX_CHARS).collect::<String>());
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(MESSAGE_MAX_LINES).collect();
    lines.join("\n")
}

fn result(answered: Result<Option<Value>, ElicitationAction>) -> ElicitResult {
    match answered {
        Ok(Some(content)) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
        Ok(None) => ElicitResult::new(ElicitationAction::Accept),
        Err(action) => ElicitResult::new(action),
    }
}

impl AskingCall {
    /// Asks the user; no more once this call had so many cards.
    async fn card(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        if self.cards.fetch_add(1, Ordering::Relaxed) >= MAX_CARDS {
            return ApprovalAnswer::Refused { reason: "it asked too often".to_owned() };
        }
        self.approver.ask(question).await
    }

    async fn fill(&self, message: &str, form: &ServerForm) -> ElicitResult {
        if form.fields.is_empty() {
            let agreed = self.confirm(message.to_owned(), "yes agrees, no declines").await;
            return result(agreed.map(|()| Some(content([]))));
        }
        let mut values = Vec::new();
        for (at, field) in form.fields.iter().enumerate() {
            let place = match form.fields.len() {
                1 => String::new(),
                count => format!("{} of {count}: ", at + 1),
            };
            match self.value(message, &place, field).await {
                Ok(Some(value)) => values.push((field.name().to_owned(), value)),
                Ok(None) => {}
                Err(action) => return ElicitResult::new(action),
            }
        }
        result(Ok(Some(content(values))))
    }

    /// Asks for a value until it fits.
    async fn value(&self, message: &str, place: &str, field: &FormField) -> Result<Option<Value>, ElicitationAction> {
        let (mut proposed, mut reasons) = (field.proposed(), Vec::new());
        for _ in 0..MAX_TRIES {
            let subject = ApprovalSubject::Input {
                by: self.by.clone(),
                message: message.to_owned(),
                label: format!("{place}{}", field.label()),
                value: Some(proposed.clone()),
            };
            let typed = match self.card(ApprovalQuestion { reasons, ..ApprovalQuestion::about(subject) }).await {
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
        match self.card(ApprovalQuestion::about(subject)).await {
            ApprovalAnswer::Approved { .. } => Ok(()),
            ApprovalAnswer::Edited { .. } | ApprovalAnswer::Refused { .. } => Err(ElicitationAction::Decline),
            ApprovalAnswer::CancelTurn => Err(ElicitationAction::Cancel),
        }
    }
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
