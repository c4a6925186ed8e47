//! Reads the definitions in a listing: variables, traps, functions, completions. Only a hash of each is kept, to detect changes.
//! Names come from another part of the listing where a text could forge them: a wrong cut shows as a change of a neighbour.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use super::{
    Item, Snapshot, Value,
    reported::{insert, is_reported, names, without_references},
    word::fish_word,
};

/// Prevents a search for a second text with the same hash. Holds for one run of the program.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
/// zsh's listing of a search path for `cd` that is not set.
const EMPTY_CDPATH: &[u8] = b" CDPATH cdpath=(  )";
/// A key of ours that is bound again as it is pressed.
const PASSING_KEY: &[u8] = b"[7391;b~";
/// Functions whose origin fish reports, in the order of `state.fish`; a listing with more or fewer is not believed.
const ORIGINS: [&str; 16] = [
    "cd",
    "diff",
    "dirs",
    "egrep",
    "fgrep",
    "grep",
    "help",
    "history",
    "isatty",
    "ls",
    "man",
    "fish_prompt",
    "fish_right_prompt",
    "fish_mode_prompt",
    "fish_title",
    "fish_command_not_found",
];

/// The hash that stands for a definition.
fn hash(text: &[u8]) -> Vec<u8> {
    KEY.hash_one(text).to_be_bytes().to_vec()
}

/// Cuts a text into pieces, each with its name. A piece begins with a line that `name` recognizes, and extends to the next one.
fn pieces<'a>(text: &'a [u8], name: impl Fn(&'a [u8]) -> Option<String>) -> Vec<(String, &'a [u8])> {
    let mut starts: Vec<(String, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        starts.extend(name(line.trim_ascii_end()).map(|name| (name, at)));
        at += line.len();
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|((name, start), end)| (name, &text[start..end])).collect()
}

fn text_of(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

/// Reads `declare -p` of bash and `typeset -p` of zsh.
pub(super) fn variables(text: &[u8], snapshot: &mut Snapshot) {
    let name = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        let is_one = words.next().is_some_and(|word| matches!(word, b"declare" | b"typeset" | b"export"));
        let name = words.find(|word| !word.starts_with(b"-"))?.split(|byte| *byte == b'=').next()?;
        if is_one { text_of(name) } else { None }
    };
    for (name, piece) in pieces(text, name) {
        // zsh always has it; an empty one decides nothing.
        if piece.trim_ascii_end().ends_with(EMPTY_CDPATH) {
            snapshot.remove(&Item::Variable(name));
            continue;
        }
        if name != "PS1" && is_reported(&name) {
            insert(snapshot, Item::Variable(name), vec![hash(&without_references(piece))]);
        }
    }
}

/// A line for each name, then one for each of its elements behind a `=`.
pub(super) fn fish_variables(text: &[u8], snapshot: &mut Snapshot) {
    let name = |line: &[u8]| if line.starts_with(b"=") { None } else { text_of(line) };
    for (name, piece) in pieces(text, name) {
        insert(snapshot, Item::Variable(name), vec![hash(piece)]);
    }
}

/// Lines `trap -- CODE SIGNAL`, of code that may have several lines; in zsh the functions that are traps, too.
pub(super) fn traps(text: &[u8], snapshot: &mut Snapshot) {
    let begins = |line: &[u8]| (line.starts_with(b"trap -- ") || line.starts_with(b"TRAP")).then(String::new);
    for (_, piece) in pieces(text, begins) {
        let last = piece.trim_ascii_end().rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let function = piece.split(|byte| *byte == b' ').next().and_then(|word| word.strip_prefix(b"TRAP"));
        let signal = function.unwrap_or(last);
        if let Some(signal) = text_of(signal.strip_prefix(b"SIG").unwrap_or(signal)) {
            insert(snapshot, Item::Trap(signal), vec![hash(piece)]);
        }
    }
}

/// Reads all key bindings.
pub(super) fn keys(text: &[u8], snapshot: &mut Snapshot) {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let kept: Vec<&[u8]> = lines.filter(|line| memchr::memmem::find(line, PASSING_KEY).is_none()).collect();
    insert(snapshot, Item::Keys, vec![hash(&kept.concat())]);
}

/// Reads lines `zle -N NAME FUNCTION`, the function only if its name differs, or `zle -C NAME WIDGET FUNCTION`.
pub(super) fn widgets(text: &[u8], snapshot: &mut Snapshot) {
    for line in names(text, b'\n') {
        let name = line.split(' ').nth(2).filter(|name| is_reported(name));
        if let Some(name) = name {
            insert(snapshot, Item::Widget(name.to_owned()), vec![hash(line.as_bytes())]);
        }
    }
}

/// Lines `complete OPTIONS NAME`.
pub(super) fn completions(text: &[u8], snapshot: &mut Snapshot) {
    let begins = |line: &[u8]| line.starts_with(b"complete ").then(String::new);
    for (_, piece) in pieces(text, begins) {
        let last = piece.trim_ascii_end().rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        if let Some(name) = text_of(last) {
            insert(snapshot, Item::Completion(name), vec![hash(piece)]);
        }
    }
}

/// Kinds of events in separate lines, then a line with an event and its function for each.
pub(super) fn handlers(text: &[u8], snapshot: &mut Snapshot) {
    let mut kind = "";
    for line in names(text, b'\n') {
        if let Some(next) = line.strip_prefix("Event ") {
            kind = next;
        } else if let Some(name) = line.rsplit(' ').next().filter(|name| !name.starts_with("__cohab_")) {
            let events = snapshot.entry(Item::Handler(name.to_owned())).or_default();
            events.push(format!("{kind} {line}").into_bytes());
        }
    }
}

/// Origins of functions, a line each. If a line end in a path could shift them, none is recorded.
pub(super) fn origins(text: &[u8], snapshot: &mut Snapshot) {
    let lines: Vec<&[u8]> = text.trim_ascii_end().split(|byte| *byte == b'\n').collect();
    if lines.len() != ORIGINS.len() {
        return;
    }
    for (name, origin) in ORIGINS.iter().zip(lines) {
        if let Some(value) = snapshot.get_mut(&Item::Function((*name).to_owned())) {
            *value = vec![Vec::new(), origin.to_vec()];
        }
    }
}

/// `declare -f`: the first line of each is `NAME () `.
pub(super) fn bodies(text: &[u8], snapshot: &mut Snapshot) {
    let known = |line: &[u8]| {
        let name = line.strip_suffix(b" ()")?;
        known_function(name.strip_prefix(b"function ").unwrap_or(name), snapshot)
    };
    insert_bodies(pieces(text, known), snapshot);
}

/// Names and bodies in turn, with a byte 1 between.
pub(super) fn joined_bodies(text: &[u8], snapshot: &mut Snapshot) {
    let mut pieces = text.split(|byte| *byte == 1);
    let mut found = Vec::new();
    while let (Some(name), Some(body)) = (pieces.next(), pieces.next()) {
        found.extend(known_function(name, snapshot).map(|name| (name, body)));
    }
    insert_bodies(found, snapshot);
}

/// Reads functions; each begins with `function NAME`, and its origin may precede it.
pub(super) fn fish_bodies(text: &[u8], snapshot: &mut Snapshot) {
    let known = |line: &[u8]| known_function(&fish_word(line.strip_prefix(b"function ")?)?.0, snapshot);
    let pieces = pieces(text, known).into_iter().map(|(name, piece)| (name, without_next_comment(piece)));
    insert_bodies(pieces.collect(), snapshot);
}

/// Cuts off the origin of the next function, which stands behind this one.
fn without_next_comment(piece: &[u8]) -> &[u8] {
    let piece = piece.trim_ascii_end();
    let last = memchr::memrchr(b'\n', piece).filter(|at| piece[at + 1..].starts_with(b"# Defined "));
    last.map_or(piece, |at| piece[..at].trim_ascii_end())
}

fn known_function(name: &[u8], snapshot: &Snapshot) -> Option<String> {
    text_of(name).filter(|name| snapshot.contains_key(&Item::Function(name.clone())))
}

/// A name that stands there twice counts with all of it.
fn insert_bodies(pieces: Vec<(String, &[u8])>, snapshot: &mut Snapshot) {
    for (name, piece) in pieces {
        let value: &mut Value = snapshot.entry(Item::Function(name)).or_default();
        match value.first_mut() {
            None => value.push(hash(piece)),
            Some(all) => *all = hash(&[all.as_slice(), piece].concat()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ORIGINS;
    use crate::{shell::Shell, state::script};

    #[test]
    fn fish_tells_of_these_functions_in_this_order() {
        let script = script(Shell::Fish).replace("\\\n", " ");
        let (_, list) = script.split_once("for __cohab_name in cd").expect("the list");
        let names: Vec<&str> = list.lines().next().expect("a line").split_whitespace().collect();
        assert_eq!(names, ORIGINS[1..]);
    }
}
