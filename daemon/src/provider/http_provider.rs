//! A model behind HTTP: one exchange is one request of the agent, with as many attempts as it takes.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _, channel::mpsc, future, stream, stream::BoxStream};
use reqwest::{Client, Url, header::HeaderMap};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    error::Subject,
    http,
    retry::{DEFAULT_RETRIES, Failure, Pace, SystemPace, Verdict, verdict},
    settings::{ModelSettings, ReasoningEffort, Timeouts},
    transport::{self, Call, Ending, Outlet},
    wire::{Options, Quirk, Stopped, Vendor, Wire},
};
use crate::agent::port::{
    AssistantMessage, Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, ProviderData, ProviderError,
    ProviderErrorKind, StopClass,
};

/// How often an answer that the service paused is continued.
const MAX_PAUSES: u32 = 5;
/// The cap of the second try when the first cut a tool call.
const RAISED_CAP_FACTOR: u32 = 4;

/// Where a model is and how to talk to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Its protocol.
    pub(crate) wire: &'static dyn Wire,
    /// The vendor, if it is one that is known.
    pub(crate) vendor: Option<&'static Vendor>,
    /// Service for people.
    pub(crate) service: String,
    /// Base URL.
    pub(crate) base: Url,
    /// Model name as sent.
    pub(crate) model: String,
    /// The key, if there is one.
    pub(crate) key: Option<SecretString>,
    /// Where the key comes from, or would come from.
    pub(crate) key_place: String,
    /// Where the choice came from, for people.
    pub(crate) origin: String,
    /// Size of the model's context in tokens, if the service told.
    pub(crate) context_window_tokens: Option<u64>,
}

impl Endpoint {
    /// Who answers there.
    pub(crate) fn info(&self) -> ModelInfo {
        ModelInfo {
            wire: self.wire.name().to_owned(),
            model: self.model.clone(),
            origin: self.origin.clone(),
            is_offline: false,
        }
    }

    /// Whom an error there is about.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            service: self.service.clone(),
            host: http::host_of(&self.base),
            model: self.model.clone(),
            key_place: self.key_place.clone(),
            key: self.key.clone(),
            is_local: http::is_loopback(&self.base),
        }
    }
}

/// A provider that speaks one of the wires.
pub(crate) struct HttpProvider {
    service: Arc<Service>,
}

struct Service {
    wire: &'static dyn Wire,
    client: Client,
    base: Url,
    headers: HeaderMap,
    info: ModelInfo,
    subject: Subject,
    timeouts: Timeouts,
    max_output_tokens: Option<u32>,
    context_window_tokens: Option<u64>,
    reasoning_effort: Option<ReasoningEffort>,
    retries: u32,
    quirks: Mutex<BTreeSet<Quirk>>,
    /// What the user was told already.
    told: Mutex<BTreeSet<String>>,
    pace: Arc<dyn Pace>,
}

impl HttpProvider {
    /// A provider for `endpoint` with the limits of `settings`.
    ///
    /// # Errors
    /// One sentence, when no HTTP client can be set up.
    pub(crate) fn new(endpoint: Endpoint, settings: &ModelSettings) -> Result<Self, String> {
        Self::with_pace(endpoint, settings, Arc::new(SystemPace))
    }

    /// The same with another sense of time.
    pub(crate) fn with_pace(endpoint: Endpoint, settings: &ModelSettings, pace: Arc<dyn Pace>) -> Result<Self, String> {
        let is_local = http::is_loopback(&endpoint.base);
        let timeouts = settings.timeouts.resolve(is_local);
        let wire = endpoint.wire;
        let quirks: BTreeSet<Quirk> = endpoint.vendor.iter().flat_map(|vendor| vendor.quirks).copied().collect();
        let service = Service {
            wire,
            client: http::client(&endpoint.base, timeouts.connect)?,
            headers: wire.headers(endpoint.key.as_ref(), &quirks),
            info: endpoint.info(),
            base: endpoint.base.clone(),
            subject: endpoint.subject(),
            timeouts,
            max_output_tokens: settings.max_output_tokens.or_else(|| wire.default_max_output_tokens()),
            context_window_tokens: settings.context_window_tokens.or(endpoint.context_window_tokens),
            reasoning_effort: settings.reasoning_effort,
            retries: settings.retries.unwrap_or(DEFAULT_RETRIES),
            quirks: Mutex::new(quirks),
            told: Mutex::default(),
            pace,
        };
        Ok(Self { service: Arc::new(service) })
    }
}

impl Service {
    fn options<'a>(&'a self, quirks: &'a BTreeSet<Quirk>) -> Options<'a> {
        Options {
            model: &self.info.model,
            host: &self.subject.host,
            max_output_tokens: self.max_output_tokens,
            context_window_tokens: self.context_window_tokens,
            reasoning_effort: self.reasoning_effort,
            quirks,
        }
    }
}

impl ModelProvider for HttpProvider {
    fn info(&self) -> ModelInfo {
        self.service.info.clone()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let (sender, receiver) = mpsc::channel(0);
        let exchange = Exchange::new(Arc::clone(&self.service), request, sender);
        // The exchange lives inside the stream, so that dropping the stream drops the request.
        let work = exchange.run().into_stream().filter_map(|()| future::ready(None));
        stream::select(receiver, work).boxed()
    }
}

/// One request of the agent on its way to an answer.
struct Exchange {
    service: Arc<Service>,
    request: ModelRequest,
    outlet: Outlet,
    /// Length of the conversation without continued parts.
    asked_messages: usize,
    /// The service's own form of the parts before a pause.
    parts: Vec<Value>,
    pauses: u32,
    tries: u32,
    raised_cap: Option<u32>,
    has_retried_empty: bool,
    has_retried_shown: bool,
    has_retried_stale: bool,
}

/// What follows an attempt.
enum Next {
    /// Another attempt.
    Again,
    /// The terminal event.
    Done(ModelEvent),
}

impl Exchange {
    fn new(service: Arc<Service>, request: ModelRequest, sender: mpsc::Sender<ModelEvent>) -> Self {
        Self {
            service,
            asked_messages: request.messages.len(),
            request,
            outlet: Outlet::new(sender),
            parts: Vec::new(),
            pauses: 0,
            tries: 0,
            raised_cap: None,
            has_retried_empty: false,
            has_retried_shown: false,
            has_retried_stale: false,
        }
    }

    async fn run(mut self) {
        loop {
            let next = match self.attempt().await {
                Ending::Stopped(stopped) => self.after_stop(stopped).await,
                Ending::Failed(failure) => self.after_failure(*failure, None).await,
                Ending::Incomplete(reason) => {
                    let error = self.service.subject.cut_off(&reason);
                    self.after_failure(error.into(), Some(reason)).await
                }
            };
            if let Next::Done(event) = next {
                self.outlet.send(event).await;
                return;
            }
        }
    }

    async fn attempt(&mut self) -> Ending {
        let service = &self.service;
        let quirks = service.quirks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let max_output_tokens = self.raised_cap.or(service.max_output_tokens);
        let options = Options { max_output_tokens, ..service.options(&quirks) };
        let url = service.wire.url(&service.base, &options);
        let call = Call {
            client: &service.client,
            url: &url,
            headers: &service.headers,
            body: service.wire.body(&self.request, &options).to_string().into_bytes(),
            timeouts: &service.timeouts,
            subject: &service.subject,
            pace: service.pace.as_ref(),
            framing: service.wire.framing(),
        };
        let mut fold = service.wire.fold(&self.request, &options);
        self.outlet.text.clear();
        let ending = transport::attempt(call, fold.as_mut(), &mut self.outlet).await;
        self.tell_once().await;
        ending
    }

    /// What the fold wants the user to know, unless this provider said so before.
    async fn tell_once(&mut self) {
        for notice in std::mem::take(&mut self.outlet.notices) {
            let is_new = self.service.told.lock().unwrap_or_else(PoisonError::into_inner).insert(notice.clone());
            if is_new {
                self.outlet.send(ModelEvent::Notice(notice)).await;
            }
        }
    }

    async fn after_stop(&mut self, stopped: Stopped) -> Next {
        let Stopped { class, message, has_void_calls } = stopped;
        if class == StopClass::Pause && self.pauses < MAX_PAUSES {
            self.continue_paused(message);
            return Next::Again;
        }
        if has_void_calls && class == StopClass::Length && self.raise_cap().await {
            return Next::Again;
        }
        if matches!(class, StopClass::End | StopClass::Tool) && !self.outlet.has_answer {
            return self.after_empty_answer().await;
        }
        let message = message.map(|message| self.with_parts(message));
        Next::Done(ModelEvent::Stop { class, provider_data: message.map(|json| self.own_form(json)) })
    }

    /// Sends the paused answer back, as the service wants it to go on.
    fn continue_paused(&mut self, message: Option<Value>) {
        self.pauses += 1;
        let Some(json) = message else { return };
        let provider_data = Some(self.own_form(json.clone()));
        let text = std::mem::take(&mut self.outlet.text);
        self.request.messages.push(Message::Assistant(AssistantMessage {
            text,
            provider_data,
            ..AssistantMessage::default()
        }));
        if let Value::Array(blocks) = json {
            self.parts.extend(blocks);
        }
    }

    fn own_form(&self, json: Value) -> ProviderData {
        let Service { info, subject, .. } = self.service.as_ref();
        ProviderData { wire: info.wire.clone(), host: subject.host.clone(), model: info.model.clone(), json }
    }

    fn with_parts(&mut self, message: Value) -> Value {
        match message {
            Value::Array(blocks) => Value::Array(std::mem::take(&mut self.parts).into_iter().chain(blocks).collect()),
            other => other,
        }
    }

    /// Once, and not when text after tools would have to be taken back.
    async fn raise_cap(&mut self) -> bool {
        let Some(cap) = self.service.max_output_tokens.filter(|_| self.raised_cap.is_none()) else { return false };
        if self.outlet.has_shown && !self.may_discard() {
            return false;
        }
        self.raised_cap = Some(cap.saturating_mul(RAISED_CAP_FACTOR));
        let reason = format!("the answer was cut inside a tool call at {cap} tokens; asking for a longer one");
        self.announce(reason, Duration::ZERO).await;
        true
    }

    async fn after_empty_answer(&mut self) -> Next {
        if !std::mem::replace(&mut self.has_retried_empty, true) {
            tracing::info!(host = self.service.subject.host, "an empty answer; asking again");
            if self.outlet.has_shown {
                self.announce("the answer was empty".to_owned(), Duration::ZERO).await;
            }
            self.start_over();
            return Next::Again;
        }
        let subject = &self.service.subject;
        let hint = if subject.is_local {
            "local servers answer nothing when the conversation is longer than their context: raise it, or start a new session"
        } else {
            "ask again, or choose another model"
        };
        Next::Done(ModelEvent::Failed(subject.error(
            ProviderErrorKind::EmptyAnswer,
            "gave an empty answer twice",
            Some(hint.to_owned()),
        )))
    }

    async fn after_failure(&mut self, failure: Failure, cut: Option<String>) -> Next {
        if !self.outlet.has_shown && (self.learn(&failure) || self.is_first_stale(&failure)) {
            return Next::Again;
        }
        let give_up = |mut error: ProviderError, wait: Option<Duration>| {
            error.retry_after = wait.or(error.retry_after);
            // Of an answer that never began nothing is left to keep: then it is a failure like any other.
            let cut = cut.filter(|_| self.outlet.has_shown);
            Next::Done(cut.map_or(ModelEvent::Failed(error), |reason| ModelEvent::Incomplete { reason }))
        };
        if self.outlet.has_shown && (self.has_retried_shown || !self.may_discard()) {
            return give_up(failure.error, None);
        }
        match verdict(&failure, self.tries, self.service.retries, self.service.pace.jitter()) {
            Verdict::Final => give_up(failure.error, None),
            Verdict::NotNow(wait) => {
                let hint = format!("the service asks to wait {}", in_words(wait));
                give_up(ProviderError { hint: Some(hint), ..failure.error }, Some(wait))
            }
            Verdict::Again(wait) => {
                tracing::info!(kind = ?failure.error.kind, ?wait, host = self.service.subject.host, "request failed; trying again");
                self.tries += 1;
                self.has_retried_shown |= self.outlet.has_shown;
                self.announce(failure.error.message, wait).await;
                self.service.pace.sleep(wait).await;
                Next::Again
            }
        }
    }

    /// Whether the service refused something that can be done in another way from now on.
    fn learn(&mut self, failure: &Failure) -> bool {
        let Some(quirk) = failure.body.as_ref().and_then(|body| self.service.wire.remedy(body)) else { return false };
        let mut quirks = self.service.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        let url = |quirks: &BTreeSet<Quirk>| self.service.wire.url(&self.service.base, &self.service.options(quirks));
        let url_before = url(&quirks);
        let mut is_new = quirks.insert(quirk);
        if quirk == Quirk::NoVersionFolder {
            // Another address is worth a request, the same one is not.
            is_new &= url(&quirks) != url_before;
        }
        drop(quirks);
        if is_new {
            tracing::info!(
                ?quirk,
                host = self.service.subject.host,
                "the service refused a request; such are sent in another way from now on"
            );
        }
        is_new
    }

    fn is_first_stale(&mut self, failure: &Failure) -> bool {
        failure.is_stale && !std::mem::replace(&mut self.has_retried_stale, true)
    }

    /// Tools that ran in this turn ran on text that must stay.
    fn may_discard(&self) -> bool {
        !matches!(
            self.request.messages.get(..self.asked_messages).and_then(<[Message]>::last),
            Some(Message::ToolResults(_))
        )
    }

    async fn announce(&mut self, reason: String, after: Duration) {
        let discard_shown = self.outlet.has_shown;
        self.start_over();
        self.outlet.send(ModelEvent::Retrying { reason, after, discard_shown }).await;
    }

    /// Forgets what was shown and continued.
    fn start_over(&mut self) {
        self.request.messages.truncate(self.asked_messages);
        self.parts.clear();
        self.pauses = 0;
        (self.outlet.has_shown, self.outlet.has_answer) = (false, false);
    }
}

fn in_words(wait: Duration) -> String {
    let minutes = wait.as_secs().div_ceil(60);
    if minutes < 120 { format!("{minutes} minutes") } else { format!("{} hours", minutes.div_ceil(60)) }
}
