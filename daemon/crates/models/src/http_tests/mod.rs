//! Runs all wires against a server with every kind of fault.

mod anthropic;
mod cancel;
mod cuts;
mod dialects;
mod environment;
mod faults;
mod fixtures;
mod gemini;
mod history;
mod loops;
mod model_list;
mod ollama;
mod overflow;
mod secrets;
mod server;
mod soak;
mod tls;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cohab_config::model_settings::{ModelSettings, TimeoutSettings};
use cohab_model_api::{
    Message, ModelEvent, ModelProvider as _, ModelRequest, ProviderError, ProviderErrorKind, StopClass, TokenUsage,
    ToolCall, ToolResult, ToolSpec,
};
use cohab_wires::{WIRES, wire::Wire};
use futures::{StreamExt as _, future::BoxFuture};
use jiff::Timestamp;
use reqwest::Url;
use serde_json::{Value, json};

use self::{
    fixtures::{Ended, Fault, Fixture, fixture, fixtures},
    server::{Reply, Server},
};
use super::{
    http_provider::{Endpoint, HttpProvider},
    retry::Pace,
    scrubbed::ScrubbedProvider,
};

const KEY: &str = "sk-test-0123456789abcdef";

/// Waits for nothing and remembers how long it should have.
#[derive(Default)]
struct NoWaiting(Mutex<Vec<Duration>>);

impl Pace for NoWaiting {
    fn now(&self) -> Timestamp {
        "2015-10-21T07:27:30Z".parse().expect("a time")
    }

    fn jitter(&self) -> f64 {
        1.0
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        self.0.lock().expect("no test panics with it").push(wait);
        Box::pin(std::future::ready(()))
    }
}

/// A provider, its server and its waits.
struct Bench {
    provider: ScrubbedProvider<HttpProvider>,
    server: Server,
    pace: Arc<NoWaiting>,
}

fn openai() -> &'static dyn Wire {
    wire("openai-chat")
}

fn anthropic() -> &'static dyn Wire {
    wire("anthropic")
}

fn wire(name: &str) -> &'static dyn Wire {
    WIRES.iter().copied().find(|wire| wire.name() == name).expect("the wire exists")
}

fn settings() -> ModelSettings {
    let timeouts = TimeoutSettings {
        connect_ms: Some(2_000),
        headers_ms: Some(20_000),
        byte_idle_ms: Some(20_000),
        payload_idle_ms: Some(20_000),
    };
    ModelSettings { timeouts, ..ModelSettings::default() }
}

fn no_retries() -> ModelSettings {
    ModelSettings { retries: Some(0), ..settings() }
}

fn provider_at(
    address: &str,
    wire: &'static dyn Wire,
    settings: &ModelSettings,
    pace: Arc<NoWaiting>,
) -> ScrubbedProvider<HttpProvider> {
    provider_with(endpoint(&format!("http://{address}"), wire), settings, pace)
}

fn provider_with(endpoint: Endpoint, settings: &ModelSettings, pace: Arc<dyn Pace>) -> ScrubbedProvider<HttpProvider> {
    ScrubbedProvider::around(HttpProvider::with_pace(endpoint, settings, pace).expect("a client"), &Arc::default())
}

fn endpoint(base: &str, wire: &'static dyn Wire) -> Endpoint {
    Endpoint {
        wire,
        vendor: None,
        service: "Test".to_owned(),
        base: Url::parse(base).expect("a URL"),
        model: "m".to_owned(),
        key: Some(KEY.to_owned().into()),
        key_place: "TEST_API_KEY".to_owned(),
        origin: "a test".to_owned(),
        context_window_tokens: None,
    }
}

async fn bench_with(wire: &'static dyn Wire, settings: &ModelSettings, replies: Vec<Reply>) -> Bench {
    let server = Server::start(replies).await;
    let pace = Arc::new(NoWaiting::default());
    Bench { provider: provider_at(&format!("{}/v1/", server.address), wire, settings, Arc::clone(&pace)), server, pace }
}

async fn bench(wire: &'static dyn Wire, replies: Vec<Reply>) -> Bench {
    bench_with(wire, &settings(), replies).await
}

impl Bench {
    async fn ask(&self) -> Vec<ModelEvent> {
        self.ask_with(question()).await
    }

    /// All events, the last of which alone ends the answer.
    async fn ask_with(&self, request: ModelRequest) -> Vec<ModelEvent> {
        let events: Vec<ModelEvent> = self.provider.stream(request).collect().await;
        let is_end = |event: &ModelEvent| {
            matches!(event, ModelEvent::Stop { .. } | ModelEvent::Failed(_) | ModelEvent::Incomplete { .. })
        };
        assert_eq!(events.iter().position(is_end), events.len().checked_sub(1), "{events:?}");
        events
    }

    async fn fails(&self) -> ProviderError {
        let events = self.ask().await;
        match events.last() {
            Some(ModelEvent::Failed(error)) => error.clone(),
            _ => panic!("{events:?} is no failure"),
        }
    }

    fn waits_ms(&self) -> Vec<u128> {
        self.pace.0.lock().expect("no test panics with it").iter().map(Duration::as_millis).collect()
    }
}

fn question() -> ModelRequest {
    let messages = vec![Message::user("why?".to_owned())];
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tools = vec![ToolSpec { name: "bash".to_owned(), description: "Runs a line.".to_owned(), parameters }];
    ModelRequest { system: "Be brief.".to_owned(), tools, ..ModelRequest::of(messages) }
}

fn call() -> ToolCall {
    let args = json!({"command": "echo \u{1f600}"}).as_object().cloned().expect("an object");
    ToolCall { id: "c1".to_owned(), name: "bash".to_owned(), args: Ok(args.into()) }
}

/// The question after a call and its result.
fn question_after_tool() -> ModelRequest {
    let mut request = question();
    let assistant = cohab_model_api::AssistantMessage { tool_calls: vec![call()], ..Default::default() };
    let result =
        ToolResult { call_id: "c1".to_owned(), tool: "bash".to_owned(), content: "out".to_owned(), is_error: false };
    request.messages.extend([Message::Assistant(assistant), Message::ToolResults(vec![result])]);
    request
}

/// Events as bytes.
fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn text_of(events: &[ModelEvent]) -> String {
    let pieces = events.iter().filter_map(|event| match event {
        ModelEvent::TextDelta(text) => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

fn calls_of(events: &[ModelEvent]) -> Vec<ToolCall> {
    let calls = events.iter().filter_map(|event| match event {
        ModelEvent::ToolCallDone(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

fn class_of(events: &[ModelEvent]) -> Option<StopClass> {
    match events.last() {
        Some(ModelEvent::Stop { class, .. }) => Some(*class),
        _ => None,
    }
}

/// Whether the answer was cut: with the text so far, or as a failure without any.
fn is_cut(events: &[ModelEvent]) -> bool {
    let is_failure = |error: &ProviderError| error.message.contains("was cut off") && error.hint.is_some();
    match events.last() {
        Some(ModelEvent::Incomplete { .. }) => !text_of(events).is_empty(),
        Some(ModelEvent::Failed(error)) => text_of(events).is_empty() && is_failure(error),
        _ => false,
    }
}

fn refusal_of(events: &[ModelEvent]) -> String {
    let pieces = events.iter().filter_map(|event| match event {
        ModelEvent::RefusalDelta(text) => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

fn notices_of(events: &[ModelEvent]) -> Vec<&str> {
    let notices = events.iter().filter_map(|event| match event {
        ModelEvent::Notice(text) => Some(text.as_str()),
        _ => None,
    });
    notices.collect()
}

/// The last reported usage.
fn usage_of(events: &[ModelEvent]) -> Option<TokenUsage> {
    events.iter().rev().find_map(|event| match event {
        ModelEvent::Usage(usage) => Some(*usage),
        _ => None,
    })
}

fn is_incomplete(events: &[ModelEvent]) -> bool {
    matches!(events.last(), Some(ModelEvent::Incomplete { .. }))
}
