//! Both wires against a server with every kind of fault.

mod faults;
mod listing;
mod loops;
mod server;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{StreamExt as _, future::BoxFuture};
use jiff::Timestamp;
use reqwest::Url;
use serde_json::{Value, json};

use self::server::{Reply, Server};
use super::{
    http_provider::{Endpoint, HttpProvider},
    retry::Pace,
    settings::{ModelSettings, TimeoutSettings},
    wire::{WIRES, Wire},
};
use crate::agent::port::{
    Message, ModelEvent, ModelProvider as _, ModelRequest, ProviderError, ProviderErrorKind, StopClass, ToolCall,
    ToolResult, ToolSpec,
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
    provider: HttpProvider,
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

fn provider_at(address: &str, wire: &'static dyn Wire, settings: &ModelSettings, pace: Arc<NoWaiting>) -> HttpProvider {
    let endpoint = Endpoint {
        wire,
        vendor: None,
        service: "Test".to_owned(),
        base: Url::parse(&format!("http://{address}")).expect("a URL"),
        model: "m".to_owned(),
        key: Some(KEY.to_owned().into()),
        key_place: "TEST_API_KEY".to_owned(),
        origin: "a test".to_owned(),
        context_window_tokens: None,
    };
    HttpProvider::with_pace(endpoint, settings, pace).expect("a client")
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
        self.provider.stream(question()).collect().await
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
    let messages = vec![Message::User { text: "why?".to_owned() }];
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tools = vec![ToolSpec { name: "bash".to_owned(), description: "Runs a line.".to_owned(), parameters }];
    ModelRequest { system: "Be brief.".to_owned(), messages, tools, allow_tools: true }
}

fn call() -> ToolCall {
    let args = json!({"command": "echo \u{1f600}"}).as_object().cloned().expect("an object");
    ToolCall { id: "c1".to_owned(), name: "bash".to_owned(), args: Ok(args) }
}

/// The question after a call and its result.
fn question_after_tool() -> ModelRequest {
    let mut request = question();
    let assistant = crate::agent::port::AssistantMessage { tool_calls: vec![call()], ..Default::default() };
    let result =
        ToolResult { call_id: "c1".to_owned(), tool: "bash".to_owned(), content: "out".to_owned(), is_error: false };
    request.messages.extend([Message::Assistant(assistant), Message::ToolResults(vec![result])]);
    request
}

/// Events as bytes.
fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("data: {}\n\n", event.as_str().map_or_else(|| event.to_string(), str::to_owned)))
        .collect()
}

fn openai_text(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}}]})
}

fn openai_end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// A text, on either wire, with or without its end mark.
fn text_answer(wire: &dyn Wire, text: &str, is_whole: bool) -> String {
    let (mut events, end) = if wire.name() == "anthropic" {
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
        (vec![json!({"type": "message_start", "message": {"id": "m"}}), delta], anthropic_end("end_turn"))
    } else {
        (vec![openai_text(text)], vec![openai_end("stop"), json!("[DONE]")])
    };
    if is_whole {
        events.extend(end);
    }
    sse(&events)
}

fn anthropic_end(reason: &str) -> Vec<Value> {
    vec![json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})]
}

/// Text and a call, on either wire.
fn call_answer(wire: &dyn Wire, reason: Option<&str>) -> String {
    let args = ["{\"comm", "and\":\"echo \u{1f600}\"}"];
    if wire.name() == "anthropic" {
        let piece = |json: &str| json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": json}});
        let block = json!({"type": "tool_use", "id": "c1", "name": "bash", "input": {}});
        let mut events = vec![
            json!({"type": "message_start", "message": {"id": "m"}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Look \u{e9}."}}),
            json!({"type": "content_block_start", "index": 1, "content_block": block}),
            piece(args[0]),
            piece(args[1]),
        ];
        events.extend(anthropic_end(reason.unwrap_or("tool_use")));
        return sse(&events);
    }
    let tool = |fragment: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]});
    sse(&[
        openai_text("Look \u{e9}."),
        tool(json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "bash", "arguments": args[0]}})),
        tool(json!({"index": 0, "function": {"arguments": args[1]}})),
        openai_end(reason.unwrap_or("tool_calls")),
        json!("[DONE]"),
    ])
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

/// Whether the answer was cut: with what came of it, or as a failure when nothing did.
fn is_cut(events: &[ModelEvent]) -> bool {
    let is_failure = |error: &ProviderError| error.message.contains("was cut off") && error.hint.is_some();
    match events.last() {
        Some(ModelEvent::Incomplete { .. }) => !text_of(events).is_empty(),
        Some(ModelEvent::Failed(error)) => text_of(events).is_empty() && is_failure(error),
        _ => false,
    }
}

fn is_incomplete(events: &[ModelEvent]) -> bool {
    matches!(events.last(), Some(ModelEvent::Incomplete { .. }))
}
