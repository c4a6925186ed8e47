//! Reads sessions and events.

use cohab_agent::tasks::Task;
use cohab_model_api::Message;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params, params_from_iter};

use super::super::{
    EventRow, Found, Left, SessionRow,
    event::{COMMAND, QUESTION},
    id, search,
};
use crate::StoreError;

const SESSION: &str = "key, id, title, created_ms, active_ms, cwd, model, turns, forked_from";
const EVENT: &str = "number, session, turn, at_ms, payload";
/// Most sessions that are listed when the start of an id is ambiguous.
const MAX_NAMED: usize = 8;

pub(super) fn sessions(connection: &Connection, words: &[String], limit: usize) -> Result<Vec<SessionRow>, StoreError> {
    let (condition, values) = search::condition(words);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let query = format!(
        "SELECT {SESSION} FROM sessions WHERE {condition} ORDER BY active_ms DESC, created_ms DESC LIMIT {limit}"
    );
    list_sessions(connection, &query, params_from_iter(values))
}

pub(super) fn find(connection: &Connection, prefix: &str) -> Result<Found, StoreError> {
    let mut found = if prefix == id::LAST {
        sessions(connection, &[], 1)?
    } else if id::is_prefix(prefix) {
        let query =
            format!("SELECT {SESSION} FROM sessions WHERE id GLOB ?1 ORDER BY active_ms DESC LIMIT {MAX_NAMED}");
        list_sessions(connection, &query, [format!("{}*", prefix.to_ascii_lowercase())])?
    } else {
        Vec::new()
    };
    Ok(match (found.len(), found.pop()) {
        (1, Some(one)) => Found::One(Box::new(one)),
        (0, _) | (_, None) => Found::None,
        (_, Some(last)) => {
            found.push(last);
            Found::Several(found)
        }
    })
}

pub(super) fn session(connection: &Connection, key: &str) -> Result<Option<SessionRow>, StoreError> {
    let query = format!("SELECT {SESSION} FROM sessions WHERE key = ?1");
    Ok(list_sessions(connection, &query, [key])?.pop())
}

fn list_sessions(connection: &Connection, query: &str, values: impl Params) -> Result<Vec<SessionRow>, StoreError> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map(values, |row| {
        Ok(SessionRow {
            key: row.get(0)?,
            id: row.get(1)?,
            title: row.get(2)?,
            created: time(row, 3)?,
            active: time(row, 4)?,
            cwd: row.get(5)?,
            model: row.get(6)?,
            turns: count(row, 7)?,
            forked_from: row.get(8)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn events(connection: &Connection, key: &str, turn: Option<&str>) -> Result<Vec<EventRow>, StoreError> {
    let query = format!("SELECT {EVENT} FROM events WHERE session = ?1 AND turn = ifnull(?2, turn) ORDER BY number");
    list_events(connection, &query, params![key, turn])
}

pub(super) fn event(connection: &Connection, number: u64) -> Result<Option<EventRow>, StoreError> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let query = format!("SELECT {EVENT} FROM events WHERE number = ?1");
    Ok(list_events(connection, &query, [number])?.pop())
}

pub(super) fn commands(connection: &Connection, key: Option<&str>, limit: usize) -> Result<Vec<EventRow>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let condition = if key.is_some() { "session = ?1" } else { "?1 IS NULL AND copy_of IS NULL" };
    let query = format!(
        "SELECT {EVENT} FROM events WHERE kind = '{COMMAND}' AND {condition} ORDER BY number DESC LIMIT {limit}"
    );
    list_events(connection, &query, params![key])
}

pub(super) fn matching(
    connection: &Connection,
    words: &[String],
    key: Option<&str>,
    take: &mut dyn FnMut(EventRow) -> bool,
) -> Result<(), StoreError> {
    let tokens = search::tokens(words);
    if tokens.is_empty() {
        return Ok(());
    }
    let query = format!(
        "SELECT {EVENT} FROM search CROSS JOIN events ON events.number = search.rowid WHERE search MATCH ?1
         AND session = ifnull(?2, session) AND (?2 IS NOT NULL OR copy_of IS NULL) ORDER BY search.rowid DESC"
    );
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query(params![tokens, key])?;
    while let Some(row) = rows.next()? {
        if event_of(row)?.is_some_and(|event| !take(event)) {
            break;
        }
    }
    Ok(())
}

pub(super) fn first_questions(connection: &Connection) -> Result<Vec<EventRow>, StoreError> {
    let query = format!(
        "SELECT {EVENT} FROM events WHERE number IN \
         (SELECT min(number) FROM events WHERE kind = '{QUESTION}' GROUP BY session) ORDER BY number"
    );
    list_events(connection, &query, [])
}

/// Unreadable events are skipped.
fn list_events(connection: &Connection, query: &str, values: impl Params) -> Result<Vec<EventRow>, StoreError> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query(values)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.extend(event_of(row)?);
    }
    Ok(events)
}

/// The event in a row of [`EVENT`]; `None` if it is unreadable.
fn event_of(row: &Row<'_>) -> Result<Option<EventRow>, StoreError> {
    let payload = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
    let Ok(event) = serde_json::from_str(payload) else { return Ok(None) };
    let (number, at) = (count(row, 0)?, time(row, 3)?);
    Ok(Some(EventRow { number, session: row.get(1)?, turn: row.get(2)?, at, event }))
}

/// Empty if one message cannot be read: a conversation with a hole is not usable.
pub(super) fn conversation(connection: &Connection, key: &str) -> Result<Vec<Message>, StoreError> {
    let mut statement = connection.prepare("SELECT payload FROM messages WHERE session = ?1 ORDER BY position")?;
    let mut rows = statement.query([key])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        match serde_json::from_str(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?) {
            Ok(message) => messages.push(message),
            Err(_) => return Ok(Vec::new()),
        }
    }
    Ok(messages)
}

/// Unreadable tasks are skipped.
pub(super) fn tasks(connection: &Connection, key: &str) -> Result<Vec<Task>, StoreError> {
    let mut statement = connection.prepare("SELECT payload FROM tasks WHERE session = ?1 ORDER BY position")?;
    let rows = statement.query_map([key], |row| row.get::<_, String>(0))?;
    let payloads = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(payloads.iter().filter_map(|payload| serde_json::from_str(payload).ok()).collect())
}

pub(super) fn left(connection: &Connection, key: &str) -> Result<Option<Left>, StoreError> {
    let row = connection.query_row("SELECT cwd, environment FROM sessions WHERE key = ?1", [key], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let row = row.optional()?;
    Ok(row.map(|(cwd, environment)| Left { cwd, environment: serde_json::from_str(&environment).unwrap_or_default() }))
}

fn time(row: &Row<'_>, column: usize) -> Result<Timestamp, rusqlite::Error> {
    Ok(Timestamp::from_millisecond(row.get(column)?).unwrap_or(Timestamp::UNIX_EPOCH))
}

fn count(row: &Row<'_>, column: usize) -> Result<u64, rusqlite::Error> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}
