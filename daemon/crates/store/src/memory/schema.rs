//! The tables of remembered facts and memory blocks.

use rusqlite::{Transaction, params};

use super::rows::{folded, root_word};
use crate::{StoreError, form::Form};

/// Largest file, in pages of 4 KiB: 1 GiB. The limit of the facts is lower.
const MAX_PAGES: u32 = 262_144;

/// The migrations from each version to the next. Append only.
///
/// `memories.root` is the root of the project, or empty for a fact that holds everywhere. Paths are bytes. `journal.id` is the changed
/// record and `journal.other` the one that supersedes it. `valid_facts` counts by root: counting 100,000 rows takes milliseconds.
/// `rejected` has seals of proposals, not their texts. `memories.sources` has a source a line. `proposals.body` is JSON.
/// `inbox_notice` has one row at most: the time of the last line about the inbox, and the newest proposal at that time.
/// `block_versions` has a row for each version of a block.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL,
        root BLOB NOT NULL,
        origin TEXT NOT NULL,
        folder BLOB NOT NULL,
        trust REAL NOT NULL,
        stated_ms INTEGER NOT NULL,
        valid_to_ms INTEGER,
        superseded_by INTEGER,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE INDEX memories_valid ON memories (root) WHERE valid_to_ms IS NULL;
    CREATE INDEX memories_by_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
    CREATE TABLE journal (
        n INTEGER PRIMARY KEY,
        what TEXT NOT NULL,
        id INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        other INTEGER,
        row_mac BLOB,
        prev BLOB NOT NULL,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE TABLE valid_facts (
        root BLOB NOT NULL PRIMARY KEY,
        facts INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER fact_added AFTER INSERT ON memories WHEN new.valid_to_ms IS NULL BEGIN
        INSERT INTO valid_facts VALUES (new.root, 1) ON CONFLICT DO UPDATE SET facts = facts + 1;
    END;
    CREATE TRIGGER fact_superseded AFTER UPDATE OF valid_to_ms ON memories
    WHEN old.valid_to_ms IS NULL AND new.valid_to_ms IS NOT NULL BEGIN
        UPDATE valid_facts SET facts = facts - 1 WHERE root = old.root;
        DELETE FROM valid_facts WHERE root = old.root AND facts < 1;
    END;
    CREATE TRIGGER fact_forgotten AFTER DELETE ON memories WHEN old.valid_to_ms IS NULL BEGIN
        UPDATE valid_facts SET facts = facts - 1 WHERE root = old.root;
        DELETE FROM valid_facts WHERE root = old.root AND facts < 1;
    END;
    CREATE VIRTUAL TABLE memory_search USING fts5 (root, text, tokenize = 'porter unicode61 remove_diacritics 2');
    INSERT INTO memory_search (memory_search, rank) VALUES ('secure-delete', 1);
",
    "
    CREATE TABLE rejected (mac BLOB NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE memories ADD COLUMN sources TEXT;
    CREATE INDEX journal_by_record ON journal (id);
    CREATE TABLE proposals (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,
        body TEXT NOT NULL,
        root BLOB NOT NULL,
        folder BLOB NOT NULL,
        trust REAL NOT NULL,
        sources TEXT,
        evidence TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX proposals_once ON proposals (root, key);
    CREATE TABLE inbox_notice (at_ms INTEGER NOT NULL, proposal INTEGER NOT NULL) STRICT;
",
    "
    CREATE TABLE block_versions (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        label TEXT NOT NULL,
        root BLOB NOT NULL,
        description TEXT NOT NULL,
        max_chars INTEGER NOT NULL,
        template TEXT NOT NULL,
        value TEXT NOT NULL,
        deed TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        mac BLOB NOT NULL
    ) STRICT;
    CREATE INDEX block_versions_of ON block_versions (root, label, n);
",
];

/// Removed rows are overwritten.
pub(super) const FORM: Form = Form {
    migrations: MIGRATIONS,
    max_pages: MAX_PAGES,
    pragmas: "PRAGMA secure_delete = ON;",
    pragmas_at_birth: "PRAGMA auto_vacuum = INCREMENTAL;",
    after_salvage: mend,
};

/// Indexes the rows that were taken over from a broken file, counts them, and continues with its numbers.
fn mend(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM memory_search", [])?;
    let mut valid = transaction.prepare("SELECT id, root, text FROM memories WHERE valid_to_ms IS NULL")?;
    let mut rows = valid.query([])?;
    while let Some(row) = rows.next()? {
        let text = String::from_utf8_lossy(row.get_ref(2)?.as_bytes().map_err(rusqlite::Error::from)?);
        index(transaction, row.get(0)?, &row.get::<_, Vec<u8>>(1)?, &text)?;
    }
    transaction.execute_batch(
        "DELETE FROM valid_facts;
        INSERT INTO valid_facts SELECT root, count(*) FROM memories WHERE valid_to_ms IS NULL GROUP BY root;
        DELETE FROM sqlite_sequence WHERE name = 'memories';
        INSERT INTO sqlite_sequence (name, seq) SELECT 'memories', max(
            coalesce((SELECT max(id) FROM memories), 0),
            coalesce((SELECT max(id) FROM journal WHERE what NOT LIKE '% block'), 0));
        DELETE FROM sqlite_sequence WHERE name = 'block_versions';
        INSERT INTO sqlite_sequence (name, seq) SELECT 'block_versions', max(
            coalesce((SELECT max(n) FROM block_versions), 0),
            coalesce((SELECT max(id) FROM journal WHERE what LIKE '% block'), 0));",
    )?;
    Ok(())
}

/// Adds a valid fact to the search index.
pub(super) fn index(transaction: &Transaction<'_>, id: i64, root: &[u8], text: &str) -> Result<(), StoreError> {
    let insert = "INSERT INTO memory_search (rowid, root, text) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(insert)?.execute(params![id, root_word(root), folded(text)])?;
    Ok(())
}
