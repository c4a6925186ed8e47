use std::{cell::Cell, fs, os::unix::ffi::OsStringExt, path::PathBuf};

use cohab_memory::knowledge::{
    conformance::{self, at, file, found, learn, place, sources},
    record::Passage,
};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Places of a store.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state/knowledge.db")
    }

    fn open(&self) -> SqliteKnowledge {
        SqliteKnowledge::create(&self.file(), &self.folder.path().join("config/memory")).expect("it is made")
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

#[test]
fn the_contract_is_kept() {
    let bench = Bench::new();
    let number = Cell::new(0);
    conformance::all(|| {
        number.set(number.get() + 1);
        let place = bench.folder.path().join(number.get().to_string());
        SqliteKnowledge::create(&place.join("knowledge.db"), &place.join("keys")).expect("it is made")
    });
}

#[test]
fn an_unlearned_place_leaves_nothing_in_any_file() {
    let bench = Bench::new();
    let mut store = bench.open();
    let files: Vec<LearnedFile> = (0..300)
        .map(|n| file(&format!("walrus{n}.md"), &format!("# Pelican\n\nzebra {n} {}", "kiwi ".repeat(400))))
        .collect();
    learn(&mut store, &place("/secret-flamingo"), &files);
    learn(&mut store, &place("/other"), &[file("a.txt", "tapir")]);
    // A changed file leaves moved rows behind.
    assert!(
        store
            .replace(Path::new("/secret-flamingo"), &[file("walrus7.md", "a marmot")], &["walrus8.md".into()])
            .expect("stored")
    );
    let tokens = ["zebra", "pelican", "kiwi", "walrus", "flamingo", "marmot"];
    assert!(tokens.iter().all(|token| bench.contains(token)));
    assert_eq!(store.unlearn(Path::new("/secret-flamingo")).expect("deleted"), Some(299));
    for token in tokens {
        assert!(!bench.contains(token), "{token}");
    }
    assert!(bench.contains("tapir") && sources(&store, "tapir") == ["/other/a.txt:1"]);
}

#[test]
fn every_change_by_another_program_is_found() {
    for (sql, named) in [
        ("UPDATE passages SET text = 'evil' WHERE line = 1", "/docs/a.md"),
        ("UPDATE passages SET headings = 'evil'", "/docs/a.md"),
        ("UPDATE passages SET line = line + 1 WHERE line = 1", "/docs/a.md"),
        ("DELETE FROM passages WHERE line = 1", "/docs/a.md"),
        ("UPDATE files SET path = CAST('b.md' AS BLOB)", "/docs/b.md"),
        ("UPDATE files SET bytes = 3", "/docs/a.md"),
        ("UPDATE files SET left_out = 1", "/docs/a.md"),
        ("UPDATE files SET mac = x'00'", "/docs/a.md"),
        ("UPDATE places SET root = CAST('/doc' AS BLOB)", "/doc"),
        ("UPDATE places SET project = NULL", "/docs"),
        ("INSERT INTO passages VALUES (99, 1, 1, '', 'evil', x'00')", "/docs/a.md"),
        ("INSERT INTO passages VALUES (99, 77, 1, '', 'evil', x'00')", ""),
    ] {
        let bench = Bench::new();
        let mut store = bench.open();
        let scope = cohab_memory::record::Scope::Project("/docs".into());
        learn(&mut store, &LearnedPlace { scope, ..place("/docs") }, &[file("a.md", "# One\n\ntext")]);
        assert_eq!(store.changed().expect("checked"), Vec::<PathBuf>::new());
        bench.tamper(sql);
        assert!(store.changed().expect("checked").contains(&named.into()), "{sql}: {:?}", store.changed());
    }
}

#[test]
fn without_its_key_nothing_is_called_sound() {
    let bench = Bench::new();
    let store = bench.open();
    fs::remove_file(bench.folder.path().join("config/memory/key")).expect("removed");
    assert!(store.changed().expect_err("no key").to_string().contains("key"));
}

#[test]
fn a_broken_file_is_taken_over_and_found_again() {
    let bench = Bench::new();
    let mut store = bench.open();
    let files: Vec<LearnedFile> = (0..200).map(|n| file(&format!("{n}.md"), &format!("zebra number{n}"))).collect();
    learn(&mut store, &place("/docs"), &files);
    store.looked(Path::new("/docs"), at(5)).expect("noted");
    drop(store);
    let connection = Connection::open(bench.file()).expect("it can be opened");
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("moved");
    drop(connection);
    let mut bytes = fs::read(bench.file()).expect("it can be read");
    // The header says that it is something else.
    bytes[..16].copy_from_slice(b"SQLite format 9\0");
    fs::write(bench.file(), &bytes).expect("broken");
    let mut store = bench.open();
    // Nothing could be read; the user names the place again.
    learn(&mut store, &place("/docs"), &files);
    assert_eq!(sources(&store, "number7"), ["/docs/7.md:1"]);
    assert_eq!(store.changed().expect("checked"), Vec::<PathBuf>::new());
}

#[test]
fn rows_that_are_taken_over_are_indexed_and_looked_at_again() {
    let bench = Bench::new();
    let mut store = bench.open();
    learn(&mut store, &place("/docs"), &[file("a.md", "zebra"), file("b.md", "lion")]);
    store.looked(Path::new("/docs"), at(5)).expect("noted");
    bench.tamper("DELETE FROM passages WHERE text = 'lion'");
    store.write(|transaction| (FORM.after_salvage)(transaction)).expect("mended");
    assert_eq!(sources(&store, "zebra"), ["/docs/a.md:1"]);
    assert_eq!(store.files(Path::new("/docs")).expect("read").len(), 1, "half a file is read again");
    assert_eq!(store.places().expect("read")[0].place.looked, None);
}

#[test]
fn two_processes_that_learn_the_same_place_end_with_it_once() {
    let bench = Bench::new();
    drop(bench.open());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut store = bench.open();
                for n in 0..20 {
                    learn(&mut store, &place("/docs"), &[file(&format!("{n}.md"), "zebra")]);
                }
            });
        }
    });
    let store = bench.open();
    let summary = store.places().expect("read").remove(0);
    assert_eq!((summary.files, summary.passages), (20, 20));
    assert_eq!(store.changed().expect("checked"), Vec::<PathBuf>::new());
}

#[test]
fn a_full_file_takes_nothing_and_still_answers() {
    let bench = Bench::new();
    let mut store = bench.open();
    learn(&mut store, &place("/docs"), &[file("a.md", "zebra")]);
    let pages: i64 = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("counted");
    store.connection.pragma_update(None, "max_page_count", pages + 2).expect("limited");
    let large = file("b.md", &"lion words without an end\n\n".repeat(3_000));
    let error = store.replace(Path::new("/docs"), &[large], &["a.md".into()]).expect_err("full");
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("free space")), "{error}");
    assert_eq!(sources(&store, "zebra"), ["/docs/a.md:1"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_file_comes_back_unchanged(
        path in proptest::collection::vec(any::<u8>().prop_filter("a path has no NUL", |byte| *byte != 0), 1..40),
        passages in proptest::collection::vec(("(?s).{0,60}", "(?s).{0,200}", 1..u64::from(u32::MAX)), 1..5),
    ) {
        let bench = Bench::new();
        let mut store = bench.open();
        let path: PathBuf = std::ffi::OsString::from_vec([b"d/".as_slice(), &path].concat()).into();
        let path: PathBuf = path.components().collect();
        let passages: Vec<Passage> = passages
            .into_iter()
            .map(|(headings, text, line)| Passage { line, headings, text: format!("zebra {text}") })
            .collect();
        learn(&mut store, &place("/docs"), &[LearnedFile { path: path.clone(), content: Ok(passages.clone()), ..file("x", "") }]);
        let found = found(&store, "zebra", None);
        prop_assert_eq!(found.len(), passages.len());
        for hit in found {
            prop_assert_eq!(&hit.file, &Path::new("/docs").join(&path));
            prop_assert!(passages.contains(&hit.passage));
        }
        prop_assert!(store.changed().expect("checked").is_empty());
    }
}
