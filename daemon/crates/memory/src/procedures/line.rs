//! Splits a line into commands, and a command into what is its name and what may differ the next time. Pure.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use cohab_text::sanitize::sanitize;

use crate::past::about;

/// Longest line that can be a step, in bytes: a longer one is a text rather than a habit.
pub(super) const MAX_LINE_BYTES: usize = 400;
/// Programs that run the one behind them.
const PREFIXES: [&str; 7] = ["sudo", "doas", "env", "time", "nice", "nohup", "exec"];
/// Words between two commands of a line.
const OPERATORS: [&str; 5] = ["|", "||", ";", "&", "&&"];

/// The kinds of a table by command.
type Table = LazyLock<HashMap<&'static str, HashSet<&'static str>>>;

static LOOKING: Table = LazyLock::new(|| table(include_str!("looking.table")));
static SUBCOMMANDS: Table = LazyLock::new(|| table(include_str!("subcommands.table")));

fn table(text: &'static str) -> HashMap<&'static str, HashSet<&'static str>> {
    let mut table = HashMap::<_, HashSet<_>>::new();
    for (kind, commands) in text.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split_once(" : ")) {
        table.entry(kind).or_default().extend(commands.split(", "));
    }
    table
}

fn has(table: &Table, kind: &str, command: &str) -> bool {
    table.get(kind).is_some_and(|commands| commands.contains(command))
}

/// A command in its words, as they were typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command<'a> {
    /// What each word is.
    pub parts: Vec<CommandPart<'a>>,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandPart<'a> {
    /// A word that makes the command what it is: program, subcommand, option, operator.
    Fixed(&'a str),
    /// An option with its value: `--tag=` and `v1`.
    Option(&'a str, &'a str),
    /// Words next to each other that may differ.
    Free(Vec<&'a str>),
}

impl Command<'_> {
    /// The text by which commands that differ in their arguments only are the same.
    pub fn shape(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            CommandPart::Fixed(word) => (*word).to_owned(),
            CommandPart::Option(name, _) => format!("{name}\u{0}"),
            CommandPart::Free(_) => "\u{0}".to_owned(),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// The text by which only the same commands are the same.
    pub fn text(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            CommandPart::Fixed(word) => (*word).to_owned(),
            CommandPart::Option(name, value) => format!("{name}{value}"),
            CommandPart::Free(words) => words.join(" "),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// The words at its beginning that say what it does: `docker compose up`.
    pub fn name(&self) -> String {
        let fixed = self.parts.iter().map_while(|part| match part {
            CommandPart::Fixed(word) if !word.starts_with('-') && !OPERATORS.contains(word) => Some(*word),
            _ => None,
        });
        fixed.skip_while(|word| PREFIXES.contains(word) || word.contains('=')).collect::<Vec<_>>().join(" ")
    }

    /// Whether it only shows something, or goes elsewhere.
    pub fn only_looks(&self) -> bool {
        let words = self.words();
        // What is written into a file is no look.
        let writes = |word: &&str| word.contains('>') && !word.contains("/dev/null") && !word.contains("&");
        if words.iter().any(writes) || words.contains(&"tee") {
            return false;
        }
        words.split(|word| OPERATORS.contains(word)).all(|command| {
            let command: Vec<&str> = command.iter().copied().skip_while(|word| PREFIXES.contains(word)).collect();
            let begins = (1..=3).any(|length| leads(&command, length));
            let bare: Vec<&str> = command.iter().copied().filter(|word| !word.starts_with('-')).collect();
            let talks = bare.len() <= 2 && bare.first().is_some_and(|program| has(&LOOKING, "talk", program));
            let shows = command.get(1).is_some_and(|word| has(&LOOKING, "second", word));
            command.is_empty() || begins || talks || shows || has(&LOOKING, "look alone", &bare.join(" "))
        })
    }

    /// Whether it opens files to be changed by hand.
    pub fn is_editor(&self) -> bool {
        has(&LOOKING, "edit", &self.name())
    }

    fn words(&self) -> Vec<&str> {
        let words = self.parts.iter().flat_map(|part| match part {
            CommandPart::Fixed(word) => vec![*word],
            CommandPart::Option(name, _) => vec![*name],
            CommandPart::Free(words) => words.clone(),
        });
        words.collect()
    }
}

/// Whether the first words of a command say that it only looks.
fn leads(command: &[&str], length: usize) -> bool {
    command.get(..length).is_some_and(|words| has(&LOOKING, "look", &words.join(" ")))
}

/// The commands of a line that all succeeded if it did: those between `&&`. None of a line that is too long, has several lines or hidden
/// characters.
pub(super) fn commands(line: &str) -> Vec<Command<'_>> {
    let line = line.trim();
    if line.is_empty() || line.len() > MAX_LINE_BYTES || line.contains(['\n', '\t']) || sanitize(line) != line {
        return Vec::new();
    }
    let (words, has_structure) = words(line);
    // The outcome of what runs in the background is not known.
    if words.last() == Some(&"&") {
        return Vec::new();
    }
    // Behind another operator it is not certain that a command ran.
    let is_certain = !has_structure && !words.iter().any(|word| matches!(*word, "||" | ";" | "&"));
    if is_certain {
        words.split(|word| *word == "&&").filter(|words| !words.is_empty()).map(command).collect()
    } else {
        vec![command(&words)]
    }
}

/// The words of a line with operators as words, and whether it has parentheses, braces or backticks.
fn words(line: &str) -> (Vec<&str>, bool) {
    let (mut words, mut start, mut quote, mut has_structure) = (Vec::new(), None, None, false);
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let previous = line.get(..at).and_then(|before| before.chars().next_back());
        match (c, quote) {
            ('\\', None | Some('"')) => {
                start = start.or(Some(at));
                chars.next();
            }
            ('\'' | '"', None) => {
                start = start.or(Some(at));
                quote = Some(c);
            }
            (_, Some(open)) => {
                if c == open {
                    quote = None;
                }
            }
            (' ', None) => words.extend(start.take().and_then(|start: usize| line.get(start..at))),
            ('|' | ';' | '&', None)
                if !matches!((c, previous), ('&' | '|', Some('>' | '<'))) && !is_both(&chars, c) =>
            {
                words.extend(start.take().and_then(|start: usize| line.get(start..at)));
                let next = chars.next_if(|(_, next)| *next == c && c != ';');
                let end = next.map_or(at, |(at, _)| at) + 1;
                words.extend(line.get(at..end));
            }
            _ => {
                has_structure |= "(){}`".contains(c);
                start = start.or(Some(at));
            }
        }
    }
    words.extend(start.and_then(|start| line.get(start..)));
    (words, has_structure)
}

/// Whether this is the beginning of `&>`.
fn is_both(rest: &std::iter::Peekable<std::str::CharIndices<'_>>, c: char) -> bool {
    c == '&' && rest.clone().next().is_some_and(|(_, next)| next == '>')
}

/// What each word is.
fn command<'a>(words: &[&'a str]) -> Command<'a> {
    let mut parts = Vec::<CommandPart<'a>>::new();
    // The name of the command so far; `None` once it is complete.
    let mut name = Some(String::new());
    for word in words {
        if OPERATORS.contains(word) {
            parts.push(CommandPart::Fixed(word));
            name = Some(String::new());
            continue;
        }
        let option = word.starts_with('-') && !word.chars().skip(1).all(|c| c.is_ascii_digit());
        if let Some((option, value)) = word.split_once('=').filter(|_| option) {
            parts.push(CommandPart::Option(word.get(..=option.len()).unwrap_or(option), value));
        } else if option {
            parts.push(CommandPart::Fixed(word));
        } else if name.as_ref().is_some_and(|name| belongs(name, word)) {
            parts.push(CommandPart::Fixed(word));
            let is_before = PREFIXES.contains(word) || word.contains('=');
            if let Some(name) = name.as_mut().filter(|name| !(name.is_empty() && is_before)) {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(word);
            }
        } else {
            name = None;
            match parts.last_mut() {
                Some(CommandPart::Free(words)) => words.push(word),
                _ => parts.push(CommandPart::Free(vec![word])),
            }
        }
    }
    Command { parts }
}

/// Whether a word belongs to the name of the command that begins so.
fn belongs(name: &str, word: &str) -> bool {
    let Some((before, _)) = name.rsplit_once(' ') else {
        return name.is_empty() || is_next(name, word);
    };
    let is_behind_script = has(&SUBCOMMANDS, "script", before);
    about::has_entry(&format!("{name} {word}")) || is_next_of_table(name, word) || (is_behind_script && is_plain(word))
}

/// Whether a word belongs to the name of this program.
fn is_next(program: &str, word: &str) -> bool {
    // Of a program that is not known its first plain word is what it does.
    let is_unknown = !about::has_entry(program) && !has(&SUBCOMMANDS, "script", program);
    about::has_entry(&format!("{program} {word}"))
        || is_next_of_table(program, word)
        || (is_unknown && is_plain(word) && !has(&LOOKING, "edit", program))
}

fn is_next_of_table(name: &str, word: &str) -> bool {
    has(&SUBCOMMANDS, "script", name) || (has(&SUBCOMMANDS, "plain", name) && is_plain(word))
}

/// Whether a word can be a subcommand: lower-case letters and some signs.
fn is_plain(word: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_' | ':');
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_of_word)
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
