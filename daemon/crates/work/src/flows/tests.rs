use std::{cell::Cell, os::unix::fs::PermissionsExt as _};

use cohab_graph::{
    conformance::{self, finished, new_run},
    log::NodeOutcome,
};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn runs(folder: &TempDir) -> FlowRuns {
    FlowRuns::at(folder.path(), Arc::default())
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A run with this many finished visits.
fn run_of(runs: &FlowRuns, steps: u32) -> String {
    let (id, mut log) = runs.create(&new_run("review")).expect("created");
    for visit in 1..=steps {
        log.append(&finished("a", visit, "text")).expect("appended");
    }
    id
}

#[test]
fn the_contract_is_kept() {
    let (folder, number) = (folder(), Cell::new(0));
    conformance::all(|| {
        number.set(number.get() + 1);
        FlowRuns::at(&folder.path().join(number.get().to_string()), Arc::default())
    });
}

#[test]
fn files_belong_to_their_user_only() {
    let folder = folder();
    let id = run_of(&runs(&folder), 1);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let path = runs(&folder).path(&id);
    assert_eq!([mode(&path), mode(path.parent().expect("a folder"))], [0o600, 0o700]);
}

#[test]
fn secrets_are_not_kept() {
    let folder = folder();
    let secrets = Arc::new(Secrets::default());
    secrets.know(["correct-horse-battery"]);
    let runs = FlowRuns::at(folder.path(), secrets);
    let (id, mut log) = runs.create(&new_run("review")).expect("created");
    let kept = log.append(&finished("a", 1, "it is correct-horse-battery")).expect("appended");
    drop(log);
    let LogEntry::Finished { outcome: NodeOutcome::Text(text), .. } = &kept else { panic!("{kept:?}") };
    assert!(text.starts_with("it is <secret:"), "{text}");
    assert_eq!(runs.read(&id).expect("read").log, [kept], "the run goes on with what is kept");
    let bytes = fs::read_to_string(runs.path(&id)).expect("text");
    assert!(!bytes.contains("correct-horse"), "{bytes}");
    let text = "# correct-horse-battery".to_owned();
    let error = runs.create(&NewRun { text, ..new_run("review") }).err().expect("refused");
    assert!(error.to_string().contains("holds a secret"), "{error}");
}

#[test]
fn half_an_entry_at_the_end_is_not_counted() {
    let folder = folder();
    let runs = runs(&folder);
    let id = run_of(&runs, 2);
    let path = runs.path(&id);
    let whole = fs::read(&path).expect("bytes");
    for cut in 1..40 {
        let mut bytes = whole.clone();
        bytes.truncate(whole.len() - cut);
        fs::write(&path, &bytes).expect("written");
        let stored = runs.read(&id).expect("read");
        assert_eq!((stored.log.len(), stored.is_cut, stored.status), (1, true, RunStatus::Interrupted));
        assert_eq!(runs.list().expect("listed")[0].run.as_ref().map(|facts| facts.steps), Ok(1));
        let (_, mut log) = runs.open(&id).expect("opened");
        log.append(&finished("a", 2, "again")).expect("appended");
        drop(log);
        let stored = runs.read(&id).expect("read");
        assert_eq!((&stored.log[1], stored.is_cut), (&finished("a", 2, "again"), false));
    }
}

#[test]
fn a_broken_line_is_named_and_other_runs_are_listed() {
    let folder = folder();
    let runs = runs(&folder);
    let (good, bad) = (run_of(&runs, 1), run_of(&runs, 3));
    let text = fs::read_to_string(runs.path(&bad)).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let broken = |line: usize, new: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = new;
        fs::write(runs.path(&bad), lines.join("\n") + "\n").expect("written");
        let error = runs.read(&bad).expect_err("broken");
        assert_eq!(Some(&error), runs.open(&bad).err().as_ref());
        error.to_string()
    };
    for (line, new) in [(1, "{}"), (2, "[]"), (4, "[1, 2, {\"entry\": \"nothing\"}]"), (4, ""), (5, "\u{0}")] {
        let message = broken(line, new);
        assert!(message.starts_with(&format!("the log of the run `{bad}` is broken at line {line}: ")), "{message}");
    }
    let later = lines[0].replace("\"form\":1", "\"form\":2");
    assert!(broken(1, &later).ends_with("a later release of cohab wrote it (form 2)"));
    let listed = runs.list().expect("listed");
    let fine: Vec<_> = listed.iter().map(|run| (run.id.clone(), run.run.is_ok())).collect();
    assert_eq!(fine, [(good, true), (bad, false)]);
}

#[test]
fn other_things_in_the_folder_are_no_runs() {
    let folder = folder();
    let runs = runs(&folder);
    let id = run_of(&runs, 1);
    let named = |name: &str| runs.folder.join(name);
    fs::write(named("notes.jsonl"), "x").expect("written");
    fs::write(named("0123456789abcdef"), "x").expect("written");
    fs::create_dir(named("0123456789abcdee.jsonl")).expect("made");
    std::os::unix::fs::symlink(runs.path(&id), named("0123456789abcded.jsonl")).expect("linked");
    fs::write(named("0123456789abcdec.jsonl"), "").expect("written");
    let listed = runs.list().expect("listed");
    let fine: Vec<_> = listed.iter().filter(|run| run.run.is_ok()).map(|run| run.id.clone()).collect();
    assert_eq!((fine, listed.len()), (vec![id], 4));
    for id in ["0123456789abcdee", "0123456789abcded", "0123456789abcdec"] {
        assert!(runs.read(id).is_err() && runs.open(id).is_err(), "{id}");
    }
}

#[test]
fn a_run_has_a_largest_size() {
    let folder = folder();
    let runs = FlowRuns { max_bytes: 2_000, ..runs(&folder) };
    let (id, mut log) = runs.create(&new_run("review")).expect("created");
    let text = "x".repeat(400);
    let results: Vec<_> = (1..=5).map(|visit| log.append(&finished("a", visit, &text))).collect();
    assert_eq!(results.last(), Some(&Err(RunStoreError::Full(2_000))));
    drop(log);
    let kept = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!((runs.read(&id).expect("read").log.len(), kept > 1), (kept, true));
}

#[test]
fn old_runs_that_are_over_are_removed() {
    let folder = folder();
    let runs = runs(&folder);
    let waiting = run_of(&runs, 1);
    let over: Vec<String> = (0..=MAX_ENDED_RUNS)
        .map(|_| {
            let (id, mut log) = runs.create(&new_run("review")).expect("created");
            log.append(&LogEntry::Stopped { status: RunStatus::Done }).expect("appended");
            id
        })
        .collect();
    run_of(&runs, 0);
    let left: Vec<String> = runs.list().expect("listed").into_iter().map(|run| run.id).collect();
    assert_eq!((left.len(), left.contains(&over[0])), (MAX_ENDED_RUNS + 2, false));
    assert!(left.contains(&waiting) && left.contains(&over[1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes_are_a_run_or_an_error(cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), keep in any::<prop::sample::Index>()) {
        let folder = folder();
        let runs = runs(&folder);
        let id = run_of(&runs, 3);
        let mut bytes = fs::read(runs.path(&id)).expect("bytes");
        for (at, byte) in cuts {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(keep.index(bytes.len() + 1));
        fs::write(runs.path(&id), &bytes).expect("written");
        let listed = runs.list().expect("listed");
        prop_assert_eq!(listed.len(), 1);
        if let Ok(stored) = runs.read(&id) {
            let (opened, mut log) = runs.open(&id).expect("what can be read can be continued");
            prop_assert_eq!(&opened.log, &stored.log);
            log.append(&LogEntry::Stopped { status: RunStatus::Done }).expect("appended");
            drop(log);
            prop_assert_eq!(runs.read(&id).expect("read").log.len(), stored.log.len() + 1);
        }
    }
}

#[test]
#[ignore = "measures: run with --release --run-ignored only --no-capture"]
#[expect(clippy::print_stderr, reason = "a measurement is read by a person")]
fn a_run_of_1_000_nodes_is_resumed_in_less_than_100_ms() {
    use std::{fmt::Write as _, time::Instant};

    use cohab_graph::{
        definition,
        log::Visited,
        plan::{Plan, Progress},
    };

    let mut text =
        "start = \"n1\"\nsteps = 10000\n[state]\nall = { type = \"list\", reducer = \"append\" }\n".to_owned();
    for number in 1..=1_000 {
        let next = number + 1;
        write!(
            text,
            "[nodes.n{number}]\nkind = \"llm\"\nprompt = \"{{{{all}}}}\"\noutput = \"all\"\nnext = \"n{next}\"\n"
        )
        .expect("text");
    }
    text += "[nodes.n1001]\nkind = \"end\"\n";
    let (folder, result) = (folder(), "x".repeat(500));
    let runs = runs(&folder);
    let begun = Instant::now();
    let (id, mut log) = runs.create(&NewRun { text, ..new_run("long") }).expect("created");
    for number in 1..=1_000 {
        let visited = Visited { node: format!("n{number}"), visit: 1 };
        log.append(&LogEntry::Finished { visited, outcome: NodeOutcome::Text(result.clone()) }).expect("appended");
    }
    drop(log);
    eprintln!("written: 1,000 entries in {:?}", begun.elapsed());
    let mut times: Vec<Duration> = (0..20)
        .map(|_| {
            let begun = Instant::now();
            let (stored, _log) = runs.open(&id).expect("opened");
            let flow = definition::read("long.toml", &stored.begin.text, &|_| Err(String::new())).expect("a flow");
            let progress = Progress::of_log(&flow, &stored.log).expect("a log");
            assert!(matches!(progress.plan(), Plan::Run(visits) if visits.len() == 1));
            begun.elapsed()
        })
        .collect();
    times.sort();
    eprintln!("resumed: p50 {:?}, slowest {:?}", times[10], times[19]);
    assert!(times[19] < Duration::from_millis(100));
}
