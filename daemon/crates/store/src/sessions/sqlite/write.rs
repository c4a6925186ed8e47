//! Writes sessions and events within one transaction.

use std::borrow::Borrow;

use cohab_agent::tasks::Task;
use cohab_model_api::{Message, Scrubbed};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    super::{Entry, Left, Limits, event::Event, id},
    rows::{is_there, payload},
    steps,
};
use crate::StoreError;

/// The tables with the parts of a session.
const PARTS: [&str; 5] = ["events", "messages", "tasks", "turns", "steps"];

/// What storing entries came to.
#[derive(Clone, Debug, Default)]
pub struct Appended {
    /// Whether rows were deleted for them.
    pub has_removed: bool,
    /// Sessions of which messages were dropped because the ones before them are not stored.
    pub gaps: Vec<String>,
}

/// Stores all entries.
pub(super) fn append<E: Borrow<Scrubbed<Entry>>>(
    transaction: &Transaction<'_>,
    entries: impl Iterator<Item = E>,
) -> Result<Appended, StoreError> {
    let mut appended = Appended::default();
    for entry in entries {
        match &**entry.borrow() {
            Entry::Turn { session, at, title, cwd, model, limits } => {
                begin_turn(transaction, session, *at, [title, cwd, model])?;
                appended.has_removed |= enforce(transaction, session, *at, limits)?;
            }
            Entry::Event { session, turn, at, event } => add_event(transaction, session, turn, *at, event)?,
            Entry::Conversation { session, from, messages } => {
                if !converse(transaction, session, *from, messages)? {
                    appended.gaps.push(session.clone());
                }
            }
            Entry::Checkpoint(checkpoint) => steps::keep(transaction, checkpoint)?,
            Entry::Tasks { session, tasks } => set_tasks(transaction, session, tasks)?,
            Entry::Title { session, instead_of, title } => {
                let update = "UPDATE sessions SET title = ?3 WHERE key = ?1 AND title = ?2";
                transaction.prepare_cached(update)?.execute(params![session, instead_of, title])?;
            }
            Entry::SetAside { session, under } => set_aside(transaction, session, under)?,
            Entry::Left { session, left } => leave(transaction, session, left)?,
        }
    }
    Ok(appended)
}

fn begin_turn(
    transaction: &Transaction<'_>,
    session: &str,
    at: Timestamp,
    [title, cwd, model]: [&String; 3],
) -> Result<(), StoreError> {
    let upsert = "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, 1, NULL, '{}')
        ON CONFLICT (key) DO UPDATE SET active_ms = ?4, cwd = ?5, model = ?6, turns = turns + 1";
    let id = free_id(transaction, session, at)?;
    transaction.prepare_cached(upsert)?.execute(params![session, id, title, at.as_millisecond(), cwd, model])?;
    Ok(())
}

/// The id of a session: a session that was set aside keeps the one of its old name.
fn free_id(transaction: &Transaction<'_>, session: &str, at: Timestamp) -> Result<String, StoreError> {
    let id = id::of_key(session);
    let taken = "SELECT 1 FROM sessions WHERE id = ?1 AND key <> ?2";
    let is_taken = transaction.prepare_cached(taken)?.query_row([&id, session], |_| Ok(())).optional()?.is_some();
    Ok(if is_taken { id::of_key(&format!("{session} {}", at.as_microsecond())) } else { id })
}

fn set_aside(transaction: &Transaction<'_>, session: &str, under: &str) -> Result<(), StoreError> {
    if is_there(transaction, under)? {
        return Ok(());
    }
    transaction.execute("UPDATE sessions SET key = ?2 WHERE key = ?1", [session, under])?;
    for table in PARTS {
        transaction.execute(&format!("UPDATE {table} SET session = ?2 WHERE session = ?1"), [session, under])?;
    }
    Ok(())
}

fn add_event(
    transaction: &Transaction<'_>,
    session: &str,
    turn: &str,
    at: Timestamp,
    event: &Event,
) -> Result<(), StoreError> {
    if !is_there(transaction, session)? {
        return Ok(());
    }
    let payload = payload(event);
    let insert = "INSERT INTO events (session, turn, at_ms, kind, payload) VALUES (?1, ?2, ?3, ?4, ?5)";
    transaction.prepare_cached(insert)?.execute(params![session, turn, at.as_millisecond(), event.kind(), payload])?;
    if let Some(text) = event.searchable() {
        let number = transaction.last_insert_rowid();
        transaction
            .prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?
            .execute(params![number, text])?;
    }
    Ok(())
}

/// Writes only new messages: usually all but the last ones are stored. False if those before `from` are not.
fn converse(
    transaction: &Transaction<'_>,
    session: &str,
    from: usize,
    messages: &[Message],
) -> Result<bool, StoreError> {
    if !is_there(transaction, session)? {
        return Ok(from == 0);
    }
    let position = |index: usize| i64::try_from(from + index).unwrap_or(i64::MAX);
    let end = "SELECT ifnull(max(position) + 1, 0) FROM messages WHERE session = ?1";
    let end: i64 = transaction.prepare_cached(end)?.query_row([session], |row| row.get(0))?;
    if end < position(0) {
        return Ok(false);
    }
    // Usually there is nothing to compare.
    let same = if end == position(0) { 0 } else { stored_already(transaction, session, position(0), messages)? };
    if end > position(same) {
        let delete = "DELETE FROM messages WHERE session = ?1 AND position >= ?2";
        transaction.prepare_cached(delete)?.execute(params![session, position(same)])?;
    }
    for (index, message) in messages.iter().enumerate().skip(same) {
        let mut insert = transaction.prepare_cached("INSERT INTO messages VALUES (?1, ?2, ?3)")?;
        insert.raw_bind_parameter(1, session)?;
        insert.raw_bind_parameter(2, position(index))?;
        // SQLite has a copy then, and makes a second one: this avoids a third.
        insert.raw_bind_parameter(3, payload(message))?;
        insert.raw_execute()?;
    }
    Ok(true)
}

/// The number of first messages that are stored as they are, from a position on. One message at a time: one may hold megabytes.
fn stored_already(
    transaction: &Transaction<'_>,
    session: &str,
    from: i64,
    messages: &[Message],
) -> Result<usize, StoreError> {
    let query = "SELECT payload FROM messages WHERE session = ?1 AND position >= ?2 ORDER BY position";
    let mut statement = transaction.prepare_cached(query)?;
    let mut rows = statement.query(params![session, from])?;
    let mut same = 0;
    while let (Some(row), Some(message)) = (rows.next()?, messages.get(same)) {
        if row.get_ref(0)?.as_bytes().ok() != Some(payload(message).as_bytes()) {
            break;
        }
        same += 1;
    }
    Ok(same)
}

fn set_tasks(transaction: &Transaction<'_>, session: &str, tasks: &[Task]) -> Result<(), StoreError> {
    if !is_there(transaction, session)? {
        return Ok(());
    }
    transaction.prepare_cached("DELETE FROM tasks WHERE session = ?1")?.execute([session])?;
    for (position, task) in (0_i64..).zip(tasks) {
        let payload = serde_json::to_string(task).unwrap_or_default();
        transaction
            .prepare_cached("INSERT INTO tasks VALUES (?1, ?2, ?3)")?
            .execute(params![session, position, payload])?;
    }
    Ok(())
}

fn leave(transaction: &Transaction<'_>, session: &str, left: &Left) -> Result<(), StoreError> {
    let environment = serde_json::to_string(&left.environment).unwrap_or_default();
    let update = "UPDATE sessions SET cwd = ?2, environment = ?3 WHERE key = ?1";
    transaction.prepare_cached(update)?.execute(params![session, left.cwd, environment])?;
    Ok(())
}

/// Deletes the oldest sessions until all are within the limits, never the one that is being written.
fn enforce(transaction: &Transaction<'_>, current: &str, now: Timestamp, limits: &Limits) -> Result<bool, StoreError> {
    let age_ms = i64::try_from(limits.age.as_millis()).unwrap_or(i64::MAX);
    let mut has_removed = remove_older(transaction, now.as_millisecond().saturating_sub(age_ms))? > 0;
    while is_beyond(transaction, limits)? {
        let oldest = "SELECT key FROM sessions WHERE key <> ?1 ORDER BY active_ms LIMIT 1";
        let oldest: Option<String> =
            transaction.prepare_cached(oldest)?.query_row([current], |row| row.get(0)).optional()?;
        let Some(oldest) = oldest else { break };
        has_removed |= remove(transaction, &oldest)?;
    }
    Ok(has_removed)
}

fn is_beyond(transaction: &Transaction<'_>, limits: &Limits) -> Result<bool, StoreError> {
    let number = |query: &str| transaction.prepare_cached(query)?.query_row([], |row| row.get::<_, i64>(0));
    let sessions = number("SELECT count(*) FROM sessions")?;
    let pages = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
    let bytes = pages.saturating_mul(number("PRAGMA page_size")?);
    let exceeds = |value: i64, limit: u64| u64::try_from(value).unwrap_or(0) > limit;
    Ok(exceeds(sessions, limits.sessions) || exceeds(bytes, limits.bytes))
}

pub(super) fn remove_older(transaction: &Transaction<'_>, before_ms: i64) -> Result<usize, StoreError> {
    let keys = {
        let mut statement = transaction.prepare_cached("SELECT key FROM sessions WHERE active_ms < ?1")?;
        let rows = statement.query_map([before_ms], |row| row.get::<_, String>(0))?;
        rows.collect::<Result<Vec<_>, _>>()?
    };
    keys.iter().try_fold(0, |sum, key| Ok(sum + usize::from(remove(transaction, key)?)))
}

/// Removes a session and all that belongs to it. False if it does not exist.
pub(super) fn remove(transaction: &Transaction<'_>, session: &str) -> Result<bool, StoreError> {
    let numbers = "SELECT number FROM events WHERE session = ?1";
    transaction.execute(&format!("DELETE FROM search WHERE rowid IN ({numbers})"), [session])?;
    for table in PARTS {
        transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
    }
    Ok(transaction.execute("DELETE FROM sessions WHERE key = ?1", [session])? > 0)
}

pub(super) fn fork(
    transaction: &Transaction<'_>,
    session: &str,
    copy: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    if is_there(transaction, copy)? {
        return Ok(false);
    }
    let row = "INSERT INTO sessions SELECT ?2, ?3, title, ?4, ?4, cwd, model, turns, id, environment FROM sessions
        WHERE key = ?1";
    if transaction.execute(row, params![session, copy, id::of_key(copy), at.as_millisecond()])? == 0 {
        return Ok(false);
    }
    let messages = "INSERT INTO messages SELECT ?2, position, payload FROM messages WHERE session = ?1";
    transaction.execute(messages, [session, copy])?;
    let tasks = "INSERT INTO tasks SELECT ?2, position, payload FROM tasks WHERE session = ?1";
    transaction.execute(tasks, [session, copy])?;
    let events = "INSERT INTO events (session, turn, at_ms, kind, payload, copy_of)
        SELECT ?2, turn, at_ms, kind, payload, number FROM events WHERE session = ?1 ORDER BY number";
    transaction.execute(events, [session, copy])?;
    let index = "INSERT INTO search (rowid, text) SELECT events.number, search.text FROM events
        JOIN search ON search.rowid = events.copy_of WHERE events.session = ?1";
    transaction.execute(index, [copy])?;
    steps::fork(transaction, session, copy)?;
    Ok(true)
}
