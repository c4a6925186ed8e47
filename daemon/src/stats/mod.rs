//! How often things happened and how long they took, from what is kept anyway. Pure.

pub mod histogram;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::store::{
    row::{CallRow, ModelKey},
    sessions::{
        EventRow,
        event::{Approval, Event},
    },
};
use histogram::Histogram;

/// Different tools that are told apart; names come from models. More are one.
const MAX_TOOLS: usize = 64;
/// The name of all others.
const OTHERS: &str = "others";

/// Of one kind of thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub all: u64,
    /// Of these, those that failed.
    pub failed: u64,
    /// Of these, those that were not allowed.
    pub refused: u64,
    /// How long those took of which it is known.
    pub took: Histogram,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Turns that ended.
    pub questions: Count,
    /// The same by the word of their end.
    pub ends: BTreeMap<String, u64>,
    /// Answered calls of each model.
    pub models: BTreeMap<ModelKey, Count>,
    /// Calls of each tool.
    pub tools: BTreeMap<String, Count>,
    asked: HashMap<(String, String), Timestamp>,
    called: HashMap<String, (String, Approval)>,
}

impl Stats {
    /// Adds an event. Those of a session come in their order.
    pub fn event(&mut self, row: EventRow) {
        let EventRow { session, turn, at, event, .. } = row;
        match event {
            Event::Question { .. } => drop(self.asked.insert((session, turn), at)),
            Event::Call(call) => drop(self.called.insert(session, (call.tool, call.approval))),
            Event::Result(result) => {
                let Some((tool, approval)) = self.called.remove(&session) else { return };
                let count = self.tool(tool);
                count.all += 1;
                if approval == Approval::Refused {
                    count.refused += 1;
                    return;
                }
                count.failed += u64::from(result.is_error || result.exit_code.is_some_and(|code| code != 0));
                result.duration_ms.into_iter().for_each(|took| count.took.add(took));
            }
            Event::Ended { reason } => {
                self.questions.all += 1;
                self.questions.failed += u64::from(reason == "failed");
                if let Some(asked) = self.asked.remove(&(session, turn)) {
                    let took = at.as_millisecond().saturating_sub(asked.as_millisecond());
                    self.questions.took.add(u64::try_from(took).unwrap_or(0));
                }
                *self.ends.entry(reason).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Adds a call of a model.
    pub fn model_call(&mut self, call: CallRow) {
        let count = self.models.entry(call.model).or_default();
        count.all += 1;
        call.took_ms.into_iter().for_each(|took| count.took.add(took));
    }

    fn tool(&mut self, name: String) -> &mut Count {
        let is_known = self.tools.contains_key(&name) || self.tools.len() < MAX_TOOLS;
        self.tools.entry(if is_known { name } else { OTHERS.to_owned() }).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sessions::event::{Call, CallResult};

    fn happen(stats: &mut Stats, session: &str, second: i64, event: Event) {
        let (number, at) = (0, Timestamp::from_second(second).expect("a time"));
        stats.event(EventRow { number, session: session.into(), turn: "t".into(), at, event });
    }

    fn call(tool: &str, approval: Approval) -> Event {
        let (title, cwd) = (String::new(), String::new());
        Event::Call(Call { tool: tool.into(), title, command: None, proposed: None, cwd, approval })
    }

    fn result(is_error: bool, exit_code: Option<i32>, duration_ms: Option<u64>) -> Event {
        Event::Result(CallResult { is_error, exit_code, duration_ms, ..CallResult::default() })
    }

    #[test]
    fn events_of_several_sessions_are_told_apart_and_counted() {
        let mut stats = Stats::default();
        let question = || Event::Question { text: "x".into(), cwd: "/".into(), shell: None, piped_bytes: 0 };
        let ended = |reason: &str| Event::Ended { reason: reason.into() };
        happen(&mut stats, "a", 1, question());
        happen(&mut stats, "b", 2, question());
        happen(&mut stats, "a", 3, call("bash", Approval::Once));
        happen(&mut stats, "b", 3, call("read", Approval::NotNeeded));
        happen(&mut stats, "a", 4, result(false, Some(3), Some(700)));
        happen(&mut stats, "b", 4, result(true, None, None));
        happen(&mut stats, "a", 5, call("bash", Approval::Refused));
        happen(&mut stats, "a", 5, result(true, None, None));
        happen(&mut stats, "a", 5, result(true, None, None));
        happen(&mut stats, "a", 9, ended("answered"));
        happen(&mut stats, "b", 4, ended("failed"));
        happen(&mut stats, "c", 4, ended("cancelled"));
        let bash = &stats.tools["bash"];
        assert_eq!((bash.all, bash.failed, bash.refused, bash.took.max_ms()), (2, 1, 1, 700));
        assert_eq!((stats.tools["read"].failed, stats.tools["read"].took.count()), (1, 0));
        let questions = &stats.questions;
        assert_eq!(
            (questions.all, questions.failed, questions.took.count(), questions.took.max_ms()),
            (3, 1, 2, 8_000)
        );
        assert_eq!(stats.ends.len(), 3);
    }

    #[test]
    fn a_model_that_makes_up_names_of_tools_takes_no_room() {
        let mut stats = Stats::default();
        for n in 0..1_000 {
            happen(&mut stats, "a", 1, call(&format!("tool-{n}"), Approval::NotNeeded));
            happen(&mut stats, "a", 1, result(false, None, None));
        }
        assert_eq!((stats.tools.len(), stats.tools[OTHERS].all), (MAX_TOOLS + 1, 1_000 - 64));
    }
}
