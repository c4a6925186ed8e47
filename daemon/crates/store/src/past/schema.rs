//! The tables of what was done.

use rusqlite::Transaction;

use super::index;
use crate::{StoreError, form::Form};

/// Largest file, in pages of 4 KiB: 2 GiB. The limits of runs and turns are lower.
const MAX_PAGES: u32 = 524_288;

/// The migrations from each version to the next. Append only.
///
/// Paths are bytes. `lines.hash` finds a line by its text. Times and durations are in milliseconds. `tally` counts rows, because counting a
/// million of them takes too long: runs by the code of their source, lines, turns, and the entries of the index by their span. `terms` are
/// those in the index, which takes as long to list them as to read it all. The indexes of `runs` contain all columns that a search filters
/// by. There are no foreign keys, so that rows of a broken file can be taken over in any order.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE folders (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE
    ) STRICT;
    CREATE TABLE lines (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        hash INTEGER NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX lines_by_hash ON lines (hash);
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        line INTEGER NOT NULL,
        at_ms INTEGER,
        folder INTEGER,
        exit INTEGER,
        duration_ms INTEGER,
        source INTEGER NOT NULL,
        output TEXT,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_line ON runs (line, at_ms, folder, exit);
    CREATE INDEX runs_by_time ON runs (at_ms, line, folder, exit);
    CREATE INDEX runs_by_folder ON runs (folder, at_ms, line, exit);
    CREATE TABLE turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        turn TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        folder INTEGER NOT NULL,
        question TEXT NOT NULL,
        answer TEXT NOT NULL,
        commands TEXT NOT NULL,
        has_succeeded INTEGER NOT NULL,
        trust REAL NOT NULL,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE INDEX turns_by_session ON turns (session);
    CREATE INDEX turns_by_time ON turns (at_ms, folder, has_succeeded);
    CREATE INDEX turns_by_folder ON turns (folder);
    CREATE TABLE tally (
        what INTEGER PRIMARY KEY,
        rows INTEGER NOT NULL
    ) STRICT;
    CREATE TRIGGER line_added AFTER INSERT ON lines BEGIN
        INSERT INTO tally VALUES (100, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
    END;
    CREATE TRIGGER line_deleted AFTER DELETE ON lines BEGIN
        UPDATE tally SET rows = rows - 1 WHERE what = 100;
    END;
    CREATE TRIGGER run_added AFTER INSERT ON runs BEGIN
        INSERT INTO tally VALUES (new.source, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
    END;
    CREATE TRIGGER run_deleted AFTER DELETE ON runs BEGIN
        UPDATE tally SET rows = rows - 1 WHERE what = old.source;
    END;
    CREATE TRIGGER turn_added AFTER INSERT ON turns BEGIN
        INSERT INTO tally VALUES (101, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
    END;
    CREATE TRIGGER turn_deleted AFTER DELETE ON turns BEGIN
        UPDATE tally SET rows = rows - 1 WHERE what = 101;
    END;
    CREATE VIRTUAL TABLE search USING fts5 (
        terms, content = '', contentless_delete = 1, detail = none, tokenize = \"ascii tokenchars '_'\");
    CREATE VIRTUAL TABLE search_terms USING fts5vocab (search, row);
",
    "
    DROP TABLE search_terms;
    CREATE TABLE terms (term TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
",
];

/// Removed rows are overwritten. The log is long, because moving it into the file takes as long as the disk takes.
pub(super) const FORM: Form = Form {
    migrations: MIGRATIONS,
    max_pages: MAX_PAGES,
    pragmas: "PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4096; PRAGMA cache_size = -16384;",
    pragmas_at_birth: "PRAGMA auto_vacuum = INCREMENTAL;",
    after_salvage: mend,
};

/// Drops rows of a broken file whose other half was lost, counts and indexes what is left, and continues with its numbers.
fn mend(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute_batch(
        "DELETE FROM runs WHERE line NOT IN (SELECT id FROM lines)
            OR (folder IS NOT NULL AND folder NOT IN (SELECT id FROM folders));
        DELETE FROM turns WHERE folder NOT IN (SELECT id FROM folders);
        DELETE FROM lines WHERE id NOT IN (SELECT line FROM runs);
        DELETE FROM sqlite_sequence WHERE name IN ('lines', 'turns');
        INSERT INTO sqlite_sequence (name, seq) SELECT 'lines', coalesce(max(id), 0) FROM lines;
        INSERT INTO sqlite_sequence (name, seq) SELECT 'turns', coalesce(max(id), 0) FROM turns;
        DELETE FROM tally;
        INSERT INTO tally SELECT source, count(*) FROM runs GROUP BY source;
        INSERT INTO tally SELECT 100, count(*) FROM lines;
        INSERT INTO tally SELECT 101, count(*) FROM turns;",
    )?;
    index::rebuild(transaction)
}
