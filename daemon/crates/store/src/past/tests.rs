use std::{
    cell::Cell,
    ffi::OsString,
    fs,
    os::unix::{ffi::OsStringExt, fs::PermissionsExt},
    path::PathBuf,
    time::Duration,
};

use cohab_memory::past::{
    conformance::{self, DAY, at, run, text, turn, words},
    record::{RunSource, TurnCommand},
    store::WordGroup,
};
use jiff::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::form::beside;

mod forgetting;
mod kept_log;
mod seals;

/// Places of a store.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state/past.db")
    }

    fn keys(&self) -> PathBuf {
        self.folder.path().join("config/memory")
    }

    fn open(&self) -> SqlitePast {
        SqlitePast::create(&self.file(), &self.keys()).expect("it is made")
    }

    /// Changes the file as another program could.
    fn tamper(&self, sql: &str) {
        Connection::open(self.file()).expect("it can be opened").execute_batch(sql).expect(sql);
    }

    /// Whether a file of the store has these bytes, in any case.
    fn contains(&self, token: &str) -> bool {
        fs::read_dir(self.folder.path().join("state")).expect("listed").any(|file| {
            let bytes = fs::read(file.expect("a file").path()).expect("it can be read").to_ascii_lowercase();
            bytes.windows(token.len()).any(|window| window == token.as_bytes())
        })
    }
}

/// The texts of everything that a search finds, in the order of the alphabet.
fn hits(store: &SqlitePast, query: &PastQuery) -> Vec<String> {
    let found = store.search(query).expect("it can be read").hits;
    let mut texts: Vec<_> = found.iter().map(|item| text(item).to_owned()).collect();
    texts.sort();
    texts
}

fn add(store: &mut SqlitePast, runs: &[NewRun], turns: &[NewTurn]) -> Added {
    store.add(runs, turns).expect("they are stored")
}

/// Number of entries of the index, as SQLite counts them.
fn entries(store: &SqlitePast) -> i64 {
    store.connection.query_row("SELECT count(*) FROM search_docsize", [], |row| row.get(0)).expect("counted")
}

/// Number of records and of entries, as they are counted along.
fn totals(store: &SqlitePast) -> (i64, i64) {
    let totals = index::totals(&store.connection).expect("they can be read");
    (totals.records, totals.entries())
}

#[test]
fn the_contract_is_kept() {
    let bench = Bench::new();
    let number = Cell::new(0);
    conformance::all(|| {
        number.set(number.get() + 1);
        let place = bench.folder.path().join(number.get().to_string());
        SqlitePast::create(&place.join("past.db"), &place.join("keys")).expect("it is made")
    });
}

fn any_folder() -> impl Strategy<Value = PathBuf> {
    proptest::collection::vec(any::<u8>().prop_filter("a path has no NUL", |byte| *byte != 0), 0..40)
        .prop_map(|bytes| OsString::from_vec(bytes).into())
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    let (least, most) = (Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
    (least..=most).prop_map(|ms| Timestamp::from_millisecond(ms).expect("a time"))
}

prop_compose! {
    fn any_run()(
        line in "(?s).{0,60}",
        at in proptest::option::of(any_time()),
        folder in proptest::option::of(any_folder()),
        exit_code in any::<Option<i32>>(),
        duration in proptest::option::of(0..u64::try_from(i64::MAX).expect("positive")),
        output_tail in "(?s).{0,60}",
        source in 0..5_usize,
    ) -> NewRun {
        let duration = duration.map(Duration::from_millis);
        NewRun { line, at, folder, exit_code, duration, output_tail, source: RunSource::WORDS[source].0 }
    }
}

prop_compose! {
    fn any_turn()(
        texts in proptest::array::uniform4("(?s).{0,60}"),
        at in any_time(),
        folder in any_folder(),
        commands in proptest::collection::vec(("(?s).{0,40}", any::<Option<i32>>()), 0..4),
        trust in 0.0..=1.0_f64,
    ) -> NewTurn {
        let [turn, session, question, answer] = texts;
        let commands = commands.into_iter().map(|(line, exit_code)| TurnCommand { line, exit_code }).collect();
        NewTurn { turn, session, at, folder, question, answer, commands, trust }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_records_come_back_unchanged(
        runs in proptest::collection::vec(any_run(), 1..6),
        turns in proptest::collection::vec(any_turn(), 1..4),
    ) {
        let bench = Bench::new();
        let mut store = bench.open();
        let added = add(&mut store, &runs, &turns);
        let all = store.search(&PastQuery::default()).expect("it can be read").hits;
        for item in &all {
            let again = store.get(item.id()).expect("it can be read");
            prop_assert_eq!(again.as_ref(), Some(item));
            match item {
                PastItem::Line(line) => prop_assert!(runs.contains(&line.last), "{:?}", line),
                PastItem::Turn(turn) => prop_assert!(turns.contains(&turn.turn), "{:?}", turn),
            }
        }
        prop_assert_eq!(added.new + added.known, (runs.len() + turns.len()) as u64);
        prop_assert_eq!(store.changed().expect("checked"), vec![]);
    }

    #[test]
    fn each_term_of_any_text_finds_it(line in "(?s)\\PC{0,80}", question in "(?s).{0,80}") {
        let bench = Bench::new();
        let mut store = bench.open();
        add(&mut store, &[run(&line, 1)], &[turn(&question, 2)]);
        for text in [line, question] {
            for term in cohab_memory::past::terms::of(&text) {
                prop_assert!(index::is_indexable(&term), "{}", term);
                let groups = vec![WordGroup { term: term.clone(), others: Vec::new() }];
                let found = hits(&store, &PastQuery { groups, ..PastQuery::default() });
                prop_assert!(found.contains(&text), "{}", term);
            }
        }
    }
}

#[test]
fn the_index_has_an_entry_for_each_span() {
    let bench = Bench::new();
    let mut store = bench.open();
    // In one span, in others, and again in the first one with another folder.
    let folder = |name: &str, second| NewRun { folder: Some(name.into()), ..run("make", second) };
    let runs = [run("make", DAY), run("make", DAY + 1), run("make", 40 * DAY), folder("/srv/shop", DAY + 9)];
    add(&mut store, &runs, &[]);
    assert_eq!((entries(&store), totals(&store)), (2, (1, 2)));
    let mut in_shop = PastQuery { folder: Some("/srv".into()), ..words("make shop") };
    assert_eq!(hits(&store, &in_shop), ["make"]);
    // More folders than an entry has marks.
    let many: Vec<_> = (0..200).map(|n| folder(&format!("/opt/part{n}"), DAY + 10 + n)).collect();
    add(&mut store, &many, &[]);
    assert_eq!(entries(&store), 2);
    in_shop.groups.truncate(1);
    assert_eq!(hits(&store, &in_shop), ["make"]);
    for found in ["/opt/part3", "/opt/part199", "/opt", "/"] {
        assert_eq!(hits(&store, &PastQuery { folder: Some(found.into()), ..words("make") }), ["make"], "{found}");
    }
    assert_eq!(hits(&store, &PastQuery { folder: Some("/opt/part".into()), ..words("make") }), [""; 0]);
}

#[test]
fn the_number_of_lines_with_a_common_term_is_estimated() {
    let mut store = Bench::new().open();
    let line = |n: i64| match n {
        n if n % 2 == 0 => format!("even {n}"),
        // One burst in the middle, one at the end.
        6_000..8_000 => format!("middle {n}"),
        18_000.. => format!("late {n}"),
        n => format!("odd {n}"),
    };
    let runs: Vec<_> = (0..20_000).map(|n| run(&line(n), n * 3_600)).collect();
    add(&mut store, &runs, &[]);
    let found = store.search(&words("even odd middle late 77 missing")).unwrap();
    let counts: Vec<u64> = found.with_term.iter().map(|(count, _)| *count).collect();
    for (count, expected) in counts.iter().zip([10_000, 8_000, 1_000, 1_000, 1, 0]) {
        assert!((expected / 3..=expected * 3).contains(count), "{counts:?}");
    }
}

#[test]
fn an_index_of_another_version_is_made_again() {
    let bench = Bench::new();
    add(&mut bench.open(), &[run("git checking", 1)], &[]);
    bench.tamper("DELETE FROM terms; UPDATE tally SET rows = rows - 1 WHERE what = 103");
    assert_eq!(bench.open().slips("chekc").unwrap(), ["check"]);
    assert_eq!(hits(&bench.open(), &words("git")), ["git checking"]);
}

#[test]
fn a_line_with_very_many_runs_is_one_line() {
    let bench = Bench::new();
    let mut store = bench.open();
    let folder = |n: i64| Some(format!("/srv/{}", n % 50).into());
    for start in (0..100_000).step_by(5_000) {
        let runs: Vec<_> =
            (start..start + 5_000).map(|n| NewRun { folder: folder(n), ..run("git status", 30 * n) }).collect();
        add(&mut store, &runs, &[]);
    }
    add(&mut store, &[run("ls", 5)], &[]);
    for query in [PastQuery::default(), words("git"), PastQuery { folder: Some("/srv/7".into()), ..words("git") }] {
        let found = store.search(&query).unwrap().hits;
        let line = found.iter().find_map(|item| if let PastItem::Line(line) = item { Some(line) } else { None });
        assert!(line.is_some_and(|line| line.last.line == "git status" && line.runs >= 2_000), "{query:?}");
    }
    let counts = store.counts().unwrap();
    assert_eq!((counts.lines, counts.runs), (2, vec![(RunSource::Shell, 100_001)]));
    assert_eq!(store.forget(&PastSelection::Ids(vec![PastId::Line(1)])).unwrap(), 100_000);
    assert_eq!((entries(&store), hits(&store, &PastQuery::default())), (1, vec!["ls".to_owned()]));
}

#[test]
fn several_writers_share_a_file() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let bench = &bench;
            scope.spawn(move || {
                let mut store = bench.open();
                for number in 0..10 {
                    let second = number * DAY;
                    let own = turn("why?", 100 * writer + number);
                    add(&mut store, &[run("make", second), run(&format!("echo {writer} {number}"), second)], &[own]);
                    assert_eq!(store.changed().expect("checked"), []);
                    if number == 5 {
                        store.forget(&PastSelection::Ids(vec![PastId::Line(99_999)])).expect("nothing to forget");
                    }
                }
            });
        }
    });
    let counts = bench.open().counts().unwrap();
    assert_eq!((counts.runs, counts.lines, counts.turns), (vec![(RunSource::Shell, 40)], 31, 30));
}

#[test]
fn a_search_sees_what_another_process_wrote() {
    let bench = Bench::new();
    assert!(SqlitePast::open_existing(&bench.file(), &bench.keys()).unwrap().is_none());
    let mut writer = bench.open();
    let reader = SqlitePast::open_existing(&bench.file(), &bench.keys()).unwrap().unwrap();
    assert_eq!(hits(&reader, &words("make")), [""; 0]);
    add(&mut writer, &[run("make", 1)], &[]);
    assert_eq!(hits(&reader, &words("make")), ["make"]);
}

#[test]
fn the_oldest_go_beyond_the_limits() {
    let bench = Bench::new();
    let mut store = bench.open();
    store.limits = Limits { runs: 100, turns: 10 };
    let timeless = NewRun { at: None, ..run("timeless", 0) };
    let mut runs: Vec<_> = (0..99).map(|n| run(&format!("echo {n}"), n * DAY)).collect();
    runs.push(timeless);
    let turns: Vec<_> = (0..10).map(|n| turn("why?", n)).collect();
    add(&mut store, &runs, &turns);
    assert_eq!(hits(&store, &words("timeless")), ["timeless"]);
    let shop = |n: i64| NewRun { folder: Some("/srv/shop".into()), ..run("make", n * DAY) };
    add(&mut store, &[shop(200), shop(201)], &[turn("how?", 20)]);
    let counts = store.counts().unwrap();
    assert_eq!((counts.runs, counts.turns), (vec![(RunSource::Shell, 100)], 10));
    assert_eq!((hits(&store, &words("timeless echo make")).len(), store.get(PastId::Turn(1)).unwrap()), (99, None));
    assert_eq!((counts.lines, entries(&store)), (99, 109));
    assert_eq!(store.changed().unwrap(), []);
    // Older than all that is stored.
    assert_eq!(add(&mut store, &[run("echo past", -DAY)], &[]).new, 1);
    assert_eq!(hits(&store, &words("past")), [""; 0]);
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let bench = Bench::new();
    let mut store = bench.open();
    add(&mut store, &[run("make", 1)], &[]);
    store.connection.pragma_update(None, "max_page_count", 60).unwrap();
    let many: Vec<_> = (0..5_000).map(|n| run(&format!("echo {n} and some more"), n)).collect();
    let error = store.add(&many, &[]).expect_err("it is full");
    assert!(error.remedy().is_some_and(|remedy| remedy.starts_with("free space")), "{error}");
    assert_eq!(hits(&store, &PastQuery::default()), ["make"]);
    assert_eq!((hits(&store, &words("echo")).len(), store.counts().unwrap().lines), (0, 1));
    store.connection.pragma_update(None, "max_page_count", 10_000).unwrap();
    assert_eq!(add(&mut store, &many, &[]).new, 5_000);
}

#[test]
fn files_are_for_their_owner_only() {
    let bench = Bench::new();
    assert!(SqlitePast::health(&bench.file()).unwrap().is_none() && !bench.keys().exists());
    let mut store = bench.open();
    add(&mut store, &[run("make", 1)], &[]);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    for folder in [bench.file().parent().unwrap(), &bench.keys()] {
        assert_eq!(mode(folder), 0o700);
        for file in fs::read_dir(folder).unwrap() {
            assert_eq!(mode(&file.unwrap().path()), 0o600);
        }
    }
    assert!(SqlitePast::health(&bench.file()).unwrap().is_some_and(|health| health.is_checked));
}

#[test]
fn foreign_and_broken_files_are_not_written_into() {
    let bench = Bench::new();
    fs::create_dir_all(bench.file().parent().unwrap()).unwrap();
    bench.tamper("CREATE TABLE theirs (x)");
    let error = SqlitePast::create(&bench.file(), &bench.keys()).err().expect("it is refused");
    assert!(matches!(error, StoreError::Foreign) && error.remedy().is_some());
    fs::write(bench.file(), "this is not a database".repeat(500)).unwrap();
    let error = SqlitePast::open_existing(&bench.file(), &bench.keys()).err().expect("it is refused");
    assert!(error.is_corruption() && error.remedy().is_some());
    let mut store = bench.open();
    let broken = beside(&bench.file(), crate::recovery::KEPT);
    assert!(broken.exists());
    add(&mut store, &[run("make", 1)], &[]);
    store.forget(&PastSelection::All).unwrap();
    assert!(!broken.exists(), "it could hold the text");
}

#[test]
fn rows_of_a_broken_file_are_taken_over() {
    let bench = Bench::new();
    let mut store = bench.open();
    let timeless = NewRun { at: None, folder: None, ..run("make", 0) };
    add(&mut store, &[run("make", 1), run("make", 60 * DAY), timeless, run("ls", 3)], &[turn("why make?", 4)]);
    drop(store);
    // A line whose text was lost.
    bench.tamper("DELETE FROM lines WHERE text = 'ls'");
    crate::recovery::move_aside(&bench.file()).unwrap();
    let mut store = bench.open();
    assert_eq!(hits(&store, &words("make ls")), ["make", "why make?"]);
    let counts = store.counts().unwrap();
    assert_eq!((counts.runs, counts.lines, counts.turns), (vec![(RunSource::Shell, 3)], 1, 1));
    assert_eq!((store.changed().unwrap(), entries(&store)), (vec![], 4));
    assert_eq!(totals(&store), (2, 4));
    add(&mut store, &[run("make", 9)], &[]);
    assert_eq!(entries(&store), 4);
}

#[test]
fn the_key_is_that_of_the_remembered_facts() {
    use cohab_memory::store::MemoryStore;
    let bench = Bench::new();
    add(&mut bench.open(), &[run("make", 1)], &[]);
    let key = fs::read(bench.keys().join("key")).unwrap();
    // The store of facts takes the key with its head and notes no fault.
    let facts = crate::memory::SqliteMemory::create(&bench.folder.path().join("state/memory.db"), &bench.keys());
    assert_eq!(facts.unwrap().faults().unwrap(), []);
    assert_eq!(fs::read(bench.keys().join("key")).unwrap(), key);
    assert_eq!(bench.open().changed().unwrap(), []);
}
