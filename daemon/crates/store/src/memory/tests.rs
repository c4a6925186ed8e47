use std::{
    ffi::OsString,
    fs,
    os::unix::{ffi::OsStringExt, fs::PermissionsExt},
    path::PathBuf,
};

use cohab_memory::{
    conformance::{self, at, fact, fact_of},
    record::Scope,
};
use tempfile::TempDir;

use super::*;
use crate::form::beside;

mod blocks;
mod measured;
mod seals;

/// Places of a store.
pub(super) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("state/memory.db")
    }

    pub fn keys(&self) -> PathBuf {
        self.folder.path().join("config/memory")
    }

    pub fn open(&self) -> SqliteMemory {
        SqliteMemory::create(&self.file(), &self.keys()).expect("it is made")
    }

    pub fn faults(&self) -> Vec<MemoryFault> {
        let store = SqliteMemory::open_existing(&self.file(), &self.keys()).expect("it can be opened");
        store.expect("it is there").faults().expect("it can be checked")
    }

    /// Changes the file as another program could.
    pub fn tamper(&self, sql: &str) {
        Connection::open(self.file()).expect("it can be opened").execute_batch(sql).expect(sql);
    }

    /// Whether a file of the store has these bytes, in any case.
    pub fn contains(&self, token: &str) -> bool {
        let files = ["state", "config/memory"].map(|name| fs::read_dir(self.folder.path().join(name)).expect("listed"));
        files.into_iter().flatten().any(|file| {
            let bytes = fs::read(file.expect("a file").path()).expect("it can be read").to_ascii_lowercase();
            bytes.windows(token.len()).any(|window| window == token.as_bytes())
        })
    }
}

fn added(store: &mut SqliteMemory, text: &str, second: i64) -> MemoryId {
    match store.remember(&fact(text), at(second)).expect("it is remembered") {
        Remembered::New(memory) | Remembered::Known(memory) => memory.id,
    }
}

/// A store with a valid fact, one with two versions and a forgotten one: records 1 to 4.
fn filled(bench: &Bench) -> SqliteMemory {
    let mut store = bench.open();
    added(&mut store, "staging is on blue", 1);
    let old = added(&mut store, "tea is at four", 2);
    store.replace(old, &fact("tea is at five"), at(3)).expect("it is written").expect("it was valid");
    let gone = added(&mut store, "the door code is 1234", 4);
    store.forget(&[gone]).expect("it is forgotten");
    assert_eq!(store.faults().expect("checked"), []);
    store
}

#[test]
fn the_contract_is_kept() {
    let bench = Bench::new();
    let number = std::cell::Cell::new(0);
    conformance::all(|| {
        number.set(number.get() + 1);
        let place = bench.folder.path().join(number.get().to_string());
        SqliteMemory::create(&place.join("memory.db"), &place.join("keys")).expect("it is made")
    });
}

#[test]
fn a_forgotten_text_is_in_no_file() {
    let bench = Bench::new();
    let mut store = bench.open();
    // Enough rows for pages that are split and for words that begin a page of the index.
    let filler = |store: &mut SqliteMemory, from: i64| {
        store
            .write(|change| {
                (from..from + 400).try_for_each(|n| {
                    let text = format!(
                        "zyx{n:04}pqlings stand on shelf{n}qv {}",
                        "and wait ".repeat(usize::try_from(n % 40).unwrap())
                    );
                    change.add(&fact(&text), at(n)).map(|_| ())
                })
            })
            .expect("written");
    };
    filler(&mut store, 0);
    let id = added(&mut store, "the sesame word is Xyzzyplughings, not qwertzuiopian", 900);
    let newer = store.replace(id, &fact("the sesame word is xyzzyplughings or plover"), at(901)).unwrap().unwrap();
    filler(&mut store, 1_000);
    let found = store.search(&["xyzzyplughing".into(), "shelf7qv".into()], None).unwrap();
    assert_eq!(found.with_word, [1, 1]);
    let tokens = ["xyzzyplugh", "qwertzuiop"];
    assert!(tokens.iter().all(|token| bench.contains(token)));
    assert_eq!(store.forget(&[newer.id]).unwrap(), 2);
    assert!(!tokens.iter().any(|token| bench.contains(token)), "while it is open");
    // Many at once, with neighbours that stay.
    let every_third: Vec<MemoryId> = store.list(None).unwrap().iter().step_by(3).map(|memory| memory.id).collect();
    let texts: Vec<String> = store.list(None).unwrap().into_iter().step_by(3).map(|memory| memory.text).collect();
    assert_eq!(store.forget(&every_third).unwrap(), every_third.len() as u64);
    assert_eq!(store.faults().unwrap(), []);
    for text in &texts {
        assert!(!bench.contains(text.split("lings").next().unwrap()), "{text}");
    }
    drop(store);
    assert!(!tokens.iter().any(|token| bench.contains(token)), "after it is closed");
    assert_eq!(bench.open().search(&["stand".into()], None).unwrap().total, 800 - texts.len() as u64);
}

#[test]
fn several_writers_make_one_journal() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let bench = &bench;
            scope.spawn(move || {
                let mut store = bench.open();
                for number in 0..8 {
                    let id = added(&mut store, &format!("fact {number} of {writer}"), number);
                    assert_eq!(store.faults().expect("checked"), []);
                    if number % 4 == 1 {
                        store.forget(&[id]).expect("it is forgotten");
                    }
                }
            });
        }
    });
    assert_eq!((bench.open().list(None).unwrap().len(), bench.faults()), (18, vec![]));
}

#[test]
fn files_and_folders_are_for_their_owner_only() {
    let bench = Bench::new();
    assert!(SqliteMemory::open_existing(&bench.file(), &bench.keys()).unwrap().is_none());
    assert!(SqliteMemory::health(&bench.file()).unwrap().is_none() && !bench.keys().exists());
    let store = filled(&bench);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    for folder in [bench.file().parent().unwrap(), &bench.keys()] {
        assert_eq!(mode(folder), 0o700);
        for file in fs::read_dir(folder).unwrap() {
            assert_eq!(mode(&file.unwrap().path()), 0o600);
        }
    }
    assert!(SqliteMemory::health(&bench.file()).unwrap().is_some_and(|health| health.is_checked));
    drop(store);
}

#[test]
fn any_path_is_kept_and_compared_by_its_components() {
    let bench = Bench::new();
    let mut store = bench.open();
    let odd = PathBuf::from(OsString::from_vec(b"/srv/\xff\xfe shop".to_vec()));
    let new = NewMemory { scope: Scope::Project(odd.clone()), folder: odd.join("src"), ..fact("odd") };
    let Remembered::New(memory) = store.remember(&new, at(1)).unwrap() else { panic!("it is new") };
    assert_eq!((&memory.scope, &memory.folder), (&new.scope, &new.folder));
    store.remember(&fact_of("/srv//blog/./", "plain"), at(2)).unwrap();
    for (folder, count) in
        [(odd.join("deep/down"), 1), ("/srv/blog/x".into(), 1), ("/srv/".into(), 0), (odd.clone(), 1)]
    {
        let found = store.search(&["odd".into(), "plain".into()], Some(&folder)).unwrap();
        assert_eq!((found.total, found.hits.len()), (count, usize::try_from(count).unwrap()), "{folder:?}");
    }
}

#[test]
fn a_cycle_of_versions_ends() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    bench.tamper(
        "UPDATE memories SET superseded_by = 2 WHERE id = 3; UPDATE memories SET superseded_by = 1 WHERE id = 1",
    );
    assert_eq!((store.versions(MemoryId(2)).unwrap().len(), store.versions(MemoryId(1)).unwrap().len()), (2, 1));
    assert_eq!(store.forget(&[MemoryId(3)]).unwrap(), 2);
}

#[test]
fn foreign_and_broken_files_are_not_written_into() {
    let bench = Bench::new();
    fs::create_dir_all(bench.file().parent().unwrap()).unwrap();
    bench.tamper("CREATE TABLE theirs (x)");
    let error = SqliteMemory::create(&bench.file(), &bench.keys()).err().expect("it is refused");
    assert!(matches!(error, StoreError::Foreign) && error.remedy().is_some());
    fs::write(bench.file(), "this is not a database".repeat(500)).unwrap();
    let error = SqliteMemory::open_existing(&bench.file(), &bench.keys()).err().expect("it is refused");
    assert!(error.is_corruption() && error.remedy().is_some());
    let mut store = bench.open();
    let broken = beside(&bench.file(), crate::recovery::KEPT);
    assert!(broken.exists());
    let id = added(&mut store, "a new start", 1);
    store.forget(&[id]).unwrap();
    assert!(!broken.exists(), "it could hold the text");
}

#[test]
fn facts_of_a_broken_file_are_taken_over() {
    let bench = Bench::new();
    drop(filled(&bench));
    crate::recovery::move_aside(&bench.file()).unwrap();
    let mut store = bench.open();
    let found = store.search(&["tea".into(), "four".into()], None).unwrap();
    assert_eq!((found.total, found.with_word, store.faults().unwrap()), (2, vec![1, 0], vec![]));
    assert_eq!(added(&mut store, "new", 9), MemoryId(5), "a number is given once");
}

#[test]
fn counts_follow_every_change() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    store.remember(&fact_of("/srv/shop", "shop one"), at(9)).unwrap();
    let counted = |store: &SqliteMemory, folder: Option<&str>| {
        let folder = folder.map(Path::new);
        let total = store.search(&[], folder).unwrap().total;
        assert_eq!(total, store.list(folder).unwrap().len() as u64);
        total
    };
    assert_eq!((counted(&store, None), counted(&store, Some("/srv/shop")), counted(&store, Some("/"))), (3, 3, 2));
    store.replace(MemoryId(5), &fact("holds everywhere now"), at(10)).unwrap().unwrap();
    assert_eq!((counted(&store, None), counted(&store, Some("/"))), (3, 3));
    store.forget(&[MemoryId(5), MemoryId(1)]).unwrap();
    assert_eq!((counted(&store, None), counted(&store, Some("/srv/shop"))), (1, 1));
}
