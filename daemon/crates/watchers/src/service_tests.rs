use std::{
    collections::BTreeSet,
    fs,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use cohab_store::watchers::{NewWatcher, WatcherStore};
use tokio::{task::JoinHandle, time::sleep};

use super::*;
use crate::{clock::SystemClock, look};

/// Terminals that are there, and what they were given.
#[derive(Default)]
struct Screens {
    there: Mutex<BTreeSet<String>>,
    shown: Mutex<Vec<(String, WatcherFired)>>,
    said: Mutex<Vec<(String, String)>>,
}

impl Screens {
    fn shown(&self) -> MutexGuard<'_, Vec<(String, WatcherFired)>> {
        self.shown.lock().unwrap()
    }

    /// What was shown last.
    fn last(&self) -> Option<WatcherFired> {
        self.shown().last().map(|(_, firing)| firing.clone())
    }
}

impl Terminals for Screens {
    fn show(&self, terminal: &str, firing: WatcherFired) -> bool {
        let is_there = self.is_there(terminal);
        if is_there {
            self.shown().push((terminal.to_owned(), firing));
        }
        is_there
    }

    fn say(&self, terminal: &str, line: String) -> bool {
        self.said.lock().unwrap().push((terminal.to_owned(), line));
        true
    }

    fn is_there(&self, terminal: &str) -> bool {
        self.there.lock().unwrap().contains(terminal)
    }
}

struct Bench {
    folder: tempfile::TempDir,
    screens: Arc<Screens>,
    running: Option<(Reports, CancellationToken, JoinHandle<()>)>,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), screens: Arc::default(), running: None }
    }

    fn files(&self) -> WatcherFiles {
        let root = self.folder.path();
        WatcherFiles { store: root.join("watchers.db"), signal: root.join("watchers/active") }
    }

    fn store(&self) -> WatcherStore {
        WatcherStore::create(&self.files().store, &self.files().signal).expect("a store")
    }

    fn start(&mut self) {
        let (secrets, screens) = (Arc::default(), Arc::clone(&self.screens));
        let (service, reports) = Service::new(self.files(), secrets, Arc::new(SystemClock), screens as _);
        let end = CancellationToken::new();
        let task = tokio::spawn(service.run(end.clone()));
        self.running = Some((reports, end, task));
    }

    async fn stop(&mut self) {
        let (_, end, task) = self.running.take().expect("it runs");
        end.cancel();
        task.await.expect("it ends");
    }

    fn reports(&self) -> &Reports {
        &self.running.as_ref().expect("it runs").0
    }

    fn comes(&self, terminal: &str) {
        self.screens.there.lock().unwrap().insert(terminal.to_owned());
        self.reports().terminal_came(terminal);
    }

    fn goes(&self, terminal: &str) {
        self.screens.there.lock().unwrap().remove(terminal);
    }

    fn add(&self, condition: &str, question: Option<&str>, is_repeat: bool) -> WatcherId {
        let folder = self.folder.path();
        let condition = parse(condition, folder, folder).expect(condition);
        let watcher = NewWatcher {
            name: None,
            condition: condition.to_string(),
            question: question.map(str::to_owned),
            folder: folder.to_owned(),
            terminal: "shell:1".into(),
            is_repeat,
            made: Timestamp::now(),
            anchor: look::begin(&condition).expect("something to wait for"),
            due: match &condition {
                Condition::Time(rule) => rule.next(&Zoned::now()).map(|next| next.timestamp()),
                _ => None,
            },
        };
        self.store().add(&watcher).expect("it is stored").expect("room")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("a file");
    }

    async fn wait_for(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..1_000 {
            if holds(self) {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("not in time: {what}; shown {:?}, said {:?}", self.screens.shown(), self.screens.said.lock().unwrap());
    }
}

#[tokio::test]
async fn a_watcher_that_is_added_while_it_runs_fires_in_its_terminal() {
    let mut bench = Bench::new();
    bench.start();
    bench.comes("shell:1");
    let id = bench.add("file app appears", Some("test it"), false);
    sleep(Duration::from_millis(100)).await;
    bench.write("app", "x");
    bench.wait_for("the firing", |bench| bench.screens.last().is_some()).await;
    let firing = bench.screens.last().expect("a firing");
    assert_eq!((firing.watcher, firing.fired, firing.what.as_str()), (id, 1, "app appeared"));
    assert_eq!((firing.question.as_deref(), firing.detail), (Some("test it"), None));
    assert!(bench.files().signal.exists(), "it was not shown yet");
    bench.reports().shown(id, 1);
    bench.wait_for("the end of the signal", |bench| !bench.files().signal.exists()).await;
    assert_eq!(bench.store().all().unwrap()[0].state, WatcherState::Done);
    bench.stop().await;
}

#[tokio::test]
async fn lines_of_a_log_are_data_and_without_secrets() {
    let mut bench = Bench::new();
    bench.write("a.log", "");
    bench.add("log a.log matches /ERROR/", Some("why"), true);
    bench.start();
    bench.comes("shell:1");
    sleep(Duration::from_millis(100)).await;
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    bench.write("a.log", &format!("ERROR one {token}\nall is well\nERROR two\n"));
    bench.wait_for("the firing", |bench| bench.screens.last().is_some()).await;
    let firing = bench.screens.last().expect("a firing");
    let detail = firing.detail.expect("lines");
    assert!(detail.contains("ERROR two") && !detail.contains("well"), "{detail}");
    assert!(firing.what.starts_with("a.log: ERROR one") && firing.what.ends_with("(and 1 more)"), "{}", firing.what);
    assert!(!detail.contains(&token) && !firing.what.contains(&token), "{detail}");
    bench.stop().await;
}

#[tokio::test]
async fn what_fires_again_before_it_was_shown_waits_for_that() {
    let mut bench = Bench::new();
    let id = bench.add("every 1s", None, true);
    bench.start();
    bench.comes("shell:1");
    bench.wait_for("three firings", |bench| bench.store().all().unwrap()[0].fired >= 3).await;
    assert_eq!(bench.screens.shown().len(), 1, "the others wait");
    bench.reports().shown(id, 1);
    bench.wait_for("the next one", |bench| bench.screens.shown().len() == 2).await;
    assert!(bench.screens.last().expect("a firing").fired >= 3, "the last one stands for all");
    bench.stop().await;
}

#[tokio::test]
async fn what_happened_while_no_daemon_ran_fires_once_at_the_next_start() {
    let mut bench = Bench::new();
    bench.write("app", "1");
    bench.add("file app changes", None, false);
    bench.add("every 1s", None, true);
    bench.start();
    sleep(Duration::from_millis(50)).await;
    bench.stop().await;
    bench.write("app", "22");
    let missed = Timestamp::now() - Duration::from_secs(3_600);
    let mut store = bench.store();
    store.pause(2).unwrap();
    store.resume(2, "", Some(missed)).unwrap();
    bench.screens.there.lock().unwrap().insert("shell:1".into());
    bench.start();
    bench.wait_for("both", |bench| bench.screens.shown().len() == 2).await;
    let whats: BTreeSet<String> = bench.screens.shown().iter().map(|(_, firing)| firing.what.clone()).collect();
    let expected = ["app changed", "every 1s, which was missed: cohab did not run"].map(str::to_owned);
    assert_eq!(whats, expected.into());
    bench.stop().await;
}

#[tokio::test]
async fn a_terminal_that_is_gone_keeps_its_firings_and_the_next_one_hears_of_them_once() {
    let mut bench = Bench::new();
    bench.start();
    bench.comes("shell:1");
    bench.add("file app appears", Some("test it"), false);
    bench.goes("shell:1");
    sleep(Duration::from_millis(100)).await;
    bench.write("app", "x");
    bench.wait_for("the firing", |bench| bench.store().all().unwrap()[0].fired == 1).await;
    bench.comes("shell:2");
    bench.wait_for("the line", |bench| !bench.screens.said.lock().unwrap().is_empty()).await;
    let line = "1 watcher fired while you were away: cohab watch list".to_owned();
    assert_eq!(*bench.screens.said.lock().unwrap(), [("shell:2".to_owned(), line)]);
    bench.comes("shell:3");
    bench.comes("shell:1");
    bench.wait_for("its own terminal", |bench| bench.screens.last().is_some()).await;
    assert_eq!(bench.screens.said.lock().unwrap().len(), 1);
    bench.stop().await;
}

#[tokio::test]
async fn a_paused_and_a_removed_watcher_do_not_fire() {
    let mut bench = Bench::new();
    let [paused, removed, active] = ["a", "b", "c"].map(|name| bench.add(&format!("file {name} appears"), None, false));
    bench.start();
    bench.comes("shell:1");
    sleep(Duration::from_millis(100)).await;
    bench.store().pause(paused).unwrap();
    bench.store().remove(removed).unwrap();
    sleep(Duration::from_millis(100)).await;
    ["a", "b", "c"].iter().for_each(|name| bench.write(name, "x"));
    bench.wait_for("the active one", |bench| bench.screens.last().is_some()).await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!(bench.screens.shown().iter().map(|(_, firing)| firing.watcher).collect::<Vec<_>>(), [active]);
    bench.stop().await;
}

#[tokio::test]
async fn a_condition_that_cannot_be_read_any_more_fails_with_its_reason() {
    let mut bench = Bench::new();
    let id = bench.add("in 10m", Some("q"), false);
    let path = bench.files().store;
    drop(bench.store());
    assert!(path.exists());
    bench.start();
    bench.comes("shell:1");
    fs::create_dir(bench.folder.path().join("sub")).unwrap();
    let gone = bench.add("folder sub changes", Some("q"), true);
    sleep(Duration::from_millis(100)).await;
    fs::remove_dir(bench.folder.path().join("sub")).unwrap();
    bench.wait_for("the failure", |bench| bench.screens.last().is_some()).await;
    let firing = bench.screens.last().expect("a firing");
    assert_eq!((firing.watcher, firing.question), (gone, None));
    assert!(firing.what.starts_with("stopped: "), "{}", firing.what);
    assert_ne!(id, gone);
    bench.stop().await;
}
