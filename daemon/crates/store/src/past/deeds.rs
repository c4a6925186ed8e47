//! Reads what succeeded command by command, and the turns that a consolidation has not looked at.

use cohab_memory::{
    past::{
        period::Period,
        record::{Deed, PastTurn},
        store::PastQuery,
    },
    record::Source,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{
    filter::Conditions,
    rows::{self, RUN_COLUMNS, TURN_COLUMNS, milliseconds_from},
    tally::TALLY_CONSOLIDATED,
};
use crate::StoreError;

/// Trust of what the user ran in a cohab shell, and of what was imported.
const TRUST: f64 = 0.9;
const IMPORTED_TRUST: f64 = 0.6;

/// The commands that succeeded under these conditions. See [`PastStore::deeds`](cohab_memory::past::store::PastStore::deeds).
pub(super) fn deeds(connection: &Connection, query: &PastQuery, limit: usize) -> Result<Vec<Deed>, StoreError> {
    // One state of the file for both queries.
    let transaction = connection.unchecked_transaction()?;
    let mut deeds = runs(&transaction, query, limit)?;
    deeds.extend(commands(&transaction, query, limit)?);
    Ok(deeds)
}

fn runs(transaction: &Transaction<'_>, query: &PastQuery, limit: usize) -> Result<Vec<Deed>, StoreError> {
    let conditions = Conditions::of(transaction, &PastQuery { has_succeeded: Some(true), ..query.clone() })?;
    let select = format!(
        "SELECT {RUN_COLUMNS} FROM runs JOIN lines ON lines.id = runs.line LEFT JOIN folders ON folders.id = runs.folder
        WHERE TRUE{} ORDER BY at_ms DESC, runs.id DESC LIMIT :limit",
        conditions.of_runs()
    );
    let limit = bounded(limit);
    let mut statement = transaction.prepare_cached(&select)?;
    let rows = statement.query_map(conditions.values(&[(":limit", &limit)]).as_slice(), rows::run)?;
    let mut deeds = Vec::new();
    for run in rows {
        let run = run?;
        let (Some(at), Some(folder)) = (run.at, run.folder) else { continue };
        deeds.push(Deed {
            line: run.line,
            at,
            folder,
            exit_code: run.exit_code,
            session: None,
            source: Source::Commands,
            trust: if run.source.is_import() { IMPORTED_TRUST } else { TRUST },
        });
    }
    deeds.reverse();
    Ok(deeds)
}

fn commands(transaction: &Transaction<'_>, query: &PastQuery, limit: usize) -> Result<Vec<Deed>, StoreError> {
    // Of a turn that failed as a whole some commands may have succeeded.
    let conditions = Conditions::of(transaction, &PastQuery { has_succeeded: None, ..query.clone() })?;
    let select = format!(
        "SELECT {TURN_COLUMNS} FROM turns LEFT JOIN folders ON folders.id = turns.folder
        WHERE TRUE{} ORDER BY at_ms DESC, turns.id DESC LIMIT :limit",
        conditions.of_turns()
    );
    let limit = bounded(limit);
    let mut statement = transaction.prepare_cached(&select)?;
    let turns = statement.query_map(conditions.values(&[(":limit", &limit)]).as_slice(), rows::turn)?;
    let mut turns = turns.collect::<Result<Vec<_>, _>>()?;
    turns.reverse();
    let mut deeds = Vec::new();
    for PastTurn { turn, .. } in turns {
        let succeeded = turn.commands.into_iter().filter(|command| command.exit_code == Some(0));
        deeds.extend(succeeded.map(|command| Deed {
            line: command.line,
            at: turn.at,
            folder: turn.folder.clone(),
            exit_code: command.exit_code,
            session: Some(turn.session.clone()),
            source: Source::Turn(turn.turn.clone()),
            trust: turn.trust,
        }));
    }
    Ok(deeds)
}

/// The conditions of what was done in a folder since a time.
pub(super) fn since(folder: &std::path::Path, since: Timestamp) -> PastQuery {
    let period = Some(Period { from: Some(since), until: None });
    PastQuery { period, folder: Some(folder.to_owned()), ..PastQuery::default() }
}

/// The oldest turns that no consolidation has looked at.
pub(super) fn unconsolidated(
    connection: &Connection,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<PastTurn>, StoreError> {
    let select = format!(
        "SELECT {TURN_COLUMNS} FROM turns LEFT JOIN folders ON folders.id = turns.folder
        WHERE turns.id > ?1 AND at_ms >= ?2 ORDER BY turns.id LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&select)?;
    let values = params![consolidated(connection)?, milliseconds_from(since), bounded(limit)];
    let turns = statement.query_map(values, rows::turn)?;
    Ok(turns.collect::<Result<_, _>>()?)
}

/// Notes that the turns up to this one have been looked at.
pub(super) fn set_consolidated(transaction: &Transaction<'_>, turn: u64) -> Result<(), StoreError> {
    let turn = i64::try_from(turn).unwrap_or(i64::MAX).max(consolidated(transaction)?);
    let mut statement = transaction.prepare_cached("INSERT OR REPLACE INTO tally VALUES (?1, ?2)")?;
    statement.execute([TALLY_CONSOLIDATED, turn])?;
    Ok(())
}

/// The number of the last turn that was looked at.
fn consolidated(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT rows FROM tally WHERE what = ?1")?;
    Ok(statement.query_row([TALLY_CONSOLIDATED], |row| row.get(0)).optional()?.unwrap_or(0))
}

fn bounded(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
