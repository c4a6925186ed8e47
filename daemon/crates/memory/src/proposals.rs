//! Proposes facts about a project from the commands that went well in it, and from its files. Pure.
//!
//! A proposal is no fact: it is given to no question before the user accepts it.

mod named;

use std::collections::BTreeMap;

/// A command counts as a habit from so many runs on.
pub const LEAST_RUNS: u64 = 3;
/// Longest command of a proposal, in bytes: a longer one is no habit.
const MAX_LINE_BYTES: usize = 120;
/// Longest name in a proposal, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Most names of which one row of the tables is proposed.
const MAX_NAMES: usize = 3;

/// A fact that commands or a file speak for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The fact: "this project is tested with `cargo nextest run`".
    pub text: String,
    /// The command, or the file.
    pub line: String,
    /// How often the commands went well; 0 if a file says it.
    pub runs: u64,
}

impl Proposal {
    /// Why it is proposed, for people.
    #[must_use]
    pub fn evidence(&self) -> String {
        if self.runs == 0 { format!("`{}` says so", self.line) } else { format!("it went well {} times", self.runs) }
    }
}

/// The proposals for a project in which these lines went well so often, one for each kind of work at most, and what they name.
///
/// ```
/// let proposals = cohab_memory::proposals::of([("cargo nextest run", 7), ("ls", 90)]);
/// assert_eq!(proposals[0].text, "this project is tested with `cargo nextest run`");
/// ```
#[must_use]
pub fn of<'a>(lines: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<Proposal> {
    let mut runs = BTreeMap::<&str, u64>::new();
    for (line, count) in lines {
        *runs.entry(line.trim()).or_default() += count;
    }
    let rows = include_str!("proposals.table").lines().filter(|row| !row.starts_with('#'));
    let kinds: Vec<(&str, &str)> = rows.filter_map(|row| row.split_once(" : ")).collect();
    let best = kinds.iter().filter_map(|(what, _)| {
        let fitting = runs.iter().filter(|(line, count)| **count >= LEAST_RUNS && kind_of(line, &kinds) == Some(*what));
        // Of lines as frequent as each other the shorter one says more in general.
        let (line, count) = fitting.max_by_key(|(line, count)| (**count, usize::MAX - line.len()))?;
        let text = format!("this project is {what} with `{line}`");
        Some(Proposal { text, line: (*line).to_owned(), runs: *count })
    });
    best.chain(named::of_commands(&runs)).collect()
}

/// The same, and what the files of the project say. `read` returns the beginning of a file in its root, if there is one. Where a file says
/// it, other names from commands count no more.
///
/// ```
/// let files = |name: &str| (name == "pnpm-lock.yaml").then(String::new);
/// let proposals = cohab_memory::proposals::with_files([("npm install", 4)], files);
/// assert_eq!(proposals[0].text, "the packages of this project are managed with `pnpm`");
/// assert_eq!(proposals.len(), 1);
/// ```
#[must_use]
pub fn with_files<'a>(
    lines: impl IntoIterator<Item = (&'a str, u64)>,
    read: impl FnMut(&str) -> Option<String>,
) -> Vec<Proposal> {
    let files = named::of_files(read);
    let subject = |proposal: &Proposal| proposal.text.split_once('`').map(|(subject, _)| subject.to_owned());
    let mut proposals = of(lines);
    proposals.retain(|proposal| files.iter().all(|file| subject(file) != subject(proposal)));
    files.into_iter().chain(proposals).collect()
}

/// The kind of work that a line does: that of the longest command that it begins with, so that `make test` is no `make`. A line of several
/// commands has none.
fn kind_of<'a>(line: &str, kinds: &[(&'a str, &str)]) -> Option<&'a str> {
    let begins =
        |command: &&str| line.strip_prefix(*command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let longest = |commands: &str| commands.split(", ").filter(begins).map(str::len).max();
    let fitting = kinds.iter().filter_map(|(what, commands)| Some((longest(commands)?, *what)));
    is_single(line).then(|| fitting.max_by_key(|(length, _)| *length)).flatten().map(|(_, what)| what)
}

/// Whether a line is one command, and short.
fn is_single(line: &str) -> bool {
    line.len() <= MAX_LINE_BYTES && !line.contains(['|', ';', '&', '\n', '`', '<', '>', '$'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[(&str, u64)]) -> Vec<String> {
        of(lines.iter().copied()).into_iter().map(|proposal| proposal.text).collect()
    }

    #[test]
    fn the_most_frequent_command_of_each_kind_is_proposed() {
        let lines = [("cargo test", 3), ("cargo nextest run -p shop", 9), ("make", 4), ("git status", 90)];
        assert_eq!(
            texts(&lines),
            ["this project is tested with `cargo nextest run -p shop`", "this project is built with `make`"]
        );
        assert_eq!(texts(&[("make test", 4)]), ["this project is tested with `make test`"]);
    }

    #[test]
    fn rare_commands_and_lines_of_several_propose_nothing() {
        let lines = [
            ("cargo test", 2),
            ("cargo testing", 9),
            ("cargo test | tee log", 9),
            ("rm -rf / ; make test", 9),
            ("", 9),
        ];
        assert_eq!(texts(&lines), Vec::<String>::new());
        assert_eq!(texts(&[("pytest", 2), ("pytest ", 1)]), ["this project is tested with `pytest`"]);
    }

    #[test]
    fn a_command_is_of_one_kind_only() {
        let mut seen = std::collections::BTreeSet::new();
        for row in include_str!("proposals.table").lines().filter(|row| !row.starts_with('#')) {
            let (_, commands) = row.split_once(" : ").unwrap();
            assert!(commands.split(", ").all(|command| seen.insert(command)), "{row}");
        }
    }
}
