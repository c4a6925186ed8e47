//! Repairs sessions with rows from a broken file.

use rusqlite::{Transaction, params};

use super::super::{event::Event, id};
use crate::StoreError;

/// Title of a session of which only events could be read.
const TITLE: &str = "(recovered)";

/// Restores lost sessions without their names, deletes conversations with a hole, and indexes the searchable text again.
pub(super) fn mend(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let lost: Vec<String> = {
        let query = "SELECT DISTINCT session FROM events WHERE session NOT IN (SELECT key FROM sessions)";
        let mut statement = transaction.prepare(query)?;
        let keys = statement.query_map([], |row| row.get(0))?;
        keys.collect::<Result<_, _>>()?
    };
    for key in lost {
        let insert = "INSERT INTO sessions (key, id, title, created_ms, active_ms, cwd, model, turns, environment)
            SELECT ?1, ?2, ?3, min(at_ms), max(at_ms), '/', '', count(DISTINCT turn), '{}' FROM events WHERE session = ?1";
        transaction.execute(insert, params![key, id::of_key(&key), TITLE])?;
    }
    let holes = "DELETE FROM messages WHERE session NOT IN (SELECT key FROM sessions) OR session IN (
        SELECT session FROM messages GROUP BY session HAVING count(*) <> max(position) + 1)";
    transaction.execute(holes, [])?;
    transaction.execute("DELETE FROM search", [])?;
    let mut insert = transaction.prepare("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?;
    let mut events = transaction.prepare("SELECT number, payload FROM events")?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let payload = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let Ok(event) = serde_json::from_str::<Event>(payload) else { continue };
        if let Some(text) = event.searchable() {
            insert.execute(params![row.get::<_, i64>(0)?, text])?;
        }
    }
    Ok(())
}
