//! Reads the table of allowed options. The notation of a table line is `verbs | options | operands`:
//!
//! - `-abc` flags, which may be joined; `-n#` `-k:` `-f@` take a number, a text, a path, attached or as the next word; `-I[]` may
//!   have an attached text; `-#` is a dash and a number;
//! - `--(x y=: z[=])` long options: a flag, one with a value (`=:` text, `=#` number, `=@` path), one with an optional value;
//!   `-(x y=:)` the same with one dash in front;
//! - operands: `@*` paths, `@?` at most one, `@:*` a path and texts, `:*` texts, `:?` at most one, `#*` numbers, `0` none, `!x` the
//!   operands that the rule of that name allows; `lock` in front: only where the program is locked. Such a program runs code of the
//!   folder, or its options are too many to list, but what it is told to do is to look.
//!
//! Every other word that begins with `-` is not allowed, abbreviations of long options included. In the table of subcommands the
//! verbs are phrases with commas between; `a/b` in one stands for either word. Options that a program allows alone may also precede
//! its subcommands.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::Word;

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Nothing,
    Number,
    Text,
    Path,
    OptionalText,
}

/// The operands of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    Paths,
    OnePath,
    PathAndTexts,
    Texts,
    OneText,
    Numbers,
    Nothing,
    Rule(&'static str),
}

/// The options and operands that one verb is allowed.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    short: HashMap<char, Value>,
    long: HashMap<&'static str, Value>,
    /// Long options with one dash.
    words: HashMap<&'static str, Value>,
    has_dash_number: bool,
    /// It runs unasked only behind the lock.
    pub needs_lock: bool,
    pub operands: Operands,
}

/// Arguments that fit a [`Spec`].
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    /// Options without their dashes, with their values.
    pub options: Vec<(&'a str, Option<&'a str>)>,
    /// Values of options that are paths, with whether a `~` at their front is expanded.
    pub paths: Vec<(&'a str, bool)>,
    pub operands: Vec<&'a Word>,
    /// `--` stood before the operands from this one on.
    pub literal_from: Option<usize>,
    /// The number of options in front of the first operand.
    in_front: usize,
    /// Words with options behind an operand: programs that stop at the first operand take them for operands.
    pub behind: Vec<&'a Word>,
}

impl Arguments<'_> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }

    /// Whether one of these options stands in front of the first operand, where every program reads it.
    pub(super) fn has_in_front(&self, names: &[&str]) -> bool {
        self.options[..self.in_front].iter().any(|(name, _)| names.contains(name))
    }

    /// The values of these options.
    pub(super) fn values_of(&self, names: &[&str]) -> impl Iterator<Item = &str> {
        self.options.iter().filter(|(name, _)| names.contains(name)).filter_map(|(_, value)| *value)
    }
}

type Table = HashMap<&'static str, Spec>;

/// Options with a pattern of names as their value: any text there chooses files by their names.
const CHOOSE_BY_NAME: &[&str] =
    &["I", "P", "exclude", "exclude-dir", "g", "glob", "hide", "iglob", "ignore", "ignore-glob", "include"];
/// Words of the longest phrase behind a program's name.
const MAX_PHRASE_WORDS: usize = 3;

static VERBS: LazyLock<Table> = LazyLock::new(|| parse_table(include_str!("options.table")));
static SUBCOMMANDS: LazyLock<HashMap<String, Arc<Spec>>> =
    LazyLock::new(|| parse_phrases(include_str!("subcommands.table")));
static OF_SHELLS: LazyLock<HashMap<String, Arc<Spec>>> = LazyLock::new(|| parse_phrases(include_str!("shells.table")));
static GIT_SUBCOMMANDS: LazyLock<Table> = LazyLock::new(|| parse_table(include_str!("git.table")));

/// The allowed options and operands of a program; `None` if it is not known to be read-only.
pub(super) fn verb(name: &str) -> Option<&'static Spec> {
    if is_removed(name) { None } else { VERBS.get(name) }
}

/// Programs of the tables.
#[cfg(test)]
pub(super) fn programs() -> Vec<String> {
    let phrases = SUBCOMMANDS.keys().filter_map(|phrase| phrase.split(' ').next());
    let mut programs: Vec<String> = VERBS.keys().copied().chain(phrases).map(str::to_owned).collect();
    programs.sort();
    programs.dedup();
    programs
}

/// Each phrase of the tables whose operands a named rule judges, and the rule.
#[cfg(test)]
pub(super) fn phrases_with_rules() -> Vec<(String, &'static str)> {
    let rule = |spec: &Spec| if let Operands::Rule(rule) = spec.operands { Some(rule) } else { None };
    let verbs = VERBS.iter().filter_map(|(verb, spec)| Some(((*verb).to_owned(), rule(spec)?)));
    let phrases = SUBCOMMANDS.iter().filter_map(|(phrase, spec)| Some((phrase.clone(), rule(spec)?)));
    verbs.chain(phrases).collect()
}

#[cfg(test)]
thread_local! {
    /// The program whose rows a test has taken away.
    pub(super) static REMOVED: std::cell::RefCell<Option<String>> = const { std::cell::RefCell::new(None) };
}

#[cfg(test)]
fn is_removed(name: &str) -> bool {
    REMOVED.with_borrow(|removed| removed.as_deref() == Some(name))
}

#[cfg(not(test))]
fn is_removed(_: &str) -> bool {
    false
}

/// Whether a program only reads the files in its operands, of any number, or prints the operands.
pub(super) fn reads_operands(name: &str) -> bool {
    verb(name).is_some_and(|spec| match spec.operands {
        Operands::Paths => true,
        Operands::Texts => matches!(name, "basename" | "dirname"),
        Operands::Rule(rule) => matches!(rule, "jq" | "local" | "picture" | "pattern" | "test" | "any" | "printf"),
        _ => false,
    })
}

/// The allowed options and operands of a program with the subcommand, of a few words, that `words` begin with; and the words behind it.
///
/// # Errors
/// The option in front of the subcommand that is not allowed.
pub(super) fn subcommand<'a>(name: &str, words: &'a [Word]) -> Result<Option<(&'static Spec, &'a [Word])>, String> {
    if is_removed(name) {
        return Ok(None);
    }
    let of_program = SUBCOMMANDS.get(name);
    let words = match of_program {
        Some(spec) => &words[spec.count_leading(words, |words| begins_phrase(name, words))?..],
        None => words,
    };
    let found = (0..=words.len().min(MAX_PHRASE_WORDS))
        .rev()
        .find_map(|count| Some((&**SUBCOMMANDS.get(&phrase(name, &words[..count]))?, &words[count..])));
    Ok(found)
}

/// Whether these words behind the name of a program begin with one of its phrases, as those behind `python3 -m site` do.
fn begins_phrase(name: &str, words: &[Word]) -> bool {
    (1..=words.len().min(MAX_PHRASE_WORDS)).any(|count| SUBCOMMANDS.contains_key(&phrase(name, &words[..count])))
}

fn phrase(name: &str, words: &[Word]) -> String {
    std::iter::once(name).chain(words.iter().map(|word| word.text.as_str())).collect::<Vec<_>>().join(" ")
}

/// Whether some words behind this program's name have a separate row.
pub(super) fn has_phrases(name: &str) -> bool {
    SUBCOMMANDS
        .keys()
        .any(|phrase| phrase.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// The allowed options and operands of a command that only this shell has, or has with other options; and the words behind it.
pub(super) fn own<'a>(shell: Shell, name: &str, words: &'a [Word]) -> Option<(&'static Spec, &'a [Word])> {
    let alone = format!("{} {name}", shell.name());
    let with_word = words.first().and_then(|word| OF_SHELLS.get(&format!("{alone} {}", word.text)));
    match with_word {
        Some(spec) => Some((&**spec, &words[1..])),
        None => OF_SHELLS.get(&alone).map(|spec| (&**spec, words)),
    }
}

/// Whether a name is that of a command of `shell` itself.
pub(super) fn is_own(shell: Shell, name: &str) -> bool {
    let own = |phrase: &String| phrase.strip_prefix(shell.name()).and_then(|rest| rest.split(' ').nth(1)) == Some(name);
    OF_SHELLS.keys().any(own)
}

/// The allowed options and operands of a git subcommand.
pub(super) fn git_subcommand(name: &str) -> Option<&'static Spec> {
    GIT_SUBCOMMANDS.get(name)
}

fn parse_table(text: &'static str) -> Table {
    rows(text).flat_map(|(verbs, spec)| verbs.split(' ').map(move |verb| (verb, spec.clone()))).collect()
}

fn parse_phrases(text: &'static str) -> HashMap<String, Arc<Spec>> {
    let rows: Vec<(Vec<String>, Spec)> =
        rows(text).map(|(phrases, spec)| (phrases.split(", ").flat_map(alternatives).collect(), spec)).collect();
    let of_programs: HashMap<&str, &Spec> = rows
        .iter()
        .flat_map(|(phrases, spec)| {
            phrases.iter().filter(|phrase| !phrase.contains(' ')).map(move |name| (&**name, spec))
        })
        .collect();
    let mut table = HashMap::new();
    for (phrases, spec) in &rows {
        // One entry for all phrases of a program.
        let mut merged: HashMap<&str, Arc<Spec>> = HashMap::new();
        for phrase in phrases {
            let program = phrase.split(' ').next().unwrap_or_default();
            let spec = merged.entry(program).or_insert_with(|| {
                let mut spec = spec.clone();
                of_programs.get(program).into_iter().for_each(|of_program| spec.add_missing(of_program));
                Arc::new(spec)
            });
            table.insert(phrase.clone(), Arc::clone(spec));
        }
    }
    table
}

/// The verbs of each line, and their allowed options and operands.
fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, Spec)> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(|line| {
        let mut fields = line.splitn(3, '|').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        (next(), parse_spec(next(), next()))
    })
}

/// The phrases that `a/b c` stands for.
fn alternatives(phrase: &str) -> Vec<String> {
    phrase.split(' ').fold(vec![String::new()], |begun, word| {
        let with = |start: &String| {
            word.split('/')
                .map(|choice| if start.is_empty() { choice.to_owned() } else { format!("{start} {choice}") })
                .collect::<Vec<_>>()
        };
        begun.iter().flat_map(with).collect()
    })
}

fn parse_spec(options: &'static str, operands: &'static str) -> Spec {
    let locked = operands.strip_prefix("lock ");
    let operands = match locked.unwrap_or(operands) {
        "@*" => Operands::Paths,
        "@?" => Operands::OnePath,
        "@:*" => Operands::PathAndTexts,
        ":*" => Operands::Texts,
        ":?" => Operands::OneText,
        "#*" => Operands::Numbers,
        rule if rule.starts_with('!') => Operands::Rule(&rule[1..]),
        _ => Operands::Nothing,
    };
    let (short, long) = options.split_once("--(").unwrap_or((options, ""));
    let (short, words) = short.split_once("-(").unwrap_or((short, ""));
    let group = |text: &'static str| {
        text.trim_end().trim_end_matches(')').split_whitespace().map(long_option).collect::<HashMap<_, _>>()
    };
    let mut spec = Spec {
        short: HashMap::new(),
        long: group(long),
        words: group(words),
        has_dash_number: false,
        needs_lock: locked.is_some(),
        operands,
    };
    for token in short.split_whitespace().filter_map(|token| token.strip_prefix('-')) {
        add_short(&mut spec, token);
    }
    spec
}

fn long_option(option: &'static str) -> (&'static str, Value) {
    let suffixes = [("[=]", Value::OptionalText), ("=:", Value::Text), ("=#", Value::Number), ("=@", Value::Path)];
    let found = suffixes.into_iter().find_map(|(suffix, value)| Some((option.strip_suffix(suffix)?, value)));
    found.unwrap_or((option, Value::Nothing))
}

fn add_short(spec: &mut Spec, token: &'static str) {
    if token == "#" {
        spec.has_dash_number = true;
        return;
    }
    let mut chars = token.chars();
    let Some(first) = chars.next() else { return };
    let value = match chars.as_str() {
        "#" => Value::Number,
        ":" => Value::Text,
        "@" => Value::Path,
        "[]" => Value::OptionalText,
        _ => {
            spec.short.extend(token.chars().map(|flag| (flag, Value::Nothing)));
            return;
        }
    };
    spec.short.insert(first, value);
}

impl Spec {
    /// Adds the options that only `other` has.
    fn add_missing(&mut self, other: &Self) {
        for (flag, value) in &other.short {
            self.short.entry(*flag).or_insert(*value);
        }
        for (name, value) in &other.long {
            self.long.entry(name).or_insert(*value);
        }
        for (name, value) in &other.words {
            self.words.entry(name).or_insert(*value);
        }
    }

    /// Counts the words that are options, with their values, in front of the first operand or of the words at which it `ends`.
    fn count_leading(&self, words: &[Word], ends: impl Fn(&[Word]) -> bool) -> Result<usize, String> {
        let mut count = 0;
        while words.get(count).is_some_and(|word| word.text.starts_with('-') && word.text.len() > 1)
            && !ends(&words[count..])
        {
            let alone = self.split(&words[count..=count]);
            count += match alone {
                Ok(_) => 1,
                Err(_) if words.len() > count + 1 => self.split(&words[count..count + 2]).map(|_| 2)?,
                Err(reason) => return Err(reason),
            };
        }
        Ok(count)
    }

    /// Splits `words` (without the verb) into allowed options and operands, or names the one that is not allowed.
    pub(super) fn split<'a>(&self, words: &'a [Word]) -> Result<Arguments<'a>, String> {
        let mut arguments = Arguments::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if arguments.literal_from.is_some() || text == "-" || !text.starts_with('-') {
                arguments.operands.push(word);
                continue;
            }
            if !arguments.operands.is_empty() {
                arguments.behind.push(word);
            }
            if text == "--" {
                arguments.literal_from = Some(arguments.operands.len());
            } else if let Some(long) = text.strip_prefix("--") {
                self.take_long(long, word, &mut words, &mut arguments)?;
            } else if let Some((name, value)) = self.words.get_key_value(&text[1..]) {
                let value_text = if *value == Value::Nothing { None } else { Some(next_value(name, &mut words)?) };
                take_value(name, *value, value_text, &mut arguments)?;
            } else if self.has_dash_number && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
                arguments.options.push(("#", Some(&text[1..])));
            } else {
                self.take_short(&text[1..], word, &mut words, &mut arguments)?;
            }
            if arguments.operands.is_empty() {
                arguments.in_front = arguments.options.len();
            }
        }
        Ok(arguments)
    }

    fn take_long<'a>(
        &self,
        text: &'a str,
        word: &'a Word,
        words: &mut std::slice::Iter<'a, Word>,
        arguments: &mut Arguments<'a>,
    ) -> Result<(), String> {
        let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        check_option_pattern(name, word)?;
        let value = *self.long.get(name).ok_or_else(|| unknown(&format!("--{name}")))?;
        let value_text = match (value, attached) {
            (Value::Nothing, None) | (Value::OptionalText, None) => None,
            (Value::Nothing, Some(_)) => return Err(unknown(&word.text)),
            (_, Some(attached)) => Some((attached, false)),
            (_, None) => Some(next_value(name, words)?),
        };
        take_value(name, value, value_text, arguments)
    }

    fn take_short<'a>(
        &self,
        flags: &'a str,
        word: &'a Word,
        words: &mut std::slice::Iter<'a, Word>,
        arguments: &mut Arguments<'a>,
    ) -> Result<(), String> {
        check_option_pattern(&flags[..flags.chars().next().map_or(0, char::len_utf8)], word)?;
        for (at, flag) in flags.char_indices() {
            let value = *self.short.get(&flag).ok_or_else(|| unknown(&format!("-{flag}")))?;
            let name = &flags[at..at + flag.len_utf8()];
            let rest = &flags[at + flag.len_utf8()..];
            match value {
                Value::Nothing => arguments.options.push((name, None)),
                Value::OptionalText => {
                    return take_value(name, value, (!rest.is_empty()).then_some((rest, false)), arguments);
                }
                _ if rest.is_empty() => return take_value(name, value, Some(next_value(name, words)?), arguments),
                _ => return take_value(name, value, Some((rest, false)), arguments),
            }
        }
        Ok(())
    }
}

/// Checks a pattern of file names, which stands for any names. It may be the value of an option only if every name is allowed there: in
/// options that leave out, or choose, by name.
fn check_option_pattern(name: &str, word: &Word) -> Result<(), String> {
    let takes_names = CHOOSE_BY_NAME.contains(&name) && word.text.find(['*', '?']) > word.text.find(name);
    if word.has_glob && !takes_names { Err("has a pattern among its options".into()) } else { Ok(()) }
}

fn next_value<'a>(name: &str, words: &mut std::slice::Iter<'a, Word>) -> Result<(&'a str, bool), String> {
    let word = words.next().ok_or_else(|| format!("option `{name}` lacks its value"))?;
    if word.has_glob {
        return Err("has a pattern among its options".into());
    }
    Ok((&word.text, word.has_tilde))
}

fn take_value<'a>(
    name: &'a str,
    kind: Value,
    value: Option<(&'a str, bool)>,
    arguments: &mut Arguments<'a>,
) -> Result<(), String> {
    if let Some((text, has_tilde)) = value {
        match kind {
            Value::Number if !is_number(text) => return Err(format!("option `{name}` takes a number, not `{text}`")),
            Value::Path => arguments.paths.push((text, has_tilde)),
            _ => {}
        }
    }
    arguments.options.push((name, value.map(|(text, _)| text)));
    Ok(())
}

fn unknown(option: &str) -> String {
    format!("option `{option}` is not known to be read-only")
}

/// A number with an optional sign, fraction and unit, or a hexadecimal one (`0x1f`).
pub(super) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let digits = unsigned.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let is_decimal = digits.split('.').count() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    digits.starts_with(|c: char| c.is_ascii_digit()) && is_decimal && unsigned.len() - digits.len() <= 3
}

#[cfg(test)]
mod tests;
