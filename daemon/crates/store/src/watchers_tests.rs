use super::*;

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn signal(&self) -> PathBuf {
        self.folder.path().join("watchers/active")
    }

    fn store(&self) -> WatcherStore {
        WatcherStore::create(&self.folder.path().join("watchers.db"), &self.signal()).expect("a store")
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn watcher(is_repeat: bool) -> NewWatcher {
    NewWatcher {
        name: Some("build".into()),
        condition: "file /srv/app changes".into(),
        question: Some("test it".into()),
        folder: "/srv".into(),
        terminal: "shell:1".into(),
        is_repeat,
        made: at(10),
        anchor: "1".into(),
        due: Some(at(20)),
    }
}

fn firing(summary: &str) -> FiringRow {
    FiringRow { at: at(30), summary: summary.into(), detail: "a\nb".into(), anchor: "2".into(), due: None }
}

#[test]
fn what_is_added_is_read_by_the_next_one() {
    let home = Home::new();
    let id = home.store().add(&watcher(false)).unwrap().expect("room");
    let rows = home.store().all().unwrap();
    assert_eq!((rows[0].id, rows[0].state, &rows[0].watcher), (id, WatcherState::Active, &watcher(false)));
    assert!(home.signal().exists());
    assert!(home.store().remove(id).unwrap() && !home.store().remove(id).unwrap());
    assert!(!home.signal().exists(), "no daemon is needed");
    let next = home.store().add(&watcher(false)).unwrap();
    assert_ne!(next, Some(id), "a number is not used again");
}

#[test]
fn a_watcher_fires_until_it_is_over_or_paused() {
    let home = Home::new();
    let mut store = home.store();
    let [once, again] = [false, true].map(|is_repeat| store.add(&watcher(is_repeat)).unwrap().expect("room"));
    let row = store.fired(once, &firing("it changed")).unwrap().expect("it was active");
    assert_eq!((row.state, row.fired, row.waits(), row.summary.as_str()), (WatcherState::Done, 1, true, "it changed"));
    assert_eq!(store.fired(once, &firing("again")).unwrap(), None);
    store.fired(again, &firing("one")).unwrap();
    let row = store.fired(again, &firing("two")).unwrap().expect("it is active");
    assert_eq!((row.state, row.fired, row.watcher.anchor.as_str()), (WatcherState::Active, 2, "2"));
    assert!(store.pause(again).unwrap() && !store.pause(again).unwrap());
    assert_eq!(store.fired(again, &firing("three")).unwrap(), None);
    assert!(store.resume(again, "3", Some(at(50))).unwrap() && !store.resume(again, "4", None).unwrap());
    let row = store.failed(again, at(60), "its folder is gone").unwrap().expect("it was active");
    assert_eq!((row.state, row.fired), (WatcherState::Failed, 3));
}

#[test]
fn a_firing_waits_until_it_was_shown() {
    let home = Home::new();
    let mut store = home.store();
    let id = store.add(&watcher(true)).unwrap().expect("room");
    store.fired(id, &firing("one")).unwrap();
    store.fired(id, &firing("two")).unwrap();
    store.shown(id, 1).unwrap();
    assert!(store.all().unwrap()[0].waits());
    store.shown(id, 99).unwrap();
    store.shown(id, 1).unwrap();
    let row = store.all().unwrap().remove(0);
    assert_eq!((row.shown, row.waits()), (2, false), "no more than fired, and never fewer");
}

#[test]
fn the_signal_stays_until_the_last_firing_was_shown_or_announced() {
    let home = Home::new();
    let mut store = home.store();
    let id = store.add(&watcher(false)).unwrap().expect("room");
    store.fired(id, &firing("one")).unwrap();
    store.signal().unwrap();
    assert!(home.signal().exists());
    store.announced(id).unwrap();
    store.signal().unwrap();
    assert!(!home.signal().exists());
    assert!(store.all().unwrap()[0].waits(), "its own terminal may come back");
}

#[test]
fn there_is_a_limit_and_old_ones_go() {
    let home = Home::new();
    let mut store = home.store();
    let fill = "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n LIMIT ?1)
        INSERT INTO watchers (condition, folder, terminal, is_repeat, state, made_ms, anchor, fired_ms)
        SELECT 'x', x'2f', 't', 0, ?2, 0, '', v FROM n";
    store.connection.execute(fill, params![500, "done"]).unwrap();
    store.connection.execute(fill, params![MAX_WATCHERS - 1, "paused"]).unwrap();
    assert!(store.add(&watcher(false)).unwrap().is_some());
    assert_eq!(store.add(&watcher(false)).unwrap(), None);
    let over = store.all().unwrap().into_iter().filter(|row| row.state == WatcherState::Done);
    assert_eq!(over.filter_map(|row| row.fired_at).min(), Timestamp::from_millisecond(401).ok());
    store.connection.execute("UPDATE watchers SET fired = 1 WHERE state = 'done'", []).unwrap();
    store.connection.execute("DELETE FROM watchers WHERE state = 'paused'", []).unwrap();
    store.connection.execute(fill, params![200, "done"]).unwrap();
    store.add(&watcher(false)).unwrap();
    let untold = store.all().unwrap().into_iter().filter(WatcherRow::waits);
    assert_eq!(untold.count(), 100, "those that nobody was told of stay");
}
