//! Spans describe a turn and its steps for `tracing` subscribers: the turn (`invoke_agent`), below it each model call (`chat`), each
//! tool that ran (`execute_tool`) and each compaction (`compaction`).
//!
//! Fields have the names of OpenTelemetry's conventions for generative AI, and hold names, counts and kinds of failures only: never
//! questions, answers, commands or output. All spans have one target that the daemon's log leaves out, so no span is made without a
//! separate subscriber.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::{
    Fact, PlannedCall, TurnError, TurnObserver, TurnResult, TurnState,
    port::StepResult,
    state::{Cut, Record},
};
use cohab_context::{
    compaction::{Compactor, Shortened},
    elision::Target,
};
use cohab_model_api::{Message, ModelInfo, ModelProvider, TokenUsage, ToolCall};
use tracing::{
    Span,
    field::{self, Empty},
};

use crate::{middleware::compaction::Spent, recording::end_word};

/// Target of all spans. No target of the daemon's own, which have the level of the log.
pub const TARGET: &str = "gen_ai";

/// Names of services in the conventions, by the end of their host. Others are named by their host.
const PROVIDERS: &[(&str, &str)] = &[
    ("api.anthropic.com", "anthropic"),
    ("api.openai.com", "openai"),
    (".openai.azure.com", "azure.ai.openai"),
    (".services.ai.azure.com", "azure.ai.inference"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    (".amazonaws.com", "aws.bedrock"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.groq.com", "groq"),
    ("api.deepseek.com", "deepseek"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
];

/// The spans of one turn. Stands inside of all around the loop, except the recorders: a step begins after all waiting is over.
pub struct Spans {
    turn: Span,
    conversation: String,
    provider: Arc<dyn ModelProvider>,
    open: Mutex<OpenSpans>,
}

/// Open spans.
#[derive(Default)]
struct OpenSpans {
    model: Option<Span>,
    /// By the ids of their calls.
    tools: HashMap<String, Span>,
}

impl Spans {
    /// For a turn that begins now, in the session of this name.
    #[must_use]
    pub fn new(provider: Arc<dyn ModelProvider>, conversation: String) -> Self {
        let turn = tracing::info_span!(
            target: TARGET,
            parent: None,
            "invoke_agent",
            otel.name = "invoke_agent cohab",
            otel.kind = "internal",
            otel.status_code = Empty,
            gen_ai.operation.name = "invoke_agent",
            gen_ai.provider.name = Empty,
            gen_ai.agent.name = "cohab",
            gen_ai.agent.version = env!("CARGO_PKG_VERSION"),
            gen_ai.conversation.id = conversation,
            gen_ai.request.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_creation.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            cohab.turn.end = Empty,
            error.type = Empty,
        );
        if !turn.is_disabled() {
            turn.record("gen_ai.provider.name", provider_name(&provider.info(), &provider.service().host));
            turn.record("gen_ai.request.model", provider.info().model);
        }
        Self { turn, conversation, provider, open: Mutex::default() }
    }

    /// Shows the compactions of `inner`, and their usage.
    #[must_use]
    pub fn around(&self, inner: Arc<dyn Compactor>, spent: Spent) -> Arc<dyn Compactor> {
        Arc::new(TracedCompactor { inner, spent, turn: self.turn.clone() })
    }

    fn open(&self) -> MutexGuard<'_, OpenSpans> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tool(&self, name: &str, call_id: &str) -> Span {
        let span = tracing::info_span!(
            target: TARGET,
            parent: &self.turn,
            "execute_tool",
            otel.name = Empty,
            otel.kind = "internal",
            otel.status_code = Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = name,
            gen_ai.tool.call.id = call_id,
            gen_ai.tool.type = "function",
            gen_ai.conversation.id = self.conversation,
            error.type = Empty,
        );
        span.record("otel.name", field::display(format_args!("execute_tool {name}")));
        span
    }

    fn requested(&self) {
        if self.turn.is_disabled() {
            return;
        }
        let ModelInfo { model, .. } = self.provider.info();
        let host = self.provider.service().host;
        let (address, port) = split(&host);
        let mut open = self.open();
        // A request that is repeated because it was too long is the same step.
        open.model.get_or_insert_with(|| {
            let span = tracing::info_span!(
                target: TARGET,
                parent: &self.turn,
                "chat",
                otel.name = Empty,
                otel.kind = "client",
                otel.status_code = Empty,
                gen_ai.operation.name = "chat",
                gen_ai.provider.name = provider_name(&self.provider.info(), &host),
                gen_ai.conversation.id = self.conversation,
                gen_ai.request.model = model,
                gen_ai.response.model = Empty,
                gen_ai.usage.input_tokens = Empty,
                gen_ai.usage.output_tokens = Empty,
                gen_ai.usage.cache_read.input_tokens = Empty,
                gen_ai.usage.cache_creation.input_tokens = Empty,
                gen_ai.usage.reasoning.output_tokens = Empty,
                server.address = (!address.is_empty()).then_some(address),
                server.port = (!address.is_empty()).then_some(port),
                error.type = Empty,
            );
            span.record("otel.name", field::display(format_args!("chat {model}")));
            span
        });
    }

    fn model_ended(&self, record: &Record) {
        let Some(span) = self.open().model.take() else { return };
        match record {
            Record::Answer { usage, .. } => {
                // Another model may have taken over.
                span.record("gen_ai.response.model", self.provider.info().model);
                tokens(&span, usage);
            }
            Record::Broken { usage, cause, .. } => {
                tokens(&span, usage);
                failed(
                    &span,
                    match cause {
                        Cut::Cancelled => "cancelled",
                        Cut::Failed(error) => error.kind.word(),
                        Cut::Incomplete(_) => "incomplete",
                    },
                );
            }
            Record::Tools { .. } => {}
        }
    }

    fn call_begins(&self, call: &PlannedCall) {
        if !self.turn.is_disabled() {
            let span = self.tool(&call.tool, &call.call_id);
            self.open().tools.insert(call.call_id.clone(), span);
        }
    }

    fn tool_ran(&self, call: &PlannedCall, outcome: StepResult) {
        let Some(span) = self.open().tools.remove(&call.call_id) else { return };
        if outcome != StepResult::Done {
            failed(&span, "failed");
        }
    }

    fn call_ended(&self, call: &ToolCall, outcome: StepResult) {
        let span = self.open().tools.remove(&call.id);
        match outcome {
            StepResult::Cancelled => span.into_iter().for_each(|span| failed(&span, "cancelled")),
            // It never ran. A call that cannot be judged is not shown: the name of its tool is the model's own text.
            StepResult::Refused if !self.turn.is_disabled() => {
                failed(&self.tool(&call.name, &call.id), "refused");
            }
            StepResult::Done | StepResult::Failed | StepResult::Refused => {}
        }
    }

    fn turn_ended(&self, state: &TurnState, result: &TurnResult) {
        *self.open() = OpenSpans::default();
        tokens(&self.turn, &state.usage());
        self.turn.record("cohab.turn.end", end_word(result));
        if let Err(error) = result {
            failed(&self.turn, kind(error));
        }
    }
}

#[async_trait]
impl TurnObserver for Spans {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::Requested => self.requested(),
            Fact::CallReached(call) => self.call_begins(call),
            Fact::ModelEnded(record) => self.model_ended(record),
            Fact::ToolRan(call, outcome) => self.tool_ran(call, outcome),
            Fact::CallEnded(call, outcome, _) => self.call_ended(call, outcome),
            Fact::TurnEnded(state, result) => self.turn_ended(state, result),
            _ => {}
        }
    }
}

/// Shows compactions.
struct TracedCompactor {
    inner: Arc<dyn Compactor>,
    spent: Spent,
    turn: Span,
}

#[async_trait]
impl Compactor for TracedCompactor {
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened {
        let span = tracing::info_span!(
            target: TARGET,
            parent: &self.turn,
            "compaction",
            otel.kind = "internal",
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_creation.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            cohab.compaction.dropped_messages = Empty,
            cohab.compaction.is_summed_up = Empty,
        );
        let shortened = self.inner.shorten(messages, target).await;
        self.spent.look().into_iter().for_each(|usage| tokens(&span, &usage));
        span.record("cohab.compaction.dropped_messages", shortened.dropped);
        span.record("cohab.compaction.is_summed_up", shortened.summary.is_some());
        shortened
    }
}

/// `input_tokens` includes tokens from and to a cache, as the conventions require.
fn tokens(span: &Span, usage: &TokenUsage) {
    for (name, tokens) in [
        ("gen_ai.usage.input_tokens", usage.sent()),
        ("gen_ai.usage.output_tokens", usage.output),
        ("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
        ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write),
        ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
    ] {
        if let Some(tokens) = tokens {
            span.record(name, tokens);
        }
    }
}

fn failed(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn provider_name(info: &ModelInfo, host: &str) -> String {
    let (address, _) = split(host);
    let known = PROVIDERS.iter().find(|(end, _)| address.ends_with(end)).map(|(_, name)| *name);
    // A request that stays on the machine has no host, or one without meaning.
    let otherwise = if address.is_empty() || info.wire == "ollama" { info.wire.as_str() } else { address };
    known.unwrap_or(otherwise).to_owned()
}

/// Address and port of a service's host; without a port it is that of HTTPS.
fn split(host: &str) -> (&str, u16) {
    let split = host.rsplit_once(':').and_then(|(address, port)| Some((address, port.parse().ok()?)));
    split.unwrap_or((host, 443))
}

fn kind(error: &TurnError) -> &'static str {
    match error {
        TurnError::Provider(error) => error.kind.word(),
        TurnError::Incomplete { .. } => "incomplete",
        TurnError::BrokenCalls { .. } => "broken_calls",
        TurnError::Stopped { .. } => "stopped",
        TurnError::Settings { .. } => "settings",
        TurnError::NothingToResume { .. } => "nothing_to_resume",
        TurnError::Internal => "internal",
    }
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
