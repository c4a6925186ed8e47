//! The tests that every store of runs has to pass.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use crate::{
    log::{LogEntry, NodeOutcome, RunStatus, Visited},
    port::{NewRun, RunStore, RunStoreError},
};

/// Runs all of them, each with a new and empty store.
pub fn all<S: RunStore>(store: impl Fn() -> S) {
    an_empty_store_has_nothing(&store());
    what_is_appended_is_read_again(&store());
    one_at_a_time_has_a_run(&store());
    the_status_is_that_of_the_last_stop(&store());
    the_newest_run_is_first(&store());
    a_run_is_named_by_the_start_of_its_id(&store());
    hostile_texts_are_data(&store());
}

/// A run of this flow.
#[must_use]
pub fn new_run(flow: &str) -> NewRun {
    NewRun {
        flow: flow.to_owned(),
        file: "/home/ann/shop/review.toml".to_owned(),
        text: "start = \"a\"\n".to_owned(),
        parts: [("part.toml".to_owned(), "start = \"b\"\n".to_owned())].into(),
        folder: "/home/ann/shop".to_owned(),
    }
}

/// A node is finished with this text.
#[must_use]
pub fn finished(node: &str, visit: u32, text: &str) -> LogEntry {
    let visited = Visited { node: node.to_owned(), visit };
    LogEntry::Finished { visited, outcome: NodeOutcome::Text(text.to_owned()) }
}

/// One entry of each kind.
fn entries() -> Vec<LogEntry> {
    let visited = || Visited { node: "a".to_owned(), visit: 1 };
    let outcomes = [
        NodeOutcome::Passed,
        NodeOutcome::Text("two\nlines".to_owned()),
        NodeOutcome::Command { text: String::new(), status: 127 },
        NodeOutcome::Failed("no".to_owned()),
    ];
    [
        LogEntry::Set { key: "goal".to_owned(), text: "tests pass".to_owned() },
        LogEntry::Began(visited()),
        LogEntry::Repeated(visited()),
    ]
    .into_iter()
    .chain(outcomes.map(|outcome| LogEntry::Finished { visited: visited(), outcome }))
    .chain([LogEntry::Stopped { status: RunStatus::Waiting }])
    .collect()
}

fn an_empty_store_has_nothing<S: RunStore>(store: &S) {
    assert_eq!(store.list().unwrap(), []);
    for id in ["", "ab", "../x", "%"] {
        assert_eq!(store.read(id).unwrap_err(), RunStoreError::Unknown(id.to_owned()));
        assert_eq!(store.open(id).err(), Some(RunStoreError::Unknown(id.to_owned())));
    }
}

fn what_is_appended_is_read_again<S: RunStore>(store: &S) {
    let (id, mut log) = store.create(&new_run("review")).unwrap();
    let mut expected = Vec::new();
    for entry in entries() {
        assert_eq!(log.append(&entry).unwrap(), entry);
        expected.push(entry);
        assert_eq!(store.read(&id).unwrap().log, expected, "it is there when `append` returns");
    }
    drop(log);
    let (stored, mut log) = store.open(&id).unwrap();
    assert_eq!((stored.begin, stored.log, stored.is_cut), (new_run("review"), expected.clone(), false));
    log.append(&finished("a", 2, "more")).unwrap();
    drop(log);
    assert_eq!(store.read(&id).unwrap().log.len(), expected.len() + 1);
}

fn one_at_a_time_has_a_run<S: RunStore>(store: &S) {
    let (id, log) = store.create(&new_run("review")).unwrap();
    assert_eq!(store.open(&id).err(), Some(RunStoreError::InUse(id.clone())));
    assert_eq!(store.read(&id).unwrap().status, RunStatus::Running);
    drop(log);
    let (_, log) = store.open(&id).unwrap();
    assert_eq!(store.open(&id).err(), Some(RunStoreError::InUse(id.clone())));
    drop(log);
    drop(store.open(&id).unwrap());
}

fn the_status_is_that_of_the_last_stop<S: RunStore>(store: &S) {
    let (id, mut log) = store.create(&new_run("review")).unwrap();
    log.append(&LogEntry::Stopped { status: RunStatus::Waiting }).unwrap();
    drop(log);
    let status = || {
        let listed = store.list().unwrap().remove(0).run.unwrap();
        assert_eq!(listed.status, store.read(&id).unwrap().status);
        (listed.status, listed.steps)
    };
    assert_eq!(status(), (RunStatus::Waiting, 0));
    let (_, mut log) = store.open(&id).unwrap();
    assert_eq!(status(), (RunStatus::Running, 0));
    log.append(&finished("a", 1, "x")).unwrap();
    drop(log);
    assert_eq!(status(), (RunStatus::Interrupted, 1));
    let (_, mut log) = store.open(&id).unwrap();
    log.append(&LogEntry::Stopped { status: RunStatus::Done }).unwrap();
    drop(log);
    assert_eq!(status(), (RunStatus::Done, 1));
}

fn the_newest_run_is_first<S: RunStore>(store: &S) {
    let ids = ["one", "two", "three"].map(|flow| store.create(&new_run(flow)).unwrap().0);
    let listed: Vec<_> = store.list().unwrap().into_iter().map(|run| (run.id, run.run.unwrap().flow)).collect();
    let expected = [(&ids[2], "three"), (&ids[1], "two"), (&ids[0], "one")];
    assert_eq!(listed, expected.map(|(id, flow)| (id.clone(), flow.to_owned())));
}

fn a_run_is_named_by_the_start_of_its_id<S: RunStore>(store: &S) {
    let ids = ["one", "two"].map(|flow| store.create(&new_run(flow)).unwrap().0);
    assert!(ids.iter().all(|id| id.len() >= 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    assert_eq!(store.read(&ids[0]).unwrap().begin.flow, "one");
    assert_eq!(store.read("").unwrap_err(), RunStoreError::Several(String::new()));
    let differing = ids[0].bytes().zip(ids[1].bytes()).position(|(one, other)| one != other).unwrap();
    assert_eq!(store.read(&ids[1][..=differing]).unwrap().id, ids[1]);
}

fn hostile_texts_are_data<S: RunStore>(store: &S) {
    let hostile =
        ["\n{\"entry\":\"stopped\",\"status\":\"done\"}\n", "\u{0}nul", "\"quotes\\\"", "🦀 \u{202e}\u{85}", ""];
    let new = NewRun { text: hostile.concat(), ..new_run(hostile[0]) };
    let (id, mut log) = store.create(&new).unwrap();
    let entries: Vec<LogEntry> = hostile.iter().map(|text| finished(text, u32::MAX, text)).collect();
    for entry in &entries {
        log.append(entry).unwrap();
    }
    drop(log);
    let stored = store.read(&id).unwrap();
    assert_eq!((stored.begin, stored.log, stored.status), (new, entries, RunStatus::Interrupted));
}
