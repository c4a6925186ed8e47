//! Executes one step of a turn: a model call, or a batch of tool calls.

use std::{future::poll_fn, sync::Arc};

use cohab_model_api::{
    AssistantMessage, Image, JsonObject, ModelEvent, ModelInfo, ModelRequest, Overflow, ProviderError,
    ProviderErrorKind, StopClass, TokenUsage, ToolCall, ToolResult,
};
use cohab_text::sanitize::one_line;
use futures::{
    FutureExt, StreamExt,
    stream::{self, BoxStream},
};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use super::{
    builtin_tools::output_of,
    hook::{Denial, PlannedCall},
    observer::Fact,
    port::{Activity, Effect, EventSink, StepDetail, StepResult, Tool, ToolContext, ToolOutput, TurnEvent},
    state::{Cut, Progress, Record, TurnState},
    turn::Agent,
};

/// Longest list of names of images, in columns.
const NAMES_COLUMNS: usize = 100;
/// Longest text of one answer; a longer answer counts as broken off.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Most tool calls of one answer; an answer with more counts as broken off.
const MAX_CALLS_PER_ANSWER: usize = 64;
/// Most tool calls that run at the same time.
const MAX_CALLS_AT_ONCE: usize = 8;
/// The result of a call that did not run to its end because the turn was cancelled.
const CANCELLED: &str = "cancelled before it ended";
/// The result of a call in an answer that the length limit cut.
const CUT: &str = "not run: the length limit cut the answer with this call; make the call again with shorter arguments";
/// The title of a call that cannot be run and names no file.
const UNUSABLE: &str = "(invalid call)";
/// Longest title of a call that cannot be run.
const TITLE_MAX_CHARS: usize = 80;
/// A result with more lines is more than a glance: the user is told how much it is.
const GLANCE_LINES: usize = 20;
/// Replaces a missing name of a tool.
const NAMELESS: &str = "nameless";
/// The notice after the provider gave up continuing an answer.
const PAUSED: &str = "The service paused its answer too often. Say \"continue\" to go on.";

/// The part of an answer received so far. It outlives the stream, so that cancelling keeps it.
#[derive(Default)]
struct Draft {
    text: String,
    calls: Vec<ToolCall>,
    usage: TokenUsage,
    /// Whether the user has seen any of it.
    has_shown: bool,
}

enum End {
    Stop(Box<Record>),
    Cut(Cut),
}

/// The outcome of a tool call.
struct Called {
    content: String,
    summary: String,
    outcome: StepResult,
    is_error: bool,
    /// Running time of the tool itself; the wait for the user's consent is not counted.
    ran_for: Duration,
    detail: Option<StepDetail>,
    /// Whether it could only read, or did not run at all.
    only_reads: bool,
    image: Option<Image>,
}

/// The outcome of a call, and whether the call could be run at all.
struct Ran {
    /// Number of the call's step, unless the turn was cancelled before.
    step: Option<u32>,
    called: Called,
    /// The error of a call that cannot be run.
    unusable: Option<String>,
}

/// Held by the call that is being shown and asked about.
type TurnGuard<'a, 'b> = MutexGuard<'a, &'b mut TurnState>;

impl Called {
    fn of(result: Result<ToolOutput, String>) -> Self {
        match result {
            Ok(ToolOutput { content, summary, is_failure, image }) => {
                let outcome = if is_failure { StepResult::Failed } else { StepResult::Done };
                Self {
                    content,
                    summary,
                    outcome,
                    is_error: false,
                    ran_for: Duration::ZERO,
                    detail: None,
                    only_reads: true,
                    image,
                }
            }
            Err(error) => Self::failed(error, StepResult::Failed),
        }
    }

    fn failed(text: impl Into<String>, outcome: StepResult) -> Self {
        let content = text.into();
        let summary = content.lines().next().unwrap_or_default().to_owned();
        Self {
            content,
            summary,
            outcome,
            is_error: true,
            ran_for: Duration::ZERO,
            detail: None,
            only_reads: true,
            image: None,
        }
    }

    fn cancelled() -> Self {
        Self::failed(CANCELLED, StepResult::Cancelled)
    }
}

impl Agent {
    pub(super) async fn call_model(
        &self,
        state: &mut TurnState,
        allow_tools: bool,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Record {
        let (step, started) = (state.number_step(), Instant::now());
        self.tell_news(state);
        state.model_call_begins(allow_tools);
        let info = self.provider.info();
        let is_host = self.provider.service().is_host;
        let activity = Activity::ModelCall { model: format!("{}/{}", info.wire, info.model), is_host };
        sink.emit(TurnEvent::StepStarted { step, activity }).await;
        let mut draft = Draft::default();
        let end = tokio::select! {
            biased;
            () = cancel.cancelled() => End::Cut(Cut::Cancelled),
            end = self.ask(state, allow_tools, &mut draft, sink) => end,
        };
        let (mut record, outcome, summary) = match end {
            End::Stop(record) => (*record, StepResult::Done, self.substitution_note(&info)),
            End::Cut(cause) => {
                let (outcome, summary) = match &cause {
                    Cut::Cancelled => (StepResult::Cancelled, String::new()),
                    Cut::Failed(error) => (StepResult::Failed, error.message.clone()),
                    Cut::Incomplete(reason) => (StepResult::Failed, reason.clone()),
                };
                (Record::Broken { text: draft.text, usage: draft.usage, cause }, outcome, summary)
            }
        };
        if let (Some(account), Some(usage)) = (&self.ports.account, record.usage_mut()) {
            account(usage);
        }
        self.stack.tell(Fact::ModelEnded(&record)).await;
        sink.emit(TurnEvent::StepFinished {
            step,
            outcome,
            summary,
            elapsed: started.elapsed(),
            detail: None,
            only_reads: true,
        })
        .await;
        if matches!(&record, Record::Answer { class: StopClass::Pause, message, .. } if message.tool_calls.is_empty()) {
            sink.emit(TurnEvent::Notice(PAUSED.into())).await;
        }
        record
    }

    /// Names the model that answered, if it was not the model that was asked.
    fn substitution_note(&self, asked: &ModelInfo) -> String {
        let ModelInfo { wire, model, .. } = self.provider.info();
        if (&wire, &model) == (&asked.wire, &asked.model) {
            return String::new();
        }
        format!("{wire}/{model} answered")
    }

    fn tell_news(&self, state: &mut TurnState) {
        if state.is_read_next() {
            self.stack.pending_notes().for_each(|note| state.tell(&note));
        }
    }

    /// Asks the model; once more without images if the service refused them, and with a shorter conversation if it was too long.
    async fn ask(&self, state: &mut TurnState, allow_tools: bool, draft: &mut Draft, sink: &dyn EventSink) -> End {
        let (request, _) = self.request(state, allow_tools, None).await;
        let mut end = self.read_answer(request, draft, sink).await;
        if let End::Cut(Cut::Failed(error)) = &end
            && error.kind == ProviderErrorKind::InvalidRequest
            && !draft.has_shown
            && let dropped = state.drop_images(0, 0)
            && !dropped.is_empty()
        {
            let (model, names) = (self.provider.info().model, one_line(&dropped.join(", "), NAMES_COLUMNS));
            let notice = format!("{model} did not take {names}, the question goes without. It said: {}", error.message);
            sink.emit(TurnEvent::Notice(notice)).await;
            *draft = Draft::default();
            let (request, _) = self.request(state, allow_tools, None).await;
            end = self.read_answer(request, draft, sink).await;
        }
        let End::Cut(Cut::Failed(ProviderError { kind: ProviderErrorKind::ContextOverflow, overflow, .. })) = &end
        else {
            return end;
        };
        let sizes = overflow.unwrap_or_default();
        let (request, is_shorter) = self.request(state, allow_tools, Some(sizes)).await;
        if draft.has_shown || !is_shorter {
            return end;
        }
        let model = self.provider.info().model;
        let notice = format!("The conversation was too long for {model}; older parts were left out.");
        sink.emit(TurnEvent::Notice(notice)).await;
        *draft = Draft::default();
        self.read_answer(request, draft, sink).await
    }

    /// The next request; after a refusal with these sizes also whether it is shorter than the refused one.
    async fn request(&self, state: &TurnState, allow_tools: bool, refused: Option<Overflow>) -> (ModelRequest, bool) {
        let mut request = ModelRequest {
            system: self.system.clone(),
            messages: state.messages().to_vec(),
            tools: self.tools.values().map(|tool| tool.spec()).collect(),
            allow_tools,
            withheld: Default::default(),
        };
        let is_shorter = self.stack.before_model(&mut request, refused).await;
        (request, is_shorter)
    }

    async fn read_answer(&self, request: ModelRequest, draft: &mut Draft, sink: &dyn EventSink) -> End {
        let mut events = self.provider.stream(request);
        while let Some(event) = next_event(&mut events, sink).await {
            match event {
                ModelEvent::TextDelta(text) | ModelEvent::RefusalDelta(text) => {
                    draft.text.push_str(&text);
                    draft.has_shown = true;
                    sink.emit(TurnEvent::Text(text)).await;
                }
                ModelEvent::ReasoningDelta(text) => {
                    draft.has_shown = true;
                    sink.emit(TurnEvent::Reasoning(text)).await;
                }
                ModelEvent::ToolCallDone(call) => draft.calls.push(call),
                ModelEvent::Usage(usage) => draft.usage.update(usage),
                ModelEvent::Notice(text) => sink.emit(TurnEvent::Notice(text)).await,
                ModelEvent::Retrying { reason, after, discard_shown } => {
                    if discard_shown {
                        *draft = Draft::default();
                        sink.emit(TurnEvent::Reset).await;
                    }
                    sink.emit(TurnEvent::Retry { reason, after }).await;
                }
                ModelEvent::Stop { class, provider_data } => {
                    let Draft { text, calls, usage, .. } = std::mem::take(draft);
                    let message = AssistantMessage { text, tool_calls: calls, provider_data };
                    return End::Stop(Box::new(Record::Answer { message, class, usage }));
                }
                ModelEvent::Failed(error) => return End::Cut(Cut::Failed(error)),
                ModelEvent::Incomplete { reason } => return End::Cut(Cut::Incomplete(reason)),
            }
            if draft.text.len() > MAX_ANSWER_BYTES || draft.calls.len() > MAX_CALLS_PER_ANSWER {
                return End::Cut(Cut::Incomplete("it exceeds the size limit of an answer".into()));
            }
        }
        End::Cut(Cut::Incomplete("the stream ended without an end mark".into()))
    }

    pub(super) async fn call_tools(
        &self,
        state: &mut TurnState,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Record {
        let is_cut = state.progress() == Progress::Tools { is_cut: true };
        let calls = state.pending_calls().to_vec();
        if !is_cut {
            self.preview_batch(&calls, cancel).await;
        }
        let mut results = Vec::with_capacity(calls.len());
        let (mut good_calls, mut complaint, mut images) = (0, None, Vec::new());
        let turn = Mutex::new(state);
        let mut rest = calls.as_slice();
        while !rest.is_empty() {
            let (together, later) = rest.split_at(self.count_at_once(rest));
            rest = later;
            let runs: Vec<_> =
                together.iter().map(|call| self.call_one(call, is_cut, &turn, sink, cancel).boxed()).collect();
            let mut ended = stream::iter(runs).buffered(MAX_CALLS_AT_ONCE).zip(stream::iter(together));
            while let Some((ran, call)) = ended.next().await {
                match ran.unusable {
                    Some(error) => complaint = Some(error),
                    None => good_calls += u32::from(ran.step.is_some()),
                }
                let mut called = ran.called;
                images.extend(called.image.take());
                if let Some(step) = ran.step {
                    let (outcome, summary, elapsed) = (called.outcome, called.summary.clone(), called.ran_for);
                    let (detail, only_reads) = (called.detail.take(), called.only_reads);
                    sink.emit(TurnEvent::StepFinished { step, outcome, summary, elapsed, detail, only_reads }).await;
                }
                results.push(self.finish(call.clone(), called).await);
            }
        }
        Record::Tools { results, images, complaint: complaint.filter(|_| good_calls == 0) }
    }

    /// Runs one call. Calls that run at the same time are numbered, shown and asked about in their order: each call holds `turn` until
    /// then.
    async fn call_one(
        &self,
        call: &ToolCall,
        is_cut: bool,
        turn: &Mutex<&mut TurnState>,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Ran {
        let mut turn = turn.lock().await;
        if cancel.is_cancelled() {
            return Ran { step: None, called: Called::cancelled(), unusable: None };
        }
        let step = turn.number_step();
        let usable = if is_cut { Err(CUT.to_owned()) } else { self.usable(call) };
        match usable {
            Ok(tool) => {
                let called = self.call_tool(step, tool, call, turn, sink, cancel).await;
                Ran { step: Some(step), called, unusable: None }
            }
            Err(error) => {
                announce(step, tool_call(&call.name, UNUSABLE), sink).await;
                let called = Called::failed(error.clone(), StepResult::Failed);
                Ran { step: Some(step), called, unusable: Some(error) }
            }
        }
    }

    fn usable(&self, call: &ToolCall) -> Result<&Arc<dyn Tool>, String> {
        let tool = self.tools.get(&call.name).ok_or_else(|| {
            let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            format!("there is no tool `{}`; the tools are: {}", call.name, names.join(", "))
        })?;
        match &call.args {
            Ok(_) => Ok(tool),
            Err(broken) => Err(broken.error.clone()),
        }
    }

    async fn call_tool(
        &self,
        step: u32,
        tool: &Arc<dyn Tool>,
        call: &ToolCall,
        turn: TurnGuard<'_, '_>,
        sink: &dyn EventSink,
        cancel: &CancellationToken,
    ) -> Called {
        let args = call.args.clone().unwrap_or_default();
        let cwd = self.runner.cwd();
        let intent = match tool.intent(&args, &cwd) {
            Ok(intent) => intent,
            Err(error) => {
                announce(step, tool_call(&call.name, &unusable_title(&args)), sink).await;
                return Called::failed(error, StepResult::Failed);
            }
        };
        let activity = match turn.progress() {
            Progress::Attaching if !turn.is_checking() => Activity::Attachment { path: intent.title.clone() },
            _ => tool_call(&call.name, &intent.title),
        };
        announce(step, activity, sink).await;
        let mut planned = PlannedCall { step: Some(step), ..PlannedCall::new(call, args, intent, cwd) };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Called::cancelled(),
            called = self.guarded(tool, &mut planned, turn, (sink, cancel)) => called,
        }
    }

    async fn guarded(
        &self,
        tool: &Arc<dyn Tool>,
        planned: &mut PlannedCall,
        turn: TurnGuard<'_, '_>,
        (sink, cancel): (&dyn EventSink, &CancellationToken),
    ) -> Called {
        match self.stack.before_tool(planned).await {
            Ok(()) => {}
            Err(Denial::Refused { reason }) => return Called::failed(reason, StepResult::Refused),
            Err(Denial::CancelTurn) => {
                cancel.cancel();
                return Called::cancelled();
            }
        }
        let is_check = turn.is_checking();
        drop(turn);
        // A call may have been sent to another tool.
        let tool = self.tools.get(&planned.tool).unwrap_or(tool);
        let (approval, run_id) = (planned.approval.clone(), planned.run_id.clone());
        let context = ToolContext { runner: self.runner.as_ref(), approval, run_id, is_check, cancel, sink };
        let started = Instant::now();
        let mut called = Called::of(tool.call(&planned.args, &context).await);
        for _ in 0..planned.repeats {
            if called.outcome != StepResult::Failed {
                break;
            }
            called = Called::of(tool.call(&planned.args, &context).await);
        }
        called.ran_for = started.elapsed();
        called.only_reads = planned.only_reads();
        called.detail = match (called.outcome, &planned.intent.effect) {
            (StepResult::Done, Effect::Write { diff, .. }) => Some(StepDetail::Change(Arc::clone(diff))),
            (StepResult::Failed, Effect::RunCommand { .. }) => Some(StepDetail::Failure(called.content.clone())),
            (StepResult::Done, _) => counted(&called.content),
            _ => None,
        };
        self.stack.tell(Fact::ToolRan(planned, called.outcome)).await;
        if let Some(note) = planned.note.take() {
            called.content = format!("[{note}]\n{}", called.content);
        }
        called
    }

    async fn finish(&self, call: ToolCall, called: Called) -> ToolResult {
        let Called { content, is_error, outcome, .. } = called;
        let mut result = ToolResult { call_id: call.id.clone(), tool: call.name.clone(), content, is_error };
        self.stack.after_tool(&mut result).await;
        self.stack.tell(Fact::CallEnded(&call, outcome, &result)).await;
        result
    }
}

/// The next event of an answer. What was delivered goes to the user before it is waited for.
async fn next_event(events: &mut BoxStream<'_, ModelEvent>, sink: &dyn EventSink) -> Option<ModelEvent> {
    poll_fn(|context| {
        let event = events.poll_next_unpin(context);
        if event.is_pending() {
            sink.pause();
        }
        event
    })
    .await
}

/// The lines of a result that is more than a glance.
fn counted(result: &str) -> Option<StepDetail> {
    let lines = output_of(result).lines().count();
    (lines > GLANCE_LINES).then(|| StepDetail::Lines(u32::try_from(lines).unwrap_or(u32::MAX)))
}

/// The file that a call names which cannot be run.
fn unusable_title(args: &JsonObject) -> String {
    let path = args.get("path").and_then(|path| path.as_str()).map(str::trim).filter(|path| !path.is_empty());
    path.map_or_else(|| UNUSABLE.to_owned(), |path| one_line(path, TITLE_MAX_CHARS))
}

fn tool_call(tool: &str, title: &str) -> Activity {
    let tool = if tool.trim().is_empty() { NAMELESS } else { tool };
    Activity::ToolCall { tool: tool.to_owned(), title: title.to_owned() }
}

async fn announce(step: u32, activity: Activity, sink: &dyn EventSink) {
    sink.emit(TurnEvent::StepStarted { step, activity }).await;
}
