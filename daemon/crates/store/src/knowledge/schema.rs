//! The tables of the user's documents.

use rusqlite::Transaction;

use super::write;
use crate::{StoreError, form::Form};

/// Largest file, in pages of 4 KiB: 1 GiB.
const MAX_PAGES: u32 = 262_144;

/// The migrations from each version to the next. Append only.
///
/// Paths are bytes; that of a file is below its place. `files.passages` is the number of passages. The index has the name and the form of that
/// of what was done. `words` has its longer terms, and perhaps some that are gone from it; `word_parts` finds those with a part.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE places (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        root BLOB NOT NULL UNIQUE,
        project BLOB,
        learned_ms INTEGER NOT NULL,
        looked_ms INTEGER,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        place INTEGER NOT NULL,
        path BLOB NOT NULL,
        bytes INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        left_out INTEGER,
        passages INTEGER NOT NULL,
        mac BLOB NOT NULL,
        UNIQUE (place, path)
    ) STRICT;
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        file INTEGER NOT NULL,
        line INTEGER NOT NULL,
        headings TEXT NOT NULL,
        text TEXT NOT NULL,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE INDEX passages_by_file ON passages (file);
    CREATE VIRTUAL TABLE search USING fts5 (
        terms, content = '', contentless_delete = 1, detail = none, tokenize = \"ascii tokenchars '_'\");
    CREATE VIRTUAL TABLE search_terms USING fts5vocab (search, row);
    CREATE TABLE words (
        id INTEGER PRIMARY KEY,
        term TEXT NOT NULL UNIQUE
    ) STRICT;
    CREATE VIRTUAL TABLE word_parts USING fts5 (
        term, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');
"];

/// Removed rows are overwritten.
pub(super) const FORM: Form = Form {
    migrations: MIGRATIONS,
    max_pages: MAX_PAGES,
    pragmas: "PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 4096; PRAGMA cache_size = -16384;",
    pragmas_at_birth: "PRAGMA auto_vacuum = INCREMENTAL;",
    after_salvage: mend,
};

/// Drops files of a broken store of which something was lost, so that they are read again, and indexes what is left.
fn mend(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute_batch(
        "DELETE FROM files WHERE place NOT IN (SELECT id FROM places)
            OR passages <> (SELECT count(*) FROM passages WHERE file = files.id);
        DELETE FROM passages WHERE file NOT IN (SELECT id FROM files);
        DELETE FROM sqlite_sequence WHERE name = 'places';
        INSERT INTO sqlite_sequence (name, seq) SELECT 'places', coalesce(max(id), 0) FROM places;
        UPDATE places SET looked_ms = NULL;",
    )?;
    write::index_all(transaction)
}
