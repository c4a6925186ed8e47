//! Reads the table of one node. Pure.

use std::collections::BTreeMap;

use cohab_text::nearest;
use serde_json::json;
use toml::de::DeValue;

use super::{
    problem::{Problems, Spot},
    table::{Placed, SourceTable, listed},
};
use crate::{
    expression::Condition,
    flow::{ArgumentTemplate, CallTemplate, Case, EndNode, NodeId, NodeKind},
    state::KeyId,
    template::{Template, references},
    value::ValueType,
};

/// The kind that holds another flow.
pub(super) const SUBGRAPH: &str = "subgraph";

/// Each kind with its entries, besides `kind`.
const KINDS: [(&str, &[&str]); 8] = [
    ("llm", &["prompt", "role", "output", "next", "on_failure"]),
    ("tool", &["command", "tool", "arguments", "output", "status", "repeatable", "next", "on_failure"]),
    ("human", &["question", "choices", "output", "next", "on_failure"]),
    ("debate", &["question", "output", "next", "on_failure"]),
    ("condition", &["when", "else"]),
    ("parallel", &["branches", "join"]),
    (SUBGRAPH, &["file", "flow", "with", "output", "next", "on_failure"]),
    ("end", &["status", "result"]),
];

/// What names of a flow stand for.
pub(super) struct Scope {
    pub keys: BTreeMap<String, (KeyId, ValueType)>,
    pub nodes: BTreeMap<String, NodeId>,
    /// The node that begins this flow, if it is a subgraph.
    pub enter: Option<NodeId>,
}

impl Scope {
    /// The node of this name.
    pub fn node(&self, table: &SourceTable<'_>, name: &Placed<&str>, problems: &mut Problems) -> Option<NodeId> {
        let node = self.nodes.get(name.value).copied();
        if node.is_none() {
            let hint = match nearest::to(name.value, self.nodes.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add it, as `[nodes.{}]`", name.value),
            };
            problems.add(&table.spot(name.span.start), format!("there is no node `{}`", name.value), hint);
        }
        node
    }

    /// A text with values of the state in it.
    pub fn template(&self, table: &SourceTable<'_>, text: &Placed<&str>, problems: &mut Problems) -> Option<Template> {
        let read = Template::read(text.value, |name| self.keys.get(name).map(|(key, _)| *key));
        read.map_err(|unknown| {
            let spot = Spot::inside(&table.document, text.span.clone(), text.value, unknown.at);
            problems.add(&spot, format!("`{}` is no key of the state", unknown.name), self.key_hint(&unknown.name));
        })
        .ok()
    }

    fn key_hint(&self, name: &str) -> String {
        match nearest::to(name, self.keys.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it in `[state]`, as `{name} = \"text\"`"),
        }
    }

    /// The key that an entry names; `Err` if it names none that there is.
    fn key(
        &self,
        table: &SourceTable<'_>,
        entry: &str,
        problems: &mut Problems,
    ) -> Result<Option<(KeyId, ValueType, usize)>, ()> {
        let Some(name) = table.text(entry, problems) else {
            return if table.get(entry).is_none() { Ok(None) } else { Err(()) };
        };
        let Some((key, kind)) = self.keys.get(name.value) else {
            let message = format!("`{}` is no key of the state", name.value);
            problems.add(&table.spot(name.span.start), message, self.key_hint(name.value));
            return Err(());
        };
        Ok(Some((*key, *kind, name.span.start)))
    }
}

/// The ways from a node that its kind does not name.
pub(super) struct Ways {
    pub next: Option<NodeId>,
    pub on_failure: Option<NodeId>,
}

/// The kind of a node, and a check of its entries.
pub(super) fn kind_word(table: &SourceTable<'_>, problems: &mut Problems) -> Option<&'static str> {
    let word = table.text("kind", problems);
    let word = table.required("kind", word, "\"llm\"", problems)?;
    let Some((kind, entries)) = KINDS.iter().find(|(kind, _)| *kind == word.value) else {
        let hint = match nearest::to(word.value, KINDS.iter().map(|(kind, _)| *kind)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the kinds are {}", listed(&KINDS.map(|(kind, _)| kind))),
        };
        problems.add(&table.spot(word.span.start), format!("there is no kind `{}`", word.value), hint);
        return None;
    };
    let entries: Vec<&str> = entries.iter().copied().chain(["kind"]).collect();
    table.only(&entries, problems);
    Some(kind)
}

/// Reads `next` and `on_failure`, or the `join` that stands for the next node.
pub(super) fn ways(table: &SourceTable<'_>, kind: &str, scope: &Scope, problems: &mut Problems) -> Option<Ways> {
    let (entry, is_required) = match kind {
        "condition" | "end" => return Some(Ways { next: None, on_failure: None }),
        "parallel" => ("join", true),
        _ => ("next", true),
    };
    let next = table.text(entry, problems);
    if is_required {
        table.required(entry, next.as_ref(), "\"node\"", problems)?;
    }
    let next = next.and_then(|name| scope.node(table, &name, problems))?;
    let on_failure = match table.text("on_failure", problems) {
        Some(name) => Some(scope.node(table, &name, problems)?),
        None => None,
    };
    Some(Ways { next: Some(next), on_failure })
}

/// Reads the key `output`; `Err` if there is none of that name.
pub(super) fn output(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Result<Option<KeyId>, ()> {
    Ok(scope.key(table, "output", problems)?.map(|(key, ..)| key))
}

/// Reads what a node of this kind does; not of a subgraph.
pub(super) fn kind(table: &SourceTable<'_>, kind: &str, scope: &Scope, problems: &mut Problems) -> Option<NodeKind> {
    let mut required = |entry: &str| {
        let text = table.text(entry, problems);
        let text = table.required(entry, text, "\"…\"", problems)?;
        scope.template(table, &text, problems)
    };
    match kind {
        "llm" => {
            let prompt = required("prompt")?;
            let role = table.text("role", problems).map(|role| role.value.to_owned());
            Some(NodeKind::Llm { prompt, role, output: output(table, scope, problems).ok()? })
        }
        "human" => {
            let question = required("question")?;
            let choices = table.texts("choices", problems).map(|found| found.value).unwrap_or_default();
            let choices = choices.into_iter().map(|choice| choice.value.to_owned()).collect();
            Some(NodeKind::Human { question, choices, output: output(table, scope, problems).ok()? })
        }
        "debate" => {
            let question = required("question")?;
            Some(NodeKind::Debate { question, output: output(table, scope, problems).ok()? })
        }
        "tool" => tool(table, scope, problems),
        "condition" => condition(table, scope, problems),
        "parallel" => parallel(table, scope, problems),
        _ => end(table, scope, problems),
    }
}

fn tool(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<NodeKind> {
    let call = call(table, scope, problems)?;
    let output = output(table, scope, problems).ok()?;
    let status = scope.key(table, "status", problems).ok()?;
    if let Some((_, kind, at)) = status {
        let is_command = !matches!(call, CallTemplate::Tool { .. });
        if !is_command {
            problems.add(&table.spot(at), "only a command has an exit status", "remove `status`");
        } else if kind != ValueType::Number {
            problems.add(&table.spot(at), "an exit status is a number", "name a key of the type `number`");
        }
    }
    let is_repeatable = table.flag("repeatable", problems).unwrap_or(false);
    Some(NodeKind::Tool { call, output, status: status.map(|(key, ..)| key), is_repeatable })
}

fn call(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<CallTemplate> {
    let has_arguments = table.get("arguments").is_some();
    match (table.get("command").map(|found| found.value), table.get("tool").is_some()) {
        (Some(_), false) if has_arguments => {
            let hint = "write the command as a list of words, or name a tool";
            problems.add(&table.spot(table.at), format!("the command of {} has no `arguments`", table.what), hint);
            None
        }
        (Some(DeValue::Array(_)), false) => {
            let words = table.texts("command", problems)?;
            if words.value.is_empty() {
                problems.add(&table.spot(words.span.start), "the command has no words", "write the program first");
                return None;
            }
            let words = words.value.iter().map(|word| scope.template(table, word, problems));
            Some(CallTemplate::Words(words.collect::<Option<_>>()?))
        }
        (Some(_), false) => line(table, scope, problems).map(CallTemplate::Line),
        (None, true) => {
            let name = table.text("tool", problems)?.value.to_owned();
            let Some(given) = table.table("arguments", format!("`arguments` of {}", table.what), problems) else {
                return (!has_arguments).then(|| CallTemplate::Tool { name, arguments: BTreeMap::new() });
            };
            let mut arguments = BTreeMap::new();
            for (argument, value) in given.in_order() {
                arguments.insert(argument.value.to_owned(), self::argument(&given, &value, scope, problems)?);
            }
            Some(CallTemplate::Tool { name, arguments })
        }
        _ => {
            let hint = "add either `command = \"…\"` or `tool = \"…\"`";
            problems.add(&table.spot(table.at), format!("{} has nothing to run, or two things", table.what), hint);
            None
        }
    }
}

/// A shell line. A value in it would be code, whatever quotes stand around it.
fn line(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<String> {
    let line = table.text("command", problems)?;
    if let Some((at, _, name)) = references(line.value).find(|(_, _, name)| scope.keys.contains_key(*name)) {
        let spot = Spot::inside(&table.document, line.span, line.value, at);
        let message = format!("a shell line cannot hold the value of `{name}`: its text would run as code");
        problems.add(&spot, message, "write the command as a list of words, as `[\"grep\", \"{{word}}\", \"notes\"]`");
        return None;
    }
    if line.value.trim().is_empty() {
        problems.add(&table.spot(line.span.start), "the command is empty", "write a shell line");
        return None;
    }
    Some(line.value.to_owned())
}

fn argument(
    table: &SourceTable<'_>,
    value: &Placed<&DeValue<'_>>,
    scope: &Scope,
    problems: &mut Problems,
) -> Option<ArgumentTemplate> {
    if let Some(text) = value.value.as_str() {
        let text = Placed { value: text, span: value.span.clone() };
        return scope.template(table, &text, problems).map(ArgumentTemplate::Filled);
    }
    let fixed = to_json(value.value);
    if fixed.is_none() {
        let hint = "write a text, a number, `true` or `false`, or a list or table of these";
        problems.add(&table.spot(value.span.start), "a tool takes no such argument", hint);
    }
    fixed.map(ArgumentTemplate::Fixed)
}

fn to_json(value: &DeValue<'_>) -> Option<serde_json::Value> {
    Some(match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().ok().filter(|number| number.is_finite())?),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => {
            let items = items.iter().map(|item| to_json(item.get_ref()));
            serde_json::Value::Array(items.collect::<Option<_>>()?)
        }
        DeValue::Table(entries) => {
            let entries =
                entries.iter().map(|(name, value)| Some((name.get_ref().to_string(), to_json(value.get_ref())?)));
            serde_json::Value::Object(entries.collect::<Option<_>>()?)
        }
    })
}

fn condition(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<NodeKind> {
    let when = table.tables("when", &format!("a case of {}", table.what), problems);
    let when = table.required("when", when, "[{ if = \"…\", next = \"node\" }]", problems);
    let otherwise = table.text("else", problems);
    let otherwise = table.required("else", otherwise, "\"node\"", problems);
    let otherwise = otherwise.and_then(|name| scope.node(table, &name, problems));
    let when = when?;
    let cases: Vec<Option<Case>> = when.iter().map(|case| self::case(case, scope, problems)).collect();
    Some(NodeKind::Condition { cases: cases.into_iter().collect::<Option<_>>()?, otherwise: otherwise? })
}

fn case(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<Case> {
    table.only(&["if", "next"], problems);
    let text = table.text("if", problems);
    let text = table.required("if", text, "\"…\"", problems);
    let next = table.text("next", problems);
    let next = table.required("next", next, "\"node\"", problems);
    let next = next.and_then(|name| scope.node(table, &name, problems));
    let text = text?;
    let condition = Condition::read(text.value, &|name| scope.keys.get(name).copied());
    let condition = condition.map_err(|error| {
        let spot = Spot::inside(&table.document, text.span.clone(), text.value, error.at);
        problems.add(&spot, error.message, "correct the condition here");
    });
    Some(Case { condition: condition.ok()?, text: text.value.to_owned(), next: next? })
}

fn parallel(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<NodeKind> {
    let names = table.texts("branches", problems);
    let names = table.required("branches", names, "[\"node\", \"node\"]", problems)?;
    if names.value.len() < 2 {
        problems.add(
            &table.spot(names.span.start),
            "there are fewer than two branches",
            "name the first node of each branch",
        );
        return None;
    }
    let branches: Vec<Option<NodeId>> = names.value.iter().map(|name| scope.node(table, name, problems)).collect();
    Some(NodeKind::Parallel { branches: branches.into_iter().collect::<Option<_>>()? })
}

fn end(table: &SourceTable<'_>, scope: &Scope, problems: &mut Problems) -> Option<NodeKind> {
    let is_done = match table.text("status", problems) {
        None => true,
        Some(Placed { value: "done", .. }) => true,
        Some(Placed { value: "failed", .. }) => false,
        Some(other) => {
            let message = format!("there is no status `{}`", other.value);
            problems.add(&table.spot(other.span.start), message, "write `done` or `failed`");
            return None;
        }
    };
    let result = match table.text("result", problems) {
        Some(text) => scope.template(table, &text, problems)?,
        None => Template::default(),
    };
    let end = EndNode { is_done, result };
    Some(match scope.enter {
        Some(enter) => NodeKind::Leave { enter, end },
        None => NodeKind::End(end),
    })
}
