//! Reports the condition of a file of the store, without changing anything in it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{error::StoreError, file, form, recovery};

/// All of a file is looked at for so long.
const CHECK_LIMIT: Duration = Duration::from_millis(1_500);

/// A file that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// With what was written last and is not in the file proper yet.
    pub bytes: u64,
    /// Of the file's form. An earlier one is brought up when it is used.
    pub version: usize,
    /// Of this release.
    pub known_version: usize,
    /// Whether all of it was looked at; there is not the time for a large one.
    pub is_checked: bool,
    /// A broken one beside it, of which this one was made.
    pub kept: Option<PathBuf>,
}

/// Looks at a file that has so many forms. `None` if it is not there.
pub(super) fn look(path: &Path, known_version: usize) -> Result<Option<Health>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    if !fs::metadata(path)?.is_file() {
        return Err(StoreError::Irregular);
    }
    // Read-only would leave SQLite's helper files behind.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(CHECK_LIMIT)?;
    let version = usize::try_from(file::version(&connection)?).unwrap_or(usize::MAX);
    if version > known_version {
        return Err(StoreError::TooNew(version));
    }
    if version == 0 && file::has_tables(&connection)? {
        return Err(StoreError::Foreign);
    }
    let is_checked = check(&connection)?;
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bytes = size(path) + size(&form::beside(path, "-wal"));
    let kept = Some(form::beside(path, recovery::KEPT)).filter(|kept| kept.exists());
    Ok(Some(Health { bytes, version, known_version, is_checked, kept }))
}

/// Whether there was time for all of it.
fn check(connection: &Connection) -> Result<bool, StoreError> {
    let interrupt = connection.get_interrupt_handle();
    let (done, is_done) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if is_done.recv_timeout(CHECK_LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            interrupt.interrupt();
        }
    });
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    drop(done);
    let _ = watch.join();
    match found {
        Ok(word) if word == "ok" => Ok(true),
        Ok(_) => Err(StoreError::Broken),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn store() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).expect("a file");
        connection
            .execute_batch(
                "CREATE TABLE a (x TEXT); CREATE INDEX i ON a (x); PRAGMA user_version = 2;
                WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n LIMIT 2000)
                INSERT INTO a SELECT printf('%0100d', v) FROM n;",
            )
            .expect("tables");
        (folder, path)
    }

    #[test]
    fn a_sound_file_is_left_as_it_is() {
        let (folder, path) = store();
        assert_eq!(look(&folder.path().join("none.db"), 2).expect("no file"), None);
        let before = fs::read(&path).expect("it can be read");
        let health = look(&path, 3).expect("it is sound").expect("it is there");
        assert_eq!((health.version, health.known_version, health.is_checked, health.kept), (2, 3, true, None));
        assert_eq!(health.bytes, before.len() as u64);
        assert_eq!(fs::read(&path).expect("it can be read"), before);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no helper file stays");
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        let (folder, path) = store();
        assert!(matches!(look(&path, 1), Err(StoreError::TooNew(2))));
        assert!(matches!(look(folder.path(), 1), Err(StoreError::Irregular)));
        let theirs = folder.path().join("theirs.db");
        Connection::open(&theirs).expect("a file").execute_batch("CREATE TABLE b (x)").expect("a table");
        assert!(matches!(look(&theirs, 2), Err(StoreError::Foreign)));
        let file = fs::OpenOptions::new().write(true).open(&path).expect("ours");
        file.write_all_at(&[0x55; 8_192], 40_960).expect("it is broken now");
        let error = look(&path, 2).expect_err("it is broken");
        assert!(error.is_corruption() && error.remedy().is_some(), "{error}");
    }
}
