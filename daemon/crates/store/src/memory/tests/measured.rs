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

#[test]
#[ignore = "measures: run with --release --run-ignored only --no-capture"]
fn the_blocks_of_a_project_among_all_take_less_than_a_ms() {
    use cohab_memory::blocks::{
        conformance::{block, of_project},
        operations::MAX_BLOCKS,
        record::BlockDeed,
        store::{BlockStore, MAX_VERSIONS},
    };
    let bench = Bench::new();
    let mut store = bench.open();
    let text = "and wait ".repeat(200);
    for n in 0..MAX_BLOCKS - 2 {
        let one = of_project(&format!("/srv/{n}"), block("project", &text));
        store.write_block(&one, BlockDeed::Set, at(1)).unwrap();
    }
    for name in ["persona", "human"] {
        let mut newest = store.write_block(&block(name, &text), BlockDeed::Set, at(1)).unwrap().unwrap();
        for _ in 1..MAX_VERSIONS {
            newest = store.write_block(&newest, BlockDeed::Set, at(2)).unwrap().unwrap();
        }
    }
    // Ninety-nine more versions of each block of a project, without seals.
    bench.tamper(
        "INSERT INTO block_versions (label, root, description, max_chars, template, value, deed, at_ms, mac)
        SELECT label, root, description, max_chars, template, value, deed, at_ms, mac
        FROM block_versions, (WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 99) SELECT i FROM c)
        WHERE root <> x''",
    );
    let mut times: Vec<_> = (0..100)
        .map(|_| {
            let begin = Instant::now();
            let store = SqliteMemory::open_existing(&bench.file(), &bench.keys()).unwrap().unwrap();
            assert_eq!(store.blocks(Some(Path::new("/srv/7"))).unwrap().len(), 3);
            begin.elapsed()
        })
        .collect();
    times.sort();
    let size = fs::metadata(bench.file()).unwrap().len() >> 20;
    eprintln!("{size} MiB: p50 {:?}, p95 {:?} with opening", times[50], times[95]);
    let mut write = || {
        let begin = Instant::now();
        let human = store.blocks(Some(Path::new("/srv/7"))).unwrap().remove(0);
        store.write_block(&human, BlockDeed::Set, at(3)).unwrap().unwrap();
        begin.elapsed()
    };
    let mut times: Vec<_> = (0..50).map(|_| write()).collect();
    times.sort();
    eprintln!("a change: p50 {:?}, p99 {:?}", times[25], times[49]);
}
