//! Reads lines, turns and counts.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use cohab_memory::past::{
    record::{PastId, PastItem},
    store::{MAX_FOLDERS, PastCounts},
};
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::{
    filter::Conditions,
    rows::{self, RUN_COLUMNS, TURN_COLUMNS, source_of},
    tally::{TALLY_ENTRIES, TALLY_LINES, TALLY_TURNS},
};
use crate::StoreError;

/// The record of this number; a line with its newest run.
pub(super) fn get(connection: &Connection, id: PastId) -> Result<Option<PastItem>, StoreError> {
    let found = match id {
        PastId::Line(id) => lines(connection, &[id.cast_signed()], &Conditions::default())?,
        PastId::Turn(id) => turns(connection, &[id.cast_signed()])?,
    };
    Ok(found.into_iter().next())
}

/// The lines of these numbers, each with its newest run and the number of its runs among those that satisfy the conditions.
pub(super) fn lines(
    connection: &Connection,
    ids: &[i64],
    conditions: &Conditions,
) -> Result<Vec<PastItem>, StoreError> {
    let condition = conditions.of_runs();
    // Without CROSS and the names of indexes, SQLite may go through all runs.
    let query = format!(
        "SELECT {RUN_COLUMNS}, (SELECT count(*) FROM runs INDEXED BY runs_by_line WHERE line = lines.id{condition})
        FROM json_each(:ids) AS wanted CROSS JOIN lines ON lines.id = wanted.value
        CROSS JOIN runs ON runs.id = (SELECT id FROM runs INDEXED BY runs_by_line WHERE line = lines.id{condition}
            ORDER BY at_ms DESC, id DESC LIMIT 1)
        LEFT JOIN folders ON folders.id = runs.folder"
    );
    let ids = list(ids);
    let mut statement = connection.prepare_cached(&query)?;
    let found = statement.query_map(conditions.values(&[(":ids", &ids)]).as_slice(), rows::line)?;
    Ok(found.map(|line| line.map(PastItem::Line)).collect::<Result<_, _>>()?)
}

/// The turns of these numbers.
pub(super) fn turns(connection: &Connection, ids: &[i64]) -> Result<Vec<PastItem>, StoreError> {
    let query = format!(
        "SELECT {TURN_COLUMNS} FROM json_each(:ids) AS wanted CROSS JOIN turns ON turns.id = wanted.value
        LEFT JOIN folders ON folders.id = turns.folder"
    );
    let mut statement = connection.prepare_cached(&query)?;
    let found = statement.query_map(named_params! {":ids": list(ids)}, rows::turn)?;
    Ok(found.map(|turn| turn.map(PastItem::Turn)).collect::<Result<_, _>>()?)
}

/// The trust of the turn of this id.
pub(super) fn trust(connection: &Connection, turn: &str) -> Result<Option<f64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT trust FROM turns WHERE turn = ?1")?;
    Ok(statement.query_row([turn], |row| row.get(0)).optional()?)
}

/// The turns before and after each of these in its session, without these.
pub(super) fn neighbours(connection: &Connection, ids: &[i64]) -> Result<Vec<PastItem>, StoreError> {
    let mut statement = connection.prepare_cached(
        "WITH hits (id) AS MATERIALIZED (SELECT value FROM json_each(?1))
        SELECT id FROM (
            SELECT (SELECT max(id) FROM turns AS other WHERE other.session = turns.session AND other.id < turns.id) AS id
                FROM hits CROSS JOIN turns ON turns.id = hits.id
            UNION
            SELECT (SELECT min(id) FROM turns AS other WHERE other.session = turns.session AND other.id > turns.id)
                FROM hits CROSS JOIN turns ON turns.id = hits.id)
        WHERE id IS NOT NULL AND id NOT IN hits",
    )?;
    let neighbours = statement.query_map([list(ids)], |row| row.get(0))?;
    turns(connection, &neighbours.collect::<Result<Vec<i64>, _>>()?)
}

/// The folders that were seen last.
pub(super) fn folders(connection: &Connection) -> Result<Vec<PathBuf>, StoreError> {
    let query = format!("SELECT path FROM folders ORDER BY id DESC LIMIT {MAX_FOLDERS}");
    let mut statement = connection.prepare_cached(&query)?;
    let folders = statement.query_map([], |row| Ok(OsString::from_vec(row.get(0)?).into()))?;
    Ok(folders.collect::<Result<_, _>>()?)
}

/// What is stored.
pub(super) fn counts(connection: &Connection) -> Result<PastCounts, StoreError> {
    // One state of the file for all queries.
    let transaction = connection.unchecked_transaction()?;
    let mut counts = PastCounts::default();
    let mut statement =
        transaction.prepare_cached("SELECT what, rows FROM tally WHERE rows > 0 AND what < ?1 ORDER BY what")?;
    let mut rows = statement.query([TALLY_ENTRIES])?;
    while let Some(row) = rows.next()? {
        let (what, count) = (row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned());
        match (what, source_of(what)) {
            (_, Some(source)) => counts.runs.push((source, count)),
            (TALLY_LINES, _) => counts.lines = count,
            (TALLY_TURNS, _) => counts.turns = count,
            _ => {}
        }
    }
    let oldest = |table: &str| -> Result<Option<i64>, StoreError> {
        let query = format!("SELECT at_ms FROM {table} WHERE at_ms IS NOT NULL ORDER BY at_ms LIMIT 1");
        Ok(transaction.prepare_cached(&query)?.query_row(params![], |row| row.get(0)).optional()?)
    };
    counts.since = [oldest("runs")?, oldest("turns")?].into_iter().flatten().min().map(rows::moment);
    Ok(counts)
}

/// Numbers as a JSON array.
fn list(ids: &[i64]) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(","))
}
