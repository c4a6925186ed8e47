use std::{task::Poll, time::Duration};

use async_trait::async_trait;
use cohab_agent::{
    Denial, Fact, Middleware as _, ObservedApprover, PlannedCall, TurnObserver, TurnState,
    port::{Activity, Approver, EventSink, Intent, NoSink, StepResult, TurnEvent},
    runner::CommandRunner,
    state::Record,
};
use cohab_context::query::PastCommand;
use cohab_model_api::{AssistantMessage, StopClass, ToolCall, ToolResult, testing::Always as Model};
use cohab_store::sessions::{
    EventRow, SqliteStore,
    steps::{CheckpointStore as _, StepType},
};
use cohab_types::command::{CommandRequest, Ending, EnvChange, MASKED, RelayError, StateAfter};
use tokio_util::sync::CancellationToken;

use super::*;
use super::{
    hooks::{ApprovedCallRecorder, ProposedCallRecorder},
    step_hooks::{IntentJournal, Steps},
};

/// Answers always the same.
struct Always(ApprovalAnswer);

#[async_trait]
impl Approver for Always {
    async fn ask(&self, _: ApprovalQuestion) -> ApprovalAnswer {
        self.0.clone()
    }
}

/// A shell whose every command goes to `/srv` and sets variables.
struct Moving;

#[async_trait]
impl CommandRunner for Moving {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        let change = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(str::to_owned) };
        Ok(CommandOutcome {
            ending: Ending::Exited,
            status: Some(4),
            cwd: "/srv".into(),
            output: format!("{}\u{1b}[31mend", "x".repeat(50_000)),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::from_millis(8),
            mode: Mode::Live,
            state_after: StateAfter::Prompt,
            first_run: None,
            env_delta: vec![change("A", Some("1")), change("API_KEY", Some(MASKED)), change("GONE", None)],
        })
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

async fn ended(observer: &impl TurnObserver, call: &ToolCall, result: &ToolResult) {
    observer.observe(Fact::CallEnded(call, StepResult::Done, result)).await;
}

struct Bench {
    folder: tempfile::TempDir,
    archive: Archive,
    recorder: Arc<TurnRecorder>,
    session: Arc<SessionRecord>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Archive::at(folder.path().join("sessions.db"));
        Self::with(folder, archive, Arc::default())
    }

    /// The next turn of the same session.
    fn next(self) -> Self {
        Self::with(self.folder, self.archive, self.session)
    }

    fn with(folder: tempfile::TempDir, archive: Archive, session: Arc<SessionRecord>) -> Self {
        let opening = Opening {
            session: "shell:1".into(),
            turn: "t".into(),
            question: "what\u{1b}[2J\nnow".into(),
            cwd: "/home/ann".into(),
            shell: Some("bash".into()),
            piped_bytes: 0,
            resumed_from: None,
        };
        let recorder = Arc::new(TurnRecorder::new(archive.clone(), Arc::clone(&session), opening));
        Self { folder, archive, recorder, session }
    }

    fn approver(&self, inner: Arc<dyn Approver>) -> ObservedApprover {
        ObservedApprover { inner, observers: vec![Arc::clone(&self.recorder) as _] }
    }

    fn begin(&self) {
        let model = ModelInfo { wire: "w".into(), model: "m".into(), origin: String::new(), is_offline: false };
        self.recorder.begin(Some(Limits::of_days(90)), &model);
    }

    /// A call of this command: with this answer if the user is asked, with this consent if there is one already.
    async fn call(&self, answer: Option<ApprovalAnswer>, consent: Option<&str>, is_asked: bool) {
        self.call_on(Arc::new(Moving), answer, consent, is_asked).await;
    }

    /// The same in this shell; a command that does not end at once is stopped with its turn.
    async fn call_on(
        &self,
        shell: Arc<dyn CommandRunner>,
        answer: Option<ApprovalAnswer>,
        consent: Option<&str>,
        is_asked: bool,
    ) {
        let (outer, inner) = (
            ProposedCallRecorder(Arc::clone(&self.recorder)),
            ApprovedCallRecorder { recorder: Arc::clone(&self.recorder), is_asked: Box::new(move || is_asked) },
        );
        let effect = |command: &str| Effect::RunCommand { command: command.into() };
        let intent = Intent { title: "make".into(), effect: effect("make") };
        let wanted = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(serde_json::Map::new().into()) };
        let planned = PlannedCall::new(&wanted, serde_json::Map::new(), intent, "/home/ann".into());
        let mut call = PlannedCall { approval: consent.map(str::to_owned), step: Some(0), ..planned };
        outer.observe(Fact::CallReached(&call)).await;
        let mut verdict = Ok(());
        if let Some(answer) = answer {
            let approver = self.approver(Arc::new(Always(answer)));
            let subject = ApprovalSubject::Effect { tool: "bash".into(), effect: effect("make") };
            let question = ApprovalQuestion { reasons: vec!["why".into()], ..ApprovalQuestion::about(subject) };
            match approver.ask(question).await {
                ApprovalAnswer::Edited { command, .. } => call.intent.effect = effect(&command),
                ApprovalAnswer::Refused { reason } => verdict = Err(Denial::Refused { reason }),
                _ => {}
            }
        }
        let mut is_error = verdict.is_err();
        if verdict.is_ok() {
            inner.observe(Fact::CallReached(&call)).await;
            let runner = RecordingRunner::new(shell, Arc::clone(&self.recorder));
            let request =
                CommandRequest { id: "1".into(), text: "make".into(), timeout: Duration::ZERO, wants_env_delta: true };
            match futures::poll!(std::pin::pin!(runner.run(request, &CancellationToken::new()))) {
                Poll::Ready(outcome) => {
                    outcome.expect("it runs");
                }
                Poll::Pending => is_error = true,
            }
        }
        let (call_id, tool, content) = ("1".into(), "bash".into(), "told the model".into());
        ended(&outer, &wanted, &ToolResult { call_id, tool, content, is_error }).await;
    }

    fn events(&self) -> Vec<Event> {
        let rows = self.archive.events("shell:1").expect("they can be read");
        rows.into_iter().map(|EventRow { event, .. }| event).collect()
    }
}

fn approved(events: &[Event]) -> Vec<Approval> {
    events.iter().filter_map(|event| if let Event::Call(call) = event { Some(call.approval) } else { None }).collect()
}

#[tokio::test]
async fn nothing_is_kept_unless_the_settings_say_so() {
    let bench = Bench::new();
    bench
        .recorder
        .begin(None, &ModelInfo { wire: "w".into(), model: "m".into(), origin: String::new(), is_offline: false });
    bench.call(None, None, true).await;
    bench.recorder.history(&[Message::user("x".into())]);
    bench.recorder.end(&Ok(StopReason::Answered), &TokenUsage::default(), 10);
    assert!(bench.archive.load("shell:1").expect("it can be read").is_none());
}

/// A turn of this session that begins with these messages and ends with an answer. Returns the stored conversation.
fn turn(bench: &Bench, messages: &[&str]) -> Vec<Message> {
    bench.begin();
    let mut messages: Vec<Message> = messages.iter().map(|text| Message::user((*text).into())).collect();
    bench.recorder.history(&messages);
    messages.push(Message::Assistant(AssistantMessage { text: "so".into(), ..AssistantMessage::default() }));
    bench.recorder.step_done(&messages, 0);
    bench.recorder.end(&Ok(StopReason::Answered), &TokenUsage::default(), 10);
    let stored = bench.archive.load("shell:1").expect("it can be read").map(|stored| stored.conversation);
    let is_whole = stored.as_ref() == Some(&messages);
    assert!(is_whole || messages.len() > stored.as_ref().map_or(0, Vec::len), "{stored:?}");
    stored.unwrap_or_default()
}

#[tokio::test]
async fn turns_in_a_row_store_what_is_new_and_what_has_changed_before_it() {
    let bench = Bench::new();
    assert_eq!(turn(&bench, &["one"]).len(), 2);
    let bench = bench.next();
    // As after a rewind, a summary, and a turn of another daemon: the conversation is stored as it is now.
    for messages in [&["one", "two"][..], &["other", "two", "three"], &["short"], &["short", "a", "b"], &[]] {
        let bench =
            Bench::with(tempfile::tempdir().expect("a folder"), bench.archive.clone(), Arc::clone(&bench.session));
        assert_eq!(turn(&bench, messages).len(), messages.len() + 1, "{messages:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_was_removed_is_stored_again_with_the_next_turn_but_one() {
    let bench = Bench::new();
    assert_eq!(turn(&bench, &["one", "two"]).len(), 3);
    let messages = ["one", "two", "so", "three"];
    let mut store = SqliteStore::create(&bench.folder.path().join("sessions.db")).expect("it can be opened");
    cohab_store::sessions::StateStore::remove(&mut store, &["shell:1".to_owned()]).expect("it is removed");
    let bench = bench.next();
    let before = bench.session.take_stored();
    bench.session.set_stored(
        StoredMessages::default()
            .and(&messages[..3].iter().map(|text| Message::user((*text).into())).collect::<Vec<_>>()),
    );
    assert_eq!((before.map(|stored| stored.count), turn(&bench, &messages)), (Some(3), vec![]));
    let bench = bench.next();
    assert_eq!(turn(&bench, &messages).len(), 5);
}

#[tokio::test]
async fn who_agreed_to_a_call_is_told_apart() {
    let bench = Bench::new();
    bench.begin();
    bench.call(None, None, true).await;
    bench.call(None, Some("7"), true).await;
    bench.call(None, None, false).await;
    bench.call(Some(ApprovalAnswer::Edited { command: "make -n".into(), approval: None }), None, true).await;
    bench.call(Some(ApprovalAnswer::Refused { reason: "the user refused: no".into() }), None, true).await;
    let events = bench.events();
    assert_eq!(
        approved(&events),
        [Approval::NotNeeded, Approval::Session, Approval::Mode, Approval::Edited, Approval::Refused]
    );
    let calls: Vec<&Call> =
        events.iter().filter_map(|event| if let Event::Call(call) = event { Some(call) } else { None }).collect();
    assert_eq!((calls[3].command.as_deref(), calls[3].proposed.as_deref()), (Some("make -n"), Some("make")));
    let Some(Event::Result(refused)) = events.last() else { panic!("{events:?}") };
    assert!(refused.is_error && refused.exit_code.is_none() && refused.output == "told the model");
    let asked = events.iter().filter(|event| matches!(event, Event::Approval { .. }));
    assert_eq!(asked.count(), 2);
}

#[tokio::test]
async fn calls_that_run_at_once_are_told_apart() {
    let bench = Bench::new();
    bench.begin();
    let (outer, inner) = (
        ProposedCallRecorder(Arc::clone(&bench.recorder)),
        ApprovedCallRecorder { recorder: Arc::clone(&bench.recorder), is_asked: Box::new(|| true) },
    );
    let wanted = |id: &str| ToolCall { id: id.into(), name: "read".into(), args: Ok(serde_json::Map::new().into()) };
    for id in ["a", "b", "c"] {
        let intent = Intent { title: id.into(), effect: Effect::Read { path: id.into(), pattern: None } };
        let call = PlannedCall::new(&wanted(id), serde_json::Map::new(), intent, "/".into());
        outer.observe(Fact::CallReached(&call)).await;
        if id != "c" {
            inner.observe(Fact::CallReached(&call)).await;
        }
    }
    for id in ["a", "b", "c"] {
        let content = format!("of {id}");
        let result = ToolResult { call_id: id.into(), tool: "read".into(), content, is_error: id == "c" };
        ended(&outer, &wanted(id), &result).await;
    }
    let told = |event| match event {
        Event::Call(call) => Some(format!("{} {:?}", call.title, call.approval)),
        Event::Result(result) => Some(result.output),
        _ => None,
    };
    let told: Vec<String> = bench.events().into_iter().filter_map(told).collect();
    assert_eq!(told, ["a NotNeeded", "of a", "b NotNeeded", "of b", "c Refused", "of c"]);
}

/// A shell whose commands never end.
struct Endless;

#[async_trait]
impl CommandRunner for Endless {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        std::future::pending().await
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

#[tokio::test]
async fn a_command_that_was_stopped_with_its_turn_is_not_told_as_one_that_did_not_run() {
    let bench = Bench::new();
    bench.begin();
    bench.call_on(Arc::new(Endless), None, None, true).await;
    let result = bench.events().into_iter().find_map(|event| match event {
        Event::Result(result) => Some(result),
        _ => None,
    });
    let result = result.expect("a result");
    assert_eq!((result.exit_code, result.is_error), (None, false), "{result:?}");
}

#[tokio::test]
async fn output_is_kept_clean_and_by_its_end_and_the_shell_as_it_was_left() {
    let bench = Bench::new();
    bench.begin();
    bench.call(None, None, true).await;
    // Known before the turn ends: the daemon may end first.
    let left = bench.archive.load("shell:1").expect("it can be read").expect("it is there").left;
    bench.recorder.end(&Ok(StopReason::Answered), &TokenUsage::default(), 10);
    let events = bench.events();
    let Some(Event::Result(result)) = events.iter().find(|event| matches!(event, Event::Result(_))) else {
        panic!("{events:?}")
    };
    assert!(result.output.ends_with("xend") && result.output.len() <= OUTPUT_TAIL_BYTES);
    assert_eq!((result.exit_code, result.cwd.as_deref(), result.duration_ms), (Some(4), Some("/srv"), Some(8)));
    let environment: Vec<(&str, &str)> =
        left.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!((left.cwd.as_str(), environment), ("/srv", vec![("A", "1")]), "what was masked is not known");
}

#[tokio::test]
async fn the_users_commands_are_kept_with_the_question_they_came_before() {
    let bench = Bench::new();
    let ran = |line: &str| PastCommand {
        line: Some(line.into()),
        exit_code: 0,
        cwd: "/home/ann".into(),
        duration: Duration::ZERO,
        output_tail: "o".repeat(5_000),
    };
    (0..30).for_each(|n| bench.session.command_ran(&ran(&n.to_string())));
    assert!(bench.archive.load("shell:1").expect("nothing").is_none(), "a shell without a question leaves no trace");
    bench.begin();
    let events = bench.events();
    let Event::Shell { line, output_tail, .. } = &events[0] else { panic!("{events:?}") };
    assert_eq!((line.as_deref(), output_tail.len(), events.len()), (Some("20"), 1_024, 11));
    assert!(matches!(&events[10], Event::Question { text, .. } if text == "what\nnow"), "{:?}", events[10]);
    assert_eq!(bench.archive.load("shell:1").expect("it is read").expect("it is there").session.title, "what now");
}

#[tokio::test]
async fn what_the_model_says_is_kept_by_the_step_and_void_text_is_not() {
    let bench = Bench::new();
    bench.begin();
    let sink = RecordingSink::new(NoSink, Arc::clone(&bench.recorder));
    let finished = || TurnEvent::StepFinished {
        step: 0,
        outcome: StepResult::Done,
        summary: String::new(),
        elapsed: Duration::ZERO,
        detail: None,
        only_reads: true,
    };
    for event in [
        TurnEvent::Text("void".into()),
        TurnEvent::Reset,
        TurnEvent::Reasoning("Hm.".into()),
        TurnEvent::Text("One ".into()),
        TurnEvent::Text("\u{1b}[31manswer.".into()),
        finished(),
        finished(),
        TurnEvent::Text("Broken o".into()),
    ] {
        sink.emit(event).await;
    }
    bench.recorder.end(&Err(TurnError::Internal), &TokenUsage::default(), 10);
    let said: Vec<Event> = bench.events().into_iter().skip(1).take(4).collect();
    let answer = |text: &str| Event::Answer { text: text.into() };
    let error = Event::Error { message: TurnError::Internal.to_string() };
    assert_eq!(said, [Event::Reasoning { text: "Hm.".into() }, answer("One answer."), answer("Broken o"), error]);
}

#[tokio::test(start_paused = true)]
async fn of_a_model_call_it_is_kept_when_its_first_word_came_and_how_it_ended() {
    let bench = Bench::new();
    bench.begin();
    let sink = RecordingSink::new(NoSink, Arc::clone(&bench.recorder));
    let pass = |ms| tokio::time::sleep(Duration::from_millis(ms));
    sink.emit(TurnEvent::StepStarted {
        step: 0,
        activity: Activity::ModelCall { model: "w/m".into(), is_host: false },
    })
    .await;
    pass(420).await;
    sink.emit(TurnEvent::Reasoning("Hm.".into())).await;
    pass(580).await;
    sink.emit(TurnEvent::Text("Well".into())).await;
    let (outcome, elapsed) = (StepResult::Failed, Duration::from_secs(1));
    sink.emit(TurnEvent::StepFinished {
        step: 0,
        outcome,
        summary: "cut".into(),
        elapsed,
        detail: None,
        only_reads: true,
    })
    .await;
    let state = TurnState::new(Vec::new(), "q".into());
    let provider = Arc::new(Model::says("of no concern"));
    let steps = Steps { recorder: Arc::clone(&bench.recorder), provider };
    let (message, class, usage) = (AssistantMessage::default(), StopClass::End, TokenUsage::default());
    steps.observe(Fact::ModelEnded(&Record::Answer { message, class, usage })).await;
    steps.observe(Fact::StepEnded(&state)).await;
    steps.observe(Fact::TurnEnded(&state, &Ok(StopReason::Answered))).await;
    // Waits until all is written.
    bench.events();
    let path = bench.folder.path().join("sessions.db");
    let store = SqliteStore::open_existing(&path).expect("it is read").expect("it is there");
    let steps = store.steps("shell:1", "t").expect("they are read");
    let step = steps.iter().find(|step| step.kind == StepType::ModelInference).expect("a model call");
    assert_eq!((step.metadata.first_token_ms, step.metadata.outcome), (Some(420), Some(outcome)));
    assert_eq!((step.duration_ms, step.metadata.model.as_deref()), (Some(1_000), Some("always/m")), "who answered");
}

/// Answers yes after a while.
struct Slow(Duration);

#[async_trait]
impl Approver for Slow {
    async fn ask(&self, _: ApprovalQuestion) -> ApprovalAnswer {
        tokio::time::sleep(self.0).await;
        ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once }
    }

    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        tokio::time::sleep(self.0).await;
        questions.iter().map(|_| ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once }).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_user_took_is_kept_apart() {
    let bench = Bench::new();
    bench.begin();
    let sink = RecordingSink::new(NoSink, Arc::clone(&bench.recorder));
    let steps = Steps { recorder: Arc::clone(&bench.recorder), provider: Arc::new(Model::says("of no concern")) };
    let approver = |seconds| bench.approver(Arc::new(Slow(Duration::from_secs(seconds))));
    let subject =
        || ApprovalSubject::Effect { tool: "bash".into(), effect: Effect::RunCommand { command: "make".into() } };
    sink.emit(TurnEvent::StepStarted {
        step: 0,
        activity: Activity::ModelCall { model: "w/m".into(), is_host: false },
    })
    .await;
    approver(7).ask_all(vec![ApprovalQuestion::about(subject()); 2]).await;
    let intent = Intent { title: "make".into(), effect: Effect::RunCommand { command: "make".into() } };
    let wanted = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(serde_json::Map::new().into()) };
    let mut call = PlannedCall::new(&wanted, serde_json::Map::new(), intent, "/".into());
    steps.before_tool(&mut call).await.expect("it only notes");
    approver(3).ask(ApprovalQuestion::about(subject())).await;
    IntentJournal(Arc::clone(&bench.recorder)).observe(Fact::CallReached(&call)).await;
    let (call_id, tool, content) = ("1".into(), "bash".into(), "made".into());
    ended(&steps, &wanted, &ToolResult { call_id, tool, content, is_error: false }).await;
    let state = TurnState::new(Vec::new(), "q".into());
    steps.observe(Fact::StepEnded(&state)).await;
    steps.observe(Fact::TurnEnded(&state, &Ok(StopReason::Answered))).await;
    bench.events();
    let store = SqliteStore::open_existing(&bench.folder.path().join("sessions.db")).expect("read").expect("there");
    let waited = |kind| {
        let steps = store.steps("shell:1", "t").expect("they are read");
        steps.into_iter().find(|step| step.kind == kind).and_then(|step| step.metadata.waited_ms)
    };
    assert_eq!((waited(StepType::ModelInference), waited(StepType::ToolCall)), (Some(7_000), Some(3_000)));
}
