//! Reads the policy's tables as data for making lines: the words, options and kinds of operands that a row allows.
//!
//! Reads the notation that `policy/options.rs` describes, more loosely: a line that is made of a misread row is not allowed, and
//! `main.rs` counts the options that occur in no allowed line.

use std::collections::BTreeMap;

const OPTIONS: &str = include_str!("../../src/options.table");
const SUBCOMMANDS: &str = include_str!("../../src/subcommands.table");
const SHELLS: &str = include_str!("../../src/shells.table");
const GIT: &str = include_str!("../../src/git.table");
const QUESTIONS: &str = include_str!("../../src/rules/version_queries.table");
const LOCK: &str = include_str!("../../src/lock.table");
const OPERANDS: &str = include_str!("operands.table");
const PACKAGES: &str = include_str!("packages.table");
const EXCEPTIONS: &str = include_str!("exceptions.table");

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Nothing,
    Number,
    Text,
    Path,
    OptionalText,
}

/// An option with its dashes.
#[derive(Clone, Debug)]
pub struct Opt {
    pub name: String,
    pub value: Value,
}

/// The words of one program, or of one of its subcommands.
#[derive(Clone, Debug)]
pub struct Row {
    pub words: Vec<String>,
    pub options: Vec<Opt>,
    /// The operands as they stand in the table: `@*`, `:?`, `!rule`.
    pub operands: &'static str,
}

impl Row {
    pub fn program(&self) -> &str {
        &self.words[0]
    }
}

/// The lines of a table that are no comments, split at `|`.
fn fields(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    rows.map(|line| line.splitn(3, " |").map(str::trim).collect())
}

/// All rows with options, but those that need the lock: the tests of the launcher show that whatever a locked program runs changes
/// nothing. Programs that have no row in a table but a rule in the policy come from the table of operands.
pub fn rows() -> Vec<Row> {
    let verbs = fields(OPTIONS)
        .flat_map(|row| row[0].split(' ').map(|name| new_row(vec![name.to_owned()], &row)).collect::<Vec<_>>());
    let git = fields(GIT).flat_map(|row| {
        row[0].split(' ').map(|name| new_row(vec!["git".into(), name.to_owned()], &row)).collect::<Vec<_>>()
    });
    let phrases = fields(SUBCOMMANDS).flat_map(|row| {
        let phrases = row[0].split(", ").flat_map(alternatives).collect::<Vec<_>>();
        phrases.into_iter().map(|words| new_row(words, &row)).collect::<Vec<_>>()
    });
    let mut rows: Vec<Row> = verbs.chain(git).chain(phrases).filter(|row| !row.operands.starts_with("lock ")).collect();
    let with_row: Vec<String> = rows.iter().map(|row| row.program().to_owned()).collect();
    for name in operands().keys().filter(|name| !name.contains(' ') && !with_row.iter().any(|known| known == *name)) {
        rows.push(Row { words: vec![(*name).to_owned()], options: Vec::new(), operands: "" });
    }
    rows
}

fn new_row(words: Vec<String>, fields: &[&'static str]) -> Row {
    let options = fields.get(1).copied().unwrap_or_default();
    Row { words, options: options_of(options), operands: fields.get(2).copied().unwrap_or_default() }
}

/// The phrases that `a/b c` stands for.
fn alternatives(phrase: &str) -> Vec<Vec<String>> {
    phrase.split(' ').fold(vec![Vec::new()], |begun: Vec<Vec<String>>, word| {
        let with = |start: &Vec<String>| {
            word.split('/').map(|choice| [&start[..], &[choice.to_owned()]].concat()).collect::<Vec<_>>()
        };
        begun.iter().flat_map(with).collect()
    })
}

fn options_of(text: &str) -> Vec<Opt> {
    let (short, long) = text.split_once("--(").unwrap_or((text, ""));
    let (short, words) = short.split_once("-(").unwrap_or((short, ""));
    let group = |dashes: &str, text: &str| {
        text.trim_end_matches([')', ' ']).split_whitespace().map(|word| long_option(dashes, word)).collect::<Vec<_>>()
    };
    let mut options: Vec<Opt> = short.split_whitespace().flat_map(short_options).collect();
    options.extend(group("-", words));
    options.extend(group("--", long));
    options
}

fn long_option(dashes: &str, word: &str) -> Opt {
    let suffixes = [
        ("[=]", Value::OptionalText),
        ("=:", Value::Text),
        ("=#", Value::Number),
        ("=@", Value::Path),
        ("", Value::Nothing),
    ];
    let found = suffixes.into_iter().find_map(|(suffix, value)| Some((word.strip_suffix(suffix)?, value)));
    let (name, value) = found.unwrap_or((word, Value::Nothing));
    Opt { name: format!("{dashes}{name}"), value }
}

fn short_options(token: &str) -> Vec<Opt> {
    let letters = token.trim_start_matches('-');
    let mut chars = letters.chars();
    let (first, rest) = (chars.next(), chars.as_str());
    let value = match rest {
        _ if letters == "#" => return vec![Opt { name: "-3".into(), value: Value::Nothing }],
        "#" => Value::Number,
        ":" => Value::Text,
        "@" => Value::Path,
        "[]" => Value::OptionalText,
        _ => return letters.chars().map(|flag| Opt { name: format!("-{flag}"), value: Value::Nothing }).collect(),
    };
    first.map(|flag| Opt { name: format!("-{flag}"), value }).into_iter().collect()
}

/// Commands that a shell has of its own: the shell, and the row.
pub fn of_shells() -> Vec<(&'static str, Row)> {
    let of_row = |row: Vec<&'static str>| {
        let phrases = row[0].split(", ").flat_map(move |phrase| {
            let (shell, phrase) = phrase.split_once(' ').expect("a shell and a command");
            alternatives(phrase).into_iter().map(move |words| (shell, words)).collect::<Vec<_>>()
        });
        phrases.map(|(shell, words)| (shell, new_row(words, &row))).collect::<Vec<_>>()
    };
    fields(SHELLS).flat_map(of_row).collect()
}

/// `PROGRAM --version` and its like.
pub fn questions() -> Vec<Vec<String>> {
    let of_row = |row: Vec<&'static str>| {
        let (phrases, programs) = (row[0], row[1]);
        phrases
            .split(", ")
            .flat_map(move |phrase| programs.split(' ').map(move |program| format!("{program} {phrase}")))
    };
    fields(QUESTIONS).flat_map(of_row).map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// Operands that mean something to a program, by its name or that of a subcommand; two blanks stand between the texts.
pub fn operands() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut table: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (names, texts) in
        OPERANDS.lines().filter(|line| !line.starts_with("# ")).filter_map(|line| line.split_once(" | "))
    {
        let texts = texts.split("  ").map(str::trim).filter(|text| !text.is_empty());
        let texts: Vec<&str> = texts.collect();
        names.split(", ").for_each(|name| table.entry(name).or_default().extend(&texts));
    }
    table
}

/// Programs that the table of the lock lists as one of `kinds`.
fn unlocked(kinds: &[&str]) -> Vec<&'static str> {
    fields(LOCK).filter(|row| kinds.contains(&row[0])).flat_map(|row| row[1].split(' ')).collect()
}

/// Programs whose purpose is to ask a service, by its socket or over a network.
pub fn askers() -> Vec<&'static str> {
    unlocked(&["service", "screen", "network"])
}

/// Programs that write files into the user's home before they answer.
pub fn note_takers() -> Vec<&'static str> {
    unlocked(&["settings"])
}

/// Programs that take long to start.
pub fn slow() -> Vec<&'static str> {
    fields(PACKAGES).filter(|row| row[0] == "slow").flat_map(|row| row[2].split_whitespace()).collect()
}

/// The programs of the rows that name the origin of programs.
pub fn placed() -> Vec<&'static str> {
    fields(PACKAGES).filter(|row| row[0] != "slow").flat_map(|row| row[2].split_whitespace()).collect()
}

/// The programs that every machine of the tests has, or `scripts/test` installs.
pub fn common() -> Vec<&'static str> {
    let rows = fields(PACKAGES).filter(|row| matches!(row[0], "base" | "ci"));
    rows.flat_map(|row| row[2].split_whitespace()).collect()
}

/// Harmless actions of programs: the programs, and parts of the findings.
pub fn exceptions() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    fields(EXCEPTIONS).map(|row| (row[0].split(' ').collect(), row[1].split(", ").collect())).collect()
}
