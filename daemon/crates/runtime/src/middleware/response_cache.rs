//! Repeats a cached answer that needed no tools, if none of the files it may depend on changed.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    Fact, StopReason, TurnObserver, TurnResult, TurnState,
    port::{EventSink, KnownAnswers, TurnEvent},
    state::Progress,
};
use cohab_context::query_text::words;
use cohab_model_api::{Message, ModelProvider};
use tokio::time::timeout;

use crate::cache::{CacheKey, ResponseCache, places, question};

/// Longest wait of a question for the check of changes.
const LOOK_WAIT: Duration = Duration::from_millis(300);

/// Looks before and after one turn.
pub struct CacheReplay {
    /// The answers.
    pub cache: Arc<ResponseCache>,
    /// The model that would answer.
    pub provider: Arc<dyn ModelProvider>,
    /// Receives the notice of a hit.
    pub sink: Arc<dyn EventSink>,
    /// Name of the session.
    pub session: String,
    /// Fingerprint of the user's commands.
    pub history: u64,
    /// Fingerprint of the model's other texts.
    pub told: u64,
    /// The user's folder.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// The key of this turn's question, once it is known.
    pub key: Mutex<Option<CacheKey>>,
}

impl CacheReplay {
    fn model(&self) -> String {
        let info = self.provider.info();
        format!("{}/{}/{}", info.wire, self.provider.service().host, info.model)
    }

    async fn key_of(&self, state: &TurnState) -> Option<CacheKey> {
        let Some(Message::User { text, .. }) = state.messages().last() else { return None };
        if text.contains(PIPED) || state.progress() == Progress::Attaching {
            return None;
        }
        let asked = words(text);
        let question = question::normalised(&asked)?;
        let (cwd, home) = (self.cwd.clone(), self.home.clone());
        let look = tokio::task::spawn_blocking(move || places::fingerprint(&cwd, &home, &asked));
        let places = timeout(LOOK_WAIT, look).await.ok()?.ok()??;
        Some(CacheKey {
            question,
            model: self.model(),
            session: self.session.clone(),
            history: self.history,
            told: self.told,
            places,
        })
    }

    fn turn_ended(&self, state: &TurnState, result: &TurnResult) {
        // A turn of one model call needed no tool.
        let needed_no_tool = *result == Ok(StopReason::Answered) && state.model_calls() == 1;
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(key) = key.filter(|key| needed_no_tool && key.model == self.model()) else { return };
        let answer = state.messages().last().and_then(said).filter(|text| !text.trim_end().ends_with('?'));
        if let Some(answer) = answer {
            self.cache.keep(key, answer.to_owned());
        }
    }
}

/// Marks a question with more than its words.
const PIPED: &str = "<piped-input";

#[async_trait]
impl KnownAnswers for CacheReplay {
    async fn answer(&self, state: &TurnState) -> Option<String> {
        let key = self.key_of(state).await?;
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = Some(key.clone());
        let messages = state.messages();
        let is_known = |answer: &str| messages.iter().any(|message| said(message) == Some(answer));
        let hit = self.cache.find(&key, messages.len(), is_known)?;
        let minutes = hit.age.as_secs() / 60;
        let age = if minutes == 0 { "less than a minute".to_owned() } else { format!("{minutes} min") };
        let text = format!("Repeated the answer of {age} ago without asking the model; `? /retry` asks it again.");
        self.sink.emit(TurnEvent::Notice(text)).await;
        Some(hit.answer)
    }
}

#[async_trait]
impl TurnObserver for CacheReplay {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            // The answer is not to the question alone.
            Fact::Extended(_) => *self.key.lock().unwrap_or_else(PoisonError::into_inner) = None,
            Fact::TurnEnded(state, result) => self.turn_ended(state, result),
            _ => {}
        }
    }
}

/// The text of a model's message without calls.
fn said(message: &Message) -> Option<&str> {
    match message {
        Message::Assistant(message) if message.tool_calls.is_empty() => Some(&message.text),
        _ => None,
    }
}
