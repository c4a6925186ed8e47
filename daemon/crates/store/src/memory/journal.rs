//! The journal of changes: one entry for each change, chained by seals. It holds no text, and no value from which a text could be guessed
//! without the key.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, types::ValueRef};
use serde::{Deserialize, Serialize};

use crate::{
    StoreError,
    seal::{Key, Mac, Purpose},
};

/// A fact was added.
pub(super) const ADD: &str = "add";
/// A newer record took the place of one.
pub(super) const SUPERSEDE: &str = "supersede";
/// A record was deleted.
pub(super) const FORGET: &str = "forget";
/// A version of a block was added.
pub(super) const ADD_BLOCK: &str = "add block";
/// A version of a block was deleted.
pub(super) const FORGET_BLOCK: &str = "forget block";
/// The writer found that the head does not belong to the journal.
pub(super) const FAULT: &str = "fault";

/// The columns of an entry. The first [`SEALED`] are sealed; the seal before is among them.
pub(super) const COLUMNS: &str = "n, what, id, at_ms, other, row_mac, prev, mac";
pub(super) const SEALED: usize = 7;

/// The end of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tail {
    /// Number of the last entry; 0 if there are none.
    pub count: i64,
    /// Its seal.
    pub last: Mac,
}

/// A change that is to be recorded.
pub(super) struct Entry<'a> {
    pub what: &'a str,
    pub id: i64,
    pub at_ms: i64,
    pub other: Option<i64>,
    pub row_mac: Option<Mac>,
}

/// The end of the journal in this file.
pub(super) fn tail(connection: &Connection) -> Result<Tail, StoreError> {
    let last = connection.prepare_cached("SELECT n, mac FROM journal ORDER BY n DESC LIMIT 1")?.query_row([], |row| {
        // A seal of another length was changed; no head allows this one.
        Ok(Tail { count: row.get(0)?, last: mac(row, 1)?.unwrap_or_default() })
    });
    Ok(last.optional()?.unwrap_or_default())
}

/// Appends an entry and returns the new end.
pub(super) fn append(
    transaction: &Transaction<'_>,
    key: &Key,
    tail: Tail,
    entry: &Entry<'_>,
) -> Result<Tail, StoreError> {
    let Entry { what, id, at_ms, other, row_mac } = entry;
    let n = tail.count.checked_add(1).ok_or(StoreError::Broken)?;
    let values = params![n, what, id, at_ms, other, row_mac.map(Mac::bytes), tail.last.bytes()];
    let insert = format!("INSERT INTO journal ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, x'')");
    transaction.prepare_cached(&insert)?.execute(values)?;
    let last = seal_row(transaction, key, &JOURNAL, n)?;
    Ok(Tail { count: n, last })
}

/// A table with sealed rows.
pub(super) struct Sealed {
    pub purpose: Purpose,
    pub table: &'static str,
    pub number: &'static str,
    pub columns: &'static str,
    /// How many columns of this row are sealed.
    pub sealed_columns: fn(&Row<'_>) -> Result<usize, rusqlite::Error>,
}

const JOURNAL: Sealed = Sealed {
    purpose: Purpose::MemoryEntry,
    table: "journal",
    number: "n",
    columns: COLUMNS,
    sealed_columns: |_| Ok(SEALED),
};

/// Seals a row that was just written, as it is stored.
pub(super) fn seal_row(transaction: &Transaction<'_>, key: &Key, of: &Sealed, number: i64) -> Result<Mac, StoreError> {
    let Sealed { table, number: name, columns, .. } = of;
    let query = format!("SELECT {columns} FROM {table} WHERE {name} = ?1");
    let mac = transaction
        .prepare_cached(&query)?
        .query_row([number], |row| seal(key, of.purpose, row, (of.sealed_columns)(row)?))?;
    let update = format!("UPDATE {table} SET mac = ?2 WHERE {name} = ?1");
    transaction.prepare_cached(&update)?.execute(params![number, mac.bytes()])?;
    Ok(mac)
}

/// The seal over the first columns of a row, of whatever type they are. Each value has its type and length before it, so that no two rows
/// have the same bytes.
pub(super) fn seal(key: &Key, purpose: Purpose, row: &Row<'_>, columns: usize) -> Result<Mac, rusqlite::Error> {
    let mut bytes = Vec::new();
    for column in 0..columns {
        let mut push = |kind: u8, value: &[u8]| {
            bytes.push(kind);
            bytes.extend((value.len() as u64).to_le_bytes());
            bytes.extend(value);
        };
        match row.get_ref(column)? {
            ValueRef::Null => push(0, &[]),
            ValueRef::Integer(value) => push(1, &value.to_le_bytes()),
            ValueRef::Real(value) => push(2, &value.to_bits().to_le_bytes()),
            ValueRef::Text(value) => push(3, value),
            ValueRef::Blob(value) => push(4, value),
        }
    }
    Ok(key.mac(purpose, &bytes))
}

/// The seal in a column; `None` if it is missing or has another length or type.
pub(super) fn mac(row: &Row<'_>, column: usize) -> Result<Option<Mac>, rusqlite::Error> {
    let ValueRef::Blob(bytes) = row.get_ref(column)? else { return Ok(None) };
    Ok(bytes.try_into().ok().map(Mac::of_bytes))
}
