//! A flow: its nodes, the edges between them, and the keys of its state. What reads it from a file has checked it. Pure.

use std::collections::BTreeMap;

use crate::{
    expression::Condition,
    state::{KeyId, StateKey},
    template::Template,
};

/// Most nodes, those of subgraphs included.
pub const MAX_NODES: usize = 2_000;
/// Visits of nodes in a run, unless the flow says otherwise.
pub const DEFAULT_STEPS: u32 = 100;
/// Most visits that a flow may allow.
pub const MAX_STEPS: u32 = 10_000;

/// A node, by its place in [`Flow::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// A checked flow. Subgraphs are part of it: their nodes and keys have the name of their node in front, as in `review/ask`.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// Most visits of nodes in a run.
    pub max_steps: u32,
    /// The declared keys.
    pub keys: Vec<StateKey>,
    /// Its nodes, those of the file in their order.
    pub nodes: Vec<Node>,
    /// The first node.
    pub start: NodeId,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, unique in the flow.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// The node behind it. Always there where [`NodeKind`] names no other way.
    pub next: Option<NodeId>,
    /// The node behind it if it fails; without one the run fails.
    pub on_failure: Option<NodeId>,
    /// The innermost branch that it is a part of.
    pub place: Option<BranchPlace>,
}

/// A branch of a parallel node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchPlace {
    /// The parallel node.
    pub parallel: NodeId,
    /// The branch, from 0.
    pub branch: usize,
}

/// The kinds of node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Asks a model.
    Llm {
        /// The question.
        prompt: Template,
        /// The role whose model answers.
        role: Option<String>,
        /// The key that the answer goes to.
        output: Option<KeyId>,
    },
    /// Calls a tool or runs a command.
    Tool {
        /// The call.
        call: CallTemplate,
        /// The key that the result goes to.
        output: Option<KeyId>,
        /// The key that the exit status goes to. With one, a status other than 0 is no failure.
        status: Option<KeyId>,
        /// Whether it may run a second time when it is unknown how far the first run came.
        is_repeatable: bool,
    },
    /// Asks the user.
    Human {
        /// The question.
        question: Template,
        /// The only answers; any text for none.
        choices: Vec<String>,
        /// The key that the answer goes to.
        output: Option<KeyId>,
    },
    /// Lets several models argue about a question.
    Debate {
        /// The question.
        question: Template,
        /// The key that the result goes to.
        output: Option<KeyId>,
    },
    /// Goes the way of the first case that holds.
    Condition {
        /// In their order.
        cases: Vec<Case>,
        /// The way if no case holds.
        otherwise: NodeId,
    },
    /// Goes all ways at the same time. The next node is the join: it runs once, when every branch has come to it.
    Parallel {
        /// The first node of each branch.
        branches: Vec<NodeId>,
    },
    /// Begins a subgraph: its keys get their first values, then the inputs.
    Enter {
        /// The name of the inner flow.
        flow: String,
        /// Its first node.
        start: NodeId,
        /// Its keys.
        keys: Vec<KeyId>,
        /// Values for some of them, from the state around it.
        inputs: Vec<(KeyId, Template)>,
        /// The key around it that the result goes to.
        output: Option<KeyId>,
    },
    /// Ends a subgraph: the way leads on from the node that began it.
    Leave {
        /// The node that began it.
        enter: NodeId,
        /// How it ends.
        end: EndNode,
    },
    /// Ends the run.
    End(EndNode),
}

/// An end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNode {
    /// Whether the flow did what it is for.
    pub is_done: bool,
    /// What came out.
    pub result: Template,
}

/// A way with its condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// When it is taken.
    pub condition: Condition,
    /// The same as it is written.
    pub text: String,
    /// Where it leads.
    pub next: NodeId,
}

/// What a tool node calls.
#[derive(Clone, Debug, PartialEq)]
pub enum CallTemplate {
    /// A shell line. No value is put in it: text of the state would be code.
    Line(String),
    /// The words of a command. A value is a part of one word.
    Words(Vec<Template>),
    /// A tool with its arguments.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: BTreeMap<String, ArgumentTemplate>,
    },
}

/// An argument of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentTemplate {
    /// Has values of the state in it.
    Filled(Template),
    /// Is as it is written.
    Fixed(serde_json::Value),
}

impl Flow {
    /// The node.
    ///
    /// # Panics
    /// It is of another flow.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// All nodes with their ids.
    pub fn ids(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(place, node)| (NodeId(place), node))
    }

    /// The nodes that may follow a node, in the order in which they are written. A parallel node is followed by its branches, not by its
    /// join.
    #[must_use]
    pub fn successors(&self, id: NodeId) -> Vec<NodeId> {
        let node = self.node(id);
        let mut all = match &node.kind {
            NodeKind::Condition { cases, otherwise } => {
                cases.iter().map(|case| case.next).chain([*otherwise]).collect()
            }
            NodeKind::Parallel { branches } => branches.clone(),
            NodeKind::Enter { start, .. } => vec![*start],
            NodeKind::Leave { enter, end: EndNode { is_done, .. } } => {
                let enter = self.node(*enter);
                return if *is_done { enter.next } else { enter.on_failure }.into_iter().collect();
            }
            NodeKind::End(_) => Vec::new(),
            NodeKind::Llm { .. } | NodeKind::Tool { .. } | NodeKind::Human { .. } | NodeKind::Debate { .. } => {
                node.next.into_iter().collect()
            }
        };
        all.extend(node.on_failure);
        all
    }
}

impl NodeKind {
    /// Its word in a definition and in drawings.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Llm { .. } => "llm",
            Self::Tool { call: CallTemplate::Tool { .. }, .. } => "tool",
            Self::Tool { .. } => "command",
            Self::Human { .. } => "human",
            Self::Debate { .. } => "debate",
            Self::Condition { .. } => "condition",
            Self::Parallel { .. } => "parallel",
            Self::Enter { .. } => "subgraph",
            Self::Leave { .. } | Self::End(_) => "end",
        }
    }

    /// Whether the driver works for it; all others are decided by the planner.
    #[must_use]
    pub fn is_work(&self) -> bool {
        matches!(self, Self::Llm { .. } | Self::Tool { .. } | Self::Human { .. } | Self::Debate { .. })
    }

    /// Whether it must not run again unless the user agrees, once it may have begun.
    #[must_use]
    pub fn acts_once(&self) -> bool {
        matches!(self, Self::Tool { is_repeatable: false, .. })
    }
}
