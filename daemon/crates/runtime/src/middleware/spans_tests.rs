use std::{
    collections::BTreeMap,
    fmt::Debug,
    path::{Path, PathBuf},
};

use cohab_agent::{
    Agent, Denial, Middleware, TurnLimits, TurnPorts, TurnStack, TurnState,
    port::{Effect, Intent, NoSink, Tool, ToolContext, ToolOutput},
    runner::CommandRunner,
};
use cohab_context::compaction::Truncate;
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_models::scripted::ScriptedProvider;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::{
    Id, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Record as Values},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

use super::*;

/// A span that was made.
#[derive(Clone, Debug, Default)]
struct Seen {
    id: u64,
    name: String,
    parent: Option<u64>,
    fields: BTreeMap<String, String>,
    is_closed: bool,
}

/// Notes all spans, in the order of their beginnings.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<Seen>>>);

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let name = attributes.metadata().name().to_owned();
        let parent = attributes.parent().map(Id::into_u64);
        let mut seen = Seen { id: id.into_u64(), name, parent, ..Seen::default() };
        attributes.record(&mut seen);
        self.0.lock().unwrap().push(seen);
    }

    fn on_record(&self, id: &Id, values: &Values<'_>, _: Context<'_, S>) {
        self.change(id, |seen| values.record(seen));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.change(&id, |seen| seen.is_closed = true);
    }
}

impl Capture {
    fn change(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let mut spans = self.0.lock().unwrap();
        change(spans.iter_mut().rfind(|seen| seen.id == id.into_u64()).unwrap());
    }

    /// Each span with what it hangs on, in the order of their beginnings.
    fn tree(&self) -> Vec<(String, String)> {
        let spans = self.0.lock().unwrap();
        let name = |seen: &Seen| seen.fields.get("otel.name").unwrap_or(&seen.name).clone();
        let above =
            |seen: &Seen| spans.iter().find(|above| Some(above.id) == seen.parent).map(name).unwrap_or_default();
        spans.iter().map(|seen| (name(seen), above(seen))).collect()
    }

    /// A field of all spans of this name.
    fn field(&self, span: &str, field: &str) -> Vec<Option<String>> {
        let spans = self.0.lock().unwrap();
        spans.iter().filter(|seen| seen.name == span).map(|seen| seen.fields.get(field).cloned()).collect()
    }
}

/// Says what it was asked; fails for `bad`, is not allowed for `no`.
struct Look;

#[async_trait]
impl Tool for Look {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "look".into(), description: "looks".into(), parameters: json!({"type": "object"}) }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let path = args.get("path").and_then(Value::as_str).ok_or("`path` must be a string")?;
        Ok(Intent { title: path.to_owned(), effect: Effect::Read { path: path.into(), pattern: None } })
    }

    async fn call(&self, args: &JsonObject, _: &ToolContext<'_>) -> Result<ToolOutput, String> {
        if args["path"] == "bad" {
            return Err("private failure".into());
        }
        Ok(ToolOutput::text("private output".into(), String::new()))
    }
}

struct Nobody;

#[async_trait]
impl CommandRunner for Nobody {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

#[async_trait]
impl Middleware for Nobody {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        if call.intent.title == "no" { Err(Denial::Refused { reason: "private reason".into() }) } else { Ok(()) }
    }
}

/// Runs a turn with these answers, and returns its spans.
async fn seen(script: &Value) -> Capture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, script.to_string()).unwrap();
    let provider = Arc::new(ScriptedProvider::load(&path).unwrap());
    let capture = Capture::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(capture.clone()));
    let spans = Arc::new(Spans::new(Arc::clone(&provider) as _, "cli:default".into()));
    let spent = Spent::default();
    let account = spent.account(Arc::new(|_: &mut TokenUsage| {}));
    account(&mut TokenUsage { input: Some(5), ..TokenUsage::default() });
    let compactor = spans.around(Arc::new(Truncate), spent);
    let mut stack = TurnStack::default();
    stack.change(Arc::new(Nobody));
    stack.observe(spans);
    let agent = Agent {
        provider,
        tools: [("look".to_owned(), Arc::new(Look) as Arc<dyn Tool>)].into(),
        stack,
        ports: TurnPorts::default(),
        runner: Arc::new(Nobody),
        system: "private system".into(),
        limits: TurnLimits { model_calls: 5 },
    };
    let mut state = TurnState::new(Vec::new(), "private question".into());
    compactor.shorten(state.messages(), Target { tokens: 1_000, messages: 10 }).await;
    let _ = agent.run_turn(&mut state, &NoSink, &CancellationToken::new()).await;
    drop((agent, compactor));
    capture
}

fn call(id: &str, path: &str) -> Value {
    json!({"call": {"id": id, "name": "look", "args": {"path": path}}})
}

#[tokio::test]
async fn a_turn_is_a_tree_of_its_steps_with_names_and_tokens() {
    let capture = seen(&json!([
        {"steps": [call("1", "good"), call("2", "bad"), call("3", "no"),
            {"usage": {"input": 10, "output": 2, "cache_read": 90}}]},
        {"steps": [{"text": "private answer"}, {"usage": {"input": 20, "output": 3}}]},
    ]))
    .await;
    let top = "invoke_agent cohab";
    let below = |name: &str| (name.to_owned(), top.to_owned());
    let look = || below("execute_tool look");
    let chat = || below("chat script");
    let mut tree = capture.tree();
    tree.sort();
    assert_eq!(tree, [chat(), chat(), below("compaction"), look(), look(), look(), (top.to_owned(), String::new())]);
    let of = |span, field| capture.field(span, field).into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>();
    assert_eq!(of("chat", "gen_ai.usage.input_tokens"), ["100", "20"]);
    assert_eq!(of("chat", "gen_ai.usage.cache_read.input_tokens"), ["90", ""]);
    assert_eq!(of("chat", "gen_ai.response.model"), ["script"; 2]);
    assert_eq!(of("compaction", "gen_ai.usage.input_tokens"), ["5"]);
    assert_eq!(of("invoke_agent", "gen_ai.usage.input_tokens"), ["120"]);
    assert_eq!(of("invoke_agent", "gen_ai.usage.output_tokens"), ["5"]);
    assert_eq!(of("invoke_agent", "cohab.turn.end"), ["answered"]);
    assert_eq!(of("invoke_agent", "gen_ai.conversation.id"), ["cli:default"]);
    let mut tools: Vec<(String, String)> =
        of("execute_tool", "gen_ai.tool.call.id").into_iter().zip(of("execute_tool", "error.type")).collect();
    tools.sort();
    let told = |id: &str, error: &str| (id.to_owned(), error.to_owned());
    assert_eq!(tools, [told("1", ""), told("2", "failed"), told("3", "refused")]);
    let all = capture.0.lock().unwrap();
    assert!(all.iter().all(|seen| seen.is_closed), "{all:?}");
    assert!(!format!("{all:?}").contains("private"), "{all:?}");
}

#[tokio::test]
async fn a_failure_is_told_by_its_kind_only() {
    let error = json!({"kind": "rate_limit", "message": "private: ann@example.com is too fast"});
    let capture = seen(&json!([{"steps": [{"error": error}]}])).await;
    let kind = [Some("rate_limit".to_owned())];
    assert_eq!(
        (capture.field("chat", "error.type"), capture.field("invoke_agent", "error.type")),
        (kind.to_vec(), kind.to_vec())
    );
    assert_eq!(capture.field("chat", "otel.status_code"), [Some("ERROR".to_owned())]);
    let all = capture.0.lock().unwrap();
    assert!(!format!("{all:?}").contains("private"), "{all:?}");
}

#[test]
fn services_are_called_as_the_conventions_call_them() {
    let name = |wire: &str, host: &str| {
        let info = ModelInfo { wire: wire.into(), model: "m".into(), origin: String::new(), is_offline: false };
        provider_name(&info, host)
    };
    assert_eq!(name("openai-chat", "api.mistral.ai"), "mistral_ai");
    assert_eq!(name("gemini", "generativelanguage.googleapis.com"), "gcp.gemini");
    assert_eq!(name("openai-chat", "acme.openai.azure.com"), "azure.ai.openai");
    assert_eq!(name("openai-chat", "127.0.0.1:8080"), "127.0.0.1");
    assert_eq!(name("ollama", "127.0.0.1:11434"), "ollama");
    assert_eq!(name("scripted", ""), "scripted");
    assert_eq!((split("[::1]:8080"), split("api.openai.com")), (("[::1]", 8080), ("api.openai.com", 443)));
}
