//! Reads and edits the text of the file of rules. The user's own text in it, comments included, stays.

use std::ops::Range;

use cohab_shell_state::shell::Shell;
use cohab_text::cut::head;
use toml_edit::{Array, ArrayOfTables, Document, DocumentMut, Item, RawString, Table, Value, value};

use super::{Operands, Rule, Rules, SafetySettings, origin::Origin, safety};
use crate::{Context, Level, danger};

/// Largest number of rules that are kept.
const MAX_RULES: usize = 1_000;
/// Mistakes beyond this number are not reported one by one.
const MAX_REFUSED: usize = 1_000;
/// Longest reported text of a command or a mistake, in bytes.
const MAX_TOLD_BYTES: usize = 1_000;
/// The beginning of a new file.
const HEADING: &str = "# Commands that cohab runs without asking: exactly these words, in this folder or in any.\n\
# The keys `d`, `a` and `p` of a question write here. Danger is asked all the same.\n";

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The rules in force.
    pub rules: Rules,
    /// Rules that are not in force, and the reasons.
    pub refused: Vec<Refusal>,
    /// The assistant's caution.
    pub safety: SafetySettings,
}

/// A rule that is not in force, or a file without any rule in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line of the file, from 1; 0 means the whole file.
    pub line: usize,
    /// Column in that line, in characters from 1.
    pub column: usize,
    /// Whether the rule may have made something stricter: without it nothing runs unasked.
    pub may_tighten: bool,
    /// The command it is about, as far as it is known.
    pub name: String,
    /// The mistake, in a few words.
    pub reason: String,
}

impl Loaded {
    /// A file of which no rule is in force. It may have asked for any care.
    #[must_use]
    pub fn broken((line, column): (usize, usize), reason: String) -> Self {
        let refusal = Refusal { line, column, may_tighten: true, name: String::new(), reason };
        Self { rules: Rules::default(), refused: vec![refusal], safety: SafetySettings::strictest() }
    }

    fn take_table(&mut self, table: &Table, places: &Places<'_>, origin: Origin, today: &str) {
        let place = places.at(table.span());
        let decision = table.get("decision").and_then(Item::as_str).and_then(Level::of_word);
        let may_tighten = decision != Some(Level::Allow);
        match read_rule(table) {
            Ok(_) if origin == Origin::Project && !may_tighten => {
                self.refuse(place, false, name_of(table), "a project may only make things stricter".into());
            }
            Ok(_) if has_expired(table, today) => {}
            Ok(rule) if self.rules.0.len() < MAX_RULES => self.rules.0.push(rule),
            Ok(rule) => self.refuse(place, may_tighten, rule.line(), "too many rules".into()),
            Err((key, reason)) => {
                let place = table.get(key).and_then(Item::span).map_or(place, |span| places.at(Some(span)));
                self.refuse(place, may_tighten, name_of(table), reason);
            }
        }
    }

    /// Reports a rule that is not in force. If there are very many, only some are reported, but always one that may tighten.
    fn refuse(&mut self, (line, column): (usize, usize), may_tighten: bool, name: String, reason: String) {
        if self.refused.len() < MAX_REFUSED || (may_tighten && !self.refused.iter().any(|known| known.may_tighten)) {
            let cut = |text: String| head(&text, MAX_TOLD_BYTES).to_owned();
            self.refused.push(Refusal { line, column, may_tighten, name: cut(name), reason: cut(reason) });
        }
    }
}

/// The reason why a text cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The text is not TOML.
    #[error("line {line} of it cannot be read: {reason}")]
    Broken {
        /// Line, from 1.
        line: usize,
        /// The parser's complaint.
        reason: String,
    },
    /// The file holds the largest number of rules.
    #[error("it holds {MAX_RULES} rules already")]
    Full,
    /// No rule has this number.
    #[error("it has no rule {0}")]
    NoSuchRule(usize),
}

/// Reads the text of the user's file, regardless of the date. A rule that is not sound is refused alone; the others hold.
#[must_use]
pub fn parse(text: &str) -> Loaded {
    parse_on(text, Origin::Own, "")
}

/// Reads the text of a file on the day `today`, as `2026-12-31`; with no day nothing has expired.
#[must_use]
pub fn parse_on(text: &str, origin: Origin, today: &str) -> Loaded {
    let places = Places::of(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => return Loaded::broken(places.at(error.span()), error.message().to_owned()),
    };
    let mut loaded = Loaded::default();
    for (key, item) in document.as_table() {
        if key == "safety" {
            let (settings, wrong) = safety::read(item, origin);
            loaded.safety = settings;
            for safety::Wrong { name, span, may_tighten, reason } in wrong {
                loaded.refuse(places.at(span), may_tighten, name, reason);
            }
            continue;
        }
        let Some(tables) = item.as_array_of_tables().filter(|_| key == "rule") else {
            let place = places.at(document.key(key).and_then(toml_edit::Key::span).or(item.span()));
            loaded.refuse(place, true, key.to_owned(), "only `[[rule]]` and `[safety]` are known here".into());
            continue;
        };
        for table in tables {
            loaded.take_table(table, &places, origin, today);
        }
    }
    loaded
}

/// The beginnings of the lines of a text: a file may hold as many mistakes as lines.
struct Places<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> Places<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Line, and column in characters, of the start of `span`, from 1.
    fn at(&self, span: Option<Range<usize>>) -> (usize, usize) {
        let at = span.map_or(0, |span| span.start);
        let line = self.line_starts.partition_point(|start| *start <= at);
        let before = self.text.get(self.line_starts[line - 1]..at).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}

fn name_of(table: &Table) -> String {
    let words = words(table, "argv").or_else(|| sets(table).map(|sets| sets.iter().map(|set| set.join("|")).collect()));
    words.unwrap_or_default().join(" ")
}

/// Whether the last day of a rule is over. It is also over if that day is wrong.
fn has_expired(table: &Table, today: &str) -> bool {
    let until = table.get("until").and_then(Item::as_str).unwrap_or_default();
    !until.is_empty() && !today.is_empty() && until < today
}

fn is_day(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}

/// Reads a rule; otherwise returns the key that is wrong and the reason.
fn read_rule(table: &Table) -> Result<Rule, (&'static str, String)> {
    let known = ["decision", "argv", "prefix", "operands", "folder", "until", "match", "not_match"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(key)) {
        return Err(("", format!("`{key}` is not known")));
    }
    let decision = table.get("decision").and_then(Item::as_str).and_then(Level::of_word);
    let decision =
        decision.ok_or(("decision", "`decision` is none of \"allow\", \"ask\", \"danger\", \"deny\"".to_owned()))?;
    let folder = match table.get("folder") {
        None => None,
        Some(folder) => Some(folder.as_str().ok_or(("folder", "`folder` is no text".to_owned()))?.into()),
    };
    if table.get("until").is_some_and(|until| !until.as_str().is_some_and(is_day)) {
        return Err(("until", "`until` is no day such as \"2026-12-31\"".into()));
    }
    let rule = match (table.get("argv"), table.get("prefix")) {
        (Some(_), Some(_)) => return Err(("prefix", "`argv` and `prefix` in one rule".into())),
        (_, Some(_)) => {
            let words = sets(table).filter(|sets| !sets.is_empty() && sets.iter().all(|set| !set.is_empty()));
            let words = words.ok_or(("prefix", "`prefix` is no list of words, or of lists of words".to_owned()))?;
            Rule { decision, words, operands: read_operands(table, decision)?, folder }
        }
        _ => {
            let argv = words(table, "argv").filter(|argv| !argv.is_empty());
            let argv = argv.ok_or(("argv", "`argv` is no list of words".to_owned()))?;
            if table.contains_key("operands") {
                return Err(("operands", "`operands` belongs to `prefix`".into()));
            }
            Rule::exactly(decision, argv, folder)
        }
    };
    if let Some(reason) = rule.why_never() {
        return Err(("", reason.into()));
    }
    check_examples(&rule, table)?;
    Ok(rule)
}

fn read_operands(table: &Table, decision: Level) -> Result<Operands, (&'static str, String)> {
    let Some(operands) = table.get("operands") else {
        return Ok(if decision == Level::Allow { Operands::None } else { Operands::Anything });
    };
    match operands.as_str() {
        Some("none") => Ok(Operands::None),
        Some("workspace-paths") if decision == Level::Allow => Ok(Operands::WorkspacePaths),
        Some("any-literal") if decision == Level::Allow => Ok(Operands::AnyLiteral),
        Some("workspace-paths" | "any-literal") => Err(("operands", "only `allow` chooses among operands".into())),
        _ => Err(("operands", "`operands` is none of \"none\", \"workspace-paths\", \"any-literal\"".into())),
    }
}

/// The words of `prefix`, each a set.
fn sets(table: &Table) -> Option<Vec<Vec<String>>> {
    let set = |word: &Value| match word {
        Value::String(word) => Some(vec![word.value().clone()]),
        Value::Array(words) => words.iter().map(|word| word.as_str().map(ToOwned::to_owned)).collect(),
        _ => None,
    };
    table.get("prefix")?.as_array()?.iter().map(set).collect()
}

/// Checks by the examples that the rule means what its author intended.
fn check_examples(rule: &Rule, table: &Table) -> Result<(), (&'static str, String)> {
    let cwd = rule.folder.clone().unwrap_or_else(|| "/".into());
    let only = Rules(vec![rule.clone()]);
    let holds = |line: &str| match rule.decision {
        Level::Allow => only.find_in(line, Context::new(&cwd, &cwd).in_shell(Shell::Bash)).is_some(),
        _ => danger::commands(line).words.iter().any(|command| rule.catches(command, &cwd)),
    };
    for (key, is_meant) in [("match", true), ("not_match", false)] {
        let examples = match table.get(key) {
            None => Vec::new(),
            Some(_) => words(table, key).ok_or_else(|| (key, format!("`{key}` is no list of lines")))?,
        };
        if let Some(wrong) = examples.iter().find(|line| holds(line) != is_meant) {
            let verb = if is_meant { "does not match" } else { "matches" };
            return Err((key, format!("its example `{wrong}` {verb}")));
        }
    }
    Ok(())
}

fn words(table: &Table, key: &str) -> Option<Vec<String>> {
    table.get(key)?.as_array()?.iter().map(|word| word.as_str().map(ToOwned::to_owned)).collect()
}

/// The text with one more rule at its end; the same text if the rule is there already.
///
/// # Errors
/// If the text is not TOML, or full.
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
    // The new rule goes behind the present text: comments stay where the user put them.
    let changed = format!("{start}\n{}", table_of(rule));
    sound(&changed).map(|_| changed)
}

fn table_of(rule: &Rule) -> DocumentMut {
    let (good, bad) = rule.examples();
    let mut table = Table::new();
    table.insert("decision", value("allow"));
    table.insert("argv", list(rule.words.iter().filter_map(|set| set.first())));
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

/// The text without rule `number` of those in force, from 1; and that rule.
///
/// # Errors
/// If the text is not TOML, or has no such rule.
pub fn without_rule(text: &str, number: usize) -> Result<(String, Rule), DocumentError> {
    let mut document = sound(text)?;
    let wanted = number.checked_sub(1).and_then(|index| parse(text).rules.0.into_iter().nth(index));
    let wanted = wanted.ok_or(DocumentError::NoSuchRule(number))?;
    let rules = document.get_mut("rule").and_then(Item::as_array_of_tables_mut);
    let rules = rules.ok_or(DocumentError::NoSuchRule(number))?;
    let at = rules.iter().enumerate().filter(|(_, table)| read_rule(table).is_ok()).nth(number - 1);
    let (at, _) = at.ok_or(DocumentError::NoSuchRule(number))?;
    // The text above the rule may be about the whole file: it stays.
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

/// Joins two pieces between tables: a blank line between them is enough.
fn joined(above: &str, below: &str) -> String {
    if above.trim().is_empty() {
        return below.to_owned();
    }
    format!("{}\n{}", above.trim_end(), if below.is_empty() { "" } else { below })
}

fn sound(text: &str) -> Result<DocumentMut, DocumentError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let (line, _) = Places::of(text).at(error.span());
        DocumentError::Broken { line, reason: error.message().to_owned() }
    })
}

fn list<'a>(words: impl IntoIterator<Item = &'a String>) -> Item {
    Item::Value(Value::Array(words.into_iter().map(String::as_str).collect::<Array>()))
}
