//! What of a listing counts: the user's names and texts, without those of our own scripts.

use super::{Item, Snapshot, Value};

/// Variables that each command changes by itself, that belong to the shell's internals, or that are local to our hooks.
const OWN_VARIABLES: [&str; 32] = [
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
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_MONOSECONDS",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_TRAPSIG",
];
/// References that our script adds to the prompts of bash.
const PROMPT_REFERENCES: [&str; 3] = ["${__cohab_b-}", "${__cohab_p2-}", "${__cohab_c-}"];

pub(super) fn insert(snapshot: &mut Snapshot, item: Item, value: Value) {
    snapshot.insert(item, value);
}

/// The names between separators: text, not empty.
pub(super) fn names(text: &[u8], separator: u8) -> impl Iterator<Item = &str> {
    text.split(move |byte| *byte == separator)
        .filter_map(|name| str::from_utf8(name).ok())
        .filter(|name| !name.is_empty())
}

pub(super) fn is_reported(name: &str) -> bool {
    !["__cohab_", "__fish_"].iter().any(|own| name.starts_with(own)) && !OWN_VARIABLES.contains(&name)
}

/// A prompt as the user wrote it.
pub(super) fn without_references(prompt: &[u8]) -> Vec<u8> {
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
