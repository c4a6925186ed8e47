//! Models for tests.

use std::sync::Mutex;

use crate::{ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, TokenUsage};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

/// Answers each request with the same events.
pub struct Always {
    /// The events.
    pub events: Vec<ModelEvent>,
    /// Whether it says that it is the built-in assistant.
    pub is_offline: bool,
    /// The requests so far.
    pub requests: Mutex<Vec<ModelRequest>>,
}

impl Always {
    /// Answers with this text.
    #[must_use]
    pub fn says(text: &str) -> Self {
        let usage = TokenUsage { input: Some(50), output: Some(5), ..TokenUsage::default() };
        let events = vec![
            ModelEvent::TextDelta(text.to_owned()),
            ModelEvent::Usage(usage),
            ModelEvent::Stop { class: StopClass::End, provider_data: None },
        ];
        Self { events, is_offline: false, requests: Mutex::default() }
    }
}

impl ModelProvider for Always {
    fn info(&self) -> ModelInfo {
        let is_offline = self.is_offline;
        ModelInfo { wire: "always".into(), model: "m".into(), origin: "test".into(), is_offline }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        self.requests.lock().expect("not poisoned").push(request);
        stream::iter(self.events.clone()).boxed()
    }
}
