//! What a shell writes about itself, taken apart.

use super::{
    AliasKind, Item, OptionKind, Snapshot, StateChange, Value,
    word::{fish_word, word},
};
use crate::shell::Shell;

/// The definition of `__cohab_state FILE`, for the integration script of the shell. Empty for shells without one.
#[must_use]
pub fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("../../assets/state.bash"),
        Shell::Zsh => include_str!("../../assets/state.zsh"),
        Shell::Fish => include_str!("../../assets/state.fish"),
        Shell::Other => "",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Folder,
    Prompt(&'static str),
    /// Names of those that are on, with colons between.
    OptionNames(OptionKind),
    /// zsh's `set +o`.
    OptionCommands,
    Umask,
    Exported,
    Aliases,
    /// zsh's: a line for each kind, of names and values in turn.
    AliasWords,
    Functions,
    /// fish's.
    Abbreviations,
    Variables,
    /// zsh's: names and types in turn, a line each.
    TypedVariables,
    Jobs,
}

const BASH: &[Part] = &[
    Part::Folder,
    Part::Prompt("PS1"),
    Part::OptionNames(OptionKind::Set),
    Part::OptionNames(OptionKind::Shopt),
    Part::Umask,
    Part::Exported,
    Part::Aliases,
    Part::Functions,
    Part::Variables,
    Part::Jobs,
];
const ZSH: &[Part] = &[
    Part::OptionCommands,
    Part::Folder,
    Part::Prompt("PS1"),
    Part::Prompt("RPS1"),
    Part::Umask,
    Part::Exported,
    Part::AliasWords,
    Part::Functions,
    Part::TypedVariables,
    Part::Jobs,
];
const FISH: &[Part] = &[
    Part::Folder,
    Part::Umask,
    Part::Exported,
    Part::Functions,
    Part::Abbreviations,
    Part::Variables,
    Part::Variables,
    Part::Jobs,
];

/// Variables that each command changes by itself, that belong to the shell's own working, or that are local to our hooks.
const OWN_VARIABLES: [&str; 19] = [
    "st",
    "stopped",
    "_",
    "dirprev",
    "dirnext",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "REPLY",
    "PIPESTATUS",
    "COLUMNS",
    "LINES",
    "OPTARG",
    "OPTIND",
    "MATCH",
    "MBEGIN",
    "MEND",
    "dirstack",
    "last_pid",
];
/// Options that the relay itself puts back after each command, by zsh's and bash's names.
const OWN_OPTIONS: [&str; 9] =
    ["errexit", "nounset", "xtrace", "verbose", "noglob", "noexec", "pipefail", "errreturn", "privileged"];
/// What our script adds to the prompts of bash.
const PROMPT_REFERENCES: [&str; 3] = ["${__cohab_b-}", "${__cohab_p2-}", "${__cohab_c-}"];

/// What a shell wrote about itself. May be cut or anything else: taking it apart then gives `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Which shell wrote it.
    pub shell: Shell,
    /// The whole file.
    pub bytes: Vec<u8>,
}

impl Listing {
    /// What the shell is like.
    #[must_use]
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.parts()?.read(|_| true)
    }

    /// What changed until a later listing of the same shell.
    #[must_use]
    pub fn change_until(&self, later: &Self) -> Option<StateChange> {
        let (before, after) = (self.parts()?, later.parts()?);
        if self.shell != later.shell {
            return None;
        }
        // Most of it is the same each time. The variables need all of their parts.
        let kinds = layout(self.shell);
        let differs = |index: usize| before.texts[index] != after.texts[index];
        let variables = |index: usize| matches!(kinds[index], Part::Exported | Part::Variables | Part::TypedVariables);
        let variables_differ = (0..kinds.len()).any(|index| variables(index) && differs(index));
        let wanted = |index| differs(index) || (variables_differ && variables(index));
        Some(StateChange::between(&before.read(wanted)?, &after.read(wanted)?))
    }

    fn parts(&self) -> Option<Parts<'_>> {
        let kinds = layout(self.shell);
        let mut texts = self.bytes.split(|byte| *byte == 0).collect::<Vec<_>>();
        // The end tells that nothing is cut off.
        if kinds.is_empty() || texts.len() <= kinds.len() || texts.pop() != Some(b".") {
            return None;
        }
        let stack = texts.split_off(kinds.len());
        Some(Parts { kinds, texts, stack })
    }
}

fn layout(shell: Shell) -> &'static [Part] {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        Shell::Other => &[],
    }
}

/// A listing, cut at its NULs: as many texts as kinds.
struct Parts<'a> {
    kinds: &'static [Part],
    texts: Vec<&'a [u8]>,
    stack: Vec<&'a [u8]>,
}

impl Parts<'_> {
    /// Reads the parts that are wanted, and the directory stack.
    fn read(&self, wanted: impl Fn(usize) -> bool) -> Option<Snapshot> {
        let mut snapshot = Snapshot::new();
        if !self.stack.is_empty() {
            snapshot.insert(Item::DirectoryStack, self.stack.iter().map(|folder| folder.to_vec()).collect());
        }
        let is_fish = self.kinds == FISH;
        for (index, (kind, text)) in self.kinds.iter().zip(&self.texts).enumerate() {
            if wanted(index) {
                read_part(*kind, text, is_fish, &mut snapshot)?;
            }
        }
        let exported: Vec<String> = exported_names(&snapshot).map(str::to_owned).collect();
        for name in exported {
            snapshot.remove(&Item::Variable(name.clone()));
            snapshot.remove(&Item::Prompt(name));
        }
        Some(snapshot)
    }
}

fn exported_names(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    snapshot.keys().filter_map(|item| match item {
        Item::Exported(name) => Some(name.as_str()),
        _ => None,
    })
}

fn read_part(kind: Part, text: &[u8], is_fish: bool, snapshot: &mut Snapshot) -> Option<()> {
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
        Part::Abbreviations => insert_names(snapshot, names(text, b'\n'), Item::Abbreviation),
        Part::Variables => insert_variables(snapshot, names(text, b'\n')),
        Part::TypedVariables => insert_variables(snapshot, plain_variables(text)),
        Part::Jobs => {
            let pids = names(text, b'\n').filter(|line| line.bytes().all(|byte| byte.is_ascii_digit()));
            pids.for_each(|pid| insert(snapshot, Item::Job(pid.to_owned()), Value::new()));
        }
    }
    Some(())
}

fn insert(snapshot: &mut Snapshot, item: Item, value: Value) {
    snapshot.insert(item, value);
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

/// The prompts are told by their values.
fn insert_variables<'a>(snapshot: &mut Snapshot, names: impl Iterator<Item = &'a str>) {
    insert_names(snapshot, names.filter(|name| !matches!(*name, "PS1" | "RPS1")), Item::Variable);
}

/// Those that are neither local nor exported, of names and types in turn.
fn plain_variables(text: &[u8]) -> impl Iterator<Item = &str> {
    let mut lines = names(text, b'\n');
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
        .filter(|(_, kind)| !kind.contains("local") && !kind.contains("export"))
        .map(|(name, _)| name)
}

/// What stands between separators and is a name: text, not empty.
fn names(text: &[u8], separator: u8) -> impl Iterator<Item = &str> {
    text.split(move |byte| *byte == separator)
        .filter_map(|name| str::from_utf8(name).ok())
        .filter(|name| !name.is_empty())
}

fn is_reported(name: &str) -> bool {
    !["__cohab_", "__fish_", "BASH_"].iter().any(|own| name.starts_with(own)) && !OWN_VARIABLES.contains(&name)
}

/// Lines of bash's `export -p`, `declare -x NAME="value"` with more letters beside the `x`, or in posix mode `export
/// NAME="value"`; or of zsh `NAME='value'`. Names without a value are left out.
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
            // An empty text, and so it is to programs.
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
        while !text.starts_with(b"\n") {
            let (name, rest) = word(text)?;
            let (value, rest) = word(rest.strip_prefix(b" ")?)?;
            text = rest.strip_prefix(b" ").unwrap_or(rest);
            if let Ok(name) = String::from_utf8(name) {
                insert(snapshot, Item::Alias(kind, name), vec![value]);
            }
        }
        text = &text[1..];
    }
    Some(())
}

/// A prompt as the user wrote it.
fn without_references(prompt: &[u8]) -> Vec<u8> {
    let mut rest = prompt;
    let mut clean = Vec::with_capacity(prompt.len());
    'next: while let Some((byte, after)) = rest.split_first() {
        for reference in PROMPT_REFERENCES {
            if let Some(after) = rest.strip_prefix(reference.as_bytes()) {
                rest = after;
                continue 'next;
            }
        }
        clean.push(*byte);
        rest = after;
    }
    clean
}
