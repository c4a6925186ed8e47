//! Reads and writes turns and steps.

use jiff::Timestamp;
use rusqlite::{Connection, Params, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{
    super::steps::{AgentState, Checkpoint, Input, Metadata, Step, StepFacts, StepStatus, StepType, Turn},
    rows::{is_there, payload},
};
use crate::StoreError;

pub(super) const MIGRATION: &str = "
    CREATE TABLE turns (
        place INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        turn TEXT NOT NULL,
        started_ms INTEGER NOT NULL,
        status TEXT NOT NULL,
        payload TEXT NOT NULL,
        UNIQUE (session, turn)
    ) STRICT;
    CREATE TABLE steps (
        session TEXT NOT NULL,
        turn TEXT NOT NULL,
        number INTEGER NOT NULL,
        id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (session, turn, number)
    ) STRICT, WITHOUT ROWID;
";

/// The parts of a turn without a separate column.
#[derive(Serialize, Deserialize)]
struct TurnPayload {
    last_activity_ms: i64,
    question: String,
    resumed_from: Option<String>,
    pid: u32,
    state: AgentState,
    ended: Option<String>,
    error: Option<String>,
}

/// The parts of a step without a separate column.
#[derive(Deserialize)]
struct StepPayload {
    #[serde(rename = "type")]
    kind: StepType,
    input: Input,
    output: Option<String>,
    status: StepStatus,
    duration_ms: Option<u64>,
    error: Option<String>,
    metadata: Metadata,
}

/// The same for writing, without a copy: the input may hold megabytes.
#[derive(Serialize)]
struct NewStepPayload<'a> {
    #[serde(rename = "type")]
    kind: StepType,
    input: &'a Input,
    output: Option<&'a str>,
    status: StepStatus,
    duration_ms: Option<u64>,
    error: Option<&'a str>,
    metadata: &'a Metadata,
}

/// Stores it, replacing its earlier row.
pub(super) fn keep(transaction: &Transaction<'_>, checkpoint: &Checkpoint) -> Result<(), StoreError> {
    match checkpoint {
        Checkpoint::Turn(turn) if is_there(transaction, &turn.session)? => keep_turn(transaction, turn),
        Checkpoint::Step(step) if is_there(transaction, &step.session)? => keep_step(transaction, step),
        Checkpoint::Turn(_) | Checkpoint::Step(_) => Ok(()),
    }
}

fn keep_turn(transaction: &Transaction<'_>, turn: &Turn) -> Result<(), StoreError> {
    let status = serde_json::to_value(turn.state.status).unwrap_or_default();
    let payload = TurnPayload {
        last_activity_ms: turn.last_activity.as_millisecond(),
        question: turn.question.clone(),
        resumed_from: turn.resumed_from.clone(),
        pid: turn.pid,
        state: turn.state.clone(),
        ended: turn.ended.clone(),
        error: turn.error.clone(),
    };
    let upsert = "INSERT INTO turns (session, turn, started_ms, status, payload) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (session, turn) DO UPDATE SET status = ?4, payload = ?5";
    let values = params![
        turn.session,
        turn.turn,
        turn.started.as_millisecond(),
        status.as_str().unwrap_or_default(),
        serde_json::to_string(&payload).unwrap_or_default(),
    ];
    transaction.prepare_cached(upsert)?.execute(values)?;
    Ok(())
}

fn keep_step(transaction: &Transaction<'_>, step: &Step) -> Result<(), StoreError> {
    let payload = payload(&NewStepPayload {
        kind: step.kind,
        input: &step.input,
        output: step.output.as_deref(),
        status: step.status,
        duration_ms: step.duration_ms,
        error: step.error.as_deref(),
        metadata: &step.metadata,
    });
    let mut replace = transaction.prepare_cached("INSERT OR REPLACE INTO steps VALUES (?6, ?5, ?4, ?3, ?2, ?1)")?;
    // SQLite has a copy then, and makes a second one: this avoids a third.
    replace.raw_bind_parameter(1, payload)?;
    replace.raw_bind_parameter(2, step.at.as_millisecond())?;
    replace.raw_bind_parameter(3, &step.id)?;
    replace.raw_bind_parameter(4, step.number)?;
    replace.raw_bind_parameter(5, &step.turn)?;
    replace.raw_bind_parameter(6, &step.session)?;
    replace.raw_execute()?;
    Ok(())
}

/// The turns, newest first.
pub(super) fn turns(connection: &Connection, key: &str, limit: usize) -> Result<Vec<Turn>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    list_turns(connection, "WHERE session = ?1 ORDER BY place DESC LIMIT ?2", params![key, limit])
}

pub(super) fn unfinished(connection: &Connection, limit: usize) -> Result<Vec<Turn>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let condition = "WHERE status = 'running' AND place = (SELECT max(place) FROM turns newer
        WHERE newer.session = turns.session) ORDER BY place DESC LIMIT ?1";
    list_turns(connection, condition, [limit])
}

/// A copy of a session has the turns of its original: each is counted once.
pub(super) fn turns_since(
    connection: &Connection,
    since: Timestamp,
    take: &mut dyn FnMut(Turn, Vec<StepFacts>),
) -> Result<(), StoreError> {
    let condition = "WHERE place IN (SELECT min(place) FROM turns WHERE started_ms >= ?1 GROUP BY turn) ORDER BY place";
    let turns = list_turns(connection, condition, [since.as_millisecond()])?;
    let query = "SELECT payload FROM steps WHERE session = ?1 AND turn = ?2 ORDER BY number";
    let mut statement = connection.prepare(query)?;
    for turn in turns {
        let mut rows = statement.query([&turn.session, &turn.turn])?;
        let mut facts = Vec::new();
        while let Some(row) = rows.next()? {
            let payload = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            facts.extend(serde_json::from_str::<StepFacts>(payload));
        }
        drop(rows);
        take(turn, facts);
    }
    Ok(())
}

/// Unreadable rows are skipped.
fn list_turns(connection: &Connection, condition: &str, values: impl Params) -> Result<Vec<Turn>, StoreError> {
    let mut statement =
        connection.prepare(&format!("SELECT session, turn, started_ms, payload FROM turns {condition}"))?;
    let mut rows = statement.query(values)?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        let payload = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        let Ok(payload) = serde_json::from_str::<TurnPayload>(payload) else { continue };
        turns.push(Turn {
            session: row.get(0)?,
            turn: row.get(1)?,
            started: time(row, 2)?,
            last_activity: Timestamp::from_millisecond(payload.last_activity_ms).unwrap_or(Timestamp::UNIX_EPOCH),
            question: payload.question,
            resumed_from: payload.resumed_from,
            pid: payload.pid,
            state: payload.state,
            ended: payload.ended,
            error: payload.error,
        });
    }
    Ok(turns)
}

/// In order. Unreadable rows are skipped.
pub(super) fn steps(connection: &Connection, key: &str, turn: &str) -> Result<Vec<Step>, StoreError> {
    let query = "SELECT id, session, turn, number, at_ms, payload FROM steps WHERE session = ?1 AND turn = ?2
        ORDER BY number";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([key, turn])?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        let payload = row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?;
        let Ok(payload) = serde_json::from_str::<StepPayload>(payload) else { continue };
        steps.push(Step {
            id: row.get(0)?,
            session: row.get(1)?,
            turn: row.get(2)?,
            number: row.get(3)?,
            at: time(row, 4)?,
            kind: payload.kind,
            input: payload.input,
            output: payload.output,
            status: payload.status,
            duration_ms: payload.duration_ms,
            error: payload.error,
            metadata: payload.metadata,
        });
    }
    Ok(steps)
}

/// Copies turns and steps. A running turn is idle in the copy: it continues in the original.
pub(super) fn fork(transaction: &Transaction<'_>, session: &str, copy: &str) -> Result<(), StoreError> {
    let turns = "INSERT INTO turns (session, turn, started_ms, status, payload)
        SELECT ?2, turn, started_ms, replace(status, 'running', 'idle'),
            json_replace(payload, '$.state.status', replace(status, 'running', 'idle'))
        FROM turns WHERE session = ?1 ORDER BY place";
    transaction.execute(turns, [session, copy])?;
    let steps = "INSERT INTO steps SELECT ?2, turn, number, id, at_ms, payload FROM steps WHERE session = ?1";
    transaction.execute(steps, [session, copy])?;
    Ok(())
}

fn time(row: &Row<'_>, column: usize) -> Result<Timestamp, rusqlite::Error> {
    Ok(Timestamp::from_millisecond(row.get(column)?).unwrap_or(Timestamp::UNIX_EPOCH))
}
