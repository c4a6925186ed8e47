//! Measures the cost of a step beyond model and tool: both answer at once here, and everything is recorded. Each call waits until its
//! intent is on disk, as every step with effects does.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use cohab_agent::{
    Agent, TurnLimits, TurnPorts, TurnStack, TurnState,
    port::{Effect, EventSink, Intent, Tool, ToolContext, ToolOutput, TurnEvent},
    runner::CommandRunner,
};
use cohab_guard::sanitize_results::Inbound;
use cohab_model_api::{JsonObject, ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolCall, ToolSpec};
use cohab_runtime::{
    middleware::{checkpoint::Checkpoint, spans::Spans},
    recording::{
        Opening, RecordingSink, SessionRecord, TurnRecorder,
        hooks::{ApprovedCallRecorder, ProposedCallRecorder},
        step_hooks::{IntentJournal, Steps},
    },
};
use cohab_store::sessions::{Archive, Limits};
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio_util::sync::CancellationToken;

use crate::report::{Report, Samples};

const MEASURE: &str = "store";
const STEPS: usize = 20;
const STEP_MS: f64 = 0.5;

struct Instantly(AtomicUsize);

impl ModelProvider for Instantly {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "bench".into(), model: "m".into(), origin: "bench".into(), is_offline: false }
    }

    fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let (event, class) = if number < STEPS {
            let call = ToolCall { id: number.to_string(), name: "tool".into(), args: Ok(JsonObject::new().into()) };
            (ModelEvent::ToolCallDone(call), StopClass::Tool)
        } else {
            (ModelEvent::TextDelta("Done.".into()), StopClass::End)
        };
        stream::iter([event, ModelEvent::Stop { class, provider_data: None }]).boxed()
    }
}

struct Nothing;

#[async_trait]
impl Tool for Nothing {
    fn spec(&self) -> ToolSpec {
        let parameters = serde_json::json!({"type": "object"});
        ToolSpec { name: "tool".into(), description: "does nothing".into(), parameters }
    }

    fn intent(&self, _: &JsonObject, _: &Path) -> Result<Intent, String> {
        Ok(Intent { title: "nothing".into(), effect: Effect::RunCommand { command: "true".into() } })
    }

    async fn call(&self, _: &JsonObject, _: &ToolContext<'_>) -> Result<ToolOutput, String> {
        Ok(ToolOutput::text("a line of output\n".repeat(50), "ok".into()))
    }
}

#[async_trait]
impl CommandRunner for Nothing {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

#[async_trait]
impl EventSink for Nothing {
    fn pause(&self) {}

    async fn emit(&self, _: TurnEvent) {}
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (Ok(runtime), Ok(folder)) = (built, tempfile::tempdir()) else {
        return report.unmeasured(MEASURE, "a step", "there is no runtime, or no folder");
    };
    let archive = Archive::at(folder.path().join("sessions.db"));
    let mut samples = Samples::default();
    for round in 0..rounds.max(20) {
        let each = runtime.block_on(turn(&archive, round));
        archive.flush();
        match each {
            Some(each) => samples.push_value(each),
            None => return report.unmeasured(MEASURE, "a step", "the turn did not end as it should"),
        }
    }
    report.samples(MEASURE, "a step beyond model and tool", "ms", &samples);
    report.at_most(MEASURE, "a step beyond model and tool, p50", samples.p50(), STEP_MS, "ms");
}

/// A turn of that many calls: milliseconds for each step of model or tool.
async fn turn(archive: &Archive, round: usize) -> Option<f64> {
    let opening = Opening { session: "bench".into(), turn: round.to_string(), ..Opening::default() };
    let recorder = Arc::new(TurnRecorder::new(archive.clone(), Arc::<SessionRecord>::default(), opening));
    let provider = Arc::new(Instantly(AtomicUsize::new(0)));
    recorder.begin(Some(Limits::of_days(90)), &provider.info());
    let mut stack = TurnStack::default();
    let steps = Steps { recorder: Arc::clone(&recorder), provider: Arc::clone(&provider) as _ };
    stack.change_and_observe(Arc::new(steps));
    stack.observe(Arc::new(ProposedCallRecorder(Arc::clone(&recorder))));
    stack.observe(Arc::new(Checkpoint(Arc::default())));
    stack.change(Arc::new(Inbound));
    stack.observe(Arc::new(Spans::new(Arc::clone(&provider) as _, "bench".into())));
    stack.observe(Arc::new(ApprovedCallRecorder { recorder: Arc::clone(&recorder), is_asked: Box::new(|| true) }));
    stack.observe(Arc::new(IntentJournal(Arc::clone(&recorder))));
    let agent = Agent {
        provider,
        tools: BTreeMap::from([("tool".to_owned(), Arc::new(Nothing) as Arc<dyn Tool>)]),
        stack,
        ports: TurnPorts::default(),
        runner: Arc::new(Nothing),
        system: "You are a benchmark.".into(),
        limits: TurnLimits { model_calls: STEPS as u32 + 1 },
    };
    let mut state = TurnState::new(Vec::new(), "go".into());
    let sink = RecordingSink::new(Nothing, Arc::clone(&recorder));
    let started = Instant::now();
    agent.run_turn(&mut state, &sink, &CancellationToken::new()).await.ok()?;
    let took_ms = started.elapsed().as_secs_f64() * 1e3;
    (state.messages().len() == 2 * STEPS + 2).then_some(took_ms / (2 * STEPS + 1) as f64)
}
