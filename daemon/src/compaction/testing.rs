//! Shared fixtures of the summary tests.

use std::sync::Mutex;

use cohab_model_api::{ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, TokenUsage};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

/// Answers always with these events.
pub struct Always {
    pub events: Vec<ModelEvent>,
    pub is_offline: bool,
    pub requests: Mutex<Vec<ModelRequest>>,
}

impl Always {
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
        self.requests.lock().unwrap().push(request);
        stream::iter(self.events.clone()).boxed()
    }
}
