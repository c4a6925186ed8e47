//! Checks a draft with real requests before it is written.

use std::time::{Duration, Instant};

use cohab_config::{self, model_settings::ModelSettings};
use cohab_model_api::{Message, ModelEvent, ModelRequest, ProviderError, ProviderErrorKind, StopClass};
use cohab_models::{
    model_list,
    resolution::{self, Answerer},
    resolved_endpoint::ResolvedEndpoint,
};
use cohab_text::sanitize::one_line;
use cohab_wires::wire::Model;
use futures::StreamExt as _;

use super::{Setup, SetupError, draft::Draft};

/// Longest answer to the test question, in tokens: room for a model that thinks first.
const ANSWER_MAX_TOKENS: u32 = 256;
/// Columns of the answer that are shown.
const SHOWN_COLUMNS: usize = 40;

/// An answer to the test question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    /// From the request to the end of the answer.
    pub(super) took: Duration,
    /// The beginning of the answer, in one line; empty if the model only thought.
    pub(super) text: String,
}

impl Setup {
    /// The service that a draft means, as it will be asked later; `None` where there is none to ask.
    pub(super) async fn service(&self, draft: &Draft) -> Result<Option<ResolvedEndpoint>, SetupError> {
        let settings = draft.settings(&self.limits());
        let environment = |name: &str| if name.starts_with("COHAB_") { None } else { self.variable(name) };
        match resolution::answerer(&settings, &environment, &[]).await? {
            Answerer::Service(service) => Ok(Some(service)),
            Answerer::Local(_, service) => Ok(Some(service)),
            Answerer::Offline | Answerer::Script(_) => Ok(None),
        }
    }

    /// The service's own list of models.
    pub(super) async fn models(&self, service: &ResolvedEndpoint) -> Result<Vec<Model>, SetupError> {
        let key = match &service.key {
            Some(key) => Some(key.secret(&self.stores, &service.account).await?),
            None => None,
        };
        Ok(model_list::models(service, key).await?)
    }

    /// Asks the draft's model a question.
    pub(super) async fn hello(&self, draft: &Draft, model: &str) -> Result<Hello, SetupError> {
        let Some(service) = self.service(draft).await? else {
            return Ok(Hello { took: Duration::ZERO, text: String::new() });
        };
        let settings = ModelSettings { retries: Some(0), max_output_tokens: Some(ANSWER_MAX_TOKENS), ..self.limits() };
        let provider = service.provider(model.to_owned(), &settings, &self.stores)?;
        let request = ModelRequest {
            system: "Answer in one word.".to_owned(),
            allow_tools: false,
            ..ModelRequest::of(vec![Message::user("Are you there? Say: ready".to_owned())])
        };
        let asked = Instant::now();
        let mut events = provider.stream(request);
        let mut text = String::new();
        while let Some(event) = events.next().await {
            match event {
                ModelEvent::TextDelta(piece) => text.push_str(&piece),
                ModelEvent::Stop { class: StopClass::Refusal, .. } | ModelEvent::Stop { .. } => {
                    return Ok(Hello { took: asked.elapsed(), text: one_line(text.trim(), SHOWN_COLUMNS) });
                }
                ModelEvent::Failed(error) => return Err(error.into()),
                ModelEvent::Incomplete { reason } => return Err(broken(&reason)),
                _ => {}
            }
        }
        Err(broken("it ended without an end mark"))
    }

    /// The time limits in force; defaults if the file cannot be read, which is reported when it is to be written.
    fn limits(&self) -> ModelSettings {
        let settings = cohab_config::load(&self.paths).ok();
        let model = settings.and_then(|settings| settings.model_of(None).ok()).unwrap_or_default();
        ModelSettings { timeouts: model.timeouts, ..ModelSettings::default() }
    }
}

fn broken(reason: &str) -> SetupError {
    let message = format!("the answer was cut off: {reason}");
    let hint = Some("try again".to_owned());
    SetupError::Service(ProviderError {
        kind: ProviderErrorKind::Protocol,
        message,
        hint,
        retry_after: None,
        overflow: None,
    })
}

/// The model to propose: the used one, else the service's usual one, else one that is loaded and can call tools, else the first.
pub(super) fn best_model(models: &[Model], used: Option<&str>, usual: Option<&str>) -> usize {
    let named = |name: &str| models.iter().position(|model| model.id == name);
    let likely = || {
        let rank = |model: &Model| (model.can_call_tools != Some(true), model.is_loaded != Some(true));
        models.iter().enumerate().min_by_key(|(_, model)| rank(model)).map(|(place, _)| place)
    };
    used.and_then(named).or_else(|| usual.and_then(named)).or_else(likely).unwrap_or(0)
}

/// The facts about a model, in words: `128k tokens · tools · loaded`.
pub(crate) fn remark(model: &Model) -> String {
    let size = model.context_window_tokens.map(|tokens| format!("{} tokens", in_thousands(tokens)));
    let tools = model.can_call_tools.map(|can| if can { "tools" } else { "no tools" }.to_owned());
    let loaded = model.is_loaded.filter(|is| *is).map(|_| "loaded".to_owned());
    [size, tools, loaded].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// `128k`, `1M`, `512`.
pub fn in_thousands(tokens: u64) -> String {
    // Sizes are round in tens or in twos; people say 128k for both.
    let unit = |size: u64| {
        if size.is_multiple_of(1024) && !size.is_multiple_of(1000) { 1024 } else { 1000 }
    };
    match tokens {
        1_000_000.. => {
            let tenths = tokens / (unit(tokens) * unit(tokens) / 10);
            if tenths.is_multiple_of(10) {
                format!("{}M", tenths / 10)
            } else {
                format!("{}.{}M", tenths / 10, tenths % 10)
            }
        }
        1_000.. => format!("{}k", tokens / unit(tokens)),
        _ => tokens.to_string(),
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
