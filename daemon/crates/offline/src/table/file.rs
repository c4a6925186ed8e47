//! Reads the tables of intents. A table is text: a name in brackets begins an intent, and each further line is a key, a colon and a text.
//!
//! ```text
//! [files.symlink]
//! about: make a symbolic link
//! say: symlink {path} to {new}
//! run: ln -s -- {path} {new}
//! else: ...
//! answer: `{new}` points at `{path}` now.
//! empty: ...
//! failed: ...
//! ```

use std::sync::LazyLock;

use super::features::hash;

macro_rules! tables {
    ($($name:literal)*) => {
        /// The tables, by name.
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../intents/", $name, ".intents")))),*];
    };
}

tables! {
    "admin"
    "archives1"
    "archives2"
    "data"
    "databases"
    "dates"
    "disk"
    "docker"
    "environment"
    "errors"
    "files-change"
    "files-find"
    "files-look"
    "git-commit-undo"
    "git-log"
    "git-merge-remote"
    "git-more"
    "git-repo"
    "git-stash-branch"
    "git-status-diff"
    "howto"
    "images"
    "media"
    "more"
    "more-commands"
    "more-errors"
    "more-howto"
    "more1"
    "more2"
    "more3"
    "more4"
    "more5"
    "network"
    "numbers"
    "ops-more"
    "packages"
    "packages-other"
    "pdf"
    "perms"
    "processes"
    "project"
    "python-node-rust"
    "schedule"
    "services"
    "shell"
    "sums"
    "system"
    "talk"
    "text-columns"
    "text-edit"
    "text-formats"
    "text-view"
    "units"
    "users"
}

/// All intents, in the order of the files. An intent that cannot be read is left out; a test finds it.
pub(super) static INTENTS: LazyLock<Vec<TableIntent>> =
    LazyLock::new(|| FILES.iter().flat_map(|(_, text)| read(text)).filter_map(Result::ok).collect());

/// A command, and another one that is tried if it fails.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedCommand {
    /// The command line with slots.
    pub(super) line: &'static str,
    /// The command line that is tried next.
    pub(super) fallback: Option<&'static str>,
}

/// An intent as it stands in its table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TableIntent {
    /// `topic.what`, unique.
    pub(super) name: &'static str,
    /// What it does, an infinitive phrase.
    pub(super) about: &'static str,
    /// Requests that mean it, with slots.
    pub(super) says: Vec<&'static str>,
    /// The commands, run in order.
    pub(super) commands: Vec<PlannedCommand>,
    /// The answer if all commands succeed.
    pub(super) answer: Option<&'static str>,
    /// The answer if the last command printed nothing.
    pub(super) empty: Option<&'static str>,
    /// The answer if a command fails.
    pub(super) failed: Option<&'static str>,
}

/// The hash of all tables.
pub(super) fn hash_of_tables() -> u32 {
    hash(&FILES.iter().flat_map(|(name, text)| [*name, *text]).collect::<Vec<_>>())
}

/// Reads a table. Each intent is a result; the error names the intent and the line that is wrong.
pub(super) fn read(text: &'static str) -> Vec<Result<TableIntent, String>> {
    let mut intents: Vec<Result<TableIntent, String>> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            intents.push(Ok(TableIntent { name, ..TableIntent::default() }));
        } else if let Some(last) = intents.last_mut()
            && let Ok(intent) = last
            && let Err(reason) = add(intent, line)
        {
            *last = Err(format!("{}: {reason}", intent.name));
        }
    }
    let complete = |intent: TableIntent| {
        let is_whole = !intent.says.is_empty() && (!intent.commands.is_empty() || intent.answer.is_some());
        if is_whole { Ok(intent) } else { Err(format!("{}: `say`, and `run` or `answer`, are missing", intent.name)) }
    };
    intents.into_iter().map(|intent| intent.and_then(complete)).collect()
}

fn add(intent: &mut TableIntent, line: &'static str) -> Result<(), String> {
    let (key, value) = line.split_once(':').ok_or_else(|| format!("no key in `{line}`"))?;
    let value = value.trim();
    match key {
        "about" => intent.about = value,
        "say" => intent.says.push(value),
        "run" => intent.commands.push(PlannedCommand { line: value, fallback: None }),
        "else" => {
            let command = intent.commands.last_mut().ok_or("`else` without `run`")?;
            command.fallback = Some(value);
        }
        "answer" => intent.answer = Some(value),
        "empty" => intent.empty = Some(value),
        "failed" => intent.failed = Some(value),
        _ => return Err(format!("`{key}` is no key")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_intent_of_every_table_can_be_read() {
        for (file, text) in FILES {
            for intent in read(text) {
                let intent = intent.unwrap_or_else(|reason| panic!("{file}: {reason}"));
                assert!(!intent.about.is_empty(), "{file}: {} has no `about`", intent.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut seen = HashSet::new();
        for intent in INTENTS.iter() {
            assert!(seen.insert(intent.name), "{} is there twice", intent.name);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, reason) in [
            ("[a.b]\nsay: x", "a.b: `say`, and `run` or `answer`, are missing"),
            ("[a.b]\nsay: x\nrun: y\nelsewhere: z", "a.b: `elsewhere` is no key"),
            ("[a.b]\nelse: x", "a.b: `else` without `run`"),
            ("[a.b]\nnothing", "a.b: no key in `nothing`"),
        ] {
            assert_eq!(read(text), [Err(reason.to_owned())], "{text}");
        }
    }
}
