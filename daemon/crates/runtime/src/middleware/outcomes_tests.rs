//! Models that never finish by themselves: each way of not finishing has a separate outcome.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cohab_agent::{
    Agent, StopReason, TurnError, TurnLimits, TurnPorts, TurnStack, TurnState,
    hook::TurnResult,
    port::{ApprovalAnswer, ApprovalQuestion, Approver, Effect, Intent, NoSink, Tool, ToolContext, ToolOutput},
    runner::CommandRunner,
};
use cohab_model_api::{
    BrokenArguments, JsonObject, ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolCall, ToolSpec,
};
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{final_answer::LastAnswer, self_correction::SelfCorrection};

/// The n-th answer.
type Answer = fn(u32) -> Vec<ModelEvent>;

struct Model {
    answer: Answer,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ModelProvider for Model {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "w".into(), model: "m".into(), origin: String::new(), is_offline: false }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let mut requests = self.requests.lock().unwrap();
        requests.push(request);
        let number = u32::try_from(requests.len()).unwrap();
        stream::iter((self.answer)(number)).boxed()
    }
}

/// Reads `path`, which says the same each time.
struct Read;

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "read".into(), description: "reads".into(), parameters: json!({"type": "object"}) }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let path = args.get("path").and_then(Value::as_str).ok_or("`path` must be a string")?;
        Ok(Intent { title: path.to_owned(), effect: Effect::Read { path: path.into(), pattern: None } })
    }

    async fn call(&self, args: &JsonObject, _context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        Ok(ToolOutput::text(format!("of {:?}", args["path"]), String::new()))
    }
}

struct Nobody;

#[async_trait]
impl Approver for Nobody {
    async fn ask(&self, _: ApprovalQuestion) -> ApprovalAnswer {
        ApprovalAnswer::Refused { reason: "no client is attached".into() }
    }
}

#[async_trait]
impl CommandRunner for Nobody {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

fn call(name: &str, args: &Value) -> Vec<ModelEvent> {
    let args = args.as_object().cloned().ok_or_else(|| BrokenArguments { raw: "{".into(), error: "no JSON".into() });
    let call = ToolCall { id: format!("c-{name}"), name: name.into(), args: args.map(Into::into) };
    vec![ModelEvent::ToolCallDone(call), stop(StopClass::Tool)]
}

fn stop(class: StopClass) -> ModelEvent {
    ModelEvent::Stop { class, provider_data: None }
}

fn always_something_new(number: u32) -> Vec<ModelEvent> {
    call("read", &json!({"path": format!("/{number}")}))
}

/// The outcome of a turn with such a model after `model_calls` model calls.
async fn outcome(answer: Answer, model_calls: u32) -> (TurnResult, Arc<Model>) {
    let model = Arc::new(Model { answer, requests: Mutex::default() });
    let mut stack = TurnStack::default();
    stack.change_and_observe(Arc::new(SelfCorrection::new(5, Arc::new(Nobody))));
    stack.change(Arc::new(LastAnswer::default()));
    let agent = Agent {
        provider: Arc::clone(&model) as _,
        tools: [("read".to_owned(), Arc::new(Read) as Arc<dyn Tool>)].into(),
        stack,
        ports: TurnPorts::default(),
        runner: Arc::new(Nobody),
        system: String::new(),
        limits: TurnLimits { model_calls },
    };
    let mut state = TurnState::new(Vec::new(), "question".into());
    let result = agent.run_turn(&mut state, &NoSink, &CancellationToken::new()).await;
    assert!(state.pending_calls().is_empty());
    (result, model)
}

#[tokio::test]
async fn each_way_not_to_end_has_its_outcome() {
    let cases: [(&str, Answer, &str, usize); 8] = [
        ("it never stops", always_something_new, "step limit", 13),
        (
            "it repeats itself",
            |_| call("read", &json!({"path": "/f"})),
            "stuck: the same call of `read` came 5 times",
            5,
        ),
        ("two calls in turns", |n| call("read", &json!({"path": format!("/{}", n % 2)})), "stuck: the same call", 7),
        ("it answers nothing", |_| vec![stop(StopClass::End)], "the model gave an empty answer", 1),
        ("it calls what there is not", |_| call("reed", &Value::Object(Map::new())), "3 answers in a row", 3),
        ("its arguments are no JSON", |_| call("read", &Value::Null), "3 answers in a row", 3),
        ("its arguments have wrong types", |n| call("read", &json!({"path": n})), "stuck: the last 5 steps", 5),
        (
            "it breaks off",
            |_| vec![ModelEvent::Incomplete { reason: "the line is dead".into() }],
            "the line is dead",
            1,
        ),
    ];
    for (what, answer, expected, calls) in cases {
        let (result, model) = outcome(answer, 12).await;
        let told = match result {
            Ok(StopReason::StepLimit) => "step limit".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error @ TurnError::Stopped { .. }) => {
                assert!(error.hint().is_some(), "{what}");
                error.to_string()
            }
            Err(error) => error.to_string(),
        };
        assert!(told.contains(expected), "{what}: {told}");
        assert_eq!(model.requests.lock().unwrap().len(), calls, "{what}");
    }
}

#[tokio::test]
async fn at_the_limit_the_model_learns_why_no_tool_runs_any_more_and_zero_is_no_limit() {
    let (_, model) = outcome(always_something_new, 2).await;
    let last = model.requests.lock().unwrap().last().cloned().expect("a request");
    assert!(!last.allow_tools && format!("{:?}", last.messages).contains("The limit of steps"), "{last:?}");
    let end_at_60: Answer = |number| match number {
        60 => vec![ModelEvent::TextDelta("Done.".into()), stop(StopClass::End)],
        _ => always_something_new(number),
    };
    let (result, model) = outcome(end_at_60, 0).await;
    assert_eq!((result, model.requests.lock().unwrap().len()), (Ok(StopReason::Answered), 60));
}
