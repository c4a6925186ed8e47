//! Statistics count events and durations from records that exist anyway. Pure.
//!
//! The facts about a turn come from its steps, so they agree with `cohab trace`. A model call without a recorded turn counts by its
//! usage record.

pub mod histogram;

use std::collections::{BTreeMap, HashSet};

use cohab_agent::port::StepResult;
use cohab_store::{
    row::CallRow,
    sessions::steps::{AgentStatus, StepFacts, StepStatus, StepType, Turn},
};
use histogram::Histogram;

/// Most distinct tools, or models; names of tools come from models. Further ones are counted together.
const MAX_NAMES: usize = 64;
/// The name for further ones.
const OTHERS: &str = "others";

/// The count of one kind of event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of all.
    pub all: u64,
    /// The number of failed ones.
    pub failed: u64,
    /// The number of refused ones.
    pub refused: u64,
    /// The known durations.
    pub took: Histogram,
    /// The known times to the first piece of text.
    pub first_token: Histogram,
}

/// All counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Turns, including continued ones; their times include the waits for the user.
    pub questions: Count,
    /// Ended turns, by the word of their end.
    pub ends: BTreeMap<String, u64>,
    /// All steps with a duration.
    pub steps: Count,
    /// Model calls.
    pub model_calls: Count,
    /// Model calls by `wire/model`.
    pub models: BTreeMap<String, Count>,
    /// Tool calls.
    pub tool_calls: Count,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, Count>,
    /// Compactions.
    pub compactions: Count,
    known: HashSet<String>,
}

impl Count {
    fn add(&mut self, outcome: Option<StepResult>, took_ms: Option<u64>) {
        self.all += 1;
        self.failed += u64::from(outcome == Some(StepResult::Failed));
        self.refused += u64::from(outcome == Some(StepResult::Refused));
        // A refused call took no time itself.
        let took_ms = took_ms.filter(|_| outcome != Some(StepResult::Refused));
        took_ms.into_iter().for_each(|took| self.took.add(took));
    }
}

impl Stats {
    /// Adds a turn.
    pub fn turn(&mut self, turn: Turn, steps: Vec<StepFacts>) {
        let questions = &mut self.questions;
        questions.all += 1;
        if turn.state.status != AgentStatus::Running {
            questions.failed += u64::from(turn.state.status == AgentStatus::Error);
            questions.took.add(turn.duration_ms());
        }
        if let Some(ended) = turn.ended {
            *self.ends.entry(ended).or_default() += 1;
        }
        self.known.insert(turn.turn);
        steps.into_iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: StepFacts) {
        let StepFacts { kind, status, duration_ms, metadata } = step;
        let by_status = (status == StepStatus::Failed).then_some(StepResult::Failed);
        let outcome = metadata.outcome.or(by_status);
        let (all, one) = match kind {
            StepType::ModelInference => {
                let one = named(&mut self.models, metadata.model.unwrap_or_default());
                (&mut self.model_calls, Some(one))
            }
            StepType::ToolCall | StepType::MemoryUpdate => {
                let one = named(&mut self.tools, metadata.tool.unwrap_or_default());
                (&mut self.tool_calls, Some(one))
            }
            StepType::Compaction => (&mut self.compactions, None),
            StepType::UserMessage | StepType::System => return,
        };
        for count in [all].into_iter().chain(one) {
            count.add(outcome, duration_ms);
            metadata.first_token_ms.into_iter().for_each(|took| count.first_token.add(took));
        }
        self.steps.add(outcome, duration_ms);
    }

    /// Adds a call of a model, after all turns.
    pub fn model_call(&mut self, call: &CallRow) {
        if self.known.contains(&call.turn) {
            return;
        }
        let name = format!("{}/{}", call.wire, call.model.model);
        for count in [&mut self.model_calls, named(&mut self.models, name)] {
            count.add(Some(StepResult::Done), call.took_ms);
        }
    }
}

fn named(counts: &mut BTreeMap<String, Count>, name: String) -> &mut Count {
    let is_known = counts.contains_key(&name) || counts.len() < MAX_NAMES;
    counts.entry(if is_known { name } else { OTHERS.to_owned() }).or_default()
}

#[cfg(test)]
mod tests {
    use cohab_model_api::TokenUsage;
    use cohab_store::{
        row::ModelKey,
        sessions::steps::{AgentState, Metadata},
    };
    use jiff::Timestamp;

    use super::*;

    fn turn(name: &str, status: AgentStatus, ended: Option<&str>) -> Turn {
        Turn {
            turn: name.into(),
            session: "s".into(),
            started: Timestamp::from_second(10).expect("a time"),
            last_activity: Timestamp::from_second(14).expect("a time"),
            question: "q".into(),
            resumed_from: None,
            pid: 1,
            state: AgentState { status, ..AgentState::default() },
            ended: ended.map(str::to_owned),
            error: None,
        }
    }

    fn tool(name: &str, outcome: StepResult, took_ms: u64) -> StepFacts {
        let metadata = Metadata { tool: Some(name.into()), outcome: Some(outcome), ..Metadata::default() };
        StepFacts { kind: StepType::ToolCall, status: StepStatus::Completed, duration_ms: Some(took_ms), metadata }
    }

    fn model(name: &str, took_ms: u64, first_token_ms: u64) -> StepFacts {
        let (model, first_token_ms) = (Some(name.into()), Some(first_token_ms));
        let metadata = Metadata { model, first_token_ms, ..Metadata::default() };
        StepFacts { kind: StepType::ModelInference, status: StepStatus::Failed, duration_ms: Some(took_ms), metadata }
    }

    fn call(turn: &str, model: &str) -> CallRow {
        CallRow {
            at: Timestamp::UNIX_EPOCH,
            session: "s".into(),
            turn: turn.into(),
            wire: "w".into(),
            model: ModelKey { host: "h".into(), model: model.into() },
            usage: TokenUsage::default(),
            cost_source: None,
            took_ms: Some(5),
        }
    }

    #[test]
    fn turns_and_their_steps_are_counted_by_how_they_went() {
        let mut stats = Stats::default();
        let steps = vec![
            model("w/m", 2_000, 400),
            tool("bash", StepResult::Done, 700),
            tool("bash", StepResult::Failed, 800),
            tool("bash", StepResult::Refused, 0),
            tool("read", StepResult::Cancelled, 1),
        ];
        stats.turn(turn("a", AgentStatus::Completed, Some("answered")), steps);
        stats.turn(turn("b", AgentStatus::Error, Some("failed")), Vec::new());
        stats.turn(turn("c", AgentStatus::Running, None), Vec::new());
        let questions = &stats.questions;
        assert_eq!(
            (questions.all, questions.failed, questions.took.count(), questions.took.max_ms()),
            (3, 1, 2, Some(4_000))
        );
        let bash = &stats.tools["bash"];
        assert_eq!(
            (bash.all, bash.failed, bash.refused, bash.took.count(), bash.took.max_ms()),
            (3, 1, 1, 2, Some(800))
        );
        assert_eq!((stats.tool_calls.all, stats.steps.all, stats.steps.took.count()), (4, 5, 4));
        let model = &stats.models["w/m"];
        assert_eq!(
            (model.failed, model.first_token.max_ms(), stats.model_calls.first_token.count()),
            (1, Some(400), 1)
        );
        assert_eq!(stats.ends.len(), 2);
    }

    #[test]
    fn a_model_call_counts_once_whoever_tells_of_it() {
        let mut stats = Stats::default();
        stats.turn(turn("a", AgentStatus::Completed, Some("answered")), vec![model("w/m", 2_000, 400)]);
        stats.model_call(&call("a", "m"));
        stats.model_call(&call("of a session that is gone", "m"));
        assert_eq!((stats.models["w/m"].all, stats.model_calls.all, stats.models.len()), (2, 2, 1));
    }

    #[test]
    fn a_model_that_makes_up_names_of_tools_takes_no_room() {
        let mut stats = Stats::default();
        let steps = (0..1_000).map(|n| tool(&format!("tool-{n}"), StepResult::Done, 1)).collect();
        stats.turn(turn("a", AgentStatus::Completed, None), steps);
        assert_eq!((stats.tools.len(), stats.tools[OTHERS].all), (MAX_NAMES + 1, 1_000 - 64));
    }
}
