//! Measures the session store: the time to store and to find entries, and the cost for the daemon.

mod agent_loop;
mod long_turn;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire};
use cohab_model_api::Secrets;
use cohab_store::sessions::{
    Entry, Limits, SqliteStore, StateStore,
    event::{Approval, Call, Event},
};
use jiff::Timestamp;

use crate::{
    clients::{self, Client},
    contestants::{self, COHAB},
    process::own_memory_kib,
    report::{Report, Samples},
};

const MEASURE: &str = "store";
const EVENTS: usize = 100_000;
const SESSIONS: usize = 100;
const APPENDS: usize = 500;
const APPEND_MS: f64 = 5.0;
const FIND_MS: f64 = 10.0;
const START_MS: f64 = 60.0;
const IDLE_KIB: f64 = 150.0;
const IDLE_SESSIONS: usize = 100;
/// Memory freed after an attach is given back within this time.
const SETTLE: Duration = Duration::from_secs(3);
const LISTED: usize = 50;
/// Text size of each event, so that all of them with their index are 100 MB.
const TEXT_BYTES: usize = 450;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    agent_loop::measure(report, rounds);
    long_turn::measure(report, rounds);
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Ready.")]);
    let home = Home::with_model(&server);
    let path = home.paths().sessions_file();
    if let Err(error) = fill(&path).and_then(|mut store| figures(report, &mut store, rounds)) {
        return report.unmeasured(MEASURE, "sessions.db", &error.to_string());
    }
    if !contestants::has_cohab() {
        return report.unmeasured(MEASURE, COHAB, "it was not built");
    }
    starts(report, &home, &path, rounds);
    idle_sessions(report, &home, &server);
}

fn turn(session: usize) -> Entry {
    Entry::Turn {
        session: key(session),
        at: Timestamp::now(),
        title: format!("question {session}"),
        cwd: "/srv".into(),
        model: "wire/model".into(),
        limits: Limits { sessions: u64::MAX, bytes: u64::MAX, ..Limits::of_days(90) },
    }
}

fn key(session: usize) -> String {
    format!("shell:{session:032x}")
}

fn event(number: usize) -> Entry {
    let filler = "what the assistant says of it, word for word; ".repeat(TEXT_BYTES / 46);
    let event = if number.is_multiple_of(4) {
        let command = format!("grep -rn word{} .", number % 1_000);
        let (tool, title, cwd) = ("bash".into(), command.clone(), "/srv".into());
        Event::Call(Call { tool, title, command: Some(command.into()), proposed: None, cwd, approval: Approval::Once })
    } else {
        Event::Answer { text: format!("word{} {filler}", number % 1_000) }
    };
    let (session, turn) = (key(number % SESSIONS), "t".to_owned());
    Entry::Event { session, turn, at: Timestamp::now(), event }
}

fn fill(path: &Path) -> Result<SqliteStore, cohab_store::StoreError> {
    let mut store = SqliteStore::create(path)?;
    let secrets = Secrets::default();
    store.append(&(0..SESSIONS).map(|number| secrets.scrubbed(turn(number))).collect::<Vec<_>>())?;
    let entries: Vec<_> = (0..EVENTS).map(|number| secrets.scrubbed(event(number))).collect();
    entries.chunks(1_000).try_for_each(|part| store.append(part))?;
    Ok(store)
}

fn figures(report: &mut Report, store: &mut SqliteStore, rounds: usize) -> Result<(), cohab_store::StoreError> {
    let mut append = Samples::default();
    for number in 0..APPENDS {
        let entry = [Secrets::default().scrubbed(event(EVENTS + number))];
        let started = Instant::now();
        store.append(&entry)?;
        append.push(started.elapsed());
        // As the daemon's writer does when no caller waits for it.
        store.settle()?;
    }
    report.samples(MEASURE, "an event to the disk", "ms", &append);
    report.at_most(MEASURE, "an event to the disk, p99", append.quantile(0.99), APPEND_MS, "ms");
    let mut find = |subject: &str, look: &dyn Fn() -> Result<usize, cohab_store::StoreError>| {
        let mut samples = Samples::default();
        for _ in 0..rounds.max(20) {
            let started = Instant::now();
            if look()? == 0 {
                report.unmeasured(MEASURE, subject, "nothing was found");
            }
            samples.push(started.elapsed());
        }
        report.at_most(MEASURE, &format!("{subject}, p95"), samples.quantile(0.95), FIND_MS, "ms");
        Ok::<(), cohab_store::StoreError>(())
    };
    let word = vec!["word77".to_owned()];
    find("100k events: sessions", &|| Ok(store.sessions(&[], LISTED)?.len()))?;
    find("100k events: search", &|| Ok(store.sessions(&word, LISTED)?.len()))?;
    find("100k events: commands", &|| Ok(store.commands(None, LISTED)?.len()))
}

/// Starts of the daemon with all rows in its file.
fn starts(report: &mut Report, home: &Home, path: &Path, rounds: usize) {
    let mebibytes = std::fs::metadata(path).map_or(0, |file| file.len()) / (1024 * 1024);
    let mut samples = Samples::default();
    let _ = home.run(&["daemon", "start"]);
    for _ in 0..rounds {
        home.kill_daemon();
        let started = Instant::now();
        let _ = home.run(&["daemon", "start"]);
        samples.push(started.elapsed());
    }
    report.at_most(MEASURE, &format!("daemon start, {mebibytes} MiB, p50"), samples.p50(), START_MS, "ms");
}

fn idle_sessions(report: &mut Report, home: &Home, server: &ModelServer) {
    let _ = home.run(&["ask", "warm up"]);
    let Some(daemon) = crate::process::daemon_pid(home) else {
        return report.unmeasured(MEASURE, "an idle session", "the daemon does not run");
    };
    thread::sleep(SETTLE);
    let before = own_memory_kib(daemon);
    let attach = |number| Client::attach(home, clients::settings(server), number).ok();
    let attached: Vec<Client> = (0..IDLE_SESSIONS).filter_map(attach).collect();
    thread::sleep(SETTLE);
    let each = (own_memory_kib(daemon) - before) / attached.len() as f64;
    report.at_most(MEASURE, "memory of an idle session", each, IDLE_KIB, "KiB");
}
