//! Measures the memory: how long it takes to find and to add what was done, to import a history, and to find facts; how large the store
//! is; and what is found of two lists of questions.

mod history;

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use cohab_e2e::{Home, binaries};
use cohab_memory::{
    past::{
        search::{PastLookup, search},
        store::PastStore as _,
    },
    record::{NewMemory, Origin, Scope},
    relevance,
    store::MemoryStore as _,
    words,
};
use cohab_store::{StoreError, memory::SqliteMemory, past::SqlitePast};
use history::{Dice, NOW_MS};
use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::report::{Report, Samples};

const MEASURE: &str = "memory";
/// Runs and turns of a store, its name, and the most milliseconds of a search.
const STORES: [(usize, usize, &str, f64); 2] = [(95_000, 5_000, "100k", 10.0), (950_000, 50_000, "1M", 60.0)];
const BATCH: usize = 5_000;
const ADD_MS: f64 = 5.0;
const COMMAND_BYTES: f64 = 600.0;
/// Questions and additions for each round.
const QUESTIONS: usize = 20;
const ADDITIONS: usize = 100;
const IMPORTED: usize = 200_000;
const IMPORT_S: f64 = 20.0;
const FACTS: usize = 100_000;
const FACTS_MS: f64 = 15.0;
const RECALL: f64 = 0.85;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    for (runs, turns, name, bar) in STORES {
        if let Err(error) = past(report, runs, turns, name, bar, rounds) {
            report.unmeasured(MEASURE, name, &error.to_string());
        }
    }
    import(report);
    if let Err(error) = facts(report, rounds) {
        report.unmeasured(MEASURE, "facts", &error.to_string());
    }
    recall(report);
}

fn past(report: &mut Report, runs: usize, turns: usize, name: &str, bar: f64, rounds: usize) -> Result<(), StoreError> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("past.db");
    let mut store = SqlitePast::create(&file, &folder.path().join("key"))?;
    let mut dice = Dice(7);
    for start in (0..runs).step_by(BATCH) {
        let batch: Vec<_> = (start..runs.min(start + BATCH)).map(|number| dice.run(number, runs)).collect();
        store.add(&batch, &[])?;
    }
    // Closing moves the log next to the file into it.
    drop(store);
    let bytes = fs::metadata(&file)?.len() as f64 / runs as f64;
    let mut store = SqlitePast::create(&file, &folder.path().join("key"))?;
    for start in (0..turns).step_by(BATCH / 10) {
        let batch: Vec<_> = (start..turns.min(start + BATCH / 10)).map(|number| dice.turn(number, turns)).collect();
        store.add(&[], &batch)?;
    }
    let now = Timestamp::from_millisecond(NOW_MS).unwrap_or_default();
    let now = Zoned::new(now, TimeZone::UTC);
    let (mut samples, mut found) = (Samples::default(), 0);
    for _ in 0..rounds * QUESTIONS {
        let wanted = PastLookup { question: dice.question(), limit: 8, ..PastLookup::default() };
        let started = Instant::now();
        found += search(&store, &wanted, &now)?.ranked.len();
        samples.push(started.elapsed());
    }
    if found == 0 {
        report.unmeasured(MEASURE, name, "nothing was found");
    }
    report.samples(MEASURE, &format!("{name}: a question"), "ms", &samples);
    report.at_most(MEASURE, &format!("{name}: a question, p95"), samples.quantile(0.95), bar, "ms");
    let mut samples = Samples::default();
    for number in 0..rounds * ADDITIONS {
        let run = [dice.run(runs + number, runs)];
        let started = Instant::now();
        store.add(&run, &[])?;
        samples.push(started.elapsed());
        // As the daemon's writer does when no caller waits for it.
        store.settle()?;
    }
    report.at_most(MEASURE, &format!("{name}: a command to the disk, p99"), samples.quantile(0.99), ADD_MS, "ms");
    report.at_most(MEASURE, &format!("{name}: a command with its index"), bytes, COMMAND_BYTES, "bytes");
    Ok(())
}

/// The import of a history of bash with times, by the command.
fn import(report: &mut Report) {
    let (home, mut dice) = (Home::new(), Dice(8));
    let lines: String = (0..IMPORTED)
        .map(|number| format!("#{}\n{}\n", NOW_MS / 1_000 - 9_000_000 + number as i64, dice.line()))
        .collect();
    home.write("history", &lines);
    let file = home.path("history");
    let started = Instant::now();
    let arguments = ["memory", "import", "--history", "bash", "--yes"];
    let finished = home.run(&[&arguments[..], &[&*file.to_string_lossy()]].concat());
    let took = started.elapsed();
    if finished.status == Some(0) {
        let subject = "import of 200,000 lines of bash";
        report.at_most(MEASURE, subject, Duration::as_secs_f64(&took), IMPORT_S, "s");
    } else {
        report.unmeasured(MEASURE, "import", finished.stderr.trim());
    }
}

/// The facts of a question, as they are looked up before a model is asked.
fn facts(report: &mut Report, rounds: usize) -> Result<(), StoreError> {
    let folder = tempfile::tempdir()?;
    let (file, key) = (folder.path().join("memory.db"), folder.path().join("key"));
    let (mut store, mut dice) = (SqliteMemory::create(&file, &key)?, Dice(9));
    let mut stated = Vec::new();
    for number in 0..FACTS {
        let words: Vec<String> = (0..8).map(|_| dice.word()).collect();
        let text = format!("fact {number}: {}", words.join(" "));
        let new = NewMemory::stated(text, Scope::Everywhere, Origin::CommandLine, "/home/ann".into());
        stated.push((new, Timestamp::UNIX_EPOCH));
    }
    store.remember_all(&stated)?;
    let mut samples = Samples::default();
    for _ in 0..rounds * QUESTIONS {
        let words = words::content(&dice.question());
        let started = Instant::now();
        // A question opens the file.
        let store = SqliteMemory::open_existing(&file, &key)?.ok_or(StoreError::Broken)?;
        let _ = relevance::chosen(&words, store.search(&words, Some(Path::new("/home/ann")))?);
        samples.push(started.elapsed());
    }
    report.samples(MEASURE, "100k facts: a question", "ms", &samples);
    report.at_most(MEASURE, "100k facts: a question, p95", samples.quantile(0.95), FACTS_MS, "ms");
    Ok(())
}

/// What `scripts/recall` finds.
fn recall(report: &mut Report) {
    let script = binaries::workspace_root().join("scripts/recall");
    let output = Command::new(script).env("COHABD", binaries::program("cohabd")).output();
    let printed = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut list = "";
    for line in printed.lines() {
        match line.trim_start().strip_prefix("all ") {
            None if !line.starts_with(' ') => list = line.split(':').next().unwrap_or_default(),
            Some(found) => {
                let numbers: Vec<f64> = found.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                let share = numbers
                    .first()
                    .zip(found.split(" of ").nth(1))
                    .and_then(|(among, rest)| Some(among / rest.split_whitespace().next()?.parse::<f64>().ok()?));
                let name = Path::new(list).file_name().unwrap_or_default().to_string_lossy();
                report.at_least(MEASURE, &format!("{name}: recall at 5"), share.unwrap_or(f64::NAN), RECALL, "");
            }
            None => {}
        }
    }
    if list.is_empty() {
        report.unmeasured(MEASURE, "recall", "scripts/recall did not run");
    }
}
