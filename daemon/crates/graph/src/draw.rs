//! Draws a flow as text: a row for each node in the order in which they follow each other, branches and subgraphs indented. Pure.
//!
//! ```text
//! ○ check      parallel
//! ├─○ lint     command    cargo clippy
//! ├─○ test     command    cargo test
//! ◇ good       condition  if status == 0 → done
//! │                       else → fix
//! ```
//!
//! A node leads to the row below it, unless an arrow says otherwise; `↑` is a way back.

use std::collections::BTreeSet;

use cohab_text::sanitize::one_line;
use unicode_width::UnicodeWidthStr as _;

use crate::{
    flow::{BranchPlace, CallTemplate, EndNode, Flow, Node, NodeId, NodeKind},
    template::Template,
};

/// Widest column of names.
const NAME_MAX_COLUMNS: usize = 28;
/// Width of the column of kinds.
const KIND_COLUMNS: usize = 9;
/// Below this width there is no column of kinds.
const NARROW_COLUMNS: usize = 44;
/// Deepest indentation is this part of the width.
const INDENT_SHARE: usize = 3;

/// The drawing, each line with its line end and at most `columns` wide.
#[must_use]
pub fn drawing(flow: &Flow, columns: usize) -> String {
    let names = flow.nodes.iter().map(|node| short_name(node).width() + 2 * depth(flow, node));
    let widest = names.max().unwrap_or_default().min(NAME_MAX_COLUMNS).min(columns / 3);
    let mut picture =
        Picture { flow, columns, name_columns: widest, drawn: BTreeSet::new(), lines: Vec::new(), is_first: false };
    picture.chain(flow.start, &Frame { depth: 0, place: None });
    picture.lines.iter().map(|line| one_line(line, columns).trim_end().to_owned() + "\n").collect()
}

/// The rows that belong together: those of a branch, of a subgraph, or of the flow.
struct Frame {
    depth: usize,
    place: Option<BranchPlace>,
}

struct Picture<'f> {
    flow: &'f Flow,
    columns: usize,
    name_columns: usize,
    drawn: BTreeSet<NodeId>,
    lines: Vec<String>,
    /// Whether the next row is the first one of a branch.
    is_first: bool,
}

/// A way from a node that its row has to name.
struct Arrow {
    words: String,
    to: Option<NodeId>,
}

impl<'f> Picture<'f> {
    /// Draws a node and all that follow it in the same frame.
    fn chain(&mut self, from: NodeId, frame: &Frame) {
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            let node = self.flow.node(id);
            if node.place != frame.place || !self.drawn.insert(id) {
                continue;
            }
            // Those that come next are on top.
            open.extend(self.ways_on(id).into_iter().rev());
            let in_frame = |next: &&NodeId| self.flow.node(**next).place == frame.place && !self.drawn.contains(*next);
            let below = open.iter().rev().find(in_frame).copied();
            self.row(id, node, frame, below);
            match &node.kind {
                NodeKind::Parallel { branches } => {
                    for (branch, first) in branches.iter().enumerate() {
                        self.is_first = true;
                        let place = Some(BranchPlace { parallel: id, branch });
                        self.chain(*first, &Frame { depth: frame.depth + 1, place });
                    }
                }
                NodeKind::Enter { start, .. } => {
                    self.is_first = true;
                    self.chain(*start, &Frame { depth: frame.depth + 1, place: frame.place });
                }
                _ => {}
            }
            self.is_first = false;
        }
    }

    /// What follows a node in its own frame: behind a parallel node and a subgraph, what follows their rows.
    fn ways_on(&self, id: NodeId) -> Vec<NodeId> {
        let node = self.flow.node(id);
        match &node.kind {
            NodeKind::Parallel { .. } | NodeKind::Enter { .. } => {
                node.next.into_iter().chain(node.on_failure).collect()
            }
            NodeKind::Leave { .. } | NodeKind::End(_) => Vec::new(),
            _ => self.flow.successors(id),
        }
    }

    fn row(&mut self, id: NodeId, node: &'f Node, frame: &Frame, below: Option<NodeId>) {
        let shown = frame.depth.min(self.columns / INDENT_SHARE / 2);
        let indent = "│ ".repeat(shown);
        let first = match self.is_first && shown > 0 {
            true => format!("{}├─", "│ ".repeat(shown - 1)),
            false => indent.clone(),
        };
        self.is_first = false;
        let mut details = Vec::new();
        let title = title(node);
        if !title.is_empty() {
            details.push(title);
        }
        details.extend(self.arrows(id, node, frame, below));
        let leads_down = below.is_some_and(|below| self.ways_on(id).contains(&below));
        let rail = if leads_down { "│" } else { " " };
        let sign = if matches!(node.kind, NodeKind::Condition { .. }) { "◇" } else { "○" };
        let width = self.name_columns.saturating_sub(2 * shown).max(4);
        let name = padded(&one_line(short_name(node), self.columns / 2), width);
        let kind =
            if self.columns < NARROW_COLUMNS { String::new() } else { padded(node.kind.word(), KIND_COLUMNS) + "  " };
        let blank = format!("{indent}{rail} {}  {}", " ".repeat(width), " ".repeat(kind.width()));
        let mut details = details.into_iter();
        self.lines.push(format!("{first}{sign} {name}  {kind}{}", details.next().unwrap_or_default()));
        self.lines.extend(details.map(|detail| format!("{blank}{detail}")));
    }

    /// The ways that the rows do not show by their order.
    fn arrows(&self, id: NodeId, node: &Node, frame: &Frame, below: Option<NodeId>) -> Vec<String> {
        let mut arrows = Vec::new();
        if let NodeKind::Condition { cases, otherwise } = &node.kind {
            let case = |case: &crate::flow::Case| Arrow { words: format!("if {} ", case.text), to: Some(case.next) };
            arrows.extend(cases.iter().map(case));
            arrows.push(Arrow { words: "else ".to_owned(), to: Some(*otherwise) });
        }
        let join = frame.place.and_then(|place| self.flow.node(place.parallel).next);
        // The end of a branch leads to the join, as its last row.
        let is_shown = node.next == below || (below.is_none() && node.next == join);
        if !is_shown {
            arrows.push(Arrow { words: String::new(), to: node.next });
        }
        arrows.push(Arrow { words: "on failure ".to_owned(), to: node.on_failure });
        let sign = |to: NodeId| if self.drawn.contains(&to) && Some(to) != below { "↑" } else { "→" };
        let words = |arrow: Arrow| {
            let to = arrow.to?;
            let sign = if to == id { "↑" } else { sign(to) };
            Some(format!("{}{sign} {}", arrow.words, short_name(self.flow.node(to))))
        };
        arrows.into_iter().filter_map(words).collect()
    }
}

/// How deep a node is inside of branches and subgraphs.
fn depth(flow: &Flow, node: &Node) -> usize {
    let branches = std::iter::successors(node.place, |place| flow.node(place.parallel).place);
    branches.count() + node.name.matches('/').count()
}

/// The name in its own flow.
fn short_name(node: &Node) -> &str {
    node.name.rsplit('/').next().unwrap_or(&node.name)
}

/// What a node does, in one line.
fn title(node: &Node) -> String {
    match &node.kind {
        NodeKind::Llm { prompt, role: Some(role), .. } => format!("{role}: {}", first_line(prompt.text())),
        NodeKind::Llm { prompt, role: None, .. } => first_line(prompt.text()),
        NodeKind::Tool { call, .. } => match call {
            CallTemplate::Line(line) => first_line(line),
            CallTemplate::Words(words) => words.iter().map(Template::text).collect::<Vec<_>>().join(" "),
            CallTemplate::Tool { name, .. } => name.clone(),
        },
        NodeKind::Human { question, choices, .. } if choices.is_empty() => first_line(question.text()),
        NodeKind::Human { question, choices, .. } => format!("{} ({})", first_line(question.text()), choices.join("/")),
        NodeKind::Debate { question, .. } => first_line(question.text()),
        NodeKind::Enter { flow, .. } => flow.clone(),
        NodeKind::Leave { end, .. } | NodeKind::End(end) => end_title(end),
        NodeKind::Condition { .. } | NodeKind::Parallel { .. } => String::new(),
    }
}

fn end_title(end: &EndNode) -> String {
    let status = if end.is_done { "done" } else { "failed" };
    match first_line(end.result.text()) {
        result if result.is_empty() => status.to_owned(),
        result => format!("{status}: {result}"),
    }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests;
