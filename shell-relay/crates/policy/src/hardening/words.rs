//! Lists the words that keep programs read-only, and their place in a command.

use cohab_shell_syntax::{Join, SimpleCommand, Word};

use super::super::rules::{git, misc_programs, option_table, xargs};

/// Words to insert behind a word of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Insertion {
    /// The number of the word; 0 is the program.
    pub after: usize,
    pub words: &'static [&'static str],
}

/// In front of each subcommand of git: no pager, no lock, no program or hook that the repository names; and `log -p` reports a repository
/// within this one without starting git there.
const GIT: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "diff.submodule=short",
    "-c",
    "log.showSignature=false",
];
/// `git config` starts nothing but a pager, and would list the settings above as if they were the user's.
const GIT_CONFIG: &[&str] = &["--no-pager"];
const NO_PROGRAMS: &[&str] = &["--no-ext-diff", "--no-textconv"];
const NO_SUBMODULES: &[&str] = &["--ignore-submodules=all"];
const NEITHER: &[&str] = &["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

/// The insertions for a command that was judged read-only, in order; empty if none is known to be needed.
pub(super) fn insertions(words: &[Word]) -> Vec<Insertion> {
    let Some((name, operands)) = words.split_first() else { return Vec::new() };
    let is_question = matches!(operands, [only] if matches!(only.text.as_str(), "--help" | "--version"));
    let behind_the_name = |words| vec![Insertion { after: 0, words }];
    match name.text.as_str() {
        _ if is_question => Vec::new(),
        "git" => of_git(operands),
        "rg" => behind_the_name(&["--no-config"]),
        "xargs" if xargs::ends_options(operands) => vec![Insertion { after: operands.len(), words: &["--"] }],
        "lsof" => behind_the_name(&["-nP"]),
        // Otherwise it asks a name server for the names of connected hosts.
        "netstat" => behind_the_name(&["-n"]),
        "journalctl" | "systemctl" | "resolvectl" | "networkctl" | "machinectl" | "coredumpctl" | "systemd-cgls"
        | "loginctl" | "timedatectl" | "localectl" | "bootctl" => behind_the_name(&["--no-pager"]),
        // Otherwise it asks its registry, once in a while, for a newer version of itself.
        "npm" if operands.len() > 1 => vec![Insertion { after: 1, words: &["--no-update-notifier"] }],
        "systemd-analyze" if operands.iter().all(|word| word.text != "--no-pager") => behind_the_name(&["--no-pager"]),
        "bat" | "batcat" if operands.iter().all(|word| !says_paging(&word.text)) => {
            behind_the_name(&["--paging=never"])
        }
        // Without modules from the folder, from the user's own folders, or from a variable's folder.
        "python3" if operands.first().is_some_and(|word| word.text == "-m") => behind_the_name(&["-I"]),
        // Without the program that `LESSOPEN` names.
        "less" => behind_the_name(&["-L"]),
        "shellcheck" => behind_the_name(&["--norc"]),
        // Otherwise it would put a database back into order, and remove what its journal names.
        "sqlite3" => behind_the_name(&["-readonly"]),
        "aws" => behind_the_name(&["--no-cli-pager"]),
        name => option_table::options_end(name, operands)
            .map(|after| Insertion { after, words: &["--"] })
            .into_iter()
            .collect(),
    }
}

fn says_paging(word: &str) -> bool {
    word == "-P" || word.starts_with("--paging")
}

/// Whether the first of these commands is a pager that would wait for keys: it does so unless its output is redirected.
pub(super) fn pages_to_the_terminal(commands: &[SimpleCommand]) -> bool {
    let is_pager = |command: &SimpleCommand| match command.words.split_first() {
        Some((_, [only])) if matches!(only.text.as_str(), "--help" | "--version") => false,
        Some((name, words)) => name.text == "less" || (name.text == "man" && !misc_programs::is_search_of_pages(words)),
        None => false,
    };
    let is_piped = |command: &SimpleCommand| command.join == Join::Pipe;
    commands.first().is_some_and(is_pager) && !commands.get(1).is_some_and(is_piped)
}

/// The insertions for the words behind `git`.
fn of_git(words: &[Word]) -> Vec<Insertion> {
    let rest = git::invocation(words).words;
    let Some((subcommand, operands)) = rest.split_first() else { return Vec::new() };
    let after = words.len() - operands.len();
    let first = operands.first().map(|word| word.text.as_str());
    let behind = match (subcommand.text.as_str(), first) {
        ("version" | "--version" | "--help", _) => return Vec::new(),
        ("config", _) => return vec![Insertion { after: 0, words: GIT_CONFIG }],
        ("status", _) => Some((after, NO_SUBMODULES)),
        ("diff" | "diff-files" | "diff-index", _) => Some((after, NEITHER)),
        ("log" | "show" | "whatchanged" | "diff-tree", _) => Some((after, NO_PROGRAMS)),
        ("blame" | "annotate", _) => Some((after, &NO_PROGRAMS[1..])),
        ("reflog", Some("exists" | "list")) => None,
        ("reflog", Some("show")) => Some((after + 1, NO_PROGRAMS)),
        ("reflog", _) => Some((after, NO_PROGRAMS)),
        ("stash", Some("list")) => Some((after + 1, NO_PROGRAMS)),
        // With any option it shows the change instead of the list of files, and for that list it starts nothing.
        ("stash", Some("show")) if operands.iter().any(|word| word.text.starts_with('-')) => {
            Some((after + 1, NO_PROGRAMS))
        }
        _ => None,
    };
    let in_front = Insertion { after: 0, words: GIT };
    std::iter::once(in_front).chain(behind.map(|(after, words)| Insertion { after, words })).collect()
}
