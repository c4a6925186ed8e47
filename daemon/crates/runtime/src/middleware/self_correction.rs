//! Detects a stuck model. Failed calls get a note that asks the model to find the reason. A model that only repeats itself, or learns
//! nothing new, gets one warning; then the user is asked to continue or stop.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::{
    Fact, Middleware, StopReason, TurnError, TurnObserver, TurnState,
    builtin_tools::without_duration,
    hook::TurnResult,
    plan::StepKind,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, StepResult},
};
use cohab_model_api::{ToolCall, ToolResult};

/// So many identical calls with identical results, with nothing new in between, are a loop.
const REPEATS: u32 = 3;
/// Steps that a warned model has to find something new.
const PATIENCE: u32 = 2;
/// Most known calls; beyond, the oldest ones count as new.
const MAX_KNOWN: usize = 4_096;

/// The verdict on the next model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// Nothing is wrong.
    Fine,
    /// The model reads this first.
    Tell(String),
    /// The user decides whether to continue, for this reason.
    Ask(String),
}

/// The state of a turn. Pure.
#[derive(Debug)]
pub struct Watch {
    /// Consecutive steps without anything new after which the user decides, at the latest; 0 for never.
    patience: u32,
    known: HashSet<(u64, u64)>,
    /// Since the last new result: the count of each call with its result, and the tool of the most frequent one.
    repeated: HashMap<(u64, u64), u32>,
    most: (u32, String),
    stalled: u32,
    told_at: Option<u32>,
    step: StepCalls,
    /// Consecutive steps with a failed call.
    bad_steps: u32,
    failures: u32,
}

/// The calls since the last model call.
#[derive(Debug, Default)]
struct StepCalls {
    calls: u32,
    failed: Vec<String>,
    has_error: bool,
    has_news: bool,
    pairs: Vec<(u64, u64)>,
}

impl Watch {
    /// For a turn that begins.
    #[must_use]
    pub fn new(patience: u32) -> Self {
        Self {
            patience,
            known: HashSet::new(),
            repeated: HashMap::new(),
            most: (0, String::new()),
            stalled: 0,
            told_at: None,
            step: StepCalls::default(),
            bad_steps: 0,
            failures: 0,
        }
    }

    /// Number of failed calls in this turn.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Counts a finished call.
    pub fn call_ended(&mut self, call: &ToolCall, outcome: StepResult, result: &ToolResult) {
        let pair = (digest(&(&call.name, arguments(call))), digest(&without_duration(&result.content)));
        self.step.calls += 1;
        if outcome == StepResult::Failed {
            self.failures += 1;
            self.step.failed.push(call.name.clone());
            self.step.has_error |= result.is_error;
        }
        if self.known.len() == MAX_KNOWN {
            self.known.clear();
        }
        // A new failure of a command is news; a call that could not be made is not.
        self.step.has_news |= self.known.insert(pair) && !result.is_error;
        self.step.pairs.push(pair);
        let count = self.repeated.entry(pair).or_default();
        *count += 1;
        if *count > self.most.0 {
            self.most = (*count, call.name.clone());
        }
    }

    /// The action before the next model call, which ends the step.
    pub fn verdict(&mut self) -> CallVerdict {
        let step = std::mem::take(&mut self.step);
        if step.calls == 0 {
            return CallVerdict::Fine;
        }
        self.bad_steps = if step.failed.is_empty() { 0 } else { self.bad_steps + 1 };
        if step.has_news {
            self.forget();
            self.repeated.extend(step.pairs.iter().map(|pair| (*pair, 1)));
            return self.failure_note(&step);
        }
        self.stalled += 1;
        // One step before the user decides the model is warned.
        let is_stuck = self.patience > 0 && (self.most.0 >= REPEATS || self.stalled + 1 >= self.patience);
        match self.told_at {
            _ if !is_stuck => self.failure_note(&step),
            _ if self.stalled >= self.patience => CallVerdict::Ask(self.finding()),
            None => {
                self.told_at = Some(self.stalled);
                CallVerdict::Tell(format!(
                    "[{}. Stop and think about what is missing. Try something else, or say what you need and end your answer.]",
                    self.finding()
                ))
            }
            Some(told_at) if self.stalled < told_at + PATIENCE => self.failure_note(&step),
            Some(_) => CallVerdict::Ask(self.finding()),
        }
    }

    /// The user wants to continue: the model may become stuck again.
    pub fn forget(&mut self) {
        self.repeated.clear();
        self.most = (0, String::new());
        self.stalled = 0;
        self.told_at = None;
    }

    fn finding(&self) -> String {
        match &self.most {
            (count @ REPEATS.., tool) => {
                format!("The same call of `{tool}` came {count} times, each time with the same result")
            }
            _ => format!("The last {} steps brought nothing new", self.stalled),
        }
    }

    /// A call that could not be made is reported at once. A failing status of a command is common; a second one in a row is not.
    fn failure_note(&self, step: &StepCalls) -> CallVerdict {
        if !step.has_error && (self.bad_steps < 2 || step.failed.is_empty()) {
            return CallVerdict::Fine;
        }
        let mut tools: Vec<&str> = step.failed.iter().map(String::as_str).collect();
        tools.dedup();
        CallVerdict::Tell(format!(
            "[{} of {} calls failed: {}. Before the next call find out why: were the arguments wrong, is something missing that \
             must be there first, or is another tool better? Do not repeat a call unchanged. Failed calls so far: {}.]",
            step.failed.len(),
            step.calls,
            tools.join(", "),
            self.failures
        ))
    }
}

fn arguments(call: &ToolCall) -> String {
    match &call.args {
        Ok(args) => serde_json::to_string(args).unwrap_or_default(),
        Err(broken) => broken.raw.clone(),
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Watches one turn.
pub struct SelfCorrection {
    watch: Mutex<Watch>,
    approver: Arc<dyn Approver>,
    note: Mutex<Option<String>>,
}

impl SelfCorrection {
    /// Asks `approver` when the model is stuck; `patience` as in [`Watch`].
    #[must_use]
    pub fn new(patience: u32, approver: Arc<dyn Approver>) -> Self {
        Self { watch: Mutex::new(Watch::new(patience)), approver, note: Mutex::default() }
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TurnObserver for SelfCorrection {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::CallEnded(call, outcome, result) = fact {
            self.watch().call_ended(call, outcome, result);
        }
    }
}

#[async_trait]
impl Middleware for SelfCorrection {
    async fn before_step(&self, step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        // The last answer is requested without tools: it repeats nothing.
        if step != (StepKind::ModelCall { allow_tools: true }) {
            return ControlFlow::Continue(());
        }
        let verdict = self.watch().verdict();
        let finding = match verdict {
            CallVerdict::Fine => return ControlFlow::Continue(()),
            CallVerdict::Tell(note) => {
                *self.note.lock().unwrap_or_else(PoisonError::into_inner) = Some(note);
                return ControlFlow::Continue(());
            }
            CallVerdict::Ask(finding) => finding,
        };
        let subject = ApprovalSubject::GoOn { what: format!("{finding}.") };
        match self.approver.ask(ApprovalQuestion::about(subject)).await {
            ApprovalAnswer::Approved { .. } | ApprovalAnswer::Edited { .. } => {
                self.watch().forget();
                ControlFlow::Continue(())
            }
            ApprovalAnswer::CancelTurn => ControlFlow::Break(Ok(StopReason::Cancelled)),
            ApprovalAnswer::Refused { .. } => ControlFlow::Break(Err(TurnError::Stopped {
                message: format!("the model got stuck: {}{}", finding[..1].to_ascii_lowercase(), &finding[1..]),
                hint: Some("rephrase the question or add what is missing; another model may do better".into()),
            })),
        }
    }

    fn pending_notes(&self) -> Option<String> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
#[path = "self_correction_tests.rs"]
mod tests;
