//! Drives a run: asks the planner what is next, lets the ports work, and writes each result to the log before anything follows from it.
//!
//! What may act only once is in the log before it begins. If the process ends then, the run cannot know how far it came: it asks the
//! user before the node runs again.

use std::collections::{BTreeMap, BTreeSet};

use cohab_text::cut::cut_middle;
use futures::{
    StreamExt as _,
    future::{BoxFuture, FutureExt as _},
    stream::FuturesUnordered,
};
use tokio_util::sync::CancellationToken;

use crate::{
    flow::{ArgumentTemplate, CallTemplate, Flow, NodeId, NodeKind},
    log::{LogEntry, NodeOutcome, OUTPUT_MAX_BYTES, RunStatus, Visited},
    plan::{LogFault, NodeVisit, Plan, Progress, RunEnding},
    port::{HumanQuestion, NodeAnswer, NodeCall, NodeWork, RunLog, RunStoreError, ToolRequest},
    state::FlowState,
};

/// Most nodes that work at the same time.
pub const MAX_AT_ONCE: usize = 8;
/// The answers about a node whose end is unknown.
pub const REPEATING_CHOICES: [&str; 2] = ["again", "failed"];

/// How a run came to a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStop {
    /// It is over: done, failed or at its limit.
    Over(RunEnding),
    /// It waits for answers of the user, at least one.
    Waiting(Vec<OpenQuestion>),
    /// It was cancelled, and can continue.
    Cancelled,
}

/// A question that the user has not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    /// The visit that asks.
    pub visited: Visited,
    /// The question.
    pub question: HumanQuestion,
}

/// Why a run could not go on. A sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The log cannot be written.
    #[error(transparent)]
    Store(#[from] RunStoreError),
    /// An entry is not one of this flow.
    #[error("entry {} of the log does not belong to the flow: {fault}", place + 1)]
    Log {
        /// Its place, from 0.
        place: usize,
        /// The fault.
        fault: LogFault,
    },
    /// The user's answer is no answer to the question of this node.
    #[error("`{node}`: {reason}")]
    Answer {
        /// The node.
        node: String,
        /// A sentence.
        reason: String,
    },
}

/// The user's answers by the names of the nodes that ask. Each is used once.
pub type Answers = BTreeMap<String, String>;

/// Continues a run after `past`, its whole log, until it stops.
///
/// # Errors
/// As [`RunError`] says. What is in the log then is true, and the run can continue.
pub async fn run(
    flow: &Flow,
    past: &[LogEntry],
    answers: Answers,
    work: &dyn NodeWork,
    log: &mut dyn RunLog,
    cancel: &CancellationToken,
) -> Result<RunStop, RunError> {
    let progress = Progress::of_log(flow, past).map_err(|(place, fault)| RunError::Log { place, fault })?;
    if let (Plan::Over(ending), Some(LogEntry::Stopped { .. })) = (progress.plan(), past.last()) {
        return Ok(RunStop::Over(ending));
    }
    let mut driver = Driver {
        flow,
        progress,
        entries: past.len(),
        log,
        work,
        answers,
        // Ends what still works when the run is over.
        cancel: cancel.child_token(),
        at_work: FuturesUnordered::new(),
        taken: BTreeSet::new(),
        waiting: BTreeMap::new(),
    };
    let stop = driver.until_stop().await;
    driver.cancel.cancel();
    while driver.at_work.next().await.is_some() {}
    let stop = stop?;
    let status = match &stop {
        RunStop::Over(ending) => ending.status,
        RunStop::Waiting(_) => RunStatus::Waiting,
        RunStop::Cancelled => RunStatus::Cancelled,
    };
    driver.record(&LogEntry::Stopped { status })?;
    Ok(stop)
}

/// Work that ended.
struct EndedWork {
    visit: NodeVisit,
    answer: NodeAnswer,
    /// The question, if the user was asked.
    question: Option<HumanQuestion>,
}

struct Driver<'a> {
    flow: &'a Flow,
    progress: Progress<'a>,
    entries: usize,
    log: &'a mut dyn RunLog,
    work: &'a dyn NodeWork,
    answers: Answers,
    cancel: CancellationToken,
    at_work: FuturesUnordered<BoxFuture<'a, EndedWork>>,
    /// Nodes that work.
    taken: BTreeSet<NodeId>,
    /// Nodes whose question has no answer.
    waiting: BTreeMap<NodeId, OpenQuestion>,
}

impl Driver<'_> {
    async fn until_stop(&mut self) -> Result<RunStop, RunError> {
        loop {
            let visits = match self.progress.plan() {
                Plan::Over(ending) => return Ok(RunStop::Over(ending)),
                Plan::Run(visits) => visits,
            };
            if !self.cancel.is_cancelled() {
                if let Some(visit) = visits.iter().find(|visit| !self.flow.node(visit.node).kind.is_work()) {
                    self.finish(*visit, NodeOutcome::Passed)?;
                    continue;
                }
                if self.answer(&visits)? {
                    continue;
                }
                self.begin(&visits)?;
            }
            match self.at_work.next().await {
                Some(ended) => self.end(ended)?,
                None if self.cancel.is_cancelled() => return Ok(RunStop::Cancelled),
                None => return Ok(RunStop::Waiting(std::mem::take(&mut self.waiting).into_values().collect())),
            }
        }
    }

    /// Takes an answer that the user gave beforehand. Returns whether there was one: the plan is another one then.
    fn answer(&mut self, visits: &[NodeVisit]) -> Result<bool, RunError> {
        for visit in visits {
            let name = &self.flow.node(visit.node).name;
            if self.answers.contains_key(name)
                && let Some(NodeCall::Human(question)) = call_of(self.flow, &self.progress, *visit)
            {
                let text = self.answers.remove(name).unwrap_or_default();
                let answer =
                    question.answer(&text).map_err(|reason| RunError::Answer { node: name.clone(), reason })?;
                self.answered(*visit, &question, &answer)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Begins what can begin.
    fn begin(&mut self, visits: &[NodeVisit]) -> Result<(), RunError> {
        for visit in visits {
            if self.at_work.len() >= MAX_AT_ONCE {
                break;
            }
            if self.taken.contains(&visit.node) || self.waiting.contains_key(&visit.node) {
                continue;
            }
            let Some(call) = call_of(self.flow, &self.progress, *visit) else { continue };
            if !visit.is_uncertain && self.flow.node(visit.node).kind.acts_once() {
                self.record(&LogEntry::Began(self.progress.visited(*visit)))?;
            }
            self.start(*visit, call);
        }
        Ok(())
    }

    fn start(&mut self, visit: NodeVisit, call: NodeCall) {
        self.taken.insert(visit.node);
        let (work, visited, cancel) = (self.work, self.progress.visited(visit), self.cancel.clone());
        let question = match &call {
            NodeCall::Human(question) => Some(question.clone()),
            _ => None,
        };
        let at_work = async move {
            let answer = work.call(&visited, call, &cancel).await;
            EndedWork { visit, answer, question }
        };
        self.at_work.push(at_work.boxed());
    }

    fn end(&mut self, EndedWork { visit, answer, question }: EndedWork) -> Result<(), RunError> {
        self.taken.remove(&visit.node);
        let outcome = match (answer, question) {
            (NodeAnswer::Cancelled, _) => {
                // Without a cancelled run, work that says so has no result.
                if self.cancel.is_cancelled() {
                    return Ok(());
                }
                NodeOutcome::Failed("it was cancelled".to_owned())
            }
            (NodeAnswer::Later, Some(question)) => return self.wait(visit, question),
            (NodeAnswer::Later, None) => NodeOutcome::Failed("no user is there".to_owned()),
            (NodeAnswer::Text(text), Some(question)) => match question.answer(&text) {
                Ok(answer) => return self.answered(visit, &question, &answer),
                Err(_) => return self.wait(visit, question),
            },
            (NodeAnswer::Text(text), None) => NodeOutcome::Text(cut_middle(&text, OUTPUT_MAX_BYTES)),
            (NodeAnswer::Command { text, status }, _) => {
                NodeOutcome::Command { text: cut_middle(&text, OUTPUT_MAX_BYTES), status }
            }
            (NodeAnswer::Failed(reason), _) => NodeOutcome::Failed(cut_middle(&reason, OUTPUT_MAX_BYTES)),
        };
        self.finish(visit, outcome)
    }

    fn wait(&mut self, visit: NodeVisit, question: HumanQuestion) -> Result<(), RunError> {
        let visited = self.progress.visited(visit);
        self.waiting.insert(visit.node, OpenQuestion { visited, question });
        Ok(())
    }

    /// Takes a valid answer of the user.
    fn answered(&mut self, visit: NodeVisit, question: &HumanQuestion, answer: &str) -> Result<(), RunError> {
        if !question.is_about_repeating {
            return self.finish(visit, NodeOutcome::Text(cut_middle(answer, OUTPUT_MAX_BYTES)));
        }
        if answer == REPEATING_CHOICES[0] {
            return self.record(&LogEntry::Repeated(self.progress.visited(visit)));
        }
        self.finish(visit, NodeOutcome::Failed("it was interrupted, and its end is unknown".to_owned()))
    }

    fn finish(&mut self, visit: NodeVisit, outcome: NodeOutcome) -> Result<(), RunError> {
        self.record(&LogEntry::Finished { visited: self.progress.visited(visit), outcome })
    }

    fn record(&mut self, entry: &LogEntry) -> Result<(), RunError> {
        let kept = self.log.append(entry)?;
        self.progress.apply(&kept).map_err(|fault| RunError::Log { place: self.entries, fault })?;
        self.entries += 1;
        Ok(())
    }
}

fn about_repeating(node: &str) -> HumanQuestion {
    HumanQuestion {
        text: format!(
            "`{node}` was interrupted, and it is unknown how far it came. Run it again, or count it as failed?"
        ),
        choices: REPEATING_CHOICES.map(str::to_owned).into(),
        is_about_repeating: true,
    }
}

/// The questions to which a run with this log waits for answers; those of nodes that run at the same time are among them.
///
/// # Errors
/// The log is not one of the flow.
pub fn open_questions(flow: &Flow, log: &[LogEntry]) -> Result<Vec<OpenQuestion>, RunError> {
    let progress = Progress::of_log(flow, log).map_err(|(place, fault)| RunError::Log { place, fault })?;
    let Plan::Run(visits) = progress.plan() else { return Ok(Vec::new()) };
    let question = |visit: &NodeVisit| match call_of(flow, &progress, *visit)? {
        NodeCall::Human(question) => Some(OpenQuestion { visited: progress.visited(*visit), question }),
        _ => None,
    };
    Ok(visits.iter().filter_map(question).collect())
}

/// What a visit needs, with the values of the state; `None` if the planner decides about it.
fn call_of(flow: &Flow, progress: &Progress<'_>, visit: NodeVisit) -> Option<NodeCall> {
    let (node, state) = (flow.node(visit.node), progress.state());
    if visit.is_uncertain {
        return Some(NodeCall::Human(about_repeating(&node.name)));
    }
    Some(match &node.kind {
        NodeKind::Llm { prompt, role, .. } => NodeCall::Model { prompt: prompt.filled(state), role: role.clone() },
        NodeKind::Debate { question, .. } => NodeCall::Debate { question: question.filled(state) },
        NodeKind::Tool { call, .. } => tool_call(call, state),
        NodeKind::Human { question, choices, .. } => NodeCall::Human(HumanQuestion {
            text: question.filled(state),
            choices: choices.clone(),
            is_about_repeating: false,
        }),
        NodeKind::Condition { .. }
        | NodeKind::Parallel { .. }
        | NodeKind::Enter { .. }
        | NodeKind::Leave { .. }
        | NodeKind::End(_) => return None,
    })
}

fn tool_call(call: &CallTemplate, state: &FlowState) -> NodeCall {
    let (request, holds_values) = match call {
        CallTemplate::Line(line) => (ToolRequest::Line(line.clone()), false),
        CallTemplate::Words(words) => (
            ToolRequest::Words(words.iter().map(|word| word.filled(state)).collect()),
            words.iter().any(crate::template::Template::has_values),
        ),
        CallTemplate::Tool { name, arguments } => {
            let value = |argument: &ArgumentTemplate| match argument {
                ArgumentTemplate::Filled(template) => template.value(state).to_json(),
                ArgumentTemplate::Fixed(value) => value.clone(),
            };
            let holds_values = arguments
                .values()
                .any(|argument| matches!(argument, ArgumentTemplate::Filled(template) if template.has_values()));
            let arguments = arguments.iter().map(|(name, argument)| (name.clone(), value(argument))).collect();
            (ToolRequest::Tool { name: name.clone(), arguments }, holds_values)
        }
    };
    NodeCall::Tool { request, holds_values }
}

#[cfg(test)]
mod tests;
