//! Runs a table of cases in one shell.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use tempfile::TempDir;

use super::{
    case::{Case, parse},
    pair::Pair,
    shell::{Shell, named_path},
};
use crate::{
    binaries::{is_installed, program},
    deadline::lock,
};

/// Cases at a time: they mostly wait.
const JOBS: usize = 4;
/// Only cases whose name contains this run.
const FILTER: &str = "COHAB_SIDE_BY_SIDE";

/// The results of a table's cases.
#[derive(Debug, Default)]
pub struct Tally {
    /// Names of the cases that were equal.
    pub equal: Vec<String>,
    /// Name of those that were not, with the reports of both runs.
    pub different: Vec<(String, String)>,
    /// Name and reason of those that could not be run.
    pub skipped: Vec<(String, String)>,
}

/// Runs all cases of a table.
///
/// # Panics
/// If the table is invalid, or a case differs that is no exception, or an exception does not differ any more.
pub fn check(shell: Shell, table_name: &str, table: &str, exceptions: &str) {
    let Some(shell_program) = shell.program() else {
        say(&format!("SKIPPED: {shell} is not installed"));
        return;
    };
    let cases = parse(table, shell).unwrap_or_else(|reason| panic!("{table_name}.cases, {reason}"));
    let started = Instant::now();
    let tally = run(&wanted(cases), shell, &shell_program);
    for (name, reason) in &tally.skipped {
        say(&format!("SKIPPED: {shell}, {name}: {reason}"));
    }
    let (expected, wrong): (Vec<_>, Vec<_>) =
        tally.different.iter().partition(|(name, _)| is_exception(exceptions, shell, table_name, name));
    let stale: Vec<_> = tally.equal.iter().filter(|name| is_exception(exceptions, shell, table_name, name)).collect();
    say(&format!(
        "{shell}, {table_name}: {} equal, {} different, {} exceptions, {} skipped, {:.1} s",
        tally.equal.len(),
        wrong.len(),
        expected.len(),
        tally.skipped.len(),
        started.elapsed().as_secs_f64()
    ));
    let reports: String =
        wrong.iter().map(|(name, report)| format!("DIFFERENT: {shell}, {name}: {report}\n")).collect();
    assert!(wrong.is_empty(), "{} cases of {shell} differ\n{reports}", wrong.len());
    assert!(stale.is_empty(), "no exceptions any more: {stale:?}");
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn wanted(mut cases: Vec<Case>) -> Vec<Case> {
    if let Ok(filter) = std::env::var(FILTER) {
        cases.retain(|case| case.name.contains(&filter));
    }
    cases
}

fn is_exception(exceptions: &str, shell: Shell, table: &str, case: &str) -> bool {
    exceptions_of(exceptions, shell).contains(&format!("{table}: {case}").as_str())
}

/// The names of a shell's exceptions, each with its table. A line of their file is `shell | table: case | reason`.
#[must_use]
pub fn exceptions_of(exceptions: &str, shell: Shell) -> Vec<&str> {
    let lines = exceptions.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.split_once(" | "));
    let of_shell = fields.filter(|(word, _)| shell.is_meant(word));
    of_shell.map(|(_, rest)| rest.split_once(" | ").map_or(rest, |(name, _)| name)).collect()
}

fn run(cases: &[Case], shell: Shell, shell_program: &Path) -> Tally {
    let (_folder, cohab) = cohab_alone();
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    // Both shells are raced against their jobs and the terminal. A true difference repeats when its case runs alone.
    let once_different = Mutex::new(Vec::new());
    let compare = |case| Pair::start(case, shell, shell_program, &cohab).and_then(|pair| pair.run());
    thread::scope(|scope| {
        for _ in 0..JOBS.min(cases.len()) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case.name.clone();
                    if let Some(reason) = lacks(case) {
                        lock(&tally).skipped.push((name, reason));
                        continue;
                    }
                    match compare(case) {
                        Ok(()) => lock(&tally).equal.push(name),
                        Err(report) => lock(&once_different).push((case, report)),
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (case, first) in once_different.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let name = case.name.clone();
        match compare(case) {
            Ok(()) => {
                say(&format!("{shell}, {name}: differed once: {first}"));
                tally.equal.push(name);
            }
            Err(alone) => tally.different.push((name, both_runs(&first, &alone))),
        }
    }
    tally
}

/// The report of a case that differed next to others and again alone: the two runs may differ in different ways.
fn both_runs(first: &str, alone: &str) -> String {
    format!("in two runs\nnext to other cases: {first}alone: {alone}")
}

/// A requirement of a case that this machine lacks.
fn lacks(case: &Case) -> Option<String> {
    let is_there = |need: &str| match need.strip_prefix('$') {
        Some(variable) => named_path(variable).is_some(),
        None if need.starts_with('/') => Path::new(need).exists(),
        None => is_installed(need),
    };
    case.needs.iter().find(|need| !is_there(need)).map(|need| format!("{need} is missing"))
}

/// The client in a folder without the daemon: no case asks a question, so no daemon has to be started and ended.
fn cohab_alone() -> (TempDir, PathBuf) {
    let folder = tempfile::Builder::new().prefix("cohab-").tempdir().expect("a temporary folder");
    let (from, to) = (program("cohab"), folder.path().join("cohab"));
    // Another file system may hold the temporary folder.
    fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).expect("the client can be copied");
    (folder, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_a_failure_holds_both_runs() {
        let report = both_runs("step 1\n  - cell\n    plain | cohab\n", "step 2\n  - mode\n    plain | cohab\n");
        let (first, alone) = report.split_once("alone: ").expect("there are two");
        assert!(first.ends_with("step 1\n  - cell\n    plain | cohab\n"), "{report}");
        assert!(alone.starts_with("step 2\n  - mode\n    plain | cohab\n"), "{report}");
    }
}
