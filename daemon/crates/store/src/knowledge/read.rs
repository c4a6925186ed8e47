//! Reads places, files and passages.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use cohab_memory::{
    knowledge::record::{self, FileStamp, FoundPassage, LearnedPlace, LeftOut, Passage, PlaceSummary},
    record::Scope,
};
use rusqlite::{Connection, OptionalExtension, Row};

use super::write::left_out_code;
use crate::{
    StoreError,
    past::rows::{moment, path_bytes},
};

/// The number of a place.
pub(super) fn place_id(connection: &Connection, root: &Path) -> Result<Option<i64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id FROM places WHERE root = ?1")?;
    Ok(statement.query_row([path_bytes(root)], |row| row.get(0)).optional()?)
}

/// A path in a column.
pub(super) fn path(row: &Row<'_>, column: usize) -> Result<PathBuf, rusqlite::Error> {
    Ok(OsString::from_vec(row.get(column)?).into())
}

/// The scope of a place, whose project is in a column.
pub(super) fn scope(row: &Row<'_>, column: usize) -> Result<Scope, rusqlite::Error> {
    let project: Option<Vec<u8>> = row.get(column)?;
    Ok(project.map_or(Scope::Everywhere, |path| Scope::Project(OsString::from_vec(path).into())))
}

/// All places, in the order of their paths.
pub(super) fn places(connection: &Connection) -> Result<Vec<PlaceSummary>, StoreError> {
    // One state of the file for all queries.
    let transaction = connection.unchecked_transaction()?;
    let query = "SELECT root, project, learned_ms, looked_ms,
            count(files.id) FILTER (WHERE left_out IS NULL),
            total(passages), total(files.bytes) FILTER (WHERE left_out IS NULL), places.id
        FROM places LEFT JOIN files ON files.place = places.id GROUP BY places.id";
    let mut statement = transaction.prepare_cached(query)?;
    let mut rows = statement.query([])?;
    let mut places = Vec::new();
    while let Some(row) = rows.next()? {
        let scope = scope(row, 1)?;
        let looked = row.get::<_, Option<i64>>(3)?.map(moment);
        places.push(PlaceSummary {
            place: LearnedPlace { root: path(row, 0)?, scope, learned: moment(row.get(2)?), looked },
            files: row.get::<_, i64>(4)?.cast_unsigned(),
            left_out: left_out(&transaction, row.get(7)?)?,
            passages: whole(row.get(5)?),
            bytes: whole(row.get(6)?),
        });
    }
    places.sort_by(|one, other| one.place.root.cmp(&other.place.root));
    Ok(places)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of sizes, which is positive")]
fn whole(sum: f64) -> u64 {
    sum as u64
}

/// Number of files of a place without passages, by reason.
fn left_out(connection: &Connection, place: i64) -> Result<Vec<(LeftOut, u64)>, StoreError> {
    let query = "SELECT left_out, count(*) FROM files WHERE place = ?1 AND left_out IS NOT NULL GROUP BY left_out";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([place])?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        let (code, count): (i64, i64) = (row.get(0)?, row.get(1)?);
        let reason = LeftOut::PHRASES.iter().map(|(reason, _)| *reason).find(|reason| left_out_code(*reason) == code);
        counts.extend(reason.map(|reason| (reason, count.cast_unsigned())));
    }
    Ok(counts)
}

/// The files of a place.
pub(super) fn files(connection: &Connection, root: &Path) -> Result<BTreeMap<PathBuf, FileStamp>, StoreError> {
    let query = "SELECT path, bytes, modified_ns, inode FROM files
        WHERE place = (SELECT id FROM places WHERE root = ?1)";
    let mut statement = connection.prepare_cached(query)?;
    let files = statement.query_map([path_bytes(root)], |row| {
        let (bytes, inode) = (row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, i64>(3)?.cast_unsigned());
        Ok((path(row, 0)?, FileStamp { bytes, modified_ns: row.get(2)?, inode }))
    })?;
    Ok(files.collect::<Result<_, _>>()?)
}

/// The passages of these numbers.
pub(super) fn passages(connection: &Connection, ids: &[i64]) -> Result<Vec<FoundPassage>, StoreError> {
    let query = "SELECT places.root, files.path, line, headings, text
        FROM json_each(?1) AS wanted CROSS JOIN passages ON passages.id = wanted.value
        JOIN files ON files.id = passages.file JOIN places ON places.id = files.place";
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let mut statement = connection.prepare_cached(query)?;
    let found = statement.query_map([format!("[{}]", ids.join(","))], |row| {
        let text =
            |column| Ok::<_, rusqlite::Error>(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned());
        let passage = Passage { line: row.get::<_, i64>(2)?.cast_unsigned(), headings: text(3)?, text: text(4)? };
        Ok(FoundPassage { file: record::file(&path(row, 0)?, &path(row, 1)?), passage })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}
