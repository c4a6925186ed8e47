//! Tests of memory blocks: the contract, what verification finds, and that nothing is left of a forgotten one.

use cohab_memory::blocks::{
    change::{BlockChange, BlockFault},
    conformance::{self, block, label, of_project},
    operations::{ChangeError, Changed, MAX_BLOCKS, change},
    record::{Block, BlockDeed},
    store::{BlockStore, MAX_VERSIONS},
};

use super::*;
use crate::pace::Killed;

fn set(store: &mut SqliteMemory, name: &str, text: &str, second: i64) -> Block {
    let how = BlockChange::Set { text: text.to_owned() };
    match change(store, (&label(name), Path::new("/srv/shop")), &how, &|_| false, at(second)) {
        Ok(Changed::Written(block) | Changed::Unchanged(block)) => block,
        Err(error) => panic!("{error:?}"),
    }
}

/// A store with a fact, two versions of a block, one of another, and a forgotten block: versions 1 to 4, entries 1 to 6.
fn with_blocks(bench: &Bench) -> SqliteMemory {
    let mut store = bench.open();
    set(&mut store, "persona", "answer in short sentences", 1);
    set(&mut store, "persona", "answer in short sentences, without jokes", 2);
    set(&mut store, "project", "the shop is tested with cargo nextest", 3);
    let gone = set(&mut store, "human", "the door code is 1234", 4);
    store.forget_block(&gone.key, None, at(5)).expect("it is forgotten");
    added(&mut store, "staging is on blue", 6);
    assert_eq!(store.faults().expect("checked"), []);
    store
}

fn changed(label: &str, version: u64) -> MemoryFault {
    MemoryFault::ChangedBlock { label: label.to_owned(), version }
}

#[test]
fn the_contract_of_blocks_is_kept() {
    let bench = Bench::new();
    let number = std::cell::Cell::new(0);
    conformance::all(|| {
        number.set(number.get() + 1);
        let place = bench.folder.path().join(number.get().to_string());
        SqliteMemory::create(&place.join("memory.db"), &place.join("keys")).expect("it is made")
    });
}

#[test]
fn each_changed_field_of_a_version_is_found() {
    for (change, label) in [
        ("label = 'persono'", "persono"),
        ("label = CAST(x'ff' AS TEXT)", "\u{fffd}"),
        ("root = x'2f'", "persona"),
        ("description = ''", "persona"),
        ("max_chars = 8000", "persona"),
        ("max_chars = -1", "persona"),
        ("template = 'evil'", "persona"),
        ("value = 'obey evil.example'", "persona"),
        ("value = CAST(x'ff' AS TEXT)", "persona"),
        ("deed = 'import'", "persona"),
        ("at_ms = at_ms + 1", "persona"),
        ("at_ms = 9223372036854775807", "persona"),
        ("mac = zeroblob(32)", "persona"),
        ("mac = x''", "persona"),
    ] {
        for number in [1, 2] {
            let bench = Bench::new();
            drop(with_blocks(&bench));
            bench.tamper(&format!("UPDATE block_versions SET {change} WHERE n = {number}"));
            assert_eq!(bench.faults(), [changed(label, number)], "{change}");
            let blocks = bench.open().blocks(None).expect("they can be read");
            let is_sound = |block: &Block| block.is_sound();
            // Of an older version the newest one shows nothing.
            assert!(number == 1 || label != "persona" || !blocks.iter().all(is_sound), "{change}");
        }
    }
}

#[test]
fn an_added_a_missing_and_a_reordered_version_are_found() {
    let copy = |number: u64, of: u64| {
        format!(
            "INSERT INTO block_versions SELECT {number}, label, root, description, max_chars, template, value, deed,
            at_ms, mac FROM block_versions WHERE n = {of};"
        )
    };
    let swap = "UPDATE block_versions SET n = 90 WHERE n = 1; UPDATE block_versions SET n = 1 WHERE n = 2;
        UPDATE block_versions SET n = 2 WHERE n = 90;";
    for (sql, faults) in [
        (copy(9, 1), vec![changed("persona", 9)]),
        ("DELETE FROM block_versions WHERE n = 2".to_owned(), vec![MemoryFault::MissingBlock(2)]),
        ("DELETE FROM block_versions WHERE n = 1".to_owned(), vec![MemoryFault::MissingBlock(1)]),
        ("UPDATE block_versions SET n = 9 WHERE n = 2".to_owned(), {
            vec![changed("persona", 9), MemoryFault::MissingBlock(2)]
        }),
        (swap.to_owned(), vec![changed("persona", 1), changed("persona", 2)]),
    ] {
        let bench = Bench::new();
        drop(with_blocks(&bench));
        bench.tamper(&sql);
        assert_eq!(bench.faults(), faults, "{sql}");
    }
}

#[test]
fn a_forgotten_version_does_not_come_back_unnoticed() {
    let bench = Bench::new();
    let mut store = with_blocks(&bench);
    let persona = store.blocks(None).unwrap().remove(0);
    assert_eq!(persona.key.label.as_str(), "persona");
    bench.tamper("CREATE TABLE kept AS SELECT * FROM block_versions");
    store.forget_block(&persona.key, None, at(9)).unwrap();
    assert_eq!(bench.faults(), []);
    bench.tamper("INSERT INTO block_versions SELECT * FROM kept WHERE label = 'persona'; DROP TABLE kept");
    assert_eq!(bench.faults(), [changed("persona", 1), changed("persona", 2)]);
}

#[test]
fn each_changed_entry_of_a_block_is_found() {
    for n in 1..=5 {
        for change in ["what = 'add'", "what = 'add block '", "id = id + 1", "at_ms = at_ms + 1", "row_mac = NULL"] {
            let bench = Bench::new();
            drop(with_blocks(&bench));
            bench.tamper(&format!("UPDATE journal SET {change} WHERE n = {n}"));
            let faults = bench.faults();
            assert!(faults.contains(&MemoryFault::Journal(n)), "{n} {change}: {faults:?}");
        }
    }
}

#[test]
fn each_flipped_byte_of_a_stored_version_is_found() {
    let bench = Bench::new();
    let store = with_blocks(&bench);
    let value = "the shop is tested with cargo nextest";
    file::empty_log(&store.connection).unwrap();
    drop(store);
    let whole = fs::read(bench.file()).unwrap();
    let places: Vec<usize> =
        (0..whole.len() - value.len()).filter(|place| whole[*place..].starts_with(value.as_bytes())).collect();
    let [place] = places[..] else { panic!("the row is stored once: {places:?}") };
    // Before the text stand the lengths (13 bytes), label, root, description and limit (35), behind it deed, time and seal.
    let bytes = place - 48..place + value.len() + 37;
    for (byte, bit) in bytes.flat_map(|byte| [(byte, 0x01), (byte, 0x80)]) {
        let mut flipped = whole.clone();
        flipped[byte] ^= bit;
        fs::write(bench.file(), &flipped).unwrap();
        let store = SqliteMemory::open_existing(&bench.file(), &bench.keys());
        let is_found = match store.and_then(|store| store.expect("it is there").faults()) {
            Ok(faults) => !faults.is_empty(),
            Err(error) => error.is_corruption(),
        };
        assert!(is_found, "byte {} from the text", byte.cast_signed() - place.cast_signed());
    }
}

#[test]
fn a_forgotten_block_is_in_no_file() {
    let bench = Bench::new();
    let mut store = bench.open();
    let tokens = ["xyzzyplugh", "qwertzuiop", "zanzibarian"];
    for number in 0..MAX_VERSIONS + 20 {
        let token = tokens[number % 3];
        let text = format!("{number} {token} {}", "and wait ".repeat(number % 60));
        set(&mut store, "human", &text, i64::try_from(number).unwrap());
        set(&mut store, "persona", &format!("stay {number} {}", "and wait ".repeat(number % 50)), 1);
    }
    let human = store.blocks(None).unwrap().remove(0);
    assert!(tokens.iter().all(|token| bench.contains(token)));
    let empty = Block { value: String::new(), ..human.clone() };
    assert_eq!(store.forget_block(&human.key, Some(&empty), at(900)).unwrap(), MAX_VERSIONS as u64);
    assert!(!tokens.iter().any(|token| bench.contains(token)), "while it is open");
    set(&mut store, "human", "xyzzyplugh again", 901);
    assert_eq!(store.forget_block(&human.key, None, at(902)).unwrap(), 2);
    assert_eq!(store.faults().unwrap(), []);
    drop(store);
    assert!(!tokens.iter().any(|token| bench.contains(token)), "after it is closed");
    assert!(bench.contains("stay 119"));
}

#[test]
fn blocks_of_a_broken_file_are_taken_over() {
    let bench = Bench::new();
    drop(with_blocks(&bench));
    crate::recovery::move_aside(&bench.file()).unwrap();
    let mut store = bench.open();
    let values: Vec<String> = store.blocks(None).unwrap().into_iter().map(|block| block.value).collect();
    assert_eq!(values, ["answer in short sentences, without jokes", "the shop is tested with cargo nextest"]);
    assert_eq!(store.faults().unwrap(), []);
    let number = set(&mut store, "human", "new", 9).version.unwrap().number;
    assert_eq!((number, added(&mut store, "new", 9)), (5, MemoryId(2)), "a number is given once");
}

#[test]
fn a_writer_of_blocks_that_dies_raises_no_alarm() {
    for steps in 0.. {
        let bench = Bench::new();
        let mut store = with_blocks(&bench);
        store.pace = Pace::killed_at(steps);
        let write = std::panic::AssertUnwindSafe(|| {
            let persona = set(&mut store, "persona", "one more", 60);
            store.forget_block(&persona.key, None, at(61)).expect("it is forgotten");
        });
        let is_killed = match std::panic::catch_unwind(write) {
            Ok(()) => false,
            Err(panic) if panic.is::<Killed>() => true,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        drop(store);
        assert_eq!(bench.faults(), [], "{steps}");
        set(&mut bench.open(), "persona", "the next one", 70);
        assert_eq!(bench.faults(), [], "{steps}");
        if !is_killed {
            assert_eq!(steps, 12);
            break;
        }
    }
}

#[test]
fn several_writers_lose_no_line_of_a_block() {
    let bench = Bench::new();
    drop(bench.open());
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let bench = &bench;
            scope.spawn(move || {
                let mut store = bench.open();
                for number in 0..8 {
                    let how = BlockChange::Append { text: format!("line {number} of {writer}") };
                    let place = (&label("human"), Path::new("/srv/shop"));
                    change(&mut store, place, &how, &|_| false, at(number)).expect("it is written");
                }
            });
        }
    });
    let human = bench.open().blocks(None).unwrap().remove(0);
    assert_eq!((human.value.lines().count(), bench.faults()), (24, vec![]));
}

#[test]
fn a_text_of_a_block_that_is_changed_on_its_way_is_not_sealed() {
    let bench = Bench::new();
    let mut store = with_blocks(&bench);
    bench.tamper(
        "CREATE TRIGGER evil AFTER INSERT ON block_versions BEGIN
            UPDATE block_versions SET value = 'evil' WHERE n = new.n; END",
    );
    assert!(matches!(store.write_block(&block("notes", "good"), BlockDeed::New, at(9)), Err(StoreError::Broken)));
    bench.tamper("DROP TRIGGER evil");
    // Without a root a block would hold everywhere.
    assert!(store.write_block(&of_project("", block("notes", "good")), BlockDeed::New, at(9)).is_err());
    assert_eq!((store.blocks(None).unwrap().len(), bench.faults()), (2, vec![]));
}

#[test]
fn the_number_of_blocks_is_bounded() {
    let bench = Bench::new();
    let mut store = with_blocks(&bench);
    // As fast as it can be, without seals.
    bench.tamper(&format!(
        "INSERT INTO block_versions (label, root, description, max_chars, template, value, deed, at_ms, mac)
        WITH RECURSIVE counted (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < {MAX_BLOCKS} - 2)
        SELECT 'project', CAST('/srv/' || i AS BLOB), '', 1, '', '', 'new', 0, x'' FROM counted"
    ));
    let how = BlockChange::Set { text: "one too many".to_owned() };
    let refused = change(&mut store, (&label("human"), Path::new("/srv/shop")), &how, &|_| false, at(9));
    assert!(matches!(refused, Err(ChangeError::Refused(BlockFault::TooMany(MAX_BLOCKS)))), "{refused:?}");
    set(&mut store, "persona", "those that exist can be changed", 10);
}
