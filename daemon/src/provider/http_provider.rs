//! The HTTP provider holds the endpoint of a model and the facts learned about it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use cohab_config::model_settings::{ModelSettings, Timeouts};
use cohab_model_api::{ModelEvent, ModelInfo, ModelRequest, ModelService};
use cohab_types::reasoning::ReasoningEffort;
use cohab_wires::{
    error::Subject,
    wire::{Options, Quirk, Vendor, Wire},
};
use futures::{
    FutureExt as _, StreamExt as _,
    channel::mpsc,
    future,
    stream::{self, BoxStream},
};
use reqwest::{Client, Url, header::HeaderMap};
use secrecy::SecretString;

use super::{
    exchange::Exchange,
    http,
    retry::{DEFAULT_RETRIES, Pace, SystemPace},
    scrubbed::RemoteModel,
    transport::EVENTS_AHEAD,
};
use crate::safety::secrets::Scrubbed;

/// The address of a model, and the way to talk to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Its protocol.
    pub(crate) wire: &'static dyn Wire,
    /// The vendor, if it is a known one.
    pub(crate) vendor: Option<&'static Vendor>,
    /// Service for people.
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
        }
    }

    /// The subject of errors there.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
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
    service: Arc<Service>,
}

/// A model at its service.
pub(super) struct Service {
    pub(super) wire: &'static dyn Wire,
    pub(super) client: Client,
    pub(super) base: Url,
    pub(super) headers: HeaderMap,
    pub(super) info: ModelInfo,
    pub(super) subject: Subject,
    pub(super) timeouts: Timeouts,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) context_window_tokens: Option<u64>,
    reasoning_effort: Option<ReasoningEffort>,
    temperature: Option<f64>,
    pub(super) retries: u32,
    quirks: Mutex<BTreeSet<Quirk>>,
    /// Longest answer by the service's own report, in tokens.
    longest_answer_tokens: AtomicU32,
    /// Notices that the user got already.
    told: Mutex<BTreeSet<String>>,
    pub(super) pace: Arc<dyn Pace>,
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
        let service = Service {
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

impl Service {
    /// The deviations known so far.
    pub(super) fn quirks(&self) -> BTreeSet<Quirk> {
        locked(&self.quirks).clone()
    }

    /// Notes a deviation.
    pub(super) fn learn(&self, quirk: Quirk) {
        locked(&self.quirks).insert(quirk);
    }

    /// Notes that no answer is longer than `tokens`.
    pub(super) fn bound(&self, tokens: u32) {
        self.longest_answer_tokens.fetch_min(tokens, Ordering::Relaxed);
    }

    /// `cap_tokens`, but no more than the service gives.
    pub(super) fn bounded(&self, cap_tokens: Option<u32>) -> Option<u32> {
        cap_tokens.map(|cap| cap.min(self.longest_answer_tokens.load(Ordering::Relaxed)))
    }

    /// Whether the user did not get this notice before. Marks it as given.
    pub(super) fn is_news(&self, notice: &str) -> bool {
        locked(&self.told).insert(notice.to_owned())
    }

    pub(super) fn options<'a>(&'a self, quirks: &'a BTreeSet<Quirk>) -> Options<'a> {
        Options {
            model: &self.info.model,
            host: &self.subject.host,
            max_output_tokens: self.max_output_tokens,
            context_window_tokens: self.context_window_tokens,
            reasoning_effort: self.reasoning_effort,
            temperature: self.temperature,
            quirks,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RemoteModel for HttpProvider {
    fn info(&self) -> ModelInfo {
        self.service.info.clone()
    }

    fn service(&self) -> ModelService {
        let Service { subject, context_window_tokens, max_output_tokens, .. } = self.service.as_ref();
        ModelService {
            host: subject.host.clone(),
            is_local: subject.is_local,
            context_window_tokens: *context_window_tokens,
            max_output_tokens: max_output_tokens.map(u64::from),
        }
    }

    fn send(&self, request: Scrubbed<ModelRequest>) -> BoxStream<'static, ModelEvent> {
        let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
        let exchange = Exchange::new(Arc::clone(&self.service), request, sender);
        // The exchange lives inside the stream, so that dropping the stream drops the request.
        let work = exchange.run().into_stream().filter_map(|()| future::ready(None));
        stream::select(receiver, work).boxed()
    }
}
