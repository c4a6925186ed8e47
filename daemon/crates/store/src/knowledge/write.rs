//! Writes places, files, passages and their entries in the index.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use cohab_memory::{
    knowledge::{
        record::{LearnedFile, LearnedPlace, LeftOut, Passage},
        terms,
    },
    record::Scope,
};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params, types::ValueRef};

use crate::{
    StoreError,
    past::{
        index::{MARK, is_indexable},
        rows::{milliseconds, path_bytes, seal},
    },
    seal::{Key, Purpose},
};

/// Shorter terms are not found by a part of them, in bytes.
pub(super) const LEAST_WORD_BYTES: usize = 5;
/// The sealed columns of a place.
pub(super) const PLACE_COLUMNS: &str = "places.id, places.root, places.project, places.learned_ms";
pub(super) const PLACE_SEALED: usize = 4;
/// The sealed columns of a file: those of its row, and the root of its place.
pub(super) const FILE_COLUMNS: &str = "files.id, files.place, files.path, files.bytes, files.modified_ns, files.inode, \
                                       files.left_out, files.passages, places.root";
pub(super) const FILE_SEALED: usize = 9;
/// The sealed columns of a passage: those of its row, and the path of its file.
pub(super) const PASSAGE_COLUMNS: &str =
    "passages.id, passages.file, passages.line, passages.headings, passages.text, files.place, files.path";
pub(super) const PASSAGE_SEALED: usize = 7;

/// The number of a reason in a row. Each stays what it is.
pub(super) fn left_out_code(reason: LeftOut) -> i64 {
    match reason {
        LeftOut::Large => 0,
        LeftOut::Binary => 1,
        LeftOut::Secret => 2,
    }
}

/// The mark of entries of a place.
pub(super) fn mark(place: i64) -> String {
    format!("{MARK}{place}")
}

/// Adds a place, or changes a known one.
pub(super) fn place(transaction: &Transaction<'_>, key: &Key, place: &LearnedPlace) -> Result<(), StoreError> {
    let (root, learned) = (path_bytes(&place.root), milliseconds(place.learned));
    let project = match &place.scope {
        Scope::Everywhere => None,
        Scope::Project(project) => Some(path_bytes(project)),
    };
    let looked = place.looked.map(milliseconds);
    let insert = "INSERT INTO places (root, project, learned_ms, looked_ms, mac) VALUES (?1, ?2, ?3, ?4, x'')
        ON CONFLICT (root) DO UPDATE SET project = ?2, learned_ms = ?3 RETURNING id";
    let id: i64 =
        transaction.prepare_cached(insert)?.query_row(params![root, project, learned, looked], |row| row.get(0))?;
    let project = project.as_ref().map_or(ValueRef::Null, |project| ValueRef::Blob(project));
    let values = [ValueRef::Integer(id), ValueRef::Blob(&root), project, ValueRef::Integer(learned)];
    let mac = seal(key, Purpose::LearnedPlace, values);
    transaction.prepare_cached("UPDATE places SET mac = ?2 WHERE id = ?1")?.execute(params![id, mac])?;
    Ok(())
}

/// Notes that all files of a place were compared.
pub(super) fn looked(transaction: &Transaction<'_>, root: &Path, at: Timestamp) -> Result<(), StoreError> {
    let update = "UPDATE places SET looked_ms = ?2 WHERE root = ?1";
    transaction.prepare_cached(update)?.execute(params![path_bytes(root), milliseconds(at)])?;
    Ok(())
}

/// Adds a file of a place, which is given with its root, and its passages.
pub(super) fn file(
    transaction: &Transaction<'_>,
    key: &Key,
    (place, root): (i64, &Path),
    file: &LearnedFile,
) -> Result<(), StoreError> {
    let next = |table: &str| -> Result<i64, StoreError> {
        let query = format!("SELECT id FROM {table} ORDER BY id DESC LIMIT 1");
        let last: Option<i64> = transaction.prepare_cached(&query)?.query_row([], |row| row.get(0)).optional()?;
        last.unwrap_or(0).checked_add(1).ok_or(StoreError::Broken)
    };
    let (id, path, root) = (next("files")?, path_bytes(&file.path), path_bytes(root));
    let (bytes, inode) = (file.stamp.bytes.cast_signed(), file.stamp.inode.cast_signed());
    let modified = file.stamp.modified_ns;
    let left_out = file.content.as_ref().err().map(|reason| left_out_code(*reason));
    let passages = file.content.as_deref().unwrap_or_default();
    let count = passages.len() as i64;
    let values = [
        ValueRef::Integer(id),
        ValueRef::Integer(place),
        ValueRef::Blob(&path),
        ValueRef::Integer(bytes),
        ValueRef::Integer(modified),
        ValueRef::Integer(inode),
        left_out.map_or(ValueRef::Null, ValueRef::Integer),
        ValueRef::Integer(count),
        ValueRef::Blob(&root),
    ];
    let mac = seal(key, Purpose::LearnedFile, values);
    let insert = "INSERT INTO files (id, place, path, bytes, modified_ns, inode, left_out, passages, mac)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    transaction
        .prepare_cached(insert)?
        .execute(params![id, place, path, bytes, modified, inode, left_out, count, mac])?;
    let (names, mut words) = (terms::of_path(&file.path), BTreeSet::new());
    for (number, passage) in (next("passages")?..).zip(passages) {
        let line = passage.line.cast_signed();
        let values = [
            ValueRef::Integer(number),
            ValueRef::Integer(id),
            ValueRef::Integer(line),
            ValueRef::Text(passage.headings.as_bytes()),
            ValueRef::Text(passage.text.as_bytes()),
            ValueRef::Integer(place),
            ValueRef::Blob(&path),
        ];
        let mac = seal(key, Purpose::Passage, values);
        let insert = "INSERT INTO passages (id, file, line, headings, text, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = params![number, id, line, passage.headings, passage.text, mac];
        transaction.prepare_cached(insert)?.execute(values)?;
        words.append(&mut index(transaction, number, place, &names, passage)?);
    }
    keep_words(transaction, &words)
}

/// Writes the entry of a passage in a file whose path has these terms; returns what it consists of.
fn index(
    transaction: &Transaction<'_>,
    id: i64,
    place: i64,
    names: &[String],
    passage: &Passage,
) -> Result<BTreeSet<String>, StoreError> {
    let mut words = terms::of(&passage.text);
    words.extend(terms::of(&passage.headings));
    words.extend_from_slice(names);
    words.retain(|term| is_indexable(term));
    words.push(mark(place));
    let words: BTreeSet<String> = words.into_iter().collect();
    let text = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let insert = "INSERT INTO search (rowid, terms) VALUES (?1, ?2)";
    transaction.prepare_cached(insert)?.execute(params![id, text])?;
    Ok(words)
}

/// Adds the longer ones of these terms to those that are found by their parts.
fn keep_words(transaction: &Transaction<'_>, words: &BTreeSet<String>) -> Result<(), StoreError> {
    let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO words (term) VALUES (?1)")?;
    let mut index = transaction.prepare_cached("INSERT INTO word_parts (rowid, term) VALUES (?1, ?2)")?;
    for word in words.iter().filter(|word| word.len() >= LEAST_WORD_BYTES && !word.starts_with(MARK)) {
        if insert.execute([word])? == 1 {
            index.execute(params![transaction.last_insert_rowid(), word])?;
        }
    }
    Ok(())
}

/// Deletes the words that are in no passage any more, after the index was merged.
pub(super) fn drop_words(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(
        "DELETE FROM word_parts WHERE rowid IN (
            SELECT id FROM words WHERE term NOT IN (SELECT term FROM search_terms));
        DELETE FROM words WHERE term NOT IN (SELECT term FROM search_terms);
        INSERT INTO word_parts (word_parts) VALUES ('optimize');",
    )?)
}

/// Indexes all passages again.
pub(super) fn index_all(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute_batch(
        "INSERT INTO search (search) VALUES ('delete-all');
        INSERT INTO word_parts (word_parts) VALUES ('delete-all');
        DELETE FROM words;",
    )?;
    let query = "SELECT passages.id, files.place, files.path, passages.headings, passages.text FROM passages
        JOIN files ON files.id = passages.file ORDER BY passages.id";
    let mut statement = transaction.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let path: Vec<u8> = row.get(2)?;
        let names = terms::of_path(&PathBuf::from(OsStr::from_bytes(&path)));
        let passage = Passage { line: 0, headings: row.get(3)?, text: row.get(4)? };
        let words = index(transaction, row.get(0)?, row.get(1)?, &names, &passage)?;
        keep_words(transaction, &words)?;
    }
    Ok(())
}
