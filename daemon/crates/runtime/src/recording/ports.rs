//! Wraps the ports of the agent with ones that take notes.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    port::{EventSink, TurnEvent},
    runner::CommandRunner,
};
use cohab_store::sessions::event::Event;
use cohab_text::sanitize::sanitize_prose;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use tokio_util::sync::CancellationToken;

use super::TurnRecorder;

/// Longest text of one step that is held back for the record, in bytes.
const MAX_HELD_BYTES: usize = 4 * 1024 * 1024;

/// Records the model's texts.
pub struct RecordingSink<S> {
    inner: S,
    recorder: Arc<TurnRecorder>,
}

impl<S> RecordingSink<S> {
    /// Passes everything on to `inner`.
    #[must_use]
    pub fn new(inner: S, recorder: Arc<TurnRecorder>) -> Self {
        Self { inner, recorder }
    }
}

#[async_trait]
impl<S: EventSink> EventSink for RecordingSink<S> {
    async fn emit(&self, event: TurnEvent) {
        self.recorder.steps.told(&event);
        if matches!(event, TurnEvent::Text(_) | TurnEvent::Reasoning(_)) {
            // The disk has had the time that the model took.
            self.recorder.has_begun().await;
        }
        match &event {
            TurnEvent::Text(text) => append(&mut self.recorder.state().text, text),
            TurnEvent::Reasoning(text) => append(&mut self.recorder.state().reasoning, text),
            TurnEvent::Reset => {
                let mut state = self.recorder.state();
                state.text.clear();
                state.reasoning.clear();
            }
            TurnEvent::StepFinished { step, elapsed, .. } => {
                self.recorder.flush();
                self.recorder.took(*step, *elapsed);
            }
            TurnEvent::Extended(words) => self.recorder.keep(Event::Added { text: sanitize_prose(words) }),
            TurnEvent::StepStarted { .. }
            | TurnEvent::Spent { .. }
            | TurnEvent::StepProgress(_)
            | TurnEvent::Subagent(_)
            | TurnEvent::Notice(_)
            | TurnEvent::Retry { .. } => {}
        }
        self.inner.emit(event).await;
    }

    fn pause(&self) {
        self.inner.pause();
    }
}

fn append(held: &mut String, text: &str) {
    if held.len() + text.len() <= MAX_HELD_BYTES {
        held.push_str(text);
    }
}

/// Records the outcomes of commands.
pub struct RecordingRunner {
    inner: Arc<dyn CommandRunner>,
    recorder: Arc<TurnRecorder>,
}

impl RecordingRunner {
    /// Runs commands through `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn CommandRunner>, recorder: Arc<TurnRecorder>) -> Self {
        Self { inner, recorder }
    }
}

#[async_trait]
impl CommandRunner for RecordingRunner {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        // A stopped turn drops this future while it waits.
        self.recorder.set_running(true);
        let outcome = self.inner.run(request, cancel).await;
        self.recorder.set_running(false);
        let outcome = outcome?;
        self.recorder.ran(&outcome);
        Ok(outcome)
    }

    fn cwd(&self) -> PathBuf {
        self.inner.cwd()
    }
}
