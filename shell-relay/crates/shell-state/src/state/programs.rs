//! Reads from a listing how the shell resolves the name of a program: its table of programs, its builtins.

use super::{
    Item, Snapshot,
    reported::{insert, names},
    word::word,
};

/// Lines `builtin hash -p PATH NAME`.
pub(super) fn hash_commands(text: &[u8], snapshot: &mut Snapshot) {
    let folders = folders(snapshot);
    for line in text.split(|byte| *byte == b'\n') {
        let Some(rest) = line.strip_prefix(b"builtin hash -p ") else { continue };
        let path = word(rest);
        let name = path.as_ref().and_then(|(_, rest)| word(rest.strip_prefix(b" ")?));
        if let (Some((path, _)), Some((name, _))) = (path, name) {
            insert_program(&name, path, &folders, snapshot);
        }
    }
}

/// Names and paths in turn, a line each.
pub(super) fn hash_table(text: &[u8], snapshot: &mut Snapshot) {
    let folders = folders(snapshot);
    let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    while let (Some(name), Some(path)) = (lines.next(), lines.next()) {
        insert_program(name, path.to_vec(), &folders, snapshot);
    }
}

fn folders(snapshot: &Snapshot) -> Vec<Vec<u8>> {
    let path = snapshot.get(&Item::Exported("PATH".into())).into_iter().flatten();
    path.flat_map(|list| list.split(|byte| *byte == b':')).map(<[u8]>::to_vec).collect()
}

/// Inserts a program, unless it is a file of that name in a folder of PATH, which the shell has found by itself.
fn insert_program(name: &[u8], path: Vec<u8>, folders: &[Vec<u8>], snapshot: &mut Snapshot) {
    let is_found = path.strip_suffix(name).and_then(|folder| folder.strip_suffix(b"/")).is_some_and(|folder| {
        let is_it = |other: &Vec<u8>| other == folder || other.strip_suffix(b"/") == Some(folder);
        folder.starts_with(b"/") && folders.iter().any(is_it)
            || folder.is_empty() && folders.iter().any(|other| other == b"/")
    });
    if !is_found && let Ok(name) = String::from_utf8(name.to_vec()) {
        insert(snapshot, Item::Hashed(name), vec![path]);
    }
}

/// Lines `enable NAME` and `enable -n NAME`.
pub(super) fn enable_commands(text: &[u8], snapshot: &mut Snapshot) {
    for line in names(text, b'\n') {
        let Some(name) = line.strip_prefix("enable ") else { continue };
        match name.strip_prefix("-n ") {
            Some(name) => insert(snapshot, Item::Builtin(name.to_owned()), vec![b"off".to_vec()]),
            None => insert(snapshot, Item::Builtin(name.to_owned()), vec![b"on".to_vec()]),
        }
    }
}

/// Names, an empty line, names of those that are off.
pub(super) fn builtins(text: &[u8], snapshot: &mut Snapshot) {
    let mut is_on = true;
    for line in text.split(|byte| *byte == b'\n') {
        match str::from_utf8(line) {
            Ok("") => is_on = false,
            Ok(name) => {
                let value = if is_on { b"on".to_vec() } else { b"off".to_vec() };
                insert(snapshot, Item::Builtin(name.to_owned()), vec![value]);
            }
            Err(_) => {}
        }
    }
}
