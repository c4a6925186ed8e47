//! Reads the parts of a listing, one by one.

use super::{
    AliasKind, Item, OptionKind, Snapshot, Value, definitions,
    part::Part,
    programs,
    reported::{insert, is_reported, names, without_references},
    word::{fish_word, word},
};

/// Options that the relay itself puts back after each command, by zsh's and bash's names.
const OWN_OPTIONS: [&str; 9] =
    ["errexit", "nounset", "xtrace", "verbose", "noglob", "noexec", "pipefail", "errreturn", "privileged"];
/// Adds the contents of a part. `None` if the text is not such a part.
pub(super) fn read_part(kind: Part, text: &[u8], is_fish: bool, snapshot: &mut Snapshot) -> Option<()> {
    match kind {
        Part::Folder => insert(snapshot, Item::Folder, vec![text.to_vec()]),
        Part::Prompt(name) => insert(snapshot, Item::Prompt(name.to_owned()), vec![without_references(text)]),
        Part::Umask => insert(snapshot, Item::Umask, vec![text.trim_ascii().to_vec()]),
        Part::OptionNames(kind) => {
            for name in names(text, b':') {
                insert_option(snapshot, kind, name);
            }
        }
        Part::OptionCommands => {
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let (is_on, name) = match line.strip_prefix(b"set -o ") {
                    Some(name) => (true, name),
                    None => (false, line.strip_prefix(b"set +o ")?),
                };
                if let (true, Ok(name)) = (is_on, str::from_utf8(name)) {
                    insert_option(snapshot, OptionKind::Set, name);
                }
            }
        }
        Part::Exported if is_fish => read_fish_exported(text, snapshot)?,
        Part::Exported => read_exported(text, snapshot)?,
        Part::Aliases => read_aliases(text, snapshot)?,
        Part::AliasWords => read_alias_words(text, snapshot)?,
        Part::Functions => insert_names(snapshot, names(text, b'\n'), Item::Function),
        Part::Abbreviations => insert_abbreviations(snapshot, text),
        Part::Variables => insert_variables(snapshot, names(text, b'\n')),
        Part::TypedVariables => insert_variables(snapshot, plain_variables(text)),
        Part::Jobs => {
            let pids = names(text, b'\n').filter(|line| line.bytes().all(|byte| byte.is_ascii_digit()));
            pids.for_each(|pid| insert(snapshot, Item::Job(pid.to_owned()), Value::new()));
        }
        Part::NamedFolders => drop(read_words(text, snapshot, Item::NamedFolder)?),
        Part::Definitions => definitions::variables(text, snapshot),
        Part::FishDefinitions => definitions::fish_variables(text, snapshot),
        Part::Traps => definitions::traps(text, snapshot),
        Part::HashCommands => programs::hash_commands(text, snapshot),
        Part::HashTable => programs::hash_table(text, snapshot),
        Part::EnableCommands => programs::enable_commands(text, snapshot),
        Part::Builtins => programs::builtins(text, snapshot),
        Part::Keys => definitions::keys(text, snapshot),
        Part::Widgets => definitions::widgets(text, snapshot),
        Part::Completions => definitions::completions(text, snapshot),
        Part::Handlers => definitions::handlers(text, snapshot),
        Part::Origins => definitions::origins(text, snapshot),
        Part::Bodies => definitions::bodies(text, snapshot),
        Part::JoinedBodies => definitions::joined_bodies(text, snapshot),
        Part::FishBodies => definitions::fish_bodies(text, snapshot),
    }
    Some(())
}

fn insert_option(snapshot: &mut Snapshot, kind: OptionKind, name: &str) {
    if !OWN_OPTIONS.contains(&name) {
        insert(snapshot, Item::Option(kind, name.to_owned()), Value::new());
    }
}

fn insert_names<'a>(snapshot: &mut Snapshot, names: impl Iterator<Item = &'a str>, item: impl Fn(String) -> Item) {
    for name in names.filter(|name| is_reported(name)) {
        insert(snapshot, item(name.to_owned()), Value::new());
    }
}

/// The prompts are recorded by their values.
fn insert_variables<'a>(snapshot: &mut Snapshot, names: impl Iterator<Item = &'a str>) {
    insert_names(snapshot, names.filter(|name| !matches!(*name, "PS1" | "RPS1")), Item::Variable);
}

/// Variables that are neither local nor exported, from a list of names and types in turn.
fn plain_variables(text: &[u8]) -> impl Iterator<Item = &str> {
    let mut lines = names(text, b'\n');
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
        .filter(|(_, kind)| !kind.contains("local") && !kind.contains("export"))
        .map(|(name, _)| name)
}

/// Lines of bash's `export -p`, `declare -x NAME="value"` with more letters next to the `x`, or in posix mode `export NAME="value"`; or
/// of zsh `NAME='value'`. Names without a value are left out.
fn read_exported(mut text: &[u8], snapshot: &mut Snapshot) -> Option<()> {
    while !text.is_empty() {
        text = match text.strip_prefix(b"export ") {
            Some(posix) => posix,
            None if text.starts_with(b"declare -") => &text[memchr::memchr2(b' ', b'\n', &text[9..])? + 10..],
            None => text,
        };
        let end = text.iter().position(|byte| matches!(byte, b'=' | b'\n'))?;
        let (name, separator) = (str::from_utf8(&text[..end]).ok()?, text[end]);
        text = &text[end + 1..];
        if separator == b'\n' {
            continue;
        }
        let (value, rest) = word(text)?;
        text = rest.strip_prefix(b"\n")?;
        insert_exported(snapshot, name, vec![value]);
    }
    Some(())
}

/// A line for each name, then one for each of its elements, escaped, behind a `=`.
fn read_fish_exported(mut text: &[u8], snapshot: &mut Snapshot) -> Option<()> {
    while !text.is_empty() {
        let (name, rest) = text.split_at(memchr::memchr(b'\n', text)?);
        text = &rest[1..];
        let mut value = Value::new();
        while let Some(rest) = text.strip_prefix(b"=") {
            let (element, rest) = fish_word(rest)?;
            value.push(element);
            text = rest.strip_prefix(b"\n")?;
        }
        if value.is_empty() {
            // The value is an empty text, also for programs.
            value.push(Vec::new());
        }
        insert_exported(snapshot, str::from_utf8(name).ok()?, value);
    }
    Some(())
}

fn insert_exported(snapshot: &mut Snapshot, name: &str, mut value: Value) {
    if is_reported(name) && !name.is_empty() {
        if matches!(name, "PS0" | "PS1" | "PS2") {
            value.iter_mut().for_each(|text| *text = without_references(text));
        }
        insert(snapshot, Item::Exported(name.to_owned()), value);
    }
}

/// bash's lines `alias NAME=VALUE`, in posix mode without the `alias`; `--` may stand between.
fn read_aliases(mut text: &[u8], snapshot: &mut Snapshot) -> Option<()> {
    while !text.is_empty() {
        text = text.strip_prefix(b"alias ").unwrap_or(text);
        text = text.strip_prefix(b"-- ").unwrap_or(text);
        let (definition, rest) = word(text)?;
        text = rest.strip_prefix(b"\n")?;
        let equals = memchr::memchr(b'=', &definition)?;
        if let Ok(name) = str::from_utf8(&definition[..equals]) {
            let value = definition[equals + 1..].to_vec();
            insert(snapshot, Item::Alias(AliasKind::Command, name.to_owned()), vec![value]);
        }
    }
    Some(())
}

fn read_alias_words(mut text: &[u8], snapshot: &mut Snapshot) -> Option<()> {
    for kind in [AliasKind::Command, AliasKind::Global, AliasKind::Suffix] {
        text = read_words(text, snapshot, |name| Item::Alias(kind, name))?;
    }
    Some(())
}

/// Reads a line of names and values in turn; returns the rest.
fn read_words<'a>(mut text: &'a [u8], snapshot: &mut Snapshot, item: impl Fn(String) -> Item) -> Option<&'a [u8]> {
    while !text.starts_with(b"\n") {
        let (name, rest) = word(text)?;
        let (value, rest) = word(rest.strip_prefix(b" ")?)?;
        text = rest.strip_prefix(b" ").unwrap_or(rest);
        if let Ok(name) = String::from_utf8(name) {
            insert(snapshot, item(name), vec![value]);
        }
    }
    Some(&text[1..])
}

/// Lines `abbr -a OPTIONS -- NAME EXPANSION`, or without the expansion.
fn insert_abbreviations(snapshot: &mut Snapshot, text: &[u8]) {
    for line in text.split(|byte| *byte == b'\n') {
        let Some(at) = memchr::memmem::find(line, b" -- ") else { continue };
        let name = fish_word(&line[at + 4..]).and_then(|(name, _)| String::from_utf8(name).ok());
        if let Some(name) = name {
            insert(snapshot, Item::Abbreviation(name), vec![line.to_vec()]);
        }
    }
}
