//! Tests of the reader of atuin's database.

use std::{collections::BTreeSet, ffi::OsStr, os::unix::fs::FileExt};

use tempfile::TempDir;

use super::*;

/// The table of the first releases.
const OLD: &str = "CREATE TABLE history (id text primary key, timestamp text not null, duration integer not null,
    exit integer not null, command text not null, cwd text not null, session text not null, hostname text not null,
    unique(timestamp, cwd, command));";
/// The table of release 18 and later.
const NEW: &str = "CREATE TABLE history (id text primary key, timestamp integer not null, duration integer not null,
    exit integer not null, command text not null, cwd text not null, session text not null, hostname text not null,
    deleted_at integer, author text, intent text, shell text, author_kind integer, unique(timestamp, cwd, command));
    CREATE INDEX idx_history_timestamp ON history(timestamp);";
/// A time, in nanoseconds.
const AT: i64 = 1_700_000_000_123_456_789;

fn now() -> Timestamp {
    Timestamp::from_second(1_796_000_000).expect("a time")
}

/// Makes a database.
fn database(schema: &str) -> (TempDir, PathBuf, Connection) {
    let folder = tempfile::tempdir().expect("a folder");
    // SQLite reads these characters in an address.
    let path = folder.path().join("his?tory #1%41ü.db");
    let connection = Connection::open(&path).expect("a file");
    connection.execute_batch(schema).expect("a table");
    (folder, path, connection)
}

/// Adds a command.
fn add(connection: &Connection, command: impl rusqlite::ToSql) {
    let insert = "INSERT INTO history (id, timestamp, duration, exit, command, cwd, session, hostname)
        VALUES (hex(randomblob(16)), ?1 + (SELECT count(*) FROM history), 1500000000, 0, ?2, '/src', 's', 'host:user')";
    connection.execute(insert, rusqlite::params![AT, command]).expect("a row");
}

/// Adds many commands, several pages of them.
fn add_many(connection: &Connection, rows: i64) {
    let insert = "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n LIMIT ?1)
        INSERT INTO history (id, timestamp, duration, exit, command, cwd, session, hostname)
        SELECT v, v, 1, 0, 'echo ' || v, '/', 's', 'h:u' FROM n";
    connection.execute(insert, [rows]).expect("rows");
}

fn read(path: &Path) -> (Vec<NewRun>, ImportCounts) {
    let mut history = AtuinHistory::open(path, now()).expect("it can be opened");
    let runs = history.by_ref().collect::<Result<_, _>>().expect("it can be read");
    (runs, history.counts())
}

fn lines_of(runs: &[NewRun]) -> Vec<&str> {
    runs.iter().map(|run| run.line.as_str()).collect()
}

fn files_in(folder: &TempDir) -> usize {
    fs::read_dir(folder.path()).expect("a folder").count()
}

#[test]
fn databases_of_all_releases_are_read() {
    for schema in [OLD, NEW] {
        let (_folder, path, connection) = database(schema);
        add(&connection, "for i in 1 2\ndo echo ü\ndone");
        drop(connection);
        let run = NewRun {
            line: "for i in 1 2\ndo echo ü\ndone".to_owned(),
            at: Some(Timestamp::from_nanosecond(AT.into()).expect("a time")),
            folder: Some("/src".into()),
            exit_code: Some(0),
            duration: Some(Duration::from_millis(1_500)),
            output_tail: String::new(),
            source: RunSource::Atuin,
        };
        let (runs, counts) = read(&path);
        assert_eq!((runs, counts.read, counts.all_skipped()), (vec![run], 1, 0));
    }
}

#[test]
fn unknown_values_are_left_out() {
    let (_folder, path, connection) = database(NEW);
    add(&connection, "ls");
    for change in ["duration = -1, exit = -1, cwd = 'unknown', timestamp = 5", "exit = 1 << 40, cwd = '/a' || char(27)"]
    {
        connection.execute_batch(&format!("UPDATE history SET {change}")).expect("a change");
        let (runs, _) = read(&path);
        assert_eq!((runs[0].exit_code, &runs[0].folder), (None, &None), "{change}");
        assert_eq!((runs[0].at, runs[0].duration), (None, None), "{change}");
    }
    connection.execute_batch("UPDATE history SET duration = 'x', exit = x'00', timestamp = 'y'").expect("a change");
    assert_eq!(lines_of(&read(&path).0), ["ls"]);
}

#[test]
fn rows_that_are_no_commands_of_the_user_are_skipped() {
    let (_folder, path, connection) = database(NEW);
    add(&connection, "deleted");
    connection.execute_batch("UPDATE history SET deleted_at = 5").expect("a change");
    for command in ["changed", " hidden", "", "a\u{1b}b"] {
        add(&connection, command);
    }
    add(&connection, "x".repeat(MAX_LINE_BYTES + 1));
    add(&connection, &b"\xff"[..]);
    connection
        .execute_batch("UPDATE history SET command = CAST(x'6cff' AS TEXT) WHERE command = 'changed'")
        .expect("a change");
    add(&connection, "x".repeat(MAX_LINE_BYTES));
    let (runs, counts) = read(&path);
    assert_eq!((runs.len(), runs[0].line.len()), (1, MAX_LINE_BYTES));
    let expected = [
        (SkipReason::TooLong, 1),
        (SkipReason::NotText, 2),
        (SkipReason::Control, 1),
        (SkipReason::Empty, 1),
        (SkipReason::Hidden, 1),
    ];
    let skips: Vec<_> = counts.skips().map(|(reason, _, count)| (reason, count)).collect();
    assert_eq!(skips, expected);
}

#[test]
fn commands_of_assistants_are_skipped() {
    let (_folder, path, connection) = database(NEW);
    for (author, kind, is_agent) in [
        ("NULL", "NULL", false),
        ("'user'", "NULL", false),
        ("'codex'", "NULL", true),
        ("'codex'", "1", false),
        ("'somebody'", "2", true),
        ("'claude-code'", "9", true),
    ] {
        connection.execute_batch("DELETE FROM history").expect("an empty table");
        add(&connection, "ls");
        connection
            .execute_batch(&format!("UPDATE history SET author = {author}, author_kind = {kind}"))
            .expect("a change");
        let (runs, counts) = read(&path);
        let expected = (usize::from(!is_agent), u64::from(is_agent));
        assert_eq!((runs.len(), counts.skipped(SkipReason::ByAgent)), expected, "{author} {kind}");
    }
    // A user of this name is no assistant.
    connection
        .execute_batch("UPDATE history SET author = 'pi', author_kind = NULL, hostname = 'host:pi'")
        .expect("a change");
    assert_eq!(read(&path).0.len(), 1);
}

#[test]
fn all_pages_are_read_and_no_file_is_left_behind() {
    for mode in ["DELETE", "WAL"] {
        let (folder, path, connection) = database(NEW);
        connection.pragma_update(None, "journal_mode", mode).expect("a mode");
        add_many(&connection, 1_000);
        connection.execute_batch("DELETE FROM history WHERE rowid % 3 = 0").expect("gaps");
        drop(connection);
        let before = fs::read(&path).expect("it can be read");
        let (runs, counts) = read(&path);
        assert_eq!((runs.len(), counts.read), (667, 667));
        assert_eq!(runs.iter().map(|run| &run.line).collect::<BTreeSet<_>>().len(), 667);
        assert_eq!((files_in(&folder), fs::read(&path).expect("it can be read") == before), (1, true), "{mode}");
    }
}

#[test]
fn a_program_may_write_all_the_time() {
    for mode in ["DELETE", "WAL"] {
        let (_folder, path, connection) = database(NEW);
        connection.pragma_update(None, "journal_mode", mode).expect("a mode");
        add_many(&connection, 600);
        drop(connection);
        let mut history = AtuinHistory::open(&path, now()).expect("it can be opened");
        assert!(history.file.unused.is_some());
        let first = history.next().expect("a row").expect("it can be read");
        assert_eq!(first.line, "echo 1");
        // The rows of the next pages move to other places in the file.
        let writer = Connection::open(&path).expect("it can be opened");
        writer.execute_batch("UPDATE history SET command = command || '!' WHERE rowid > 1; VACUUM").expect("a change");
        writer.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("it is in the file");
        let runs: Vec<_> = history.by_ref().collect::<Result<_, _>>().expect("it can be read");
        assert!(history.file.unused.is_none());
        assert_eq!((runs.len(), runs[598].line.as_str()), (599, "echo 600!"), "{mode}");
        // What is only in the log of the writer is read, too.
        add(&writer, "echo more");
        assert_eq!(read(&path).0.len(), 601, "{mode}");
    }
}

#[test]
fn other_files_are_refused() {
    let (folder, path, connection) = database("CREATE TABLE other (x)");
    let refusal = |path: &Path| AtuinHistory::open(path, now()).err().expect("a refusal");
    for schema in [
        "",
        "CREATE TABLE history (command TEXT)",
        "CREATE VIEW history AS SELECT 1 AS timestamp, 2 AS duration, 3 AS exit, 'ls' AS command, '/' AS cwd",
        "CREATE TABLE history (timestamp, duration, exit, command, cwd, PRIMARY KEY (timestamp)) WITHOUT ROWID",
        "CREATE TABLE history (timestamp, duration, exit, cwd, command AS (printf('%s', exit)))",
    ] {
        connection.execute_batch("DROP TABLE IF EXISTS history").ok();
        connection.execute_batch("DROP VIEW IF EXISTS history").ok();
        connection.execute_batch(schema).expect("a table");
        assert!(matches!(refusal(&path), AtuinError::Foreign), "{schema}");
    }
    let text = folder.path().join("text");
    fs::write(&text, "ls\n".repeat(1_000)).expect("a file");
    assert!(matches!(refusal(&text), AtuinError::Foreign));
    assert!(matches!(refusal(folder.path()), AtuinError::Irregular));
    assert!(matches!(refusal(&folder.path().join("missing")), AtuinError::Io(_)));
}

#[test]
fn a_broken_file_is_an_error_and_gives_no_wrong_rows() {
    let (folder, path, connection) = database(NEW);
    add_many(&connection, 1_000);
    drop(connection);
    let whole = read(&path).0;
    let bytes = fs::read(&path).expect("it can be read");
    let broken = folder.path().join(OsStr::new("broken.db"));
    let mut errors = 0;
    for end in (0..bytes.len()).step_by(1_511) {
        fs::write(&broken, &bytes[..end]).expect("a file");
        match AtuinHistory::open(&broken, now()) {
            Ok(history) => {
                for run in history {
                    match run {
                        Ok(run) => assert!(whole.contains(&run)),
                        Err(error) => {
                            errors += 1;
                            assert!(matches!(error, AtuinError::Broken | AtuinError::Sqlite(_)), "{error}");
                        }
                    }
                }
            }
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 10, "{errors}");
    fs::write(&broken, &bytes).expect("a file");
    let file = fs::OpenOptions::new().write(true).open(&broken).expect("ours");
    file.write_all_at(&vec![0x55; bytes.len() - 20_000], 20_000).expect("it is broken now");
    let error = AtuinHistory::open(&broken, now()).expect("it begins well").find_map(Result::err);
    assert!(matches!(error, Some(AtuinError::Broken)), "{error:?}");
}
