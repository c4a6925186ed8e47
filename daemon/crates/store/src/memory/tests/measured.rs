//! Measures a store that is full.

#![expect(clippy::print_stderr, reason = "a measurement is read by a person")]

use std::time::Instant;

use super::*;

#[test]
#[ignore = "measures: run with --release --run-ignored only --no-capture"]
fn a_search_in_100_000_facts_takes_few_ms() {
    const SUBJECTS: [&str; 8] = ["staging", "deploy", "database", "server", "build", "editor", "backup", "release"];
    let bench = Bench::new();
    let mut store = bench.open();
    let begin = Instant::now();
    let add = |change: &mut Change<'_>, n: i64| {
        let subject = SUBJECTS[usize::try_from(n).unwrap() % SUBJECTS.len()];
        let text =
            format!("the {subject} of service{} runs on host{} and is checked with tool{}", n % 997, n % 5_003, n % 89);
        let scope =
            if n % 2 == 0 { Scope::Everywhere } else { Scope::Project(format!("/home/ann/project{}", n % 50).into()) };
        change.add(&NewMemory { scope, ..fact(&text) }, at(n)).map(|_| ())
    };
    store.write(|change| (0..99_999).try_for_each(|n| add(change, n))).unwrap();
    eprintln!("filled: {:?}, {} MiB", begin.elapsed(), fs::metadata(bench.file()).unwrap().len() >> 20);
    let questions = [
        "deploy staging service7 host12",
        "runs checked with",
        "database backup server build editor tool3",
        "nothing of this",
    ];
    for folder in [None, Some(Path::new("/home/ann/project7/src")), Some(Path::new("/tmp"))] {
        for question in questions {
            let words: Vec<String> = question.split(' ').map(str::to_owned).collect();
            let mut times: Vec<_> = (0..40)
                .map(|_| {
                    let begin = Instant::now();
                    let store = SqliteMemory::open_existing(&bench.file(), &bench.keys()).unwrap().unwrap();
                    store.search(&words, folder).unwrap();
                    begin.elapsed()
                })
                .collect();
            times.sort();
            eprintln!("{folder:?} {question:?}: p50 {:?}, p95 {:?} with opening", times[20], times[38]);
        }
    }
    for (what, run) in [
        ("known", (|store| drop(store.remember(&fact("one more fact"), at(1)).unwrap())) as fn(&mut SqliteMemory)),
        ("forget", |store| assert_eq!(store.forget(&[MemoryId(5)]).unwrap(), 1)),
        ("faults", |store| assert_eq!(store.faults().unwrap(), [])),
    ] {
        let begin = Instant::now();
        run(&mut store);
        eprintln!("{what}: {:?}", begin.elapsed());
    }
    assert!(store.write(|change| (0..9).try_for_each(|n| add(change, n))).is_err_and(|error| error.remedy().is_some()));
}
