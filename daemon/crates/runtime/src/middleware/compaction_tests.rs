use cohab_agent::{Fact, TurnObserver, state::Record};
use cohab_config::strategy::Strategy;
use cohab_context::{
    compaction::{Sliding, Summarize, Truncate},
    fit::fit_request,
    query_text::words,
};
use cohab_model_api::{
    AssistantMessage, Message, ModelInfo, ModelRequest, StopClass, ToolCall, ToolResult, testing::Always,
    window_size::WindowSources,
};
use cohab_store::{
    Store,
    row::ModelKey,
    sessions::{
        Archive, EventRow, Limits, SqliteStore,
        event::Event,
        steps::{CheckpointStore, StepStatus, StepType},
    },
};
use serde_json::{Map, Value};

use super::*;
use crate::{
    middleware::model_capacity::ModelCapacity,
    recording::{Opening, RecordingSink, SessionRecord, step_hooks::Steps},
};

const GOOD: &str = "Goal: g\nDecisions: d\nFiles: f";

#[derive(Default)]
struct Told {
    notices: Mutex<Vec<String>>,
    steps: Mutex<Vec<TurnEvent>>,
}

#[async_trait]
impl EventSink for Told {
    fn pause(&self) {}

    async fn emit(&self, event: TurnEvent) {
        match event {
            TurnEvent::Notice(text) => self.notices.lock().unwrap().push(text),
            TurnEvent::StepStarted { activity: Activity::Compaction, .. } | TurnEvent::StepFinished { .. } => {
                self.steps.lock().unwrap().push(event);
            }
            event => panic!("{event:?}"),
        }
    }
}

struct Shared(Arc<Told>);

#[async_trait]
impl EventSink for Shared {
    fn pause(&self) {}

    async fn emit(&self, event: TurnEvent) {
        self.0.emit(event).await;
    }
}

fn free(usage: &mut TokenUsage) {
    usage.cost_microusd = Some(7);
}

struct Bench {
    folder: tempfile::TempDir,
    archive: Archive,
    recorder: Arc<TurnRecorder>,
    told: Arc<Told>,
    provider: Arc<Always>,
    compaction: Compaction,
    state: TurnState,
}

impl Bench {
    /// A turn in a context of `window_tokens`.
    fn new(window_tokens: u64, strategy: Strategy) -> Self {
        Self::answering(window_tokens, strategy, GOOD)
    }

    /// The same, with this answer of the summarizing model.
    fn answering(window_tokens: u64, strategy: Strategy, summary: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Archive::at(folder.path().join("sessions.db"));
        let opening = Opening {
            session: "shell:1".into(),
            turn: "t".into(),
            question: "why".into(),
            cwd: "/".into(),
            shell: None,
            piped_bytes: 0,
            resumed_from: None,
        };
        let recorder = Arc::new(TurnRecorder::new(archive.clone(), Arc::<SessionRecord>::default(), opening));
        let model = ModelInfo { wire: "w".into(), model: "m".into(), origin: String::new(), is_offline: false };
        recorder.begin(Some(Limits::of_days(90)), &model);
        let (told, provider, spent) = (Arc::<Told>::default(), Arc::new(Always::says(summary)), Spent::default());
        let sources = WindowSources { settings: Some(window_tokens), ..WindowSources::default() };
        let key = ModelKey { host: "h".into(), model: "m".into() };
        let room = move || ModelCapacity { model: key.clone(), sources, max_output_tokens: Some(1_000) };
        let window = Arc::new(Window::new(Arc::new(Store::in_memory()), Box::new(room)));
        let compactor: Arc<dyn Compactor> = match strategy {
            Strategy::Sliding => Arc::new(Sliding),
            Strategy::Truncate => Arc::new(Truncate),
            Strategy::Summarize => {
                Arc::new(Summarize::new(Arc::clone(&provider) as _, 10_000, spent.account(Arc::new(free))))
            }
        };
        let compaction = Compaction {
            compactor,
            window,
            settings: ContextSettings { compact_over_messages: 50, ..ContextSettings::default() },
            beside_tokens: 500,
            spent,
            sink: Arc::new(RecordingSink::new(Shared(Arc::clone(&told)), Arc::clone(&recorder))),
            recorder: Arc::clone(&recorder),
            last_call: AtomicU32::default(),
        };
        let state = TurnState::new(Vec::new(), "<question>\nwhy\n</question>".into());
        Self { folder, archive, recorder, told, provider, compaction, state }
    }

    async fn before_model(&mut self) {
        let flow = self.compaction.before_step(StepKind::ModelCall { allow_tools: true }, &mut self.state).await;
        assert!(flow.is_continue());
    }

    /// A model call, and a tool with a result of `words` words.
    async fn step(&mut self, words: usize) {
        self.before_model().await;
        self.call(Map::new(), words).await;
    }

    async fn call(&mut self, args: Map<String, Value>, words: usize) {
        self.state.model_call_begins(true);
        let id = self.state.model_calls().to_string();
        let call = ToolCall { id: id.clone(), name: "bash".into(), args: Ok(args.into()) };
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        let usage = TokenUsage { cost_microusd: Some(1), ..TokenUsage::default() };
        self.state.apply(Record::Answer { message, class: StopClass::Tool, usage }).unwrap();
        let content = format!("result {id} {}\n[exit 0; cwd /w; 0.04 s]", "word ".repeat(words));
        let result = ToolResult { call_id: id, tool: "bash".into(), content, is_error: false };
        self.state.apply(Record::Tools { results: vec![result], images: Vec::new(), complaint: None }).unwrap();
        let provider = Arc::clone(&self.provider);
        Steps { recorder: Arc::clone(&self.recorder), provider }.observe(Fact::StepEnded(&self.state)).await;
    }

    fn told(&self) -> Vec<String> {
        self.told.notices.lock().unwrap().clone()
    }

    fn events(&self) -> Vec<Event> {
        self.archive.events("shell:1").unwrap().into_iter().map(|EventRow { event, .. }| event).collect()
    }
}

/// Plain questions with their answers.
fn earlier_turns(count: usize) -> Vec<Message> {
    let turn = |turn: usize| {
        let answer = AssistantMessage { text: format!("answer {turn}"), ..AssistantMessage::default() };
        [Message::user(format!("<question>\nbefore {turn}\n</question>")), Message::Assistant(answer)]
    };
    (0..count).flat_map(turn).collect()
}

/// Commands of a long turn.
const COMMANDS: usize = 60;

/// The first command that the model does not see in its request.
fn first_unseen(messages: &[Message]) -> Option<usize> {
    let has = |number: &usize| {
        let command = Value::from(format!("echo s-{number} >> file"));
        messages.iter().any(|message| match message {
            Message::Assistant(said) => {
                said.tool_calls.iter().any(|call| call.args.as_ref().unwrap()["command"] == command)
            }
            _ => false,
        })
    };
    (0..COMMANDS).find(|number| !has(number))
}

#[tokio::test]
async fn a_model_that_repeats_what_it_does_not_see_runs_each_command_once() {
    let mut was_shortened = 0;
    for strategy in Strategy::WORDS {
        for (window_tokens, answer, output) in
            [(8_000, GOOD, 300), (8_000, "not a summary", 300), (8_000, GOOD, 2_000), (1_000_000, GOOD, 100)]
        {
            let mut bench = Bench::answering(window_tokens, strategy.parse().unwrap(), answer);
            bench.state = TurnState::new(earlier_turns(14), "<question>\nwhy\n</question>".into());
            let mut ran = Vec::new();
            while ran.len() <= COMMANDS {
                bench.before_model().await;
                let mut request = ModelRequest::of(bench.state.messages().to_vec());
                fit_request(&mut request, bench.compaction.window.request_tokens());
                let Some(number) = first_unseen(&request.messages) else { break };
                ran.push(number);
                let args = Map::from_iter([("command".to_owned(), Value::from(format!("echo s-{number} >> file")))]);
                bench.call(args, output).await;
            }
            assert_eq!(ran, (0..COMMANDS).collect::<Vec<_>>(), "{strategy} {window_tokens} {answer} {output}");
            let question = bench.state.messages().iter().rev().find_map(|message| match message {
                Message::User { text, .. } => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(question.map(words).as_deref(), Some("why"));
            was_shortened += bench.told().len();
        }
    }
    assert!(was_shortened >= 3 * 4, "{was_shortened}");
}

#[tokio::test]
async fn a_turn_that_fills_three_quarters_of_the_context_is_summed_up_told_counted_and_kept() {
    let mut bench = Bench::new(10_000, Strategy::Summarize);
    bench.state = TurnState::new(earlier_turns(8), "<question>\nwhy\n</question>".into());
    for _ in 0..8 {
        bench.step(1_000).await;
    }
    let told = "The conversation grew long: 16 earlier messages were summarized, the outputs of 4 steps were left out (now about";
    assert!(bench.told().len() == 1 && bench.told()[0].starts_with(told), "{:?}", bench.told());
    let steps = bench.told.steps.lock().unwrap().clone();
    let [TurnEvent::StepStarted { step: begun, .. }, TurnEvent::StepFinished { step: ended, .. }] = steps[..] else {
        panic!("it is shown while it lasts: {steps:?}");
    };
    assert_eq!(begun, ended);
    bench.archive.flush();
    let store = SqliteStore::open_existing(&bench.folder.path().join("sessions.db"));
    let steps = store.expect("a store").expect("it is there").steps("shell:1", "t").expect("they are read");
    let step = steps.iter().find(|step| step.kind == StepType::Compaction).expect("it is on record");
    let told = (step.status, step.output.as_deref(), step.metadata.sent_tokens, step.metadata.cost_microusd);
    assert_eq!(told, (StepStatus::Completed, Some("15 messages"), Some(50), Some(7)), "with what it took");
    assert!(step.duration_ms.is_some());
    assert_eq!(bench.state.usage().cost_microusd, Some(8 + 7), "eight answers and a summary");
    assert_eq!(bench.state.usage().input, Some(50));
    let summary = bench.events().into_iter().find_map(|event| match event {
        Event::Summary { text, messages } => Some((text, messages)),
        _ => None,
    });
    let (text, messages) = summary.expect("it is on record");
    assert!(messages == 16 && text.contains("Goal:\ng\n"), "{messages} {text}");
    assert!(bench.events().iter().any(|event| matches!(event, Event::Question { .. })), "what happened stays");
    let kept = bench.archive.load("shell:1").unwrap().expect("a session").conversation;
    // The turn has no end: the load closes it with a word.
    let before_the_end = kept.split_last().map(|(_, before)| before);
    assert_eq!(before_the_end, Some(bench.state.messages()), "a later life goes on from the shorter one");
}

#[tokio::test]
async fn many_messages_are_too_many_however_short() {
    let mut bench = Bench::new(1_000_000, Strategy::Sliding);
    bench.state = TurnState::new(earlier_turns(20), "<question>\nwhy\n</question>".into());
    for _ in 0..5 {
        bench.step(99).await;
    }
    assert!(bench.told().is_empty() && bench.state.messages().len() == 51);
    bench.step(99).await;
    assert_eq!(bench.told().len(), 1);
    assert!(bench.told()[0].contains(": 32 earlier messages were left out (now"), "{:?}", bench.told());
    assert_eq!(bench.state.messages().len(), 19 + 2);
}

#[tokio::test]
async fn of_many_steps_the_older_outputs_go_and_no_step() {
    let mut bench = Bench::new(1_000_000, Strategy::Summarize);
    for _ in 0..25 {
        bench.step(99).await;
    }
    assert!(bench.told().is_empty() && bench.state.messages().len() == 51);
    bench.step(99).await;
    assert_eq!(bench.told().len(), 1);
    assert!(bench.told()[0].contains(": the outputs of 16 steps were left out (now"), "{:?}", bench.told());
    assert_eq!(bench.state.messages().len(), 51 + 2);
    assert!(bench.provider.requests.lock().unwrap().is_empty(), "there is nothing to sum up");
    let mut bench = Bench::new(1_000_000, Strategy::Sliding);
    for _ in 0..60 {
        bench.step(1).await;
    }
    assert!(bench.told().is_empty(), "short results are left alone: {:?}", bench.told());
}

#[tokio::test]
async fn before_the_first_call_only_what_would_not_fit_is_shortened() {
    let turns = |count: usize| -> Vec<Message> {
        (0..count).map(|turn| Message::user(format!("{turn} {}", "word ".repeat(99)))).collect()
    };
    for (count, told) in [(60, 0), (90, 1)] {
        let mut bench = Bench::new(10_000, Strategy::Summarize);
        bench.state = TurnState::new(turns(count), "<question>\nwhy\n</question>".into());
        bench.before_model().await;
        assert_eq!((bench.told().len(), bench.state.usage().cost_microusd.is_some()), (told, told > 0));
    }
}

#[tokio::test]
async fn what_cannot_become_shorter_is_not_summed_up_again_and_again() {
    let mut bench = Bench::new(4_000, Strategy::Summarize);
    bench.state = TurnState::new(Vec::new(), format!("{}<question>\nwhy\n</question>", "word ".repeat(3_000)));
    for _ in 0..9 {
        bench.step(1_000).await;
    }
    let asked = bench.provider.requests.lock().unwrap().len();
    assert!(asked <= 3, "{asked}");
}
