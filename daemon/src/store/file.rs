//! The files of the store: SQLite, readable by their owner only.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// Another process that writes is waited for so long.
const BUSY_WAIT: Duration = Duration::from_secs(2);

/// What a file is like inside.
pub(super) struct Form {
    /// What brings a file from each version to the next. Append only.
    pub migrations: &'static [&'static str],
    /// Largest file, in pages of 4 KiB.
    pub max_pages: u32,
    /// Run at every opening.
    pub pragmas: &'static str,
    /// Run before the tables of a new file are made. It may write, which costs milliseconds.
    pub pragmas_at_birth: &'static str,
}

/// Why the store cannot be used. `Display` is a phrase.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite says no.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The system says no.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A pipe, a folder, a device.
    #[error("it is no regular file")]
    Irregular,
    /// A later release has changed it.
    #[error("it is of a later release of cohab (version {0})")]
    TooNew(usize),
}

impl StoreError {
    /// Whether the file holds something that SQLite cannot read.
    #[must_use]
    pub fn is_corruption(&self) -> bool {
        let Self::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }
}

/// Opens the file, makes it if it is missing, and brings it to this release's form.
pub(super) fn create(path: &Path, form: &Form) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if !path.exists() {
        // SQLite gives its own helper files the mode of this one.
        OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    }
    open(path, form)
}

/// Opens a file that is there. `None` if it is not.
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

/// Sets an open connection up and brings what it is connected to to this release's form.
pub(super) fn prepare(connection: &mut Connection, form: &Form) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_WAIT)?;
    connection.execute_batch(form.pragmas)?;
    if version(connection)? == 0 {
        connection.execute_batch(form.pragmas_at_birth)?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "max_page_count", form.max_pages)?;
    migrate(connection, form.migrations)
}

fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
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

/// Moves a file that cannot be read out of the way, over an older one of that kind. Returns its new place.
pub(super) fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".broken");
    fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        let mut helper = path.as_os_str().to_owned();
        helper.push(suffix);
        // It belongs to the broken file and would break the new one; mostly there is none.
        let _ = fs::remove_file(helper);
    }
    Ok(aside.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_earlier_release_is_brought_up_and_keeps_what_it_holds() {
        const ALL: &[&str] = &["CREATE TABLE a (x TEXT); INSERT INTO a VALUES ('kept');", "ALTER TABLE a ADD y TEXT"];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let form = |migrations| Form { migrations, max_pages: 100, pragmas: "", pragmas_at_birth: "" };
        drop(create(&path, &form(&ALL[..1])).expect("it is made"));
        for _ in 0..2 {
            let connection = open_existing(&path, &form(ALL)).expect("it can be opened").expect("it is there");
            let row = connection.query_row("SELECT x, y FROM a", [], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
            });
            assert_eq!(row.expect("one row"), ("kept".to_owned(), None));
        }
        let error = open_existing(&path, &form(&ALL[..1])).expect_err("it is refused");
        assert!(matches!(error, StoreError::TooNew(2)), "{error}");
    }
}
