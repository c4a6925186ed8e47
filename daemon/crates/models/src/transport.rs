//! The transport sends one request and reads its answer: it watches the time and feeds the fold.

use std::time::Duration;

use bytes::Bytes;
use cohab_config::model_settings::Timeouts;
use cohab_model_api::{ModelEvent, ProviderError, ProviderErrorKind, TokenUsage};
use cohab_wires::{
    error::{ErrorBody, ErrorContext},
    sse::{Payloads, SseError},
    wire::{End, Fold, Folded, Framing, Progress, Quirk, Stopped},
};
use futures::{SinkExt as _, Stream, StreamExt as _, channel::mpsc, stream};
use reqwest::{
    Client, Response, Url,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION},
};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    http,
    idle_timer::IdleTimer,
    retry::{self, Failure, Pace},
};

/// Longest answer, over all its events.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// Longest answer that comes in one piece.
const MAX_WHOLE_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of an error's body that are read.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// Time limit for an error's body.
const ERROR_BODY_LIMIT: Duration = Duration::from_secs(10);
/// The error of a cut answer in one piece.
const CUT: &str = "the connection broke inside the answer";
/// Longest wait for the end of the body behind the end of the answer.
const REST_WAIT: Duration = Duration::from_millis(20);
/// After the terminal mark, usage may follow; this long without anything ends the answer.
const LINGER: Duration = Duration::from_secs(2);

/// A request ready to be sent.
pub(super) struct Call<'a> {
    pub(super) client: &'a Client,
    pub(super) url: &'a Url,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) timeouts: &'a Timeouts,
    pub(super) subject: &'a ErrorContext,
    pub(super) pace: &'a dyn Pace,
    pub(super) framing: Framing,
}

/// The end of an attempt.
#[derive(Debug)]
pub(super) enum Ending {
    /// Complete.
    Stopped(Stopped),
    /// Cut; one sentence.
    Incomplete(String),
    /// Refused or broken.
    Failed(Box<Failure>),
}

impl From<ProviderError> for Ending {
    fn from(error: ProviderError) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

/// Most events that wait for the agent.
pub(super) const EVENTS_AHEAD: usize = 32;

/// The target of events, with the counts since the last reset.
pub(super) struct Outlet {
    sender: mpsc::Sender<ModelEvent>,
    /// Whether the user saw anything: text, reasoning, a refusal.
    pub(super) has_shown: bool,
    /// Whether anything counts as an answer: text, a refusal, a call.
    pub(super) has_answer: bool,
    /// Text of this attempt.
    pub(super) text: String,
    /// Notices to the user, sent after the attempt.
    pub(super) notices: Vec<String>,
    /// Facts about the service that the answers showed.
    pub(super) learned: Vec<Quirk>,
    /// Tokens of the attempts before this one.
    spent: TokenUsage,
    /// Tokens of this attempt.
    usage: TokenUsage,
}

impl Outlet {
    pub(super) fn new(sender: mpsc::Sender<ModelEvent>) -> Self {
        Self {
            sender,
            has_shown: false,
            has_answer: false,
            text: String::new(),
            notices: Vec::new(),
            learned: Vec::new(),
            spent: TokenUsage::default(),
            usage: TokenUsage::default(),
        }
    }

    /// Forgets the text of the attempt before. Its tokens are paid for in any case.
    pub(super) fn begin_attempt(&mut self) {
        self.text.clear();
        self.spent.add(std::mem::take(&mut self.usage));
    }

    /// Delivers an event. A receiver that is gone drops this whole future at its next await.
    pub(super) async fn send(&mut self, event: ModelEvent) {
        let _ = self.sender.send(event).await;
    }

    /// Delivers the events of a fold, or returns the end of the answer.
    async fn deliver(&mut self, folded: Folded, subject: &ErrorContext) -> Option<Ending> {
        match folded {
            Folded::Text(text) => {
                self.has_shown = true;
                self.has_answer |= !text.trim().is_empty();
                self.text.push_str(&text);
                self.send(ModelEvent::TextDelta(text)).await;
            }
            Folded::Reasoning(text) => {
                self.has_shown = true;
                self.send(ModelEvent::ReasoningDelta(text)).await;
            }
            Folded::Refusal(text) => {
                (self.has_shown, self.has_answer) = (true, true);
                self.send(ModelEvent::RefusalDelta(text)).await;
            }
            Folded::Call(call) => {
                self.has_answer = true;
                self.send(ModelEvent::ToolCallDone(call)).await;
            }
            Folded::Usage(usage) => {
                self.usage = usage;
                let mut all = self.spent;
                all.add(usage);
                self.send(ModelEvent::Usage(all)).await;
            }
            Folded::Hidden => {}
            Folded::Notice(notice) => self.notices.push(notice),
            Folded::Learned(quirk) => self.learned.push(quirk),
            Folded::Stop(stopped) => return Some(Ending::Stopped(stopped)),
            Folded::Incomplete(reason) => return Some(Ending::Incomplete(reason)),
            Folded::Error(body) => {
                let error = subject.reported(&body);
                return Some(Ending::Failed(Box::new(Failure { body: Some(body), ..error.into() })));
            }
            Folded::Protocol(what) => return Some(subject.protocol(&what).into()),
        }
        None
    }
}

/// The reason why no more bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadError {
    #[error("the connection went silent")]
    Idle,
    #[error("the connection broke")]
    Cut,
}

/// Sends the request and reads its answer to the end.
pub(super) async fn attempt(call: Call<'_>, fold: &mut dyn Fold, outlet: &mut Outlet) -> Ending {
    let (subject, timeouts, framing) = (call.subject, *call.timeouts, call.framing);
    let response = match send(call).await {
        Ok(response) => response,
        Err(failure) => return Ending::Failed(failure),
    };
    let header = |name| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase()
    };
    let (encoding, content_type) = (header(CONTENT_ENCODING), header(CONTENT_TYPE));
    if !matches!(encoding.as_str(), "" | "identity") {
        let what = format!("compressed its answer ({encoding:?}), which was not asked for");
        return subject.protocol(&what).into();
    }
    let bytes = idle_limited(response, timeouts.byte_idle);
    AnswerReader { subject, timeouts, fold, outlet }.read(bytes, &content_type, framing).await
}

/// Sends the request, up to the headers of a successful answer.
async fn send(call: Call<'_>) -> Result<Response, Box<Failure>> {
    let subject = call.subject;
    let request = call
        .client
        .post(call.url.clone())
        .headers(call.headers.clone())
        .header(CONTENT_TYPE, "application/json")
        .body(call.body)
        .send();
    let response = match timeout(call.timeouts.headers, request).await {
        Ok(Ok(response)) => response,
        Err(_) => return Err(boxed(subject.timeout("did not begin to answer", "headers_ms", call.timeouts.headers))),
        Ok(Err(error)) if error.is_timeout() && error.is_connect() => {
            return Err(boxed(subject.timeout("could not be connected", "connect_ms", call.timeouts.connect)));
        }
        Ok(Err(error)) => {
            let cause = http::cause(&error);
            if error.is_connect() && cause.contains("certificate") {
                return Err(Box::new(Failure { should_retry: Some(false), ..subject.untrusted(&cause).into() }));
            }
            let is_stale = !error.is_connect() && !error.is_builder();
            return Err(Box::new(Failure { is_stale, ..subject.network(&cause).into() }));
        }
    };
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    if status.is_redirection() {
        return Err(boxed(redirected(&response, call.url, subject)));
    }
    let should_retry = retry::should_retry(response.headers());
    let retry_after = retry::retry_after(response.headers(), call.pace.now());
    let bytes = read_error_body(response).await;
    let body = ErrorBody::from_bytes(status.as_u16(), &bytes);
    let mut error = subject.reported(&body);
    error.retry_after = retry_after.or(error.retry_after);
    Err(Box::new(Failure { error, body: Some(body), should_retry, is_stale: false }))
}

fn boxed(error: ProviderError) -> Box<Failure> {
    Box::new(error.into())
}

pub(super) fn redirected(response: &Response, url: &Url, subject: &ErrorContext) -> ProviderError {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let host = location.and_then(|location| url.join(location).ok()).map(|target| http::host_of(&target));
    let what = format!(
        "redirects to {}, status {}; questions do not follow redirects",
        host.as_deref().unwrap_or("nowhere"),
        response.status().as_u16()
    );
    let hint = "set the base URL to the final address (COHAB_BASE_URL or `base_url` under [model])";
    subject.error(ProviderErrorKind::InvalidRequest, &what, Some(hint.to_owned()))
}

/// The part that arrives within the limits; a missing rest is not worth a separate error.
pub(super) async fn read_error_body(mut response: Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    let until = Instant::now() + ERROR_BODY_LIMIT;
    while bytes.len() < MAX_ERROR_BYTES {
        match timeout_at(until, response.chunk()).await {
            Ok(Ok(Some(chunk))) => bytes.extend_from_slice(&chunk),
            _ => break,
        }
    }
    bytes.truncate(MAX_ERROR_BYTES);
    bytes
}

/// The body's bytes, with a limit between two of them.
fn idle_limited(
    response: Response,
    limit: Duration,
) -> impl Stream<Item = Result<Bytes, ReadError>> + Send + Unpin + 'static {
    let chunks = stream::unfold(Some((response, IdleTimer::new(limit))), move |state| async move {
        let (mut response, mut timer) = state?;
        timer.restart();
        match timer.limit(limit, response.chunk()).await {
            Some(Ok(Some(chunk))) => Some((Ok(chunk), Some((response, timer)))),
            Some(Ok(None)) => None,
            Some(Err(_)) => Some((Err(ReadError::Cut), None)),
            None => Some((Err(ReadError::Idle), None)),
        }
    });
    Box::pin(chunks)
}

/// Reads a successful answer.
pub(super) struct AnswerReader<'a> {
    pub(super) subject: &'a ErrorContext,
    pub(super) timeouts: Timeouts,
    pub(super) fold: &'a mut dyn Fold,
    pub(super) outlet: &'a mut Outlet,
}

impl AnswerReader<'_> {
    /// Reads `bytes`, divided as their content type (lower case) and the wire's framing say.
    pub(super) async fn read(
        self,
        bytes: impl Stream<Item = Result<Bytes, ReadError>> + Send + Unpin + 'static,
        content_type: &str,
        framing: Framing,
    ) -> Ending {
        if content_type.contains("text/html") {
            return self.not_an_api();
        }
        let is_whole = match framing {
            Framing::Events => content_type.contains("json"),
            Framing::Lines => content_type.contains("application/json"),
        };
        if is_whole { self.read_whole(bytes).await } else { self.read_events(Payloads::new(bytes, framing)).await }
    }

    async fn read_events(mut self, mut payloads: Payloads<ReadError>) -> Ending {
        let mut total_bytes = 0;
        // Bytes that have arrived need neither timer nor clock.
        let mut timer = IdleTimer::new(self.timeouts.payload_idle);
        let end = loop {
            let progress = self.fold.progress();
            let patience = match progress {
                Progress::Over => break End::Clean,
                Progress::Complete => LINGER,
                Progress::Open => self.timeouts.payload_idle,
            };
            let is_open = progress == Progress::Open;
            match timer.limit(patience, payloads.next()).await {
                Some(Some(Ok(data))) => {
                    total_bytes += data.len();
                    if total_bytes > MAX_ANSWER_BYTES {
                        return self.protocol(&format!("sent more than {} MiB", MAX_ANSWER_BYTES >> 20));
                    }
                    let folded = self.fold.on_event(&data);
                    if !folded.is_empty() || self.fold.progress() != progress {
                        timer.restart();
                    }
                    if let Some(ending) = self.deliver(folded).await {
                        return self.refined(ending, &data, &payloads);
                    }
                }
                Some(None) => break End::Clean,
                None if is_open => {
                    let limit = self.timeouts.payload_idle;
                    return self.subject.timeout("sent nothing of the answer", "payload_idle_ms", limit).into();
                }
                Some(Some(Err(SseError::Transport(ReadError::Idle)))) if is_open => {
                    return self.subject.timeout("sent nothing", "byte_idle_ms", self.timeouts.byte_idle).into();
                }
                Some(Some(Err(SseError::Transport(_)))) | None => break End::Cut,
                Some(Some(Err(error @ (SseError::LineTooLong | SseError::EventTooLong | SseError::Malformed)))) => {
                    return self.protocol(&format!("cannot be understood: {error}"));
                }
            }
        };
        let is_clean = matches!(end, End::Clean);
        let ending = self.finish(end).await;
        if is_clean {
            // A connection whose answer was not read to its end does not serve the next question.
            let rest = async { while let Some(Ok(_)) = payloads.next().await {} };
            let _ = timeout(REST_WAIT, rest).await;
        }
        ending
    }

    /// An answer in one piece where a stream was asked for.
    async fn read_whole(mut self, mut bytes: impl Stream<Item = Result<Bytes, ReadError>> + Send + Unpin) -> Ending {
        let mut body = Vec::new();
        let until = Instant::now() + self.timeouts.payload_idle;
        loop {
            match timeout_at(until, bytes.next()).await {
                Ok(None) => break,
                Ok(Some(Ok(chunk))) => body.extend_from_slice(&chunk),
                Ok(Some(Err(ReadError::Cut))) => return Ending::Incomplete(CUT.to_owned()),
                Ok(Some(Err(ReadError::Idle))) => {
                    return self.subject.timeout("sent nothing", "byte_idle_ms", self.timeouts.byte_idle).into();
                }
                Err(_) => {
                    let limit = self.timeouts.payload_idle;
                    return self.subject.timeout("did not send all of its answer", "payload_idle_ms", limit).into();
                }
            }
            if body.len() > MAX_WHOLE_BYTES {
                return self.protocol(&format!("sent more than {} MiB in one piece", MAX_WHOLE_BYTES >> 20));
            }
        }
        let body = String::from_utf8_lossy(&body);
        let folded = self.fold.on_event(&body);
        match self.deliver(folded).await {
            Some(ending) if is_protocol(&ending) && is_unfinished(&body) => Ending::Incomplete(CUT.to_owned()),
            Some(ending) if is_protocol(&ending) && body.trim_start().starts_with('<') => self.not_an_api(),
            Some(ending) => ending,
            None => self.finish(End::Clean).await,
        }
    }

    async fn finish(mut self, end: End) -> Ending {
        let folded = self.fold.finish(end);
        let ending = self.deliver(folded).await;
        ending.unwrap_or_else(|| Ending::Incomplete("the answer has no end".to_owned()))
    }

    async fn deliver(&mut self, folded: Vec<Folded>) -> Option<Ending> {
        for item in folded {
            if let Some(ending) = self.outlet.deliver(item, self.subject).await {
                return Some(ending);
            }
        }
        None
    }

    /// The real meaning of an unreadable event.
    fn refined(self, ending: Ending, data: &str, payloads: &Payloads<ReadError>) -> Ending {
        let is_protocol = is_protocol(&ending);
        if is_protocol && payloads.ended_inside_event() {
            return Ending::Incomplete("the answer was cut inside its last event".to_owned());
        }
        if is_protocol && data.trim_start().starts_with('<') { self.not_an_api() } else { ending }
    }

    fn not_an_api(self) -> Ending {
        let hint = "the base URL is probably wrong: check COHAB_BASE_URL or `base_url` under [model]";
        let what = "sent a web page, not an API answer (status 200)";
        self.subject.error(ProviderErrorKind::Protocol, what, Some(hint.to_owned())).into()
    }

    fn protocol(self, what: &str) -> Ending {
        self.subject.protocol(what).into()
    }
}

fn is_protocol(ending: &Ending) -> bool {
    matches!(ending, Ending::Failed(failure) if failure.error.kind == ProviderErrorKind::Protocol)
}

/// Whether `body` is the beginning of some JSON.
fn is_unfinished(body: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(body).is_err_and(|error| error.is_eof())
}
