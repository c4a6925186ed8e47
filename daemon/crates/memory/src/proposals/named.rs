//! What commands and files name: the package manager, the default branch, hosts, containers. Pure.

use std::collections::BTreeMap;

use super::{LEAST_RUNS, MAX_NAME_BYTES, MAX_NAMES, Proposal, is_single};

/// The place of the name in a fact.
const PLACE: &str = "_";

/// The facts that these lines name, which went well so often.
pub(super) fn of_commands(runs: &BTreeMap<&str, u64>) -> Vec<Proposal> {
    let lines: Vec<(&str, Vec<&str>, u64)> = runs
        .iter()
        .filter(|(line, _)| is_single(line))
        .map(|(line, count)| (*line, line.split_whitespace().collect(), *count))
        .collect();
    rows(include_str!("../named.table")).flat_map(|row| of_row(row, &lines)).collect()
}

fn of_row(row: &str, lines: &[(&str, Vec<&str>, u64)]) -> Vec<Proposal> {
    let Some((fact, commands)) = row.split_once(" : ") else { return Vec::new() };
    // The runs of each name, and its most frequent line.
    let mut names = BTreeMap::<&str, (u64, &str, u64)>::new();
    for command in commands.split(", ") {
        let pattern: Vec<&str> = command.split(' ').collect();
        for (line, words, count) in lines {
            if let Some(name) = name_in(&pattern, words) {
                let (all, best, most) = names.entry(name).or_insert((0, line, 0));
                *all += count;
                if *count > *most {
                    (*best, *most) = (line, *count);
                }
            }
        }
    }
    let mut names: Vec<_> = names.into_iter().filter(|(_, (all, ..))| *all >= LEAST_RUNS).collect();
    names.sort_by_key(|(name, (all, ..))| (std::cmp::Reverse(*all), *name));
    let most = if commands.contains("{}") { MAX_NAMES } else { 1 };
    let proposal = |(name, (runs, line, _)): (&str, (u64, &str, u64))| Proposal {
        text: fact.replace(PLACE, name),
        line: line.to_owned(),
        runs,
    };
    names.into_iter().take(most).map(proposal).collect()
}

/// The name in a command that fits the pattern. Words may follow.
fn name_in<'a>(pattern: &[&str], words: &[&'a str]) -> Option<&'a str> {
    let (mut words, mut name, mut with_value): (_, _, Vec<&str>) = (words.iter(), None, Vec::new());
    let mut pattern = pattern.iter().copied().peekable();
    while let Some(part) = pattern.next() {
        if let Some(first) = part.strip_prefix('[') {
            with_value.push(first.trim_end_matches(']'));
            let mut is_open = !part.ends_with(']');
            while is_open && let Some(more) = pattern.next() {
                with_value.push(more.trim_end_matches(']'));
                is_open = !more.ends_with(']');
            }
            continue;
        }
        loop {
            let word = *words.next()?;
            if part == word {
                break;
            }
            if word.starts_with('-') {
                if with_value.contains(&word) {
                    words.next();
                }
            } else {
                name = Some(captured(part, word)?);
                break;
            }
        }
    }
    name
}

/// The name in a word that fits `before{a|b}behind`.
fn captured<'a>(part: &str, word: &'a str) -> Option<&'a str> {
    let (before, rest) = part.split_once('{')?;
    let (choices, behind) = rest.split_once('}')?;
    let name = word.strip_prefix(before)?.strip_suffix(behind)?;
    // Of `ann@blue` the host is the name.
    let name = name.rsplit('@').next().unwrap_or(name);
    let fits = if choices.is_empty() { is_name(name) } else { choices.split('|').any(|choice| choice == name) };
    fits.then_some(name)
}

/// The facts that files name; `read` returns the beginning of a file in the project's root.
pub(super) fn of_files(mut read: impl FnMut(&str) -> Option<String>) -> Vec<Proposal> {
    let mut proposals = Vec::<Proposal>::new();
    for row in rows(include_str!("../files.table")) {
        let mut cells = row.splitn(3, " : ");
        let (Some(fact), Some(file)) = (cells.next(), cells.next()) else { continue };
        // One package manager and one branch, but several containers.
        let subject = fact.split('`').next().unwrap_or_default();
        let is_known = proposals.iter().any(|known| known.text.starts_with(subject) && known.line != file);
        let Some(text) = (!is_known).then(|| read(file)).flatten() else { continue };
        let names = match cells.next() {
            None => vec![String::new()],
            Some(line) => names_in(line, &text),
        };
        let proposal = |name: String| Proposal { text: fact.replace(PLACE, &name), line: file.to_owned(), runs: 0 };
        proposals.extend(names.into_iter().map(proposal));
    }
    proposals
}

/// The names in the lines of a text that have what stands around `{}`.
fn names_in(pattern: &str, text: &str) -> Vec<String> {
    let Some((before, behind)) = pattern.split_once("{}") else { return Vec::new() };
    let name = |line: &str| {
        let rest = line.split_once(before)?.1;
        let rest = if behind.is_empty() { rest } else { rest.split_once(behind)?.0 };
        let name = rest.trim().trim_matches(['"', '\'']);
        is_name(name).then(|| name.to_owned())
    };
    let mut names = Vec::new();
    for name in text.lines().filter_map(name) {
        if names.len() < MAX_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The rows of a table.
fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|row| !row.starts_with('#'))
}

/// Whether a word is a name: of a host, a container, a branch.
fn is_name(word: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    word.len() <= MAX_NAME_BYTES
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(is_of_name)
}

#[cfg(test)]
#[path = "named_tests.rs"]
mod tests;
