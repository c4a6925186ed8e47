//! Opens the store's SQLite files, readable by their owner only.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{
    error::StoreError,
    form::{Form, beside},
    recovery,
};

/// Longest wait for another process that writes, or that repairs after a killed one: a busy disk takes seconds for it. A caller that
/// must not wait has a separate limit.
const BUSY_WAIT: Duration = Duration::from_secs(10);
/// Pause between two tries.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Opens the file, makes it if it is missing, and brings it to this release's form.
pub(super) fn create(path: &Path, form: &Form) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if !path.exists() {
        // SQLite gives its own helper files the mode of this one.
        OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    }
    let mut connection = open(path, form)?;
    recovery::take_over(path, &mut connection, form)?;
    Ok(connection)
}

/// Opens a file, and makes it if it is missing. One that SQLite cannot open is moved aside; what can be read of it is taken over.
pub(super) fn create_or_recover(path: &Path, form: &Form) -> Result<Connection, StoreError> {
    match create(path, form) {
        Err(error) if error.is_corruption() => {
            recovery::move_aside(path)?;
            create(path, form)
        }
        created => created,
    }
}

/// Opens an existing file. `None` if it does not exist.
pub(super) fn open_existing(path: &Path, form: &Form) -> Result<Option<Connection>, StoreError> {
    if path.exists() { open(path, form).map(Some) } else { Ok(None) }
}

fn open(path: &Path, form: &Form) -> Result<Connection, StoreError> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(StoreError::Irregular);
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&mut connection, form)?;
    Ok(connection)
}

/// Configures an open connection and migrates its file to this release's form.
pub(super) fn prepare(connection: &mut Connection, form: &Form) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_WAIT)?;
    // SQLite does not wait by itself where two processes initialize the same new file.
    while_busy(|| set_up(connection, form))?;
    migrate(connection, form.migrations)
}

/// Tries again as long as another process has the file, where SQLite does not wait by itself.
pub(super) fn while_busy(mut attempt: impl FnMut() -> Result<(), StoreError>) -> Result<(), StoreError> {
    let since = Instant::now();
    while let Err(error) = attempt() {
        if !error.is_busy() || since.elapsed() >= BUSY_WAIT {
            return Err(error);
        }
        thread::sleep(BUSY_PAUSE);
    }
    Ok(())
}

fn set_up(connection: &Connection, form: &Form) -> Result<(), StoreError> {
    connection.execute_batch(form.pragmas)?;
    if is_new(connection)? {
        connection.execute_batch(form.pragmas_at_birth)?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection.pragma_update(None, "max_page_count", form.max_pages)?)
}

/// Whether the file is still empty. Both facts are read at once: another process may be creating the tables.
fn is_new(connection: &Connection) -> Result<bool, StoreError> {
    let transaction = connection.unchecked_transaction()?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (version(&transaction)?, tables) {
        (0, 0) => Ok(true),
        (0, _) => Err(StoreError::Foreign),
        _ => Ok(false),
    }
}

/// Moves the log into the file and cuts it to nothing.
pub(super) fn empty_log(connection: &Connection) -> Result<(), StoreError> {
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    let busy = || rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None);
    if is_busy { Err(busy().into()) } else { Ok(()) }
}

/// Removes what deleted rows leave in the files: SQLite keeps copies of moved rows in unused parts of its pages, and earlier pages in its
/// log. A broken file that was kept next to this one goes, too.
///
/// # Errors
/// Something of it may be left.
pub(super) fn purge(connection: &Connection) -> Result<(), StoreError> {
    while_busy(|| Ok(connection.execute_batch("VACUUM")?))?;
    // SQLite does not wait for the checkpoint of another process.
    while_busy(|| empty_log(connection))?;
    let Some(path) = connection.path().map(Path::new) else { return Ok(()) };
    let kept = beside(path, recovery::KEPT);
    for broken in [kept.clone(), beside(&kept, "-wal"), beside(&kept, "-shm")] {
        match fs::remove_file(broken) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(super) fn has_tables(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), StoreError> {
    if version(connection)? == migrations.len() as i64 {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let version = version(&transaction)?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    let missing = migrations.get(done..).ok_or(StoreError::TooNew(done))?;
    for migration in missing {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_file_of_an_earlier_release_is_brought_up_and_keeps_what_it_holds() {
        const ALL: &[&str] = &["CREATE TABLE a (x TEXT); INSERT INTO a VALUES ('kept');", "ALTER TABLE a ADD y TEXT"];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let form = |migrations| Form {
            migrations,
            max_pages: 100,
            pragmas: "",
            pragmas_at_birth: "",
            after_salvage: |_| Ok(()),
        };
        drop(create(&path, &form(&ALL[..1])).expect("it is made"));
        for _ in 0..2 {
            let connection = open_existing(&path, &form(ALL)).expect("it can be opened").expect("it is there");
            let row = connection.query_row("SELECT x, y FROM a", [], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
            });
            assert_eq!(row.expect("one row"), ("kept".to_owned(), None));
        }
        let error = open_existing(&path, &form(&ALL[..1])).expect_err("it is refused");
        assert!(matches!(error, StoreError::TooNew(2)) && error.remedy().is_some(), "{error}");
    }

    #[test]
    fn a_new_file_that_several_open_at_once_is_everybodys() {
        let folder = tempfile::tempdir().expect("a folder");
        for round in 0..40 {
            let path = folder.path().join(format!("{round}.db"));
            let begin = std::sync::Barrier::new(4);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        begin.wait();
                        create(&path, &ONE).expect("it is ours");
                    });
                }
            });
        }
    }

    const ONE: Form = Form {
        migrations: &["CREATE TABLE a (x TEXT) STRICT"],
        max_pages: 8,
        pragmas: "",
        pragmas_at_birth: "",
        after_salvage: |_| Ok(()),
    };

    #[test]
    fn a_full_file_refuses_more_with_a_remedy_and_can_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = create(&folder.path().join("a.db"), &ONE).expect("it is made");
        let insert = || connection.execute("INSERT INTO a VALUES (?1)", ["x".repeat(1_000)]).map_err(StoreError::from);
        let error = (0..100).find_map(|_| insert().err()).expect("it is full");
        assert!(error.remedy().is_some_and(|remedy| remedy.starts_with("free space")), "{error}");
        assert!(!error.is_corruption());
        let count: i64 = connection.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).expect("a count");
        assert!(count > 4, "{count}");
    }

    #[test]
    fn a_file_that_must_not_be_written_says_what_helps() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        drop(create(&path, &ONE).expect("it is made"));
        // Permissions do not bind every user; this does.
        let form = Form { pragmas: "PRAGMA query_only = ON;", ..ONE };
        let connection = create(&path, &form).expect("it can be read");
        let error = StoreError::from(connection.execute("INSERT INTO a VALUES ('x')", []).expect_err("it is refused"));
        assert!(error.remedy().is_some_and(|remedy| remedy.contains("can write")), "{error}");
        let denied = StoreError::from(io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(denied.remedy(), error.remedy());
    }

    #[test]
    fn the_database_of_another_program_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        Connection::open(&path).expect("a file").execute_batch("CREATE TABLE theirs (x)").expect("a table");
        let before = fs::read(&path).expect("it can be read");
        let error = create(&path, &ONE).expect_err("it is refused");
        assert!(matches!(error, StoreError::Foreign) && error.remedy().is_some() && !error.is_corruption(), "{error}");
        assert_eq!(fs::read(&path).expect("it can be read"), before);
    }
}
