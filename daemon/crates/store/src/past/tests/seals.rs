//! Tests of the seals, and of writers that are killed.

use super::*;

fn filled(bench: &Bench) -> SqlitePast {
    let mut store = bench.open();
    let full = NewRun { output_tail: "done".to_owned(), exit_code: Some(2), ..run("make", 1) };
    let bare = NewRun { at: None, folder: None, exit_code: None, duration: None, ..run("ls", 0) };
    let commands = vec![TurnCommand { line: "pwd".to_owned(), exit_code: Some(0) }];
    let asked = NewTurn { answer: "Because.".to_owned(), commands, folder: "/srv".into(), ..turn("why?", 3) };
    add(&mut store, &[full, run("make", 2), bare], &[asked, turn("how?", 4)]);
    assert_eq!(store.changed().expect("checked"), []);
    store
}

#[test]
fn each_changed_field_is_found() {
    let (make, ls, why, how) = (PastId::Line(1), PastId::Line(2), PastId::Turn(1), PastId::Turn(2));
    let of_run = |change: &str| format!("UPDATE runs SET {change} WHERE id = 1");
    let of_turn = |change: &str| format!("UPDATE turns SET {change} WHERE id = 1");
    let mut changes: Vec<(String, Vec<PastId>)> = [
        "at_ms = at_ms + 1",
        "at_ms = NULL",
        "folder = NULL",
        "folder = 2",
        "exit = 0",
        "exit = NULL",
        "duration_ms = 7",
        "source = 3",
        "output = 'dome'",
        "output = NULL",
        "mac = zeroblob(16)",
        "mac = x''",
        "id = 9",
    ]
    .map(|change| (of_run(change), vec![make]))
    .into();
    changes.extend(
        [
            "turn = 'x'",
            "session = 'x'",
            "at_ms = at_ms + 1",
            "folder = 1",
            "question = 'who?'",
            "answer = ''",
            "commands = '[]'",
            "has_succeeded = 0",
            "trust = 1.0",
            "mac = zeroblob(16)",
        ]
        .map(|change| (of_turn(change), vec![why])),
    );
    let others: [(&str, Vec<PastId>); 9] = [
        ("UPDATE lines SET text = 'make evil' WHERE id = 1", vec![make]),
        ("UPDATE lines SET text = CAST(x'ff' AS TEXT) WHERE id = 1", vec![make]),
        ("UPDATE lines SET hash = hash + 1 WHERE id = 2", vec![ls]),
        ("UPDATE folders SET path = x'2f' WHERE path = CAST('/home/ann' AS BLOB)", vec![make, how]),
        ("UPDATE runs SET line = 2 WHERE id = 1", vec![ls]),
        ("UPDATE lines SET id = 9 WHERE id = 2", vec![ls, PastId::Line(9)]),
        ("UPDATE turns SET id = 9 WHERE id = 2", vec![PastId::Turn(9)]),
        ("INSERT INTO lines (hash, text) VALUES (1, 'evil')", vec![PastId::Line(3)]),
        (
            "INSERT INTO runs SELECT 9, line, at_ms + 1, folder, exit, duration_ms, source, output, mac FROM runs WHERE id = 1",
            vec![make],
        ),
    ];
    changes.extend(others.map(|(change, ids)| (change.to_owned(), ids)));
    for (change, ids) in changes {
        let bench = Bench::new();
        let store = filled(&bench);
        bench.tamper(&change);
        assert_eq!(store.changed().unwrap(), ids, "{change}");
        assert!(store.search(&PastQuery::default()).is_ok(), "{change}");
    }
}

#[test]
fn each_flipped_byte_of_a_value_is_found() {
    let bench = Bench::new();
    let mut store = bench.open();
    let folder = Some("/srv/qqfolder".into());
    let output_tail = "qqoutput".to_owned();
    add(&mut store, &[NewRun { folder, output_tail, ..run("qqline", 1) }], &[turn("qqquestion", 2)]);
    file::empty_log(&store.connection).unwrap();
    drop(store);
    let bytes = fs::read(bench.file()).unwrap();
    let line = vec![PastId::Line(1)];
    for (token, expected) in
        [("qqline", &line), ("/srv/qqfolder", &line), ("qqoutput", &line), ("qqquestion", &vec![PastId::Turn(1)])]
    {
        let places = (0..bytes.len()).filter(|start| bytes[*start..].starts_with(token.as_bytes()));
        let is_found = |place: usize| {
            let mut changed = bytes.clone();
            changed[place] ^= 0x15;
            fs::write(bench.file(), changed).unwrap();
            bench.open().changed().unwrap() == *expected
        };
        // A folder is in its table and in the index of paths, which is not read.
        assert!(places.into_iter().any(|start| (start..start + token.len()).all(is_found)), "{token}");
    }
}

#[test]
fn a_row_that_someone_else_added_can_be_forgotten() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    for all in [PastSelection::Ids(vec![PastId::Line(3)]), PastSelection::All] {
        bench.tamper("INSERT INTO lines (id, hash, text) VALUES (3, 1, 'evilline')");
        assert_eq!(store.changed().unwrap(), [PastId::Line(3)]);
        store.forget(&all).unwrap();
        assert!(store.changed().unwrap().is_empty() && !bench.contains("evilline"), "{all:?}");
    }
}

#[test]
fn without_its_key_nothing_can_be_checked() {
    let bench = Bench::new();
    let mut store = filled(&bench);
    fs::remove_file(bench.keys().join("key")).unwrap();
    assert!(store.changed().is_err());
    // Rows of a lost key are not those of the new one.
    add(&mut store, &[run("pwd", 9)], &[]);
    assert_eq!(store.changed().unwrap().len(), 4);
}

/// The process that [`a_writer_that_is_killed_leaves_a_sound_file`] kills.
#[test]
#[ignore = "it writes until it is killed"]
fn writes_until_killed() {
    let Some(folder) = std::env::var_os("COHAB_PAST_FOLDER").map(PathBuf::from) else { return };
    let mut store = SqlitePast::create(&folder.join("past.db"), &folder.join("keys")).unwrap();
    for number in 0.. {
        let runs: Vec<_> = (0..20).map(|n| run(&format!("echo {number} {n}"), number)).collect();
        add(&mut store, &runs, &[turn("why?", number)]);
        if number % 16 == 15 {
            store.forget(&PastSelection::Ids(vec![PastId::Turn(number.unsigned_abs() / 2)])).unwrap();
        }
    }
}

#[test]
fn a_writer_that_is_killed_leaves_a_sound_file() {
    let bench = Bench::new();
    let folder = bench.folder.path().to_owned();
    for round in 0..6 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["past::tests::seals::writes_until_killed", "--exact", "--ignored"])
            .env("COHAB_PAST_FOLDER", &folder)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(150 + 37 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = SqlitePast::create(&folder.join("past.db"), &folder.join("keys")).unwrap();
        assert_eq!(store.changed().unwrap(), []);
        let counts = store.counts().unwrap();
        let runs = counts.runs.first().map_or(0, |(_, runs)| *runs);
        assert_eq!(runs % 20, 0);
        let query = "SELECT count(*) FROM search WHERE search MATCH 'echo'";
        let found: i64 = store.connection.query_row(query, [], |row| row.get(0)).unwrap();
        assert_eq!(found.unsigned_abs(), counts.lines);
    }
}
