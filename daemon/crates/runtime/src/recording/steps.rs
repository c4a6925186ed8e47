//! Records the steps of one turn. A step with effects is on disk before it acts, every other step as soon as possible.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cohab_agent::{
    PlannedCall, TurnResult, TurnState,
    builtin_tools::{DELEGATE, READ},
    port::{Activity, Effect, StepResult, TurnEvent},
};
use cohab_model_api::{AssistantMessage, Message, ModelInfo, TokenUsage, ToolResult};
use cohab_store::sessions::{
    Archive, Entry, TITLE_MAX_CHARS,
    steps::{
        AgentState, AgentStatus, Checkpoint, Input, Metadata, Step, StepStatus, StepType, Turn, recover::has_effects,
    },
};
use cohab_text::sanitize::{one_line, sanitize};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Opening, clean, end_word};

/// The row of one turn and its steps, as far as they are known.
pub struct StepLog {
    archive: Archive,
    state: Mutex<StepRecorderState>,
}

#[derive(Default)]
struct StepRecorderState {
    /// `None` while nothing is stored.
    turn: Option<Turn>,
    next: u32,
    /// Number of the model's last step.
    asked_by: Option<u32>,
    /// The model's open step.
    inference: Option<Step>,
    /// The open compaction, by its step's number for the user.
    compaction: Option<(u32, Step)>,
    /// When it began.
    asked: Option<Instant>,
    /// Calls that have no result, by the model's id.
    calls: HashMap<String, Step>,
    /// Reported beginnings and ends of tool steps, by their number for the user.
    told: HashMap<u32, Told>,
    /// The number for the user of each call, by the model's id.
    shown: HashMap<String, u32>,
    hold: Option<Box<dyn Send>>,
}

#[derive(Default)]
struct Told {
    tool: String,
    title: String,
    ended: Option<(StepResult, String, Duration)>,
}

impl StepRecorderState {
    /// Begins a step.
    fn begin(&mut self, kind: StepType, input: impl Into<Input>, metadata: Metadata) -> Option<Step> {
        let turn = self.turn.as_mut()?;
        let number = self.next;
        self.next += 1;
        turn.state.steps = self.next;
        Some(Step {
            id: uuid::Uuid::new_v4().simple().to_string(),
            session: turn.session.clone(),
            turn: turn.turn.clone(),
            number,
            at: Timestamp::now(),
            kind,
            input: input.into(),
            output: None,
            status: StepStatus::Pending,
            duration_ms: None,
            error: None,
            metadata,
        })
    }
}

impl StepLog {
    /// A log for a turn that has not begun.
    pub(super) fn new(archive: Archive) -> Self {
        Self { archive, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, StepRecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, checkpoint: Checkpoint) {
        self.archive.keep(Entry::Checkpoint(Box::new(checkpoint)));
    }

    fn keep_done(&self, mut step: Step, output: String) {
        step.status = StepStatus::Completed;
        step.output = Some(output);
        self.keep(Checkpoint::Step(step));
    }

    /// Begins the turn.
    pub(super) fn begin(&self, opening: &Opening, model: &ModelInfo) {
        let hold = self.archive.hold();
        let now = Timestamp::now();
        let turn = Turn {
            turn: opening.turn.clone(),
            session: opening.session.clone(),
            started: now,
            last_activity: now,
            question: one_line(opening.question.trim(), TITLE_MAX_CHARS),
            resumed_from: opening.resumed_from.clone(),
            pid: std::process::id(),
            state: AgentState { status: AgentStatus::Running, ..AgentState::default() },
            ended: None,
            error: None,
        };
        let model = format!("{}/{}", model.wire, model.model);
        let mut state = self.state();
        state.hold = Some(Box::new(hold));
        state.turn = Some(turn.clone());
        let metadata = Metadata { model: Some(model), ..Metadata::default() };
        let (kind, input) = match opening.resumed_from {
            None => (StepType::UserMessage, json!(clean(&opening.question))),
            Some(_) => (StepType::System, json!("the turn continues after the daemon's end")),
        };
        let step = state.begin(kind, input, metadata);
        drop(state);
        self.keep(Checkpoint::Turn(turn));
        if let Some(step) = step {
            self.keep_done(step, String::new());
        }
    }

    /// Notes an event that was reported to the user.
    pub(super) fn told(&self, event: &TurnEvent) {
        let mut state = self.state();
        match event {
            TurnEvent::StepStarted { activity: Activity::ModelCall { model, .. }, .. } => {
                let messages = state.turn.as_ref().map_or(0, |turn| turn.state.messages);
                let metadata = Metadata { model: Some(model.clone()), ..Metadata::default() };
                let step = state.begin(StepType::ModelInference, json!({"messages": messages}), metadata);
                let step = step.map(|step| Step { status: StepStatus::Running, ..step });
                state.asked_by = step.as_ref().map(|step| step.number);
                state.inference.clone_from(&step);
                state.asked = Some(Instant::now());
                drop(state);
                step.into_iter().for_each(|step| self.keep(Checkpoint::Step(step)));
            }
            TurnEvent::StepStarted { step, activity: Activity::Attachment { path } } => {
                let (tool, title) = (READ.to_owned(), path.clone());
                state.told.insert(*step, Told { tool, title, ended: None });
            }
            TurnEvent::StepStarted { step, activity: Activity::ToolCall { tool, title } } => {
                state.told.insert(*step, Told { tool: tool.clone(), title: title.clone(), ended: None });
            }
            TurnEvent::StepStarted { step: shown, activity: Activity::Compaction } => {
                let messages = state.turn.as_ref().map_or(0, |turn| turn.state.messages);
                let step = state.begin(StepType::Compaction, json!({"messages": messages}), Metadata::default());
                let step = step.map(|step| Step { status: StepStatus::Running, ..step });
                state.compaction = step.clone().map(|step| (*shown, step));
                drop(state);
                step.into_iter().for_each(|step| self.keep(Checkpoint::Step(step)));
            }
            TurnEvent::StepFinished { step, outcome, summary, elapsed, .. } => {
                if let Some((_, mut ended)) = state.compaction.take_if(|(shown, _)| shown == step) {
                    drop(state);
                    end(&mut ended, *outcome, summary, *elapsed);
                    self.keep(Checkpoint::Step(ended));
                } else if let Some(told) = state.told.get_mut(step) {
                    told.ended = Some((*outcome, summary.clone(), *elapsed));
                } else if let Some(step) = state.inference.as_mut() {
                    end(step, *outcome, summary, *elapsed);
                }
            }
            TurnEvent::Extended(words) => {
                let step = state.begin(StepType::UserMessage, json!(clean(words)), Metadata::default());
                drop(state);
                step.into_iter().for_each(|step| self.keep_done(step, String::new()));
            }
            TurnEvent::Notice(text) | TurnEvent::Retry { reason: text, .. } => {
                let step = state.begin(StepType::System, json!("notice"), Metadata::default());
                drop(state);
                step.into_iter().for_each(|step| self.keep_done(step, clean(text)));
            }
            TurnEvent::Text(_) | TurnEvent::Reasoning(_) => {
                let waited = state.asked.take().map(|asked| millis(asked.elapsed()));
                if let Some(step) = state.inference.as_mut() {
                    step.metadata.first_token_ms = step.metadata.first_token_ms.or(waited);
                }
            }
            TurnEvent::Reset | TurnEvent::Spent { .. } | TurnEvent::StepProgress(_) | TurnEvent::Subagent(_) => {}
        }
    }

    /// Notes the usage of an answer.
    pub(super) fn took(&self, usage: &TokenUsage) {
        if let Some(step) = self.state().inference.as_mut() {
            note_usage(&mut step.metadata, usage);
        }
    }

    /// Notes the model that gave the answer; another one may have been asked first.
    pub(super) fn answered_by(&self, model: &ModelInfo) {
        if let Some(step) = self.state().inference.as_mut() {
            step.metadata.model = Some(format!("{}/{}", model.wire, model.model));
        }
    }

    /// A call waits for consent. Gives it the name that its run is known by.
    pub(super) fn planned(&self, call: &mut PlannedCall) {
        let mut state = self.state();
        let metadata = Metadata {
            parent: state.asked_by,
            tool: Some(call.tool.clone()),
            call_id: Some(call.call_id.clone()),
            title: sanitize(&call.intent.title),
            has_effects: has_effects(&call.intent.effect),
            ..Metadata::default()
        };
        let is_memory = matches!(call.intent.effect, Effect::Internal);
        let kind = if is_memory { StepType::MemoryUpdate } else { StepType::ToolCall };
        let Some(step) = state.begin(kind, Input::Arguments(Arc::clone(&call.args)), metadata) else { return };
        call.run_id.clone_from(&step.id);
        state.calls.insert(call.call_id.clone(), step.clone());
        state.shown.extend(call.step.map(|shown| (call.call_id.clone(), shown)));
        drop(state);
        self.keep(Checkpoint::Step(step));
    }

    /// The user took so long to decide about the planned call; without one, about all calls of the answer.
    pub(super) fn waited(&self, waited: Duration) {
        let mut state = self.state();
        let StepRecorderState { calls, inference, .. } = &mut *state;
        let planned = calls.values_mut().find(|call| call.status == StepStatus::Pending);
        if let Some(step) = planned.or(inference.as_mut()) {
            let before = step.metadata.waited_ms.unwrap_or(0);
            step.metadata.waited_ms = Some(before.saturating_add(millis(waited)));
        }
    }

    /// A call is about to run in its final form. Waits until that is on disk if the call has effects.
    pub(super) async fn runs(&self, call: &PlannedCall) {
        let step = {
            let mut state = self.state();
            let Some(step) = state.calls.get_mut(&call.call_id) else { return };
            step.status = StepStatus::Running;
            step.input = Input::Arguments(Arc::clone(&call.args));
            step.metadata.title = sanitize(&call.intent.title);
            step.metadata.has_effects = has_effects(&call.intent.effect);
            step.clone()
        };
        if !step.metadata.has_effects {
            self.keep(Checkpoint::Step(step));
        } else if !self.archive.keep_now(Entry::Checkpoint(Box::new(Checkpoint::Step(step)))).await {
            // A full disk must not keep the user from a command that may free it.
            tracing::warn!("a step that acts could not be written down before");
        }
    }

    /// Notes the result of a call, in the form for the model. Waits until that of a subagent is on disk: it took long and cost money, and
    /// no client has it.
    pub(super) async fn ran(&self, result: &ToolResult) {
        let Some(step) = self.ended_call(result) else { return };
        let is_subagent = step.metadata.tool.as_deref() == Some(DELEGATE);
        let step = Checkpoint::Step(step);
        if !is_subagent {
            self.keep(step);
        } else if !self.archive.keep_now(Entry::Checkpoint(Box::new(step))).await {
            tracing::warn!("the report of a subagent could not be written down");
        }
    }

    /// The step of a call with its result.
    fn ended_call(&self, result: &ToolResult) -> Option<Step> {
        let mut state = self.state();
        let shown = state.shown.remove(&result.call_id);
        let mut step = state.calls.remove(&result.call_id).or_else(|| unusable(&mut state, result))?;
        let told = shown.and_then(|shown| state.told.remove(&shown));
        drop(state);
        if let Some((outcome, summary, elapsed)) = told.and_then(|told| told.ended) {
            end(&mut step, outcome, &summary, elapsed);
        }
        step.status = if result.is_error { StepStatus::Failed } else { StepStatus::Completed };
        step.error = result.is_error.then(|| one_line(&result.content, TITLE_MAX_CHARS));
        step.output = Some(result.content.clone());
        Some(step)
    }

    /// Notes a compaction: the number of messages left, and the usage of the model.
    pub(super) fn compacted(&self, messages: usize, usage: Option<&TokenUsage>) {
        if let Some((_, step)) = self.state().compaction.as_mut() {
            step.output = Some(format!("{messages} messages"));
            usage.into_iter().for_each(|usage| note_usage(&mut step.metadata, usage));
        }
    }

    /// A step is over.
    pub(super) fn step_done(&self, turn: &TurnState) {
        let mut state = self.state();
        let inference = state.inference.take().map(|step| Step { output: said(turn.messages()), ..step });
        let row = note(&mut state, turn);
        drop(state);
        inference.into_iter().for_each(|step| self.keep(Checkpoint::Step(step)));
        row.into_iter().for_each(|row| self.keep(Checkpoint::Turn(row)));
    }

    /// The turn is over. Waits until that is on disk: a turn that is reported as answered must not be offered for continuing.
    pub(super) async fn turn_done(&self, turn: &TurnState, result: &TurnResult) {
        let (row, _hold) = {
            let mut state = self.state();
            note(&mut state, turn);
            (state.turn.take(), state.hold.take())
        };
        if let Some(row) = row {
            self.archive.keep_now(Entry::Checkpoint(Box::new(Checkpoint::Turn(ended(row, result))))).await;
        }
    }
}

impl Drop for StepLog {
    fn drop(&mut self) {
        // A bug has ended the turn; the daemon lives, so there is nothing to continue.
        let row = self.state().turn.take().filter(|_| std::thread::panicking());
        if let Some(row) = row {
            self.keep(Checkpoint::Turn(ended(row, &Err(cohab_agent::TurnError::Internal))));
        }
    }
}

fn ended(mut row: Turn, result: &TurnResult) -> Turn {
    row.state.status = if result.is_ok() { AgentStatus::Completed } else { AgentStatus::Error };
    row.ended = Some(end_word(result).to_owned());
    row.error = result.as_ref().err().map(|error| sanitize(&error.to_string()));
    row.last_activity = Timestamp::now();
    row
}

/// A call that could not even be judged; its step is the one that ended last.
fn unusable(state: &mut StepRecorderState, result: &ToolResult) -> Option<Step> {
    let is_of_a_call = |shown: &u32| state.shown.values().any(|known| known == shown);
    let shown = *state
        .told
        .iter()
        .filter(|(shown, told)| told.ended.is_some() && !is_of_a_call(shown))
        .map(|(shown, _)| shown)
        .min()?;
    let Told { tool, title, .. } = state.told.remove(&shown)?;
    let metadata = Metadata {
        parent: state.asked_by,
        tool: Some(tool),
        call_id: Some(result.call_id.clone()),
        title,
        ..Metadata::default()
    };
    state.begin(StepType::ToolCall, Value::Null, metadata)
}

fn end(step: &mut Step, outcome: StepResult, summary: &str, elapsed: Duration) {
    step.duration_ms = Some(millis(elapsed));
    step.metadata.outcome = Some(outcome);
    step.metadata.summary = one_line(summary, TITLE_MAX_CHARS);
    step.status = if outcome == StepResult::Done { StepStatus::Completed } else { StepStatus::Failed };
    step.error = match outcome {
        StepResult::Done => None,
        StepResult::Failed => Some(sanitize(summary)),
        StepResult::Refused => Some("refused".to_owned()),
        StepResult::Cancelled => Some("cancelled".to_owned()),
    };
}

fn note_usage(metadata: &mut Metadata, usage: &TokenUsage) {
    (metadata.sent_tokens, metadata.received_tokens) = (usage.sent(), usage.output);
    metadata.cost_microusd = usage.cost_microusd;
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The model's last text.
fn said(messages: &[Message]) -> Option<String> {
    match messages.last() {
        Some(Message::Assistant(AssistantMessage { text, .. })) => Some(clean(text)),
        _ => None,
    }
}

/// Updates the row of the turn.
fn note(state: &mut StepRecorderState, turn: &TurnState) -> Option<Turn> {
    let usage = turn.usage();
    let row = state.turn.as_mut()?;
    row.last_activity = Timestamp::now();
    row.state.messages = u32::try_from(turn.messages().len()).unwrap_or(u32::MAX);
    row.state.sent_tokens = usage.sent().unwrap_or(0);
    row.state.received_tokens = usage.output.unwrap_or(0);
    row.state.cost_microusd = usage.cost_microusd.unwrap_or(0);
    Some(row.clone())
}
