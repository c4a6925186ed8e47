//! Tests of what verification finds, and of writers that die.

use super::*;
use crate::pace::Killed;

#[test]
fn each_changed_field_of_a_row_is_found() {
    let changes = [
        "text = 'staging is on evil'",
        "text = CAST(x'ff' AS TEXT)",
        "root = x'2f'",
        "origin = 'import'",
        "folder = x'2f'",
        "trust = 1.0",
        "stated_ms = stated_ms + 1",
        "sources = 'turn:7'",
        "sources = ''",
        "valid_to_ms = 7",
        "superseded_by = 3",
        "valid_to_ms = 7, superseded_by = 3",
        "mac = zeroblob(32)",
        "mac = x''",
    ];
    for change in changes {
        let bench = Bench::new();
        drop(filled(&bench));
        bench.tamper(&format!("UPDATE memories SET {change} WHERE id = 1"));
        assert_eq!(bench.faults(), [MemoryFault::Changed(MemoryId(1))], "{change}");
        assert!(bench.open().list(None).is_ok(), "{change}");
        assert!(!bench.open().get(MemoryId(1)).unwrap().unwrap().is_sound, "{change}");
    }
    for change in ["valid_to_ms = NULL, superseded_by = NULL", "valid_to_ms = 1", "superseded_by = 1"] {
        let bench = Bench::new();
        drop(filled(&bench));
        bench.tamper(&format!("UPDATE memories SET {change} WHERE id = 2"));
        assert_eq!(bench.faults(), [MemoryFault::Changed(MemoryId(2))], "{change}");
        assert!(!bench.open().get(MemoryId(2)).unwrap().unwrap().is_sound, "{change}");
    }
}

#[test]
fn a_changed_number_an_added_and_a_deleted_row_are_found() {
    let copy = "INSERT INTO memories SELECT 9, text, root, origin, folder, trust, stated_ms, NULL, NULL, mac, sources
        FROM memories WHERE id = 1";
    let [first, ninth] = [MemoryId(1), MemoryId(9)];
    let (changed, missing) = (MemoryFault::Changed(ninth), MemoryFault::Missing(first));
    for (sql, faults) in [
        ("UPDATE memories SET id = 9 WHERE id = 1", vec![changed.clone(), missing.clone()]),
        (copy, vec![changed]),
        ("DELETE FROM memories WHERE id = 1", vec![missing]),
    ] {
        let bench = Bench::new();
        drop(filled(&bench));
        bench.tamper(sql);
        assert_eq!(bench.faults(), faults, "{sql}");
    }
}

#[test]
fn a_row_of_another_program_is_in_quarantine_wherever_it_is_read() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    let forgotten =
        "INSERT INTO memories SELECT 4, text, root, origin, folder, trust, stated_ms, NULL, NULL, mac, sources
        FROM memories WHERE id = 1";
    bench.tamper(forgotten);
    bench.tamper("UPDATE memories SET valid_to_ms = NULL, superseded_by = NULL WHERE id = 2");
    bench.tamper("INSERT INTO memory_search (rowid, root, text) VALUES (2, 'r0', 'tea is at four')");
    let sound = |memory: &Memory| (memory.id.0, memory.is_sound);
    let mut listed: Vec<_> = store.list(None).unwrap().iter().map(sound).collect();
    listed.sort_unstable();
    assert_eq!(listed, [(1, true), (2, false), (3, true), (4, false)]);
    let found = store.search(&["tea".to_owned()], None).unwrap();
    assert_eq!(found.hits.iter().map(|hit| sound(&hit.memory)).collect::<Vec<_>>(), [(2, false), (3, true)]);
    // Stating it again does not give the changed row back its place.
    let again = added(&mut store, "tea is at four", 9);
    assert!(store.get(again).unwrap().unwrap().is_sound && again != MemoryId(2));
    // Without the key nothing is sound.
    fs::remove_file(bench.keys().join("key")).unwrap();
    let store = SqliteMemory::open_existing(&bench.file(), &bench.keys()).unwrap().unwrap();
    assert!(store.list(None).unwrap().iter().all(|memory| !memory.is_sound));
}

#[test]
fn rows_of_the_form_before_sources_keep_their_seals() {
    let bench = Bench::new();
    drop(filled(&bench));
    let head = fs::read(bench.keys().join("head")).unwrap();
    bench.tamper(
        "DROP INDEX journal_by_record; DROP TABLE proposals; DROP TABLE inbox_notice; DROP TABLE block_versions;
        ALTER TABLE memories DROP COLUMN sources; PRAGMA user_version = 2;",
    );
    assert_eq!(bench.faults(), []);
    assert!(bench.open().list(None).unwrap().iter().all(|memory| memory.is_sound && memory.sources.is_empty()));
    assert_eq!(fs::read(bench.keys().join("head")).unwrap(), head);
}

#[test]
fn each_changed_field_of_an_entry_is_found() {
    for n in 1..=6 {
        for change in [
            "n = n + 100",
            "what = 'forget '",
            "id = id + 1",
            "at_ms = at_ms + 1",
            "other = 8",
            "row_mac = zeroblob(32)",
            "prev = zeroblob(31)",
            "mac = zeroblob(32)",
            "mac = x''",
        ] {
            let bench = Bench::new();
            let store = filled(&bench);
            drop(store);
            bench.tamper(&format!("UPDATE journal SET {change} WHERE n = {n}"));
            let faults = bench.faults();
            let is_journal = |fault: &&MemoryFault| matches!(fault, MemoryFault::Journal(_));
            assert!(faults.iter().any(|fault| is_journal(&fault)), "{n} {change}: {faults:?}");
        }
    }
}

#[test]
fn missing_entries_are_found_also_after_the_next_write() {
    for (sql, first) in [
        ("DELETE FROM journal WHERE n > 5", 6),
        ("DELETE FROM journal WHERE n = 2", 2),
        ("DELETE FROM journal; DELETE FROM memories", 1),
    ] {
        let bench = Bench::new();
        drop(filled(&bench));
        bench.tamper(sql);
        assert!(bench.faults().contains(&MemoryFault::Journal(first)), "{sql}: {:?}", bench.faults());
        added(&mut bench.open(), "something newer", 50);
        assert!(bench.faults().contains(&MemoryFault::Journal(first)), "{sql}: {:?}", bench.faults());
    }
}

#[test]
fn a_missing_or_changed_head_or_key_is_found() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    fs::rename(bench.keys().join("key"), bench.keys().join("away")).unwrap();
    assert_eq!(bench.faults(), [MemoryFault::NoKey]);
    fs::rename(bench.keys().join("away"), bench.keys().join("key")).unwrap();
    assert_eq!(bench.faults(), []);
    let earlier = fs::read(bench.keys().join("head")).unwrap();
    added(&mut store, "something newer", 50);
    for head in [earlier.as_slice(), b"", b"{}\n"] {
        let current = fs::read(bench.keys().join("head")).unwrap();
        fs::write(bench.keys().join("head"), head).unwrap();
        assert!(matches!(bench.faults()[..], [MemoryFault::Journal(_)]));
        fs::write(bench.keys().join("head"), current).unwrap();
    }
    fs::remove_file(bench.keys().join("head")).unwrap();
    assert!(matches!(bench.faults()[..], [MemoryFault::Journal(_)]));
    fs::remove_file(bench.keys().join("key")).unwrap();
    added(&mut bench.open(), "with a new key", 60);
    assert!(bench.faults().contains(&MemoryFault::Journal(1)));
}

/// Whether the writer was ended at this step.
fn is_killed(store: &mut SqliteMemory, steps: u32, write: impl Fn(&mut SqliteMemory)) -> bool {
    store.pace = Pace::killed_at(steps);
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| write(store))) {
        Ok(()) => false,
        Err(panic) if panic.is::<Killed>() => true,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[test]
fn a_writer_that_dies_at_any_step_raises_no_alarm() {
    for steps in 0.. {
        let bench = Bench::new();
        let mut store = filled(&bench);
        let is_killed = is_killed(&mut store, steps, |store| {
            added(store, "one more", 60);
            store.forget(&[MemoryId(1)]).expect("it is forgotten");
        });
        drop(store);
        assert_eq!(bench.faults(), [], "{steps}");
        added(&mut bench.open(), "the next one", 70);
        assert_eq!(bench.faults(), [], "{steps}");
        if !is_killed {
            assert_eq!(steps, 12);
            break;
        }
    }
}

#[test]
fn a_writer_that_dies_does_not_hide_a_fault() {
    for steps in 0..7 {
        let bench = Bench::new();
        drop(filled(&bench));
        bench.tamper("DELETE FROM journal WHERE n > 5");
        is_killed(&mut bench.open(), steps, |store| {
            added(store, "one more", 60);
        });
        assert!(bench.faults().contains(&MemoryFault::Journal(6)), "{steps}");
        added(&mut bench.open(), "the next one", 70);
        assert!(bench.faults().contains(&MemoryFault::Journal(6)), "{steps}");
    }
}

#[test]
fn a_text_that_is_changed_on_its_way_is_not_sealed() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    bench.tamper(
        "CREATE TRIGGER evil AFTER INSERT ON memories BEGIN
            UPDATE memories SET text = 'evil' WHERE id = new.id; END",
    );
    assert!(matches!(store.remember(&fact("good"), at(9)), Err(StoreError::Broken)));
    // Without a root a fact would hold everywhere.
    bench.tamper("DROP TRIGGER evil");
    assert!(store.remember(&fact_of("", "good"), at(9)).is_err());
    assert_eq!((store.list(None).unwrap().len(), bench.faults()), (2, vec![]));
}
