//! Plans a run: what may run next, from the flow and the log alone. Pure.
//!
//! [`Progress`] is the log, folded. Each active node is one place that the run is at; a parallel node makes several of one, its join one
//! of several. The steps of a run are its finished visits.

use std::collections::BTreeMap;

use crate::{
    flow::{EndNode, Flow, Node, NodeId, NodeKind},
    log::{LogEntry, NodeOutcome, RunStatus, Visited},
    state::{FlowState, KeyId},
};

/// How far a run is.
#[derive(Clone, Debug)]
pub struct Progress<'f> {
    flow: &'f Flow,
    names: BTreeMap<&'f str, NodeId>,
    state: FlowState,
    /// Finished visits of each node.
    visits: Vec<u32>,
    /// Finished visits of all nodes.
    steps: u32,
    /// Where the run is, in the order of arrival.
    active: Vec<Active>,
    /// Branches that came to the join of a parallel node.
    arrived: BTreeMap<NodeId, usize>,
    over: Option<RunEnding>,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    node: NodeId,
    has_begun: bool,
}

/// A visit of a node that may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeVisit {
    /// The node.
    pub node: NodeId,
    /// The number of its visit, from 1.
    pub visit: u32,
    /// Whether it began before and its end is unknown: it may run only after [`LogEntry::Repeated`].
    pub is_uncertain: bool,
}

/// The end of a run about which nothing more can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnding {
    /// Done, failed or at the limit.
    pub status: RunStatus,
    /// The result, or the reason of a failure.
    pub text: String,
}

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// These visits may run, at the same time; never empty. They include those that run already.
    Run(Vec<NodeVisit>),
    /// The run is over.
    Over(RunEnding),
}

/// An entry that cannot follow the log before it. A sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogFault {
    /// The flow has no such node.
    #[error("the flow has no node `{0}`")]
    Unknown(String),
    /// The node cannot be finished or begun there.
    #[error("visit {} of `{}` is not next", .0.visit, .0.node)]
    NotNext(Visited),
    /// Such a node has no such outcome.
    #[error("a node such as `{0}` has no such outcome")]
    WrongOutcome(String),
    /// The flow has no such key, or it does not take this value.
    #[error("{0}")]
    Key(String),
}

impl<'f> Progress<'f> {
    /// A run that has not begun.
    #[must_use]
    pub fn new(flow: &'f Flow) -> Self {
        Self {
            flow,
            names: flow.ids().map(|(id, node)| (node.name.as_str(), id)).collect(),
            state: FlowState::new(&flow.keys),
            visits: vec![0; flow.nodes.len()],
            steps: 0,
            active: vec![Active { node: flow.start, has_begun: false }],
            arrived: BTreeMap::new(),
            over: None,
        }
    }

    /// A run with this log.
    ///
    /// # Errors
    /// The log is not one of this flow: the place of the entry, from 0, and its fault.
    pub fn of_log<'e>(flow: &'f Flow, log: impl IntoIterator<Item = &'e LogEntry>) -> Result<Self, (usize, LogFault)> {
        let mut progress = Self::new(flow);
        for (place, entry) in log.into_iter().enumerate() {
            progress.apply(entry).map_err(|fault| (place, fault))?;
        }
        Ok(progress)
    }

    /// The state as it is now.
    #[must_use]
    pub fn state(&self) -> &FlowState {
        &self.state
    }

    /// What may run next. Depends on the flow and the log only.
    #[must_use]
    pub fn plan(&self) -> Plan {
        if let Some(ending) = &self.over {
            return Plan::Over(ending.clone());
        }
        // The first to come are the first to get what is left of the steps.
        let left = self.flow.max_steps.saturating_sub(self.steps);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        if left == 0 || self.active.is_empty() {
            let text = format!("stopped after {} steps, the most that the flow allows", self.steps);
            return Plan::Over(RunEnding { status: RunStatus::Limit, text });
        }
        Plan::Run(self.active.iter().take(left).map(|active| self.visit(active)).collect())
    }

    fn visit(&self, active: &Active) -> NodeVisit {
        NodeVisit { node: active.node, visit: self.visits[active.node.0] + 1, is_uncertain: active.has_begun }
    }

    /// The visit as it stands in the log.
    #[must_use]
    pub fn visited(&self, visit: NodeVisit) -> Visited {
        Visited { node: self.flow.node(visit.node).name.clone(), visit: visit.visit }
    }

    /// Takes an entry into account. The log continues with it.
    ///
    /// # Errors
    /// It cannot follow what was before; nothing has changed then.
    pub fn apply(&mut self, entry: &LogEntry) -> Result<(), LogFault> {
        match entry {
            LogEntry::Set { key, text } => self.set(key, text),
            LogEntry::Began(visited) => {
                let place = self.find(visited).filter(|place| !self.active[*place].has_begun);
                self.active[place.ok_or_else(|| LogFault::NotNext(visited.clone()))?].has_begun = true;
                Ok(())
            }
            LogEntry::Repeated(visited) => {
                let place = self.find(visited).filter(|place| self.active[*place].has_begun);
                self.active[place.ok_or_else(|| LogFault::NotNext(visited.clone()))?].has_begun = false;
                Ok(())
            }
            LogEntry::Finished { visited, outcome } => {
                if !self.names.contains_key(visited.node.as_str()) {
                    return Err(LogFault::Unknown(visited.node.clone()));
                }
                let place = self.find(visited).ok_or_else(|| LogFault::NotNext(visited.clone()))?;
                let id = self.active[place].node;
                if self.flow.node(id).kind.is_work() == (*outcome == NodeOutcome::Passed) {
                    return Err(LogFault::WrongOutcome(visited.node.clone()));
                }
                self.active.remove(place);
                self.visits[id.0] += 1;
                self.steps += 1;
                self.finish(id, outcome);
                Ok(())
            }
            LogEntry::Stopped { .. } => Ok(()),
        }
    }

    /// The place of a visit among the active ones.
    fn find(&self, visited: &Visited) -> Option<usize> {
        if self.over.is_some() || self.steps >= self.flow.max_steps {
            return None;
        }
        let id = *self.names.get(visited.node.as_str())?;
        let is_next = self.visits[id.0].checked_add(1) == Some(visited.visit);
        self.active.iter().position(|active| active.node == id).filter(|_| is_next)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), LogFault> {
        if self.steps > 0 || self.over.is_some() {
            return Err(LogFault::Key(format!("`{name}` is set after the start")));
        }
        let unknown = || LogFault::Key(format!("the flow has no key `{name}`"));
        // Keys of subgraphs get their values where these begin.
        let key = self.flow.keys.iter().position(|key| key.name == name && !name.contains('/')).ok_or_else(unknown)?;
        let key = KeyId(key);
        let kept = self.state.clone();
        self.state.reset(&self.flow.keys, key);
        let written = self.state.write(&self.flow.keys, key, text);
        written.map_err(|error| {
            self.state = kept;
            LogFault::Key(error.to_string())
        })
    }

    fn finish(&mut self, id: NodeId, outcome: &NodeOutcome) {
        let flow = self.flow;
        let node = flow.node(id);
        match (&node.kind, outcome) {
            (NodeKind::Condition { cases, otherwise }, _) => {
                let holding = cases.iter().find(|case| case.condition.holds(&self.state));
                self.go(node, holding.map_or(*otherwise, |case| case.next));
            }
            (NodeKind::Parallel { branches }, _) => branches.iter().for_each(|branch| self.arrive(*branch)),
            (NodeKind::Enter { start, keys, inputs, .. }, _) => {
                // All values are taken before any is set.
                let values: Vec<_> = inputs.iter().map(|(key, input)| (*key, input.filled(&self.state))).collect();
                keys.iter().for_each(|key| self.state.reset(&flow.keys, *key));
                match values.iter().try_for_each(|(key, text)| self.state.write(&flow.keys, *key, text)) {
                    Ok(()) => self.go(node, *start),
                    Err(error) => self.fail(node, &error.to_string()),
                }
            }
            (NodeKind::Leave { enter, end }, _) => self.leave(flow.node(*enter), end),
            (NodeKind::End(EndNode { is_done, result }), _) => {
                let status = if *is_done { RunStatus::Done } else { RunStatus::Failed };
                self.over = Some(RunEnding { status, text: result.filled(&self.state) });
            }
            (_, NodeOutcome::Failed(reason)) => self.fail(node, reason),
            (kind, NodeOutcome::Command { text, status }) => {
                let key = match kind {
                    NodeKind::Tool { status, .. } => *status,
                    _ => None,
                };
                match key {
                    None if *status != 0 => self.fail(node, &failed_command(*status, text)),
                    _ => self.store(node, key, &status.to_string(), text),
                }
            }
            (_, NodeOutcome::Text(text)) => self.store(node, None, "", text),
            // Refused before.
            (_, NodeOutcome::Passed) => {}
        }
    }

    /// Stores a result and goes on.
    fn store(&mut self, node: &'f Node, status_key: Option<KeyId>, status: &str, text: &str) {
        let output = match &node.kind {
            NodeKind::Llm { output, .. }
            | NodeKind::Tool { output, .. }
            | NodeKind::Human { output, .. }
            | NodeKind::Debate { output, .. } => *output,
            _ => None,
        };
        let values = [(status_key, status), (output, text)];
        let written = values.into_iter().try_for_each(|(key, text)| match key {
            Some(key) => self.state.write(&self.flow.keys, key, text),
            None => Ok(()),
        });
        match (written, node.next) {
            (Ok(()), Some(next)) => self.go(node, next),
            (Ok(()), None) => self.fail(node, "it has no next node"),
            (Err(error), _) => self.fail(node, &error.to_string()),
        }
    }

    fn leave(&mut self, enter: &'f Node, end: &EndNode) {
        let result = end.result.filled(&self.state);
        if !end.is_done {
            return self.fail(enter, &result);
        }
        let NodeKind::Enter { output, .. } = &enter.kind else { return };
        let written = output.map_or(Ok(()), |key| self.state.write(&self.flow.keys, key, &result));
        match (written, enter.next) {
            (Ok(()), Some(next)) => self.go(enter, next),
            (Ok(()), None) => self.fail(enter, "it has no next node"),
            (Err(error), _) => self.fail(enter, &error.to_string()),
        }
    }

    fn fail(&mut self, node: &Node, reason: &str) {
        match node.on_failure {
            Some(next) => self.go(node, next),
            None => {
                let text = format!("`{}` failed: {reason}", node.name);
                self.over = Some(RunEnding { status: RunStatus::Failed, text });
            }
        }
    }

    /// Goes from a node to another one, which may be the join of the branch.
    fn go(&mut self, from: &Node, to: NodeId) {
        let Some(place) = from.place else { return self.arrive(to) };
        let parallel = self.flow.node(place.parallel);
        let NodeKind::Parallel { branches } = &parallel.kind else { return };
        if parallel.next != Some(to) {
            return self.arrive(to);
        }
        let arrived = self.arrived.entry(place.parallel).or_default();
        *arrived += 1;
        if *arrived == branches.len() {
            self.arrived.remove(&place.parallel);
            // The join of an inner parallel node may be that of the outer one.
            self.go(parallel, to);
        }
    }

    fn arrive(&mut self, node: NodeId) {
        self.active.push(Active { node, has_begun: false });
    }
}

/// The reason of a failure, with the last line of the output.
fn failed_command(status: i32, output: &str) -> String {
    match output.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("exit status {status}: {}", cohab_text::cut::head(line, 200)),
        None => format!("exit status {status}"),
    }
}

#[cfg(test)]
mod tests;
