//! The HTTP provider holds the endpoint of a model and the facts learned about it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::AtomicU32},
    task::{Context, Poll},
};

use cohab_config::model_settings::ModelSettings;
use cohab_model_api::{ModelEvent, ModelInfo, ModelRequest, ModelService, Scrubbed};
use cohab_wires::{
    error::ErrorContext,
    wire::{Quirk, Vendor, Wire},
};
use futures::{
    FutureExt as _, StreamExt as _,
    channel::mpsc::{self, TryRecvError},
    stream::{self, BoxStream},
};
use reqwest::Url;
use secrecy::SecretString;

use super::{
    exchange::Exchange,
    http,
    http_client_state::HttpClientState,
    retry::{DEFAULT_RETRIES, Pace, SystemPace},
    scrubbed::RemoteModel,
    transport::EVENTS_AHEAD,
};

/// The address of a model, and the way to talk to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Its protocol.
    pub(crate) wire: &'static dyn Wire,
    /// The vendor, if it is a known one.
    pub(crate) vendor: Option<&'static Vendor>,
    /// HttpClientState for people.
    pub(crate) service: String,
    /// Base URL.
    pub(crate) base: Url,
    /// Model name as sent.
    pub(crate) model: String,
    /// The key, if there is one.
    pub(crate) key: Option<SecretString>,
    /// The source of the key, present or not.
    pub(crate) key_place: String,
    /// The origin of the choice, for people.
    pub(crate) origin: String,
    /// Size of the model's context in tokens, if the service reported it.
    pub(crate) context_window_tokens: Option<u64>,
}

impl Endpoint {
    /// The model at this endpoint.
    pub(crate) fn info(&self) -> ModelInfo {
        ModelInfo {
            wire: self.wire.name().to_owned(),
            model: self.model.clone(),
            origin: self.origin.clone(),
            is_offline: false,
        }
    }

    /// The facts about the service and its model before the first request.
    pub(crate) fn service(&self, settings: &ModelSettings) -> ModelService {
        let window = settings.context_window_tokens.or(self.context_window_tokens);
        let longest_answer = settings.max_output_tokens.or_else(|| self.wire.default_max_output_tokens());
        ModelService {
            host: http::host_of(&self.base),
            is_local: http::is_loopback(&self.base),
            context_window_tokens: window.or_else(|| self.wire.default_context_window_tokens()),
            max_output_tokens: longest_answer.map(u64::from),
            is_host: false,
        }
    }

    /// The subject of errors there.
    pub(crate) fn subject(&self) -> ErrorContext {
        ErrorContext {
            service: self.service.clone(),
            host: http::host_of(&self.base),
            model: self.model.clone(),
            key_place: self.key_place.clone(),
            key: self.key.clone(),
            secrets: http::secrets_in(&self.base),
            is_local: http::is_loopback(&self.base),
        }
    }
}

/// A provider that speaks one of the wires.
pub(crate) struct HttpProvider {
    service: Arc<HttpClientState>,
}

impl HttpProvider {
    /// A provider for `endpoint` with the limits of `settings`.
    ///
    /// # Errors
    /// One sentence, when no HTTP client can be set up.
    pub(crate) fn new(endpoint: Endpoint, settings: &ModelSettings) -> Result<Self, String> {
        Self::with_pace(endpoint, settings, Arc::new(SystemPace))
    }

    /// The same with another clock.
    pub(crate) fn with_pace(endpoint: Endpoint, settings: &ModelSettings, pace: Arc<dyn Pace>) -> Result<Self, String> {
        let told = endpoint.service(settings);
        let timeouts = settings.timeouts.resolve(told.is_local);
        let wire = endpoint.wire;
        let quirks: BTreeSet<Quirk> = endpoint.vendor.iter().flat_map(|vendor| vendor.quirks).copied().collect();
        let service = HttpClientState {
            wire,
            client: http::client(&endpoint.base, timeouts.connect)?,
            headers: wire.headers(endpoint.key.as_ref(), &quirks),
            info: endpoint.info(),
            subject: endpoint.subject(),
            base: endpoint.base,
            timeouts,
            max_output_tokens: settings.max_output_tokens.or_else(|| wire.default_max_output_tokens()),
            context_window_tokens: told.context_window_tokens,
            reasoning_effort: settings.reasoning_effort,
            temperature: settings.temperature,
            retries: settings.retries.unwrap_or(DEFAULT_RETRIES),
            quirks: Mutex::new(quirks),
            longest_answer_tokens: AtomicU32::new(u32::MAX),
            told: Mutex::default(),
            pace,
        };
        Ok(Self { service: Arc::new(service) })
    }
}

impl RemoteModel for HttpProvider {
    fn info(&self) -> ModelInfo {
        self.service.info.clone()
    }

    fn service(&self) -> ModelService {
        let HttpClientState { subject, context_window_tokens, max_output_tokens, .. } = self.service.as_ref();
        ModelService {
            host: subject.host.clone(),
            is_local: subject.is_local,
            context_window_tokens: *context_window_tokens,
            max_output_tokens: max_output_tokens.map(u64::from),
            is_host: false,
        }
    }

    fn send(&self, request: Scrubbed<ModelRequest>) -> BoxStream<'static, ModelEvent> {
        let (sender, mut events) = mpsc::channel(EVENTS_AHEAD);
        // The exchange lives inside the stream, so that dropping the stream drops the request.
        let mut work = Exchange::new(Arc::clone(&self.service), request, sender).run().boxed().fuse();
        // Only the exchange adds events, so the channel is looked at behind it and never waited for: a task that wakes itself makes the
        // runtime wake another thread.
        let next = move |context: &mut Context<'_>| {
            let mut is_worked_on = false;
            loop {
                match events.try_recv() {
                    Ok(event) => return Poll::Ready(Some(event)),
                    Err(TryRecvError::Closed) => return Poll::Ready(None),
                    Err(TryRecvError::Empty) if is_worked_on => return Poll::Pending,
                    Err(TryRecvError::Empty) => is_worked_on = true,
                }
                let _ = work.poll_unpin(context);
            }
        };
        stream::poll_fn(next).boxed()
    }
}
