//! The usage database stores model calls and the facts learned from them in a file.

use std::path::Path;

use cohab_model_api::{
    TokenUsage,
    calibration::{self, Learned},
    window_size::{ContextWindow, WindowSource},
};
use jiff::Timestamp;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use super::{
    error::StoreError,
    file,
    form::Form,
    health::{self, Health},
    row::{CallRow, CostSource, ModelKey},
};

/// Older rows are deleted.
const KEPT_MS: i64 = 2 * 366 * 24 * 3_600_000;
/// Largest file, in pages of 4 KiB: 256 MiB.
const MAX_PAGES: u32 = 65_536;

/// The migrations from each version to the next. Append only.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE calls (
        at_ms INTEGER NOT NULL,
        session TEXT NOT NULL,
        turn TEXT NOT NULL,
        wire TEXT NOT NULL,
        host TEXT NOT NULL,
        model TEXT NOT NULL,
        input INTEGER,
        output INTEGER,
        cache_read INTEGER,
        cache_write INTEGER,
        reasoning INTEGER,
        cost_microusd INTEGER,
        cost_source TEXT
    ) STRICT;
    CREATE INDEX calls_by_time ON calls (at_ms);
    CREATE TABLE models (
        host TEXT NOT NULL,
        model TEXT NOT NULL,
        factor REAL NOT NULL,
        refused_window_tokens INTEGER,
        window_tokens INTEGER,
        window_source TEXT,
        PRIMARY KEY (host, model)
    ) STRICT, WITHOUT ROWID;
",
    "ALTER TABLE calls ADD took_ms INTEGER;",
];

const FORM: Form =
    Form { migrations: MIGRATIONS, max_pages: MAX_PAGES, pragmas: "", pragmas_at_birth: "", after_salvage: |_| Ok(()) };

/// An open store.
pub struct Database {
    connection: Connection,
}

/// Writes within one transaction.
pub struct Writer<'a> {
    transaction: Transaction<'a>,
}

impl Database {
    /// Opens the file, creates it if it is missing, and migrates it to this release's form.
    ///
    /// # Errors
    /// It cannot be opened, read or changed.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { connection: file::create(path, &FORM)? })
    }

    /// Opens an existing file. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`Database::create`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        Ok(file::open_existing(path, &FORM)?.map(|connection| Self { connection }))
    }

    /// The health of the file at this path. `None` if it does not exist. Changes nothing in it.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn health(path: &Path) -> Result<Option<Health>, StoreError> {
        health::look(path, MIGRATIONS.len())
    }

    /// The facts learned about all models.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn learned(&self) -> Result<Vec<(ModelKey, Learned)>, StoreError> {
        let columns = "host, model, factor, refused_window_tokens, window_tokens, window_source";
        let mut statement = self.connection.prepare(&format!("SELECT {columns} FROM models ORDER BY host, model"))?;
        let rows = statement.query_map([], |row| {
            let source: Option<String> = row.get(5)?;
            let in_use = tokens(row, 4)?.zip(source.as_deref().and_then(WindowSource::of_word));
            let learned = Learned {
                factor: calibration::in_bounds(row.get(2)?),
                window_tokens: tokens(row, 3)?,
                in_use: in_use.map(|(tokens, source)| ContextWindow { tokens, source }),
            };
            Ok((ModelKey { host: row.get(0)?, model: row.get(1)? }, learned))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Passes the calls since `since` to `take`, the oldest first.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn calls_since(&self, since: Timestamp, mut take: impl FnMut(CallRow)) -> Result<(), StoreError> {
        let columns = "at_ms, session, turn, wire, host, model, input, output, cache_read, cache_write, reasoning, \
                       cost_microusd, cost_source, took_ms";
        let query = format!("SELECT {columns} FROM calls WHERE at_ms >= ?1 ORDER BY at_ms");
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query([since.as_millisecond()])?;
        while let Some(row) = rows.next()? {
            take(call_of(row)?);
        }
        Ok(())
    }

    /// Commits everything that `write` writes, or nothing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, write: impl FnOnce(&Writer<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let writer = Writer { transaction };
        write(&writer)?;
        Ok(writer.transaction.commit()?)
    }
}

impl Writer<'_> {
    /// Adds a call and deletes old ones.
    pub(super) fn call(&self, call: &CallRow) -> Result<(), StoreError> {
        let (at_ms, usage) = (call.at.as_millisecond(), &call.usage);
        self.transaction.prepare_cached("DELETE FROM calls WHERE at_ms < ?1")?.execute([at_ms - KEPT_MS])?;
        let insert = "INSERT INTO calls VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let values = params![
            at_ms,
            call.session,
            call.turn,
            call.wire,
            call.model.host,
            call.model.model,
            whole(usage.input),
            whole(usage.output),
            whole(usage.cache_read),
            whole(usage.cache_write),
            whole(usage.reasoning),
            whole(usage.cost_microusd),
            call.cost_source.map(CostSource::word),
            whole(call.took_ms),
        ];
        self.transaction.prepare_cached(insert)?.execute(values)?;
        Ok(())
    }

    /// Replaces the facts about a model.
    pub(super) fn learned(&self, key: &ModelKey, learned: &Learned) -> Result<(), StoreError> {
        let insert = "INSERT OR REPLACE INTO models VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = params![
            key.host,
            key.model,
            learned.factor,
            whole(learned.window_tokens),
            whole(learned.in_use.map(|window| window.tokens)),
            learned.in_use.map(|window| window.source.word()),
        ];
        self.transaction.prepare_cached(insert)?.execute(values)?;
        Ok(())
    }
}

fn call_of(row: &Row<'_>) -> Result<CallRow, rusqlite::Error> {
    let source: Option<String> = row.get(12)?;
    Ok(CallRow {
        at: Timestamp::from_millisecond(row.get(0)?).unwrap_or(Timestamp::UNIX_EPOCH),
        session: row.get(1)?,
        turn: row.get(2)?,
        wire: row.get(3)?,
        model: ModelKey { host: row.get(4)?, model: row.get(5)? },
        usage: TokenUsage {
            input: tokens(row, 6)?,
            output: tokens(row, 7)?,
            cache_read: tokens(row, 8)?,
            cache_write: tokens(row, 9)?,
            reasoning: tokens(row, 10)?,
            cost_microusd: tokens(row, 11)?,
        },
        cost_source: source.as_deref().and_then(CostSource::of_word),
        took_ms: tokens(row, 13)?,
    })
}

/// SQLite's integers are signed; services report nonsense at times.
fn whole(tokens: Option<u64>) -> Option<i64> {
    tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX))
}

fn tokens(row: &Row<'_>, column: usize) -> Result<Option<u64>, rusqlite::Error> {
    Ok(row.get::<_, Option<i64>>(column)?.and_then(|tokens| u64::try_from(tokens).ok()))
}
