use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use async_trait::async_trait;
use cohab_model_api::{
    AssistantMessage, BrokenArguments, Image, JsonObject, Message, ModelEvent, ModelInfo, ModelRequest, ProviderError,
    ProviderErrorKind, StopClass, TokenUsage, ToolCall, ToolSpec,
};
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::{Value, json};

use super::*;
use crate::{
    Denial, Middleware, PlannedCall, TurnError, TurnObserver,
    port::{Activity, Effect, Intent, StepResult, ToolContext, ToolOutput, TurnEvent},
};

/// Provider that answers with one script after the other; after a script without a terminal event the stream hangs.
struct Scripted {
    scripts: Mutex<VecDeque<Vec<ModelEvent>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ModelProvider for Scripted {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "scripted".into(), model: "m".into(), origin: "test".into(), is_offline: false }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        self.requests.lock().unwrap().push(request);
        let script = self.scripts.lock().unwrap().pop_front().expect("the test has a script for each request");
        let ends = script.last().is_some_and(|event| {
            matches!(event, ModelEvent::Stop { .. } | ModelEvent::Failed(_) | ModelEvent::Incomplete { .. })
        });
        let events = stream::iter(script);
        if ends { events.boxed() } else { events.chain(stream::pending()).boxed() }
    }
}

/// Tool that reports its arguments. `hang` never returns, `fail` fails.
#[derive(Default)]
struct Echo(Mutex<Vec<String>>);

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "echo".into(), description: "says it".into(), parameters: json!({"type": "object"}) }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let command = args.get("command").and_then(Value::as_str).ok_or("`command` is missing")?.to_owned();
        Ok(Intent { title: command.clone(), effect: Effect::RunCommand { command: command.into() } })
    }

    async fn call(&self, args: &JsonObject, _context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let command = args["command"].as_str().unwrap().to_owned();
        self.0.lock().unwrap().push(command.clone());
        match command.as_str() {
            "hang" => std::future::pending().await,
            "fail" => Err("it failed".into()),
            name => {
                let image = name.ends_with(".gif").then(|| Image::read(name, b"GIF89a".to_vec())).flatten();
                Ok(ToolOutput { image, ..ToolOutput::text(format!("said {command}"), "ok".into()) })
            }
        }
    }
}

struct NoShell;

#[async_trait]
impl CommandRunner for NoShell {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

/// Records events, and cancels when the expected text has come.
#[derive(Default)]
struct Recorder {
    events: Mutex<Vec<TurnEvent>>,
    cancel_at: Option<(TurnEvent, CancellationToken)>,
}

#[async_trait]
impl EventSink for Recorder {
    fn pause(&self) {}

    async fn emit(&self, event: TurnEvent) {
        if let Some((at, cancel)) = &self.cancel_at
            && event == *at
        {
            cancel.cancel();
        }
        self.events.lock().unwrap().push(event);
    }
}

struct DenyAll(Denial);

#[async_trait]
impl Middleware for DenyAll {
    async fn before_tool(&self, _call: &mut PlannedCall) -> Result<(), Denial> {
        Err(self.0.clone())
    }
}

struct Turn {
    echo: Arc<Echo>,
    provider: Arc<Scripted>,
    agent: Agent,
    state: TurnState,
    sink: Recorder,
    cancel: CancellationToken,
}

impl Turn {
    fn new(scripts: Vec<Vec<ModelEvent>>) -> Self {
        let echo = Arc::new(Echo::default());
        let provider = Arc::new(Scripted { scripts: Mutex::new(scripts.into()), requests: Mutex::default() });
        let agent = Agent {
            provider: Arc::clone(&provider) as _,
            tools: [("echo".to_owned(), Arc::clone(&echo) as Arc<dyn Tool>)].into(),
            stack: TurnStack::default(),
            ports: TurnPorts::default(),
            runner: Arc::new(NoShell),
            system: "system".into(),
            limits: TurnLimits { model_calls: 5 },
        };
        let state = TurnState::new(Vec::new(), "question".into());
        Self { echo, provider, agent, state, sink: Recorder::default(), cancel: CancellationToken::new() }
    }

    fn cancelled_at(mut self, event: TurnEvent) -> Self {
        self.sink.cancel_at = Some((event, self.cancel.clone()));
        self
    }

    fn with(mut self, middleware: impl Middleware + 'static) -> Self {
        self.agent.stack.change(Arc::new(middleware));
        self
    }

    fn observed_by(mut self, observer: impl TurnObserver + 'static) -> Self {
        self.agent.stack.observe(Arc::new(observer));
        self
    }

    async fn run(&mut self) -> TurnResult {
        let turn = self.agent.run_turn(&mut self.state, &self.sink, &self.cancel);
        tokio::time::timeout(Duration::from_secs(10), turn).await.expect("the turn ends")
    }

    /// Contents of the results of the last batch, with an exclamation mark before errors.
    fn results(&self) -> Vec<String> {
        let results = self.state.messages().iter().rev().find_map(|message| match message {
            Message::ToolResults(results) => Some(results),
            _ => None,
        });
        let mark = |is_error| if is_error { "!" } else { "" };
        results.expect("there are results").iter().map(|one| format!("{}{}", mark(one.is_error), one.content)).collect()
    }

    fn last_text(&self) -> String {
        match self.state.messages().last() {
            Some(Message::Assistant(AssistantMessage { text, .. })) => text.clone(),
            other => panic!("the last message is {other:?}"),
        }
    }

    fn ran(&self) -> Vec<String> {
        self.echo.0.lock().unwrap().clone()
    }

    fn events(&self) -> Vec<TurnEvent> {
        self.sink.events.lock().unwrap().clone()
    }
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::TextDelta(text.into())
}

fn call(command: &str) -> ModelEvent {
    let args = json!({ "command": command }).as_object().cloned().unwrap();
    ModelEvent::ToolCallDone(ToolCall { id: format!("id-{command}"), name: "echo".into(), args: Ok(args.into()) })
}

fn broken_call() -> ModelEvent {
    let args = Err(BrokenArguments { raw: "{".into(), error: "EOF".into() });
    ModelEvent::ToolCallDone(ToolCall { id: "broken".into(), name: "echo".into(), args })
}

fn stop(class: StopClass) -> ModelEvent {
    ModelEvent::Stop { class, provider_data: None }
}

fn done() -> Vec<ModelEvent> {
    vec![text("done"), stop(StopClass::End)]
}

#[tokio::test]
async fn calls_run_in_order_after_the_stop_and_their_results_go_back_in_order() {
    let mut turn = Turn::new(vec![vec![text("a"), call("1"), call("fail"), call("3"), stop(StopClass::Tool)], done()]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.ran(), ["1", "fail", "3"]);
    assert_eq!(turn.results(), ["said 1", "!it failed", "said 3"]);
    let requests = turn.provider.requests.lock().unwrap();
    assert!(matches!(requests[1].messages.last(), Some(Message::ToolResults(results)) if results.len() == 3));
}

#[tokio::test]
async fn steps_are_numbered_without_gaps_and_each_ends() {
    let mut turn = Turn::new(vec![vec![call("1"), broken_call(), stop(StopClass::Tool)], done()]);
    turn.run().await.unwrap();
    let mut open = Vec::new();
    let mut ended = Vec::new();
    for event in turn.events() {
        match event {
            TurnEvent::StepStarted { step, .. } => open.push(step),
            TurnEvent::StepFinished { step, outcome, .. } => {
                assert_eq!(open.last(), Some(&step));
                ended.push(outcome);
            }
            _ => {}
        }
    }
    assert_eq!(open, [0, 1, 2, 3]);
    assert_eq!(ended, [StepResult::Done, StepResult::Done, StepResult::Failed, StepResult::Done]);
}

#[tokio::test]
async fn a_pause_that_the_provider_gave_up_on_ends_the_turn_with_a_notice() {
    let mut turn = Turn::new(vec![vec![text("so far"), stop(StopClass::Pause)]]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.last_text(), "so far");
    assert!(turn.events().iter().any(|event| matches!(event, TurnEvent::Notice(text) if text.contains("paused"))));
}

#[tokio::test]
async fn a_call_of_an_answer_without_its_end_never_runs() {
    let incomplete = ModelEvent::Incomplete { reason: "cut".into() };
    let mut turn = Turn::new(vec![vec![text("half"), call("1"), incomplete]]);
    assert_eq!(turn.run().await, Err(TurnError::Incomplete { reason: "cut".into() }));
    assert!(turn.ran().is_empty());
    assert_eq!(turn.last_text(), "half\n\n[interrupted]");
}

#[tokio::test]
async fn a_stream_that_just_ends_is_incomplete() {
    struct Mute;
    impl ModelProvider for Mute {
        fn info(&self) -> ModelInfo {
            ModelInfo { wire: "mute".into(), model: "m".into(), origin: "test".into(), is_offline: false }
        }
        fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
            stream::iter([text("x")]).boxed()
        }
    }
    let mut turn = Turn::new(vec![]);
    turn.agent.provider = Arc::new(Mute);
    assert!(matches!(turn.run().await, Err(TurnError::Incomplete { .. })));
}

#[tokio::test]
async fn a_model_that_stands_in_is_named_with_its_answer() {
    /// Provider that changes its model as soon as it was asked.
    #[derive(Default)]
    struct Changing(Mutex<u32>);
    impl ModelProvider for Changing {
        fn info(&self) -> ModelInfo {
            let model = if *self.0.lock().unwrap() == 0 { "first" } else { "spare" };
            ModelInfo { wire: "w".into(), model: model.into(), origin: "test".into(), is_offline: false }
        }
        fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
            *self.0.lock().unwrap() += 1;
            stream::iter([text("x"), stop(StopClass::End)]).boxed()
        }
    }
    let mut turn = Turn::new(vec![]);
    turn.agent.provider = Arc::<Changing>::default();
    turn.run().await.expect("an answer");
    let events = turn.events();
    let summary = events.iter().find_map(|event| match event {
        TurnEvent::StepFinished { summary, .. } => Some(summary.as_str()),
        _ => None,
    });
    assert_eq!(summary, Some("w/spare answered"));
}

#[tokio::test]
async fn a_failed_provider_keeps_the_text_and_ends_the_turn() {
    let kind = ProviderErrorKind::Overloaded;
    let error = ProviderError { kind, message: "busy".into(), hint: None, retry_after: None, overflow: None };
    let mut turn = Turn::new(vec![vec![text("half"), ModelEvent::Failed(error.clone())]]);
    assert_eq!(turn.run().await, Err(TurnError::Provider(error)));
    assert_eq!(turn.last_text(), "half\n\n[interrupted]");
}

#[tokio::test]
async fn a_retry_that_discards_takes_back_text_and_calls() {
    let retry = ModelEvent::Retrying { reason: "again".into(), after: Duration::ZERO, discard_shown: true };
    let mut turn = Turn::new(vec![vec![text("old"), call("1"), retry, text("new"), stop(StopClass::End)]]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.last_text(), "new");
    assert!(turn.ran().is_empty());
    let reset = turn.events().iter().position(|event| *event == TurnEvent::Reset);
    let new = turn.events().iter().position(|event| *event == TurnEvent::Text("new".into()));
    assert!(reset.is_some() && reset < new);
}

#[tokio::test]
async fn an_unknown_tool_and_broken_arguments_are_answered_with_errors() {
    let unknown =
        ModelEvent::ToolCallDone(ToolCall { id: "u".into(), name: "nope".into(), args: Ok(JsonObject::new().into()) });
    let no_command =
        ModelEvent::ToolCallDone(ToolCall { id: "n".into(), name: "echo".into(), args: Ok(JsonObject::new().into()) });
    let mut turn = Turn::new(vec![vec![unknown, broken_call(), no_command, stop(StopClass::Tool)], done()]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.results(), ["!there is no tool `nope`; the tools are: echo", "!EOF", "!`command` is missing"]);
}

#[tokio::test]
async fn three_answers_of_broken_calls_end_the_turn() {
    let bad = || vec![broken_call(), stop(StopClass::Tool)];
    let mut turn = Turn::new(vec![bad(), bad(), bad()]);
    assert!(matches!(turn.run().await, Err(TurnError::BrokenCalls { answers: 3, .. })));
}

#[tokio::test]
async fn a_call_cut_by_the_length_limit_never_runs() {
    let mut turn = Turn::new(vec![vec![call("1"), stop(StopClass::Length)], done()]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert!(turn.ran().is_empty());
    assert!(turn.results()[0].starts_with("!not run: the length limit"), "{:?}", turn.results());
}

#[tokio::test]
async fn at_the_step_limit_one_last_answer_comes_without_tools() {
    let busy = || vec![call("1"), stop(StopClass::Tool)];
    let mut turn = Turn::new(vec![busy(), busy(), busy(), busy(), busy(), done()]);
    assert_eq!(turn.run().await, Ok(StopReason::StepLimit));
    let requests = turn.provider.requests.lock().unwrap();
    let allowed: Vec<bool> = requests.iter().map(|request| request.allow_tools).collect();
    assert_eq!(allowed, [true, true, true, true, true, false]);
    assert!(requests.iter().all(|request| request.tools.len() == 1));
}

#[tokio::test]
async fn cancelling_before_the_turn_asks_nobody() {
    let mut turn = Turn::new(vec![]);
    turn.cancel.cancel();
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
}

#[tokio::test]
async fn cancelling_while_text_streams_keeps_it() {
    let mut turn = Turn::new(vec![vec![text("half"), call("1")]]).cancelled_at(TurnEvent::Text("half".into()));
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert_eq!(turn.last_text(), "half\n\n[interrupted]");
    assert!(turn.ran().is_empty());
}

#[tokio::test]
async fn a_question_that_was_cancelled_before_any_text_is_closed() {
    let started = TurnEvent::StepStarted {
        step: 0,
        activity: Activity::ModelCall { model: "scripted/m".into(), is_host: false },
    };
    let mut turn = Turn::new(vec![vec![]]).cancelled_at(started);
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert_eq!(turn.last_text(), "[interrupted]");
}

#[tokio::test]
async fn cancelling_during_a_retry_wait_ends_it() {
    let after = Duration::from_secs(100);
    let retry = ModelEvent::Retrying { reason: "again".into(), after, discard_shown: false };
    let mut turn = Turn::new(vec![vec![retry]]).cancelled_at(TurnEvent::Retry { reason: "again".into(), after });
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
}

#[tokio::test]
async fn cancelling_while_a_tool_runs_answers_every_call() {
    let mut turn = Turn::new(vec![vec![call("1"), call("hang"), call("3"), stop(StopClass::Tool)]]);
    let (echo, cancel) = (Arc::clone(&turn.echo), turn.cancel.clone());
    tokio::spawn(async move {
        while !echo.0.lock().unwrap().contains(&"hang".to_owned()) {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert_eq!(turn.ran(), ["1", "hang"]);
    assert_eq!(turn.results(), ["said 1", "!cancelled before it ended", "!cancelled before it ended"]);
}

#[tokio::test]
async fn cancelling_the_last_answer_at_the_step_limit_is_a_cancel() {
    let mut turn = Turn::new(vec![vec![call("1"), stop(StopClass::Tool)], vec![text("sum")]])
        .cancelled_at(TurnEvent::Text("sum".into()));
    turn.agent.limits.model_calls = 1;
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
}

#[tokio::test]
async fn a_denied_call_is_answered_and_the_turn_goes_on() {
    let denial = Denial::Refused { reason: "no".into() };
    let mut turn = Turn::new(vec![vec![call("1"), stop(StopClass::Tool)], done()]).with(DenyAll(denial));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert!(turn.ran().is_empty());
    assert_eq!(turn.results(), ["!no"]);
}

#[tokio::test]
async fn the_user_can_end_the_turn_at_a_question() {
    let mut turn = Turn::new(vec![vec![call("1"), call("2"), stop(StopClass::Tool)]]).with(DenyAll(Denial::CancelTurn));
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert!(turn.ran().is_empty());
    assert_eq!(turn.results(), ["!cancelled before it ended", "!cancelled before it ended"]);
}

#[tokio::test]
async fn of_several_counts_of_tokens_in_one_answer_the_last_known_one_wins() {
    let usage = |input, output| ModelEvent::Usage(TokenUsage { input, output, ..TokenUsage::default() });
    let mut turn =
        Turn::new(vec![vec![usage(Some(10), Some(1)), text("x"), usage(None, Some(5)), stop(StopClass::End)]]);
    turn.run().await.unwrap();
    assert_eq!((turn.state.usage().input, turn.state.usage().output), (Some(10), Some(5)));
}

#[tokio::test]
async fn an_endless_answer_is_broken_off() {
    let mut turn = Turn::new(vec![]);
    struct Endless;
    impl ModelProvider for Endless {
        fn info(&self) -> ModelInfo {
            ModelInfo { wire: "endless".into(), model: "m".into(), origin: "test".into(), is_offline: false }
        }
        fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
            stream::repeat(text(&"x".repeat(64 * 1024))).boxed()
        }
    }
    turn.agent.provider = Arc::new(Endless);
    assert!(matches!(turn.run().await, Err(TurnError::Incomplete { .. })));
}

#[path = "at_once_tests.rs"]
mod at_once;
#[path = "hook_tests.rs"]
mod hooks;
#[path = "news_tests.rs"]
mod news;
#[path = "overflow_tests.rs"]
mod overflow;
#[path = "question_tests.rs"]
mod question;
#[path = "stop_tests.rs"]
mod stop;
