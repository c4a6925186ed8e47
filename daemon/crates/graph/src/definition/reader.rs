//! Reads a flow and its subgraphs into one list of nodes. Pure.

use std::{collections::BTreeMap, rc::Rc};

use toml::de::DeTable;

use super::{
    keys::{self, name_hint},
    node::{self, Scope},
    problem::{Document, Problems, Spot},
    table::SourceTable,
};
use crate::{
    flow::{DEFAULT_STEPS, EndNode, MAX_NODES, MAX_STEPS, Node, NodeId, NodeKind},
    state::{KeyId, StateKey},
    template::{Template, is_name},
    value::ValueType,
};

/// Largest file, in bytes.
pub const FILE_MAX_BYTES: usize = 1024 * 1024;
/// Deepest nesting of subgraphs.
const MAX_DEPTH: usize = 8;
/// Entries of a flow.
const FLOW_ENTRIES: [&str; 5] = ["name", "start", "steps", "state", "nodes"];

/// Gives the text of another file by the name that a definition has for it, or a sentence about what is wrong.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// What was read so far.
pub(super) struct Reader<'p> {
    files: Files<'p>,
    pub problems: Problems,
    pub keys: Vec<StateKey>,
    pub nodes: Vec<Node>,
    /// The place of each node.
    pub spots: Vec<Spot>,
    depth: usize,
    has_too_many: bool,
}

/// A flow as it was read, without its nodes.
pub(super) struct Outline {
    pub name: String,
    pub max_steps: u32,
    pub start: NodeId,
    keys: BTreeMap<String, (KeyId, ValueType)>,
}

impl<'p> Reader<'p> {
    pub fn new(files: Files<'p>) -> Self {
        Self {
            files,
            problems: Problems::default(),
            keys: Vec::new(),
            nodes: Vec::new(),
            spots: Vec::new(),
            depth: 0,
            has_too_many: false,
        }
    }

    /// Reads a file.
    pub fn file(&mut self, file: &str, text: &str, place: &FlowPlace) -> Option<Outline> {
        let document = Rc::new(Document { file: file.to_owned(), text: text.to_owned() });
        if text.len() > FILE_MAX_BYTES {
            let message = format!("the file is larger than {FILE_MAX_BYTES} bytes");
            self.problems.add(&Spot::new(&document, 0), message, "put a part of it into another file");
            return None;
        }
        match DeTable::parse(&document.text) {
            Ok(parsed) => {
                let what = "the flow".to_owned();
                let table = SourceTable { document: Rc::clone(&document), entries: parsed.get_ref(), at: 0, what };
                self.flow(&table, place)
            }
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let message = error.message().trim().replace('\n', ", ");
                self.problems.add(&Spot::new(&document, at), message, "correct the TOML here");
                None
            }
        }
    }

    fn flow(&mut self, table: &SourceTable<'_>, place: &FlowPlace) -> Option<Outline> {
        table.only(&FLOW_ENTRIES, &mut self.problems);
        let name = table.text("name", &mut self.problems).map(|name| name.value.to_owned());
        let max_steps = self.max_steps(table, place);
        let start = table.text("start", &mut self.problems);
        let start = table.required("start", start, "\"first-node\"", &mut self.problems);
        let state = table.table("state", "the state", &mut self.problems);
        let keys = state.map(|state| keys::read(&state, &place.prefix, &mut self.problems)).unwrap_or_default();
        let keys = keys.into_iter().map(|(name, key)| {
            let kind = key.kind();
            self.keys.push(key);
            (name, (KeyId(self.keys.len() - 1), kind))
        });
        let keys = keys.collect();
        let nodes = table.table("nodes", "the nodes", &mut self.problems);
        let nodes = table.required("nodes", nodes, "…, as in `[nodes.first-node]`", &mut self.problems)?;
        let (names, tables) = self.declare(&nodes, place);
        let scope = Scope { keys, nodes: names, enter: place.enter };
        for (id, table) in tables {
            if let Some(node) = self.node(id, &table, &scope) {
                self.nodes[id.0] = node;
            }
        }
        let start = start.and_then(|start| scope.node(table, &start, &mut self.problems))?;
        let name = name.unwrap_or_else(|| place.name.clone());
        Some(Outline { name, max_steps, start, keys: scope.keys })
    }

    fn max_steps(&mut self, table: &SourceTable<'_>, place: &FlowPlace) -> u32 {
        let Some(steps) = table.number("steps", &mut self.problems) else { return DEFAULT_STEPS };
        if place.enter.is_some() {
            let hint = "remove it; the steps of the outer flow count";
            self.problems.add(&table.spot(steps.span.start), "a subgraph has no `steps`", hint);
        } else if !(1..=MAX_STEPS).contains(&steps.value) {
            let hint = format!("write a number from 1 to {MAX_STEPS}");
            self.problems.add(&table.spot(steps.span.start), "`steps` is out of range", hint);
        }
        steps.value
    }

    /// Gives each node its place, so that nodes can name those that come later.
    fn declare<'d>(
        &mut self,
        nodes: &SourceTable<'d>,
        place: &FlowPlace,
    ) -> (BTreeMap<String, NodeId>, Vec<(NodeId, SourceTable<'d>)>) {
        let (mut names, mut tables) = (BTreeMap::new(), Vec::new());
        for (name, _) in nodes.in_order() {
            let spot = nodes.spot(name.span.start);
            if !is_name(name.value) {
                self.problems.add(&spot, format!("`{}` cannot be the name of a node", name.value), name_hint());
                continue;
            }
            let what = format!("node `{}{}`", place.prefix, name.value);
            let Some(mut table) = nodes.table(name.value, what, &mut self.problems) else { continue };
            table.at = name.span.start;
            if let Some(id) = self.add(format!("{}{}", place.prefix, name.value), spot) {
                names.insert(name.value.to_owned(), id);
                tables.push((id, table));
            }
        }
        if names.is_empty() && self.problems.is_empty() {
            self.problems.add(&nodes.spot(nodes.at), "the flow has no nodes", "add one, as in `[nodes.first-node]`");
        }
        (names, tables)
    }

    /// A place for a node that is still to be read.
    fn add(&mut self, name: String, spot: Spot) -> Option<NodeId> {
        if self.nodes.len() >= MAX_NODES {
            if !std::mem::replace(&mut self.has_too_many, true) {
                let message = format!("there are more than {MAX_NODES} nodes, those of subgraphs included");
                self.problems.add(&spot, message, "split the flow into several");
            }
            return None;
        }
        let kind = NodeKind::End(EndNode { is_done: false, result: Template::default() });
        self.nodes.push(Node { name, kind, next: None, on_failure: None, place: None });
        self.spots.push(spot);
        Some(NodeId(self.nodes.len() - 1))
    }

    fn node(&mut self, id: NodeId, table: &SourceTable<'_>, scope: &Scope) -> Option<Node> {
        let name = self.nodes[id.0].name.clone();
        let kind = node::kind_word(table, &mut self.problems)?;
        let ways = node::ways(table, kind, scope, &mut self.problems)?;
        let kind = if kind == node::SUBGRAPH {
            self.subgraph(id, &name, table, scope)?
        } else {
            node::kind(table, kind, scope, &mut self.problems)?
        };
        Some(Node { name, kind, next: ways.next, on_failure: ways.on_failure, place: None })
    }

    fn subgraph(&mut self, id: NodeId, name: &str, table: &SourceTable<'_>, scope: &Scope) -> Option<NodeKind> {
        if self.depth == MAX_DEPTH {
            let message = format!("subgraphs are nested deeper than {MAX_DEPTH}");
            self.problems.add(&table.spot(table.at), message, "a flow cannot be a part of itself; name another file");
            return None;
        }
        let place = FlowPlace { prefix: format!("{name}/"), name: name.to_owned(), enter: Some(id) };
        self.depth += 1;
        let outline = self.part(table, &place);
        self.depth -= 1;
        let Outline { name: flow, start, keys, .. } = outline?;
        let inputs = self.inputs(table, scope, &keys)?;
        let output = node::output(table, scope, &mut self.problems).ok()?;
        let keys = keys.into_values().map(|(key, _)| key).collect();
        Some(NodeKind::Enter { flow, start, keys, inputs, output })
    }

    /// The inner flow, in its file or in its place.
    fn part(&mut self, table: &SourceTable<'_>, place: &FlowPlace) -> Option<Outline> {
        let file = table.text("file", &mut self.problems);
        let inner = table.table("flow", format!("the flow of {}", table.what), &mut self.problems);
        match (file, inner) {
            (Some(file), None) => match (self.files)(file.value) {
                Ok(text) => self.file(file.value, &text, place),
                Err(reason) => {
                    let hint = "correct the name; it counts from the folder of the flow's file";
                    self.problems.add(&table.spot(file.span.start), reason, hint);
                    None
                }
            },
            (None, Some(inner)) => self.flow(&inner, place),
            _ => {
                let hint = "add either `file = \"other.toml\"` or a table `flow`";
                self.problems.add(&table.spot(table.at), format!("{} has no flow, or two", table.what), hint);
                None
            }
        }
    }

    /// Values for keys of the inner flow.
    fn inputs(
        &mut self,
        table: &SourceTable<'_>,
        scope: &Scope,
        inner: &BTreeMap<String, (KeyId, ValueType)>,
    ) -> Option<Vec<(KeyId, Template)>> {
        let Some(with) = table.table("with", format!("`with` of {}", table.what), &mut self.problems) else {
            return table.get("with").is_none().then(Vec::new);
        };
        let mut inputs = Vec::new();
        for (name, _) in with.in_order() {
            let Some(text) = with.text(name.value, &mut self.problems) else { continue };
            let Some((key, _)) = inner.get(name.value) else {
                let message = format!("the inner flow has no key `{}`", name.value);
                self.problems.add(&with.spot(name.span.start), message, "declare it in its `[state]`");
                continue;
            };
            inputs.push((*key, scope.template(&with, &text, &mut self.problems)?));
        }
        Some(inputs)
    }
}

/// Where a flow stands: alone, or as a subgraph of a node.
pub(super) struct FlowPlace {
    /// In front of the names of its nodes and keys.
    pub prefix: String,
    /// Its name, if it gives none.
    pub name: String,
    /// The node that begins it.
    pub enter: Option<NodeId>,
}
