//! Compares places, files and passages with their seals.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use cohab_memory::knowledge::record;
use rusqlite::Connection;

use super::{
    read::path,
    write::{FILE_COLUMNS, FILE_SEALED, PASSAGE_COLUMNS, PASSAGE_SEALED, PLACE_COLUMNS, PLACE_SEALED},
};
use crate::{
    StoreError,
    past::rows::is_sealed,
    seal::{Key, Purpose},
};

/// The paths of what is not as it was sealed.
pub(super) fn changed(connection: &Connection, key: &Key) -> Result<Vec<PathBuf>, StoreError> {
    // One state of the file for all queries.
    let transaction = connection.unchecked_transaction()?;
    let mut changed = BTreeSet::new();
    // Not by an index: a changed one could leave rows out.
    let checks = [
        (
            format!("SELECT {PLACE_COLUMNS}, mac, root, x'', 1 FROM places NOT INDEXED"),
            Purpose::LearnedPlace,
            PLACE_SEALED,
        ),
        (
            format!(
                "SELECT {FILE_COLUMNS}, files.mac, coalesce(root, x''), files.path,
                    files.passages = (SELECT count(*) FROM passages WHERE file = files.id)
                FROM files NOT INDEXED LEFT JOIN places ON places.id = files.place"
            ),
            Purpose::LearnedFile,
            FILE_SEALED,
        ),
        (
            format!(
                "SELECT {PASSAGE_COLUMNS}, passages.mac, coalesce(root, x''), coalesce(files.path, x''), 1
                FROM passages NOT INDEXED LEFT JOIN files ON files.id = passages.file
                LEFT JOIN places ON places.id = files.place"
            ),
            Purpose::Passage,
            PASSAGE_SEALED,
        ),
    ];
    for (query, purpose, sealed) in checks {
        let mut statement = transaction.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let is_whole: bool = row.get(sealed + 3)?;
            if !is_whole || !is_sealed(key, purpose, row, sealed)? {
                let (root, below) = (path(row, sealed + 1)?, path(row, sealed + 2)?);
                changed.insert(record::file(Path::new(&root), &below));
            }
        }
    }
    Ok(changed.into_iter().collect())
}
