use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use cohab_model_api::{
    TokenUsage,
    window_size::{ContextWindow, WindowSource},
};
use jiff::Timestamp;

use super::*;
use crate::row::CostSource;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("state/usage.db")
    }

    fn store(&self) -> Store {
        Store::at(self.file())
    }

    fn calls(&self) -> Vec<CallRow> {
        let mut calls = Vec::new();
        let database = Database::open_existing(&self.file()).expect("it can be opened");
        let Some(database) = database else { return calls };
        database.calls_since(Timestamp::UNIX_EPOCH, |call| calls.push(call)).expect("it can be read");
        calls
    }
}

fn key() -> ModelKey {
    ModelKey { host: "h:1".into(), model: "m".into() }
}

fn call(turn: &str, at: &str) -> CallRow {
    CallRow {
        at: at.parse().expect("a time"),
        session: "shell:1".into(),
        turn: turn.into(),
        wire: "w".into(),
        model: key(),
        usage: TokenUsage {
            input: Some(1),
            output: None,
            cache_read: Some(u64::MAX),
            cache_write: Some(0),
            reasoning: None,
            cost_microusd: Some(5),
        },
        cost_source: Some(CostSource::Prices),
        took_ms: Some(1_200),
    }
}

const NOW: &str = "2026-03-01T10:00:00Z";

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[tokio::test]
async fn what_was_kept_and_learned_is_there_in_the_next_life() {
    let folder = Folder::new();
    let in_use = Some(ContextWindow { tokens: 128_000, source: WindowSource::Default });
    let learned = Learned { factor: 1.25, window_tokens: Some(8_192), in_use };
    {
        let store = folder.store();
        store.ready().await;
        assert_eq!(store.learned(&key()), Learned::default());
        store.record(call("t1", NOW));
        store.learn(&key(), |one| *one = learned);
        store.record(call("t2", NOW));
    }
    let calls = folder.calls();
    assert_eq!(calls.iter().map(|call| call.turn.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
    let usage = TokenUsage { cache_read: Some(i64::MAX as u64), ..call("t1", NOW).usage };
    assert_eq!(calls[0], CallRow { usage, ..call("t1", NOW) }, "a figure beyond reason is cut, the rest is as it was");
    let store = folder.store();
    store.ready().await;
    assert_eq!(store.learned(&key()), learned);
    let other = ModelKey { model: "other".into(), ..key() };
    assert_eq!(store.learned(&other), Learned::default());
}

#[tokio::test]
async fn what_was_taken_today_counts_over_lives_and_questions_at_once_count_it_once() {
    let folder = Folder::new();
    let taken = |tokens| CallRow {
        at: Timestamp::now(),
        usage: TokenUsage { input: Some(tokens), ..TokenUsage::default() },
        ..call("t", NOW)
    };
    let date = Zoned::now().date();
    {
        let store = folder.store();
        store.ready().await;
        store.record(taken(40));
        store.record(call("long ago", NOW));
        assert_eq!(store.spent_on(date).tokens, 40);
    }
    let store = folder.store();
    futures::join!(store.ready(), store.ready());
    store.record(taken(2));
    store.ready().await;
    if date == Zoned::now().date() {
        assert_eq!(store.spent_on(date).tokens, 42);
    }
}

#[tokio::test]
async fn the_file_is_its_owners_alone_and_closed_while_nothing_happens() {
    let folder = Folder::new();
    let store = folder.store();
    assert!(!folder.file().exists(), "nothing is touched before the first use");
    store.ready().await;
    store.record(call("t1", NOW));
    store.flush();
    assert_eq!(mode(&folder.file()), 0o600);
    assert_eq!(mode(folder.file().parent().expect("a folder")), 0o700);
    let names: Vec<_> =
        fs::read_dir(folder.file().parent().expect("a folder")).expect("it can be read").flatten().collect();
    assert_eq!(names.len(), 1, "the journal is gone when nobody writes: {names:?}");
    fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o644)).expect("it is ours");
    store.record(call("t2", NOW));
    store.flush();
    assert_eq!(mode(&folder.file()), 0o600);
}

#[tokio::test]
async fn a_broken_file_is_moved_aside_and_nothing_new_is_lost() {
    let folder = Folder::new();
    fs::create_dir_all(folder.file().parent().expect("a folder")).expect("a folder");
    fs::write(folder.file(), "this is no database, whatever its name says; ".repeat(100)).expect("it can be written");
    let store = folder.store();
    store.ready().await;
    store.record(call("t1", NOW));
    store.flush();
    assert_eq!(folder.calls().len(), 1);
    let aside = folder.file().with_file_name("usage.db.broken");
    assert!(fs::read_to_string(aside).expect("it is kept").starts_with("this is no database"));
}

#[tokio::test]
async fn a_file_that_breaks_later_is_moved_aside_too() {
    let folder = Folder::new();
    let store = folder.store();
    store.ready().await;
    (0..200).for_each(|n| store.record(call(&n.to_string(), NOW)));
    store.flush();
    let mut bytes = fs::read(folder.file()).expect("it can be read");
    assert!(bytes.len() > 4 * 4096, "{}", bytes.len());
    bytes[4096..].fill(0xa5);
    fs::write(folder.file(), bytes).expect("it can be written");
    store.record(call("new", NOW));
    store.flush();
    let told = store.take_trouble().expect("the user hears of it");
    assert!(told.contains("usage.db was damaged. ") && told.contains("`.broken`"), "{told}");
    let calls = folder.calls();
    assert_eq!(calls.iter().map(|call| call.turn.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[tokio::test]
async fn a_place_that_cannot_be_written_only_costs_the_figures() {
    let folder = Folder::new();
    for make in [(|path: &Path| fs::create_dir_all(path)) as fn(&Path) -> std::io::Result<()>, |path: &Path| {
        fs::write(path.parent().expect("a folder"), "a file in the folder's place")
    }] {
        let path = folder.0.path().join(uuid::Uuid::now_v7().to_string()).join("usage.db");
        fs::create_dir_all(path.parent().and_then(Path::parent).expect("a folder")).expect("a folder");
        make(&path).expect("it is made");
        let store = Store::at(path);
        store.ready().await;
        store.learn(&key(), |learned| learned.observe(12, 10));
        store.record(call("t1", NOW));
        store.flush();
        assert!(store.learned(&key()).factor > 1.0, "what was learned holds while the daemon lives");
        assert!(store.worker.as_ref().is_some_and(Worker::has_complained));
        let told = store.take_trouble().expect("the user hears of it");
        assert!(
            told.starts_with("The count of tokens and cost is not kept: ") && told.contains("usage.db: "),
            "{told}"
        );
        store.record(call("t2", NOW));
        store.flush();
        assert_eq!(store.take_trouble(), None, "once");
    }
}

#[test]
fn a_file_of_a_later_release_is_left_alone() {
    let folder = Folder::new();
    drop(Database::create(&folder.file()).expect("it is made"));
    let connection = rusqlite::Connection::open(folder.file()).expect("it can be opened");
    connection.pragma_update(None, "user_version", 99).expect("it can be written");
    drop(connection);
    let error = Database::create(&folder.file()).err().expect("it is refused");
    assert_eq!(error.to_string(), "a later release of cohab wrote it (version 99)");
    assert!(!error.is_corruption());
}

#[test]
fn calls_of_two_years_ago_go_when_a_new_one_comes() {
    let folder = Folder::new();
    let store = folder.store();
    for (turn, at) in [("old", "2024-01-01T00:00:00Z"), ("recent", "2024-04-01T00:00:00Z"), ("new", NOW)] {
        store.record(call(turn, at));
        store.flush();
    }
    assert_eq!(folder.calls().iter().map(|call| call.turn.as_str()).collect::<Vec<_>>(), ["recent", "new"]);
}

#[test]
fn a_file_that_is_written_elsewhere_is_waited_for() {
    let folder = Folder::new();
    drop(Database::create(&folder.file()).expect("it is made"));
    let mut other = rusqlite::Connection::open(folder.file()).expect("it can be opened");
    let transaction = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).expect("it is free");
    let store = folder.store();
    store.record(call("t1", NOW));
    transaction.commit().expect("it can be written");
    store.flush();
    assert_eq!(folder.calls().len(), 1);
}
