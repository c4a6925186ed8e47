//! The intents of all topics, one topic per file, and the shapes of answer that they share. Matching and running are in `matching` and
//! `run`.

mod archives;
mod chores;
mod disk;
mod failures;
mod files;
mod git;
mod git_changes;
mod help;
mod network;
mod packages;
mod people;
mod permissions;
mod ports;
mod processes;
mod reading;
mod services;
mod shell;
mod system;
mod text;
mod trees;

use super::{
    answer::{block, counted, list},
    intent::Intent,
    run::{Output, Reply, Run, Step},
};

/// Most lines that a listing command returns.
const MAX_LISTED: usize = 200;
/// Excludes names that would look like several in a listing by lines. Only for listings that are acted on.
const NO_CONTROL: &str = "-not -path '*[[:cntrl:]]*'";

/// All intents. Of equally good ones the first wins.
pub(super) fn intents() -> impl Iterator<Item = &'static Intent> {
    [
        chores::INTENTS,
        disk::INTENTS,
        files::INTENTS,
        trees::INTENTS,
        reading::INTENTS,
        shell::INTENTS,
        text::INTENTS,
        processes::INTENTS,
        ports::INTENTS,
        network::INTENTS,
        git::INTENTS,
        git_changes::INTENTS,
        archives::INTENTS,
        permissions::INTENTS,
        packages::INTENTS,
        services::INTENTS,
        system::INTENTS,
        people::INTENTS,
        failures::INTENTS,
        help::INTENTS,
    ]
    .into_iter()
    .flatten()
}

/// Runs a line and shows all of its output under a sentence.
fn show(run: &mut Run<'_>, line: &str, head: &str, empty: &str) -> Step {
    let output = run.shell(line)?;
    Ok(Reply::new(shown(&output, head, empty)))
}

fn shown(output: &Output, head: &str, empty: &str) -> String {
    let lines = output.lines();
    if lines.is_empty() { empty.to_owned() } else { format!("{head}\n\n{}", block(&lines, "text")) }
}

/// Runs a line that prints one name per line, and lists them under "3 files KIND:".
fn list_files(run: &mut Run<'_>, line: &str, kind: &str) -> Step {
    let output = run.shell(&format!("{line} | head -n {MAX_LISTED}"))?;
    let lines = output.lines();
    if lines.is_empty() {
        return Ok(Reply::new(format!("I found nothing {kind}.")));
    }
    let one = kind.replacen("that are broken links", "that is a broken link", 1).replacen("that are ", "that is ", 1);
    let kind = if lines.len() == 1 { &one } else { kind };
    let at_least = if lines.len() >= MAX_LISTED { "At least " } else { "" };
    let text = format!("{at_least}{} {kind}:\n\n{}", counted(lines.len(), "match", "matches"), list(&lines));
    let find = line.strip_suffix(" 2> /dev/null").unwrap_or(line);
    let again = format!("{find} {NO_CONTROL} 2> /dev/null | head -n {MAX_LISTED}");
    Ok(Reply::listing(lines.into_iter().map(str::to_owned).collect(), Some(again), text))
}

/// Splits a line at its first spaces into a head and the rest, which may contain spaces.
fn split_first(line: &str) -> Option<(&str, &str)> {
    let (head, rest) = line.trim_start().split_once(char::is_whitespace)?;
    Some((head, rest.trim_start()))
}
