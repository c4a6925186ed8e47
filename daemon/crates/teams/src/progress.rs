//! Turns the events of a subagent's turn into short news for the turn that it works for.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::port::{Activity, EventSink, StepResult, SubagentProgress, SubagentState, TurnEvent};
use cohab_model_api::TokenUsage;
use tokio::time::Instant;

/// Most steps that are remembered for the report.
const MAX_STEPS: usize = 200;

/// Takes the events of a subagent's turn. Its text and reasoning stay with it: only its report counts.
pub struct ProgressSink {
    above: Arc<dyn EventSink>,
    number: u32,
    kind: String,
    label: String,
    began: Instant,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    tokens: u64,
    running: HashMap<u32, String>,
    steps: Vec<String>,
}

impl ProgressSink {
    /// News of the subagent with this number go to `above`.
    #[must_use]
    pub fn new(above: Arc<dyn EventSink>, number: u32, kind: String, label: String) -> Self {
        Self { above, number, kind, label, began: Instant::now(), seen: Mutex::default() }
    }

    /// Time since its begin.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Its tool calls that are over, one line each.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        self.seen().steps.clone()
    }

    /// Says that it is over.
    pub async fn ended(&self, outcome: StepResult) {
        self.tell(SubagentState::Ended(outcome)).await;
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn tell(&self, state: SubagentState) {
        let tokens = self.seen().tokens;
        let (kind, label) = (self.kind.clone(), self.label.clone());
        let news = SubagentProgress { number: self.number, kind, label, state, tokens, elapsed: self.elapsed() };
        self.above.emit(TurnEvent::Subagent(news)).await;
    }
}

fn all_tokens(usage: &TokenUsage) -> u64 {
    usage.sent().unwrap_or(0).saturating_add(usage.output.unwrap_or(0))
}

#[async_trait]
impl EventSink for ProgressSink {
    async fn emit(&self, event: TurnEvent) {
        match event {
            TurnEvent::StepStarted { step, activity } => {
                if let Activity::ToolCall { tool, title } = &activity {
                    self.seen().running.insert(step, format!("{tool} {title}"));
                }
                self.tell(SubagentState::Working(activity)).await;
            }
            TurnEvent::StepFinished { step, summary, .. } => {
                let mut seen = self.seen();
                if let Some(call) = seen.running.remove(&step)
                    && seen.steps.len() < MAX_STEPS
                {
                    seen.steps.push(if summary.is_empty() { call } else { format!("{call} ({summary})") });
                }
            }
            TurnEvent::Spent { usage, .. } => self.seen().tokens = all_tokens(&usage),
            // Its own subagents stand on the same screen.
            TurnEvent::Subagent(_) => self.above.emit(event).await,
            TurnEvent::Text(_)
            | TurnEvent::Reasoning(_)
            | TurnEvent::Reset
            | TurnEvent::StepProgress(_)
            | TurnEvent::Extended(_)
            | TurnEvent::Notice(_)
            | TurnEvent::Retry { .. } => {}
        }
    }

    fn pause(&self) {
        self.above.pause();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Told(Mutex<Vec<TurnEvent>>);

    #[async_trait]
    impl EventSink for Told {
        async fn emit(&self, event: TurnEvent) {
            self.0.lock().unwrap().push(event);
        }

        fn pause(&self) {}
    }

    #[tokio::test(start_paused = true)]
    async fn the_turn_above_learns_what_is_done_and_nothing_of_what_is_said() {
        let told = Arc::new(Told::default());
        let sink = ProgressSink::new(Arc::clone(&told) as _, 2, "explore".into(), "tests".into());
        let activity = Activity::ToolCall { tool: "grep".into(), title: "\"x\" in src".into() };
        sink.emit(TurnEvent::StepStarted { step: 1, activity: activity.clone() }).await;
        sink.emit(TurnEvent::Text("secret thoughts".into())).await;
        let finished = TurnEvent::StepFinished {
            step: 1,
            outcome: StepResult::Done,
            summary: "3 lines".into(),
            elapsed: Duration::ZERO,
            detail: None,
            only_reads: true,
        };
        sink.emit(finished).await;
        let usage = TokenUsage { input: Some(900), output: Some(100), ..TokenUsage::default() };
        sink.emit(TurnEvent::Spent { usage, is_cost_partial: false }).await;
        sink.ended(StepResult::Done).await;
        let news = |state, tokens| {
            let (kind, label) = ("explore".into(), "tests".into());
            TurnEvent::Subagent(SubagentProgress { number: 2, kind, label, state, tokens, elapsed: Duration::ZERO })
        };
        let expected = [news(SubagentState::Working(activity), 0), news(SubagentState::Ended(StepResult::Done), 1_000)];
        assert_eq!(*told.0.lock().unwrap(), expected);
        assert_eq!(sink.steps(), ["grep \"x\" in src (3 lines)"]);
    }
}
