//! The file of rules as text. What the user wrote into it, comments included, stays.

use toml_edit::{Array, ArrayOfTables, Document, DocumentMut, Item, RawString, Table, Value, value};

use super::{Rule, Rules};
use crate::shell::Shell;

/// More rules than this are not kept.
const MAX_RULES: usize = 1_000;
/// What a new file begins with.
const HEADING: &str = "# Commands that cohab runs without asking: exactly these words, in this folder or in any.\n\
# The keys `d` and `a` of a question write here. Danger is asked all the same.\n";

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The rules in force.
    pub rules: Rules,
    /// Rules that are not, and why.
    pub refused: Vec<Refusal>,
}

/// A rule that is not in force, or a file of which none is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line of the file, from 1; 0: the whole file.
    pub line: usize,
    /// The command it is about, as far as it can be told.
    pub name: String,
    /// What is wrong with it, in a few words.
    pub reason: String,
}

impl Loaded {
    /// A file of which no rule is in force.
    #[must_use]
    pub fn broken(line: usize, reason: String) -> Self {
        let refusal = Refusal { line, name: String::new(), reason };
        Self { rules: Rules::default(), refused: vec![refusal] }
    }
}

/// Why a text cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is no TOML.
    #[error("line {line} of it cannot be read: {reason}")]
    Broken {
        /// Line, from 1.
        line: usize,
        /// The parser's complaint.
        reason: String,
    },
    /// There are as many rules as are kept.
    #[error("it holds {MAX_RULES} rules already")]
    Full,
    /// No rule has this number.
    #[error("it has no rule {0}")]
    NoSuchRule(usize),
}

/// Reads the text of a file. A rule that is not sound is refused by itself; the others hold.
#[must_use]
pub fn parse(text: &str) -> Loaded {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            return Loaded::broken(line, error.message().to_owned());
        }
    };
    let mut loaded = Loaded::default();
    for (key, item) in document.as_table() {
        let rules = item.as_array_of_tables().filter(|_| key == "rule");
        let Some(rules) = rules else {
            let line = item.span().map_or(1, |span| line_of(text, span.start));
            loaded.refused.push(Refusal { line, name: key.to_owned(), reason: "only `[[rule]]` is known here".into() });
            continue;
        };
        for table in rules {
            let line = table.span().map_or(1, |span| line_of(text, span.start));
            match read_rule(table) {
                Ok(rule) if loaded.rules.0.len() < MAX_RULES => loaded.rules.0.push(rule),
                Ok(rule) => loaded.refused.push(Refusal { line, name: rule.line(), reason: "too many rules".into() }),
                Err(reason) => {
                    let name = words(table, "argv").unwrap_or_default().join(" ");
                    loaded.refused.push(Refusal { line, name, reason });
                }
            }
        }
    }
    loaded
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn read_rule(table: &Table) -> Result<Rule, String> {
    let known = ["decision", "argv", "folder", "match", "not_match"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(key)) {
        return Err(format!("`{key}` is not known"));
    }
    if table.get("decision").and_then(Item::as_str) != Some("allow") {
        return Err("`decision` is not \"allow\"".into());
    }
    let argv = words(table, "argv").filter(|argv| !argv.is_empty()).ok_or("`argv` is no list of words")?;
    let folder = match table.get("folder") {
        None => None,
        Some(folder) => Some(folder.as_str().ok_or("`folder` is no text")?.into()),
    };
    let rule = Rule { argv, folder };
    if let Some(reason) = rule.why_never() {
        return Err(reason.into());
    }
    check_examples(&rule, table)?;
    Ok(rule)
}

/// The examples tell whether the rule is what whoever wrote it meant.
fn check_examples(rule: &Rule, table: &Table) -> Result<(), String> {
    let only = Rules(vec![rule.clone()]);
    let cwd = rule.folder.clone().unwrap_or_else(|| "/".into());
    for (key, is_meant) in [("match", true), ("not_match", false)] {
        let examples = match table.get(key) {
            None => Vec::new(),
            Some(_) => words(table, key).ok_or_else(|| format!("`{key}` is no list of lines"))?,
        };
        if let Some(wrong) = examples.iter().find(|line| only.find(line, &cwd, Shell::Bash).is_some() != is_meant) {
            let verb = if is_meant { "does not match" } else { "matches" };
            return Err(format!("its example `{wrong}` {verb}"));
        }
    }
    Ok(())
}

fn words(table: &Table, key: &str) -> Option<Vec<String>> {
    table.get(key)?.as_array()?.iter().map(|word| word.as_str().map(ToOwned::to_owned)).collect()
}

/// The text with one more rule at its end; the same text if it is there already.
///
/// # Errors
/// When the text is no TOML, or full.
pub fn with_rule(text: &str, rule: &Rule) -> Result<String, DocumentError> {
    sound(text)?;
    let loaded = parse(text);
    if loaded.rules.0.contains(rule) {
        return Ok(text.to_owned());
    }
    if loaded.rules.0.len() >= MAX_RULES {
        return Err(DocumentError::Full);
    }
    let start = match text.trim() {
        "" => HEADING.to_owned(),
        _ => format!("{}\n", text.trim_end()),
    };
    // Behind what is there: comments stay where the user put them.
    let changed = format!("{start}\n{}", table_of(rule));
    sound(&changed).map(|_| changed)
}

fn table_of(rule: &Rule) -> DocumentMut {
    let (good, bad) = rule.examples();
    let mut table = Table::new();
    table.insert("decision", value("allow"));
    table.insert("argv", list(&rule.argv));
    if let Some(folder) = rule.folder.as_ref().and_then(|folder| folder.to_str()) {
        table.insert("folder", value(folder));
    }
    table.insert("match", list(&good));
    table.insert("not_match", list(&bad));
    let mut rules = ArrayOfTables::new();
    rules.push(table);
    let mut document = DocumentMut::new();
    document.insert("rule", Item::ArrayOfTables(rules));
    document
}

/// The text without rule `number` of those in force, from 1; and the rule.
///
/// # Errors
/// When the text is no TOML, or has no such rule.
pub fn without_rule(text: &str, number: usize) -> Result<(String, Rule), DocumentError> {
    let mut document = sound(text)?;
    let wanted = number.checked_sub(1).and_then(|index| parse(text).rules.0.into_iter().nth(index));
    let wanted = wanted.ok_or(DocumentError::NoSuchRule(number))?;
    let rules = document.get_mut("rule").and_then(Item::as_array_of_tables_mut);
    let rules = rules.ok_or(DocumentError::NoSuchRule(number))?;
    let at = rules.iter().enumerate().filter(|(_, table)| read_rule(table).is_ok()).nth(number - 1);
    let (at, _) = at.ok_or(DocumentError::NoSuchRule(number))?;
    // What stands above the rule may be about the whole file: it stays.
    let above = rules.get(at).and_then(|table| text_of(table.decor().prefix())).unwrap_or_default();
    rules.remove(at);
    let is_last = rules.get(at).is_none();
    if let Some(next) = rules.get_mut(at) {
        let prefix = joined(&above, &text_of(next.decor().prefix()).unwrap_or_default());
        next.decor_mut().set_prefix(prefix);
    }
    if is_last {
        let trailing = joined(&above, document.trailing().as_str().unwrap_or_default());
        document.set_trailing(trailing);
    }
    Ok((document.to_string(), wanted))
}

fn text_of(raw: Option<&RawString>) -> Option<String> {
    raw?.as_str().map(ToOwned::to_owned)
}

/// Two pieces between tables as one: a blank line between them is enough.
fn joined(above: &str, below: &str) -> String {
    if above.trim().is_empty() {
        return below.to_owned();
    }
    format!("{}\n{}", above.trim_end(), if below.is_empty() { "" } else { below })
}

fn sound(text: &str) -> Result<DocumentMut, DocumentError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        DocumentError::Broken { line, reason: error.message().to_owned() }
    })
}

fn list(words: &[String]) -> Item {
    Item::Value(Value::Array(words.iter().map(String::as_str).collect::<Array>()))
}
