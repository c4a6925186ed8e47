//! Deletes places and files with their passages.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use rusqlite::{OptionalExtension, Transaction, params};

use super::read;
use crate::{StoreError, past::rows::path_bytes};

/// Deletes a file of a place, if it is there.
pub(super) fn file(transaction: &Transaction<'_>, place: i64, path: &Path) -> Result<(), StoreError> {
    let query = "SELECT id FROM files WHERE place = ?1 AND path = ?2";
    let mut statement = transaction.prepare_cached(query)?;
    let found: Option<i64> = statement.query_row(params![place, path_bytes(path)], |row| row.get(0)).optional()?;
    if let Some(file) = found {
        for delete in [
            "DELETE FROM search WHERE rowid IN (SELECT id FROM passages WHERE file = ?1)",
            "DELETE FROM passages WHERE file = ?1",
            "DELETE FROM files WHERE id = ?1",
        ] {
            transaction.prepare_cached(delete)?.execute([file])?;
        }
    }
    Ok(())
}

/// Deletes a place; returns the number of its files with passages. `None` if it is not there. The bytes may remain in the files.
pub(super) fn place(transaction: &Transaction<'_>, root: &Path) -> Result<Option<u64>, StoreError> {
    let Some(place) = read::place_id(transaction, root)? else { return Ok(None) };
    let count = "SELECT count(*) FROM files WHERE place = ?1 AND left_out IS NULL";
    let files: i64 = transaction.query_row(count, [place], |row| row.get(0))?;
    for delete in [
        "DELETE FROM search WHERE rowid IN (
            SELECT passages.id FROM passages JOIN files ON files.id = passages.file WHERE files.place = ?1)",
        "DELETE FROM passages WHERE file IN (SELECT id FROM files WHERE place = ?1)",
        "DELETE FROM files WHERE place = ?1",
        "DELETE FROM places WHERE id = ?1",
    ] {
        transaction.execute(delete, [place])?;
    }
    Ok(Some(files.cast_unsigned()))
}

/// Deletes the places below this one.
pub(super) fn below(transaction: &Transaction<'_>, root: &Path) -> Result<(), StoreError> {
    let mut statement = transaction.prepare_cached("SELECT root FROM places")?;
    let roots = statement.query_map([], |row| Ok(OsString::from_vec(row.get(0)?).into()))?;
    let roots: Vec<PathBuf> = roots.collect::<Result<_, _>>()?;
    for one in roots.iter().filter(|one| *one != root && one.starts_with(root)) {
        place(transaction, one)?;
    }
    Ok(())
}
