//! Tests of partly readable files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::*,
    conformance::{answer, event, turn, user},
};

/// Pages are so large.
const PAGE: usize = 4_096;
const EVENTS: usize = 2_000;

struct Bench {
    folder: tempfile::TempDir,
    archive: Archive,
}

impl Bench {
    /// A session with many events and one with a conversation.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/sessions.db");
        let mut store = SqliteStore::create(&path).expect("it is made");
        let mut entries = vec![turn("a", 0, "long"), turn("b", 1, "short")];
        entries.extend((0..EVENTS).map(|n| event("a", "t", answer(&format!("xylophone number {n}")))));
        entries.push(Entry::Conversation { session: "b".into(), from: 0, messages: vec![user("hello")] });
        store.keep_all(&entries).expect("they are kept");
        drop(store);
        Self { folder, archive: Archive::at(path) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("state/sessions.db")
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path()).expect("it can be read");
        change(&mut bytes);
        fs::write(self.path(), bytes).expect("it can be written");
    }

    /// Adds another turn; then the file must be whole, with this many of the events.
    #[track_caller]
    fn goes_on_with(&self, expected: impl Fn(usize) -> bool) {
        self.archive.keep(turn("new", 9, "new"));
        self.archive.keep(event("new", "t", answer("xylophone again")));
        self.archive.flush();
        let store = open(&self.path());
        let events = store.events("a", None).expect("they can be read");
        assert!(expected(events.len()), "{} events", events.len());
        assert_eq!(store.events("new", None).expect("they can be read").len(), 1);
        let is_found = |word: &str| store.sessions(&[word.to_owned()], 9).expect("it can be searched").len();
        assert_eq!(is_found("again"), 1);
        assert_eq!(is_found("xylophone"), if events.is_empty() { 1 } else { 2 });
        let connection = rusqlite::Connection::open(self.path()).expect("it can be opened");
        let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a word");
        assert_eq!(check, "ok");
        let names = |suffix: &str| self.path().with_file_name(format!("sessions.db{suffix}")).exists();
        assert!(names(".broken") && !names(".salvage"));
    }
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open_existing(path).expect("it can be opened").expect("it is there")
}

#[test]
fn of_a_file_that_was_cut_off_what_is_left_is_taken_over() {
    for percent in [90, 65, 40] {
        let bench = Bench::new();
        bench.change(|bytes| bytes.truncate(bytes.len() * percent / 100 / PAGE * PAGE));
        bench.goes_on_with(|events| events > 100 && events < EVENTS);
    }
}

#[test]
fn of_a_file_that_is_cut_to_nothing_nothing_is_left_and_the_next_turn_is_kept() {
    for bytes_left in [100, 3_000] {
        let bench = Bench::new();
        bench.change(|bytes| bytes.truncate(bytes_left));
        bench.goes_on_with(|events| events == 0);
    }
}

#[test]
fn a_hole_that_only_reading_finds_costs_what_was_in_it() {
    let bench = Bench::new();
    // As an event is kept; the search index holds the text a second time.
    let text = format!("\"text\":\"xylophone number {}\"", EVENTS / 2);
    bench.change(|bytes| {
        let at = bytes.windows(text.len()).position(|part| part == text.as_bytes()).expect("it is there");
        bytes[at / PAGE * PAGE..][..PAGE].fill(0xa5);
    });
    assert!(bench.archive.events("a").is_err_and(|error| error.is_corruption() && error.remedy().is_some()));
    bench.goes_on_with(|events| events > EVENTS - 100 && events < EVENTS);
    let stored = bench.archive.load("b").expect("it can be read").expect("it is there");
    assert_eq!((stored.session.title.as_str(), stored.conversation.first()), ("short", Some(&user("hello"))));
}

#[test]
fn a_session_whose_own_row_is_lost_comes_back_without_its_title() {
    let bench = Bench::new();
    let connection = rusqlite::Connection::open(bench.path()).expect("it can be opened");
    connection.execute("DELETE FROM sessions", []).expect("they go");
    connection.execute("INSERT INTO messages VALUES ('a', 3, '{}')", []).expect("a hole");
    drop(connection);
    crate::recovery::move_aside(&bench.path()).expect("it is moved");
    bench.goes_on_with(|events| events == EVENTS);
    let stored = bench.archive.load("a").expect("it can be read").expect("it is there");
    assert_eq!((stored.session.title.as_str(), stored.conversation.len()), ("(recovered)", 0));
    assert!(bench.archive.load("b").expect("it can be read").is_none(), "nothing is known of it");
}
