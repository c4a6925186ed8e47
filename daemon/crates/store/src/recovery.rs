//! Moves a broken file aside, and takes over what can be read of it into the new one.

use std::{fs, io, path::Path};

use rusqlite::{Connection, OpenFlags, Transaction, params_from_iter, types::Value};

use super::{
    error::StoreError,
    form::{Form, beside},
};

/// Rows of one table that are taken over; a broken file may claim any number.
const MAX_ROWS: usize = 2_000_000;
/// Where a broken file waits until its rows are in the new one.
const WAITING: &str = ".salvage";
/// Where it stays then.
pub(super) const KEPT: &str = ".broken";
/// SQLite's helper files.
const HELPERS: [&str; 2] = ["-wal", "-shm"];

/// Moves a file that cannot be read out of the way; the next one that is made in its place takes over what can be read of it.
pub(super) fn move_aside(path: &Path) -> io::Result<()> {
    rename(path, &beside(path, WAITING))
}

/// Takes over what was moved aside from this place, if anything was; it is kept, over an older one of its kind.
pub(super) fn take_over(path: &Path, new: &mut Connection, form: &Form) -> Result<(), StoreError> {
    let waiting = beside(path, WAITING);
    if !waiting.exists() {
        return Ok(());
    }
    let kept = beside(path, KEPT);
    match copy(&waiting, new, form) {
        Ok(rows) => {
            tracing::warn!(rows, kept = %kept.display(), "the store was broken; what could be read was taken over");
        }
        Err(error) if error.is_corruption() => {
            tracing::warn!(%error, kept = %kept.display(), "the store was broken, and nothing of it could be read");
        }
        // The new file cannot be written: the old one waits for the next time.
        Err(error) => return Err(error),
    }
    Ok(rename(&waiting, &kept)?)
}

/// The write-ahead log goes with its file: it holds what was written last.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    for helper in HELPERS {
        match fs::rename(beside(from, helper), beside(to, helper)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // One of an older file would be read as this one's.
            Err(_) => drop(fs::remove_file(beside(to, helper))),
            Ok(()) => {}
        }
    }
    fs::rename(from, to)
}

fn copy(broken: &Path, new: &mut Connection, form: &Form) -> Result<usize, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let old = Connection::open_with_flags(broken, flags)?;
    // Without it SQLite reads nothing of a file that was cut off.
    old.execute_batch("PRAGMA writable_schema = ON")?;
    // Whether anything at all can be read of it.
    old.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let transaction = new.transaction()?;
    let mut rows = 0;
    for table in tables(&transaction)? {
        rows += table.copy(&old, &transaction)?;
    }
    (form.after_salvage)(&transaction)?;
    transaction.commit()?;
    Ok(rows)
}

struct Table {
    name: String,
    /// Its rows have a number of their own that no column shows.
    has_hidden_number: bool,
}

/// Tables that hold rows of ours. Those of a search index are made anew.
fn tables(new: &Connection) -> Result<Vec<Table>, StoreError> {
    let query = "SELECT name, wr = 0 AND NOT EXISTS (
            SELECT 1 FROM pragma_table_info(list.name) WHERE pk > 0 AND upper(type) = 'INTEGER')
        FROM pragma_table_list AS list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let mut statement = new.prepare(query)?;
    let tables = statement.query_map([], |row| Ok(Table { name: row.get(0)?, has_hidden_number: row.get(1)? }))?;
    Ok(tables.collect::<Result<_, _>>()?)
}

impl Table {
    /// Copies the rows up to the first that cannot be read, and those behind it from the end.
    fn copy(&self, old: &Connection, new: &Transaction<'_>) -> Result<usize, StoreError> {
        let known = self.columns(old).unwrap_or_default();
        let mut columns = self.columns(new)?;
        columns.retain(|column| known.contains(column));
        if columns.is_empty() {
            return Ok(0);
        }
        if self.has_hidden_number {
            columns.push("rowid".to_owned());
        }
        let (name, count, columns) = (&self.name, columns.len(), columns.join(", "));
        let places = vec!["?"; count].join(", ");
        let mut insert = new.prepare(&format!("INSERT OR IGNORE INTO {name} ({columns}) VALUES ({places})"))?;
        let mut copied = 0;
        for order in ["", " ORDER BY rowid DESC"] {
            let query = format!("SELECT {columns} FROM {name} NOT INDEXED{order} LIMIT {MAX_ROWS}");
            // A table without numbers has no other end to begin from.
            let Ok(mut statement) = old.prepare(&query) else { continue };
            let Ok(mut rows) = statement.query([]) else { continue };
            let is_whole = loop {
                match rows.next() {
                    Ok(Some(row)) => {
                        let values: Result<Vec<Value>, _> = (0..count).map(|column| row.get(column)).collect();
                        // What does not fit its column any more is as lost as what cannot be read.
                        let Ok(values) = values else { continue };
                        match insert.execute(params_from_iter(values)) {
                            Ok(inserted) => copied += inserted,
                            Err(error) if is_misfit(&error) => {}
                            Err(error) => return Err(error.into()),
                        }
                    }
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            };
            if is_whole {
                break;
            }
        }
        Ok(copied)
    }

    fn columns(&self, of: &Connection) -> Result<Vec<String>, StoreError> {
        let mut statement = of.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([&self.name], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }
}

fn is_misfit(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}
