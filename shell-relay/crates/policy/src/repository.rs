//! Judges the settings of a repository, and the shell's environment, that would make git start programs on commands that only read.
//! Pure: `cohab_policy_io::git_settings` asks git for the settings.

use std::path::{Path, PathBuf};

use cohab_shell_state::state::{Item, Snapshot};
use cohab_shell_syntax::{SimpleCommand, Word};

use super::{
    Context,
    caveat::{Caveat, Setting},
    rules::{self, git},
};

/// Settings that name programs, files of settings, or sources of data. `*` stands for anything.
const DECIDING: &[&str] = &[
    "alias.*",
    "core.alternaterefscommand",
    "core.askpass",
    "core.attributesfile",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "core.worktree",
    "credential.*",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "extensions.partialclone",
    "filter.*",
    "format.pretty",
    "gpg.*",
    "include.path",
    "includeif.*",
    "interactive.difffilter",
    "lfs.*standalonetransferagent",
    "lfs.customtransfer.*",
    "lfs.extension.*",
    "log.showsignature",
    "merge.*.driver",
    "pager.*",
    "pretty.*",
    "protocol.*",
    "remote.*.promisor",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "remote.*.vcs",
    "trailer.*",
    "url.*.insteadof",
];
/// Scopes decided by a repository, or by the program that started the shell. The others are the user's and the system's own files.
const FOREIGN_SCOPES: &[&str] = &["local", "worktree", "command"];
/// Variables of git's that no command which only reads uses, or that the inserted words override.
const PLAIN_VARIABLES: &[&str] =
    &["GIT_ASKPASS", "GIT_EDITOR", "GIT_MERGE_AUTOEDIT", "GIT_PAGER", "GIT_SEQUENCE_EDITOR", "GIT_TERMINAL_PROMPT"];
const PLAIN_VARIABLE_GROUPS: &[&str] = &["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_PS1_"];
/// The folders in which a plain line may start git, as the system would find them: `..` behind a link leads to the parent of its target.
pub(super) fn git_folders(commands: &[SimpleCommand], context: Context<'_>) -> Vec<PathBuf> {
    let mut places = vec![context.cwd.to_owned()];
    let mut folders = Vec::new();
    for command in commands {
        match command.words.split_first() {
            Some((name, _)) if name.text == "cd" => {
                let targets: Vec<_> =
                    places.iter().filter_map(|place| rules::cd_target(command, context.at(place))).collect();
                targets.into_iter().for_each(|target| add(&mut places, target));
            }
            Some((name, words)) if name.text == "git" => {
                let directory = git::invocation(words).directory;
                for place in &places {
                    add(&mut folders, directory.map_or_else(|| place.clone(), |word| led_to(word, place, context)));
                }
            }
            _ => {}
        }
    }
    folders
}

fn add(paths: &mut Vec<PathBuf>, path: PathBuf) {
    if !paths.contains(&path) {
        paths.push(path);
    }
}

fn led_to(word: &Word, place: &Path, context: Context<'_>) -> PathBuf {
    match word.text.strip_prefix('~').filter(|_| word.has_tilde) {
        Some(rest) => context.home.join(rest.trim_start_matches('/')),
        None => place.join(&word.text),
    }
}

/// The settings among `listing`, the output of `git config --null --list --show-scope`, that a repository decides and that name programs.
/// `None` if the text is not such a listing.
#[must_use]
pub fn planted(listing: &[u8]) -> Option<Vec<Setting>> {
    let mut found = Vec::new();
    let text = String::from_utf8_lossy(listing);
    let mut fields = text.split_terminator('\0');
    while let Some(scope) = fields.next() {
        let setting = fields.next()?;
        let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
        if FOREIGN_SCOPES.contains(&scope) && decides(&key.to_lowercase(), value) {
            found.push(Setting { key: key.to_owned(), value: value.to_owned() });
        } else if !FOREIGN_SCOPES.contains(&scope) && !matches!(scope, "system" | "global") {
            return None;
        }
    }
    listing.last().is_none_or(|last| *last == 0).then_some(found)
}

fn decides(key: &str, value: &str) -> bool {
    // These settings switch a program of git's own on or off; the inserted words switch it off in any case.
    if key == "core.fsmonitor" && matches!(value, "true" | "false") {
        return false;
    }
    DECIDING.iter().any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => key.len() >= start.len() + end.len() && key.starts_with(start) && key.ends_with(end),
        None => key == *pattern,
    })
}

/// The caveat about such settings of the repository at `top`; `None` without such settings.
#[must_use]
pub fn why_planted(settings: Vec<Setting>, top: PathBuf) -> Option<Caveat> {
    (!settings.is_empty()).then_some(Caveat::GitSettings { settings, top })
}

/// The caveat about variables of the shell's environment that change git's behaviour; `None` without such variables.
#[must_use]
pub fn git_variables(shell: &Snapshot) -> Option<Caveat> {
    let deciding = |name: &str| {
        name.starts_with("GIT_")
            && !PLAIN_VARIABLES.contains(&name)
            && !PLAIN_VARIABLE_GROUPS.iter().any(|group| name.starts_with(group))
    };
    let names = shell.keys().filter_map(|item| match item {
        Item::Exported(name) if deciding(name) => Some(name.clone()),
        _ => None,
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then_some(Caveat::GitVariables(names))
}

#[cfg(test)]
mod tests;
