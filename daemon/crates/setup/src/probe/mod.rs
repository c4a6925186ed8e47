//! The probe sends one request to a model and shows its events as they come, and their sum. It executes nothing.

pub mod json;
pub mod text;

use std::{io, time::Duration};

use cohab_model_api::{ModelEvent, ModelProvider, ModelRequest, ProviderError, StopClass, TokenUsage, ToolCall};
use futures::StreamExt as _;
use tokio::time::Instant;

/// The sum of an answer's events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fold {
    /// Text of the answer.
    pub text: String,
    /// Visible reasoning.
    pub reasoning: String,
    /// Text of a refusal.
    pub refusal: String,
    /// Calls in order; none unless the answer is complete.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens, as far as they are known.
    pub usage: TokenUsage,
    /// Number of repeated requests.
    pub retries: u32,
    /// The end.
    pub end: Option<End>,
    /// From the request to the first event that is part of the answer.
    pub first_event: Option<Duration>,
    /// From the request to the end.
    pub total: Duration,
}

/// The end of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Complete, by the wire's own mark.
    Stop(StopClass),
    /// Refused or failed.
    Failed(ProviderError),
    /// Cut; one sentence.
    Incomplete(String),
}

impl Fold {
    /// Takes the next event, which came `at` after the request.
    pub fn push(&mut self, event: &ModelEvent, at: Duration) {
        self.total = at;
        if !matches!(event, ModelEvent::Retrying { .. } | ModelEvent::Notice(_)) {
            self.first_event.get_or_insert(at);
        }
        match event {
            ModelEvent::TextDelta(text) => self.text.push_str(text),
            ModelEvent::ReasoningDelta(text) => self.reasoning.push_str(text),
            ModelEvent::RefusalDelta(text) => self.refusal.push_str(text),
            ModelEvent::ToolCallDone(call) => self.tool_calls.push(call.clone()),
            ModelEvent::Usage(usage) => self.usage.update(*usage),
            ModelEvent::Notice(_) => {}
            ModelEvent::Retrying { discard_shown, .. } => {
                self.retries += 1;
                self.first_event = None;
                if *discard_shown {
                    self.text.clear();
                    self.reasoning.clear();
                    self.refusal.clear();
                }
            }
            ModelEvent::Stop { class, .. } => self.end = Some(End::Stop(*class)),
            ModelEvent::Failed(error) => self.break_off(End::Failed(error.clone())),
            ModelEvent::Incomplete { reason } => self.break_off(End::Incomplete(reason.clone())),
        }
    }

    fn break_off(&mut self, end: End) {
        self.tool_calls.clear();
        self.end = Some(end);
    }

    /// Whether the answer is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.end, Some(End::Stop(_)))
    }
}

/// Shows events and their fold.
pub trait Show {
    /// One event, which came `at` after the request.
    ///
    /// # Errors
    /// The output is closed.
    fn event(&mut self, event: &ModelEvent, at: Duration) -> io::Result<()>;

    /// Shows the fold at the end.
    ///
    /// # Errors
    /// The output is closed.
    fn fold(&mut self, fold: &Fold) -> io::Result<()>;
}

/// Sends `request` and shows its events.
///
/// # Errors
/// The output is closed; the request is then dropped.
pub async fn probe(provider: &dyn ModelProvider, request: ModelRequest, show: &mut dyn Show) -> io::Result<Fold> {
    let started = Instant::now();
    let mut events = provider.stream(request);
    let mut fold = Fold::default();
    while let Some(event) = events.next().await {
        let at = started.elapsed();
        fold.push(&event, at);
        show.event(&event, at)?;
    }
    fold.total = started.elapsed();
    show.fold(&fold)?;
    Ok(fold)
}

/// The name of a stop class in output.
#[must_use]
pub fn class_name(class: StopClass) -> &'static str {
    match class {
        StopClass::End => "end",
        StopClass::Tool => "tool",
        StopClass::Length => "length",
        StopClass::Refusal => "refusal",
        StopClass::Pause => "pause",
    }
}

#[cfg(test)]
mod tests;
