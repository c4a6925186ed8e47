//! Compares runs and turns with their seals.

use std::collections::BTreeSet;

use cohab_memory::past::record::PastId;
use rusqlite::Connection;

use super::rows::{RUN_COLUMNS, RUN_SEALED, TURN_COLUMNS, TURN_SEALED, is_sealed};
use crate::{
    StoreError,
    seal::{Key, Purpose},
};

/// The lines and turns with a row that is not as it was sealed.
pub(super) fn changed(connection: &Connection, key: &Key) -> Result<Vec<PastId>, StoreError> {
    // One state of the file for all queries.
    let transaction = connection.unchecked_transaction()?;
    let mut changed = BTreeSet::new();
    // Not by an index: a changed one could leave rows out.
    let runs = format!(
        "SELECT {RUN_COLUMNS}, runs.mac FROM runs NOT INDEXED LEFT JOIN lines ON lines.id = runs.line
            LEFT JOIN folders ON folders.id = runs.folder ORDER BY runs.id"
    );
    let mut statement = transaction.prepare(&runs)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !is_sealed(key, Purpose::PastRun, row, RUN_SEALED)? {
            changed.insert(PastId::Line(row.get::<_, i64>(1)?.cast_unsigned()));
        }
    }
    let turns = format!(
        "SELECT {TURN_COLUMNS}, turns.mac FROM turns NOT INDEXED LEFT JOIN folders ON folders.id = turns.folder
            ORDER BY turns.id"
    );
    let mut statement = transaction.prepare(&turns)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !is_sealed(key, Purpose::PastTurn, row, TURN_SEALED)? {
            changed.insert(PastId::Turn(row.get::<_, i64>(0)?.cast_unsigned()));
        }
    }
    // A line has runs; one without them was put there.
    let mut statement = transaction
        .prepare("SELECT id FROM lines NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.line = lines.id)")?;
    let lines = statement.query_map([], |row| row.get::<_, i64>(0))?;
    for line in lines {
        changed.insert(PastId::Line(line?.cast_unsigned()));
    }
    Ok(changed.into_iter().collect())
}
