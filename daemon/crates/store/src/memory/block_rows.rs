//! Versions of memory blocks as rows.

use std::path::Path;

use cohab_memory::{
    blocks::record::{Block, BlockDeed, BlockKey, BlockVersion, MAX_CHARS},
    record::Scope,
};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::{
    journal::{Sealed, mac, seal},
    rows::{lossy, moment, path, root},
    sealed_file::SealedFile,
};
use crate::{
    StoreError,
    seal::{Key, Purpose},
};

/// The columns that [`block`] reads; all are sealed.
const COLUMNS: &str = "n, label, root, description, max_chars, template, value, deed, at_ms";
pub(super) const BLOCK_SEALED: usize = 9;

/// The table of versions.
pub(super) const BLOCK_VERSIONS: Sealed = Sealed {
    purpose: Purpose::BlockVersion,
    table: "block_versions",
    number: "n",
    columns: COLUMNS,
    sealed_columns: |_| Ok(BLOCK_SEALED),
};

/// The version in a row of [`COLUMNS`]; `None` if its label is damaged. Other damaged values are replaced by usual ones; verification
/// names the row.
fn block(row: &Row<'_>, is_sound: bool) -> Result<Option<Block>, rusqlite::Error> {
    let Ok(label) = lossy(row, 1)?.parse() else { return Ok(None) };
    let root = path(row, 2)?;
    let scope = if root.as_os_str().is_empty() { Scope::Everywhere } else { Scope::Project(root) };
    Ok(Some(Block {
        key: BlockKey { label, scope },
        description: lossy(row, 3)?,
        max_chars: usize::try_from(row.get::<_, i64>(4)?).unwrap_or_default().min(MAX_CHARS),
        template: lossy(row, 5)?,
        value: lossy(row, 6)?,
        version: Some(BlockVersion {
            number: row.get::<_, i64>(0)?.cast_unsigned(),
            at: moment(row.get(8)?),
            deed: BlockDeed::of_word(&lossy(row, 7)?).unwrap_or(BlockDeed::Import),
            is_sound,
        }),
    }))
}

fn read(of: SealedFile<'_>, condition: &str, values: impl Params) -> Result<Vec<Block>, StoreError> {
    let query = format!("SELECT {COLUMNS}, mac FROM block_versions WHERE {condition}");
    let mut statement = of.connection.prepare_cached(&query)?;
    let is_sealed = |row: &Row<'_>, key: &Key| {
        let found = mac(row, BLOCK_SEALED)?;
        Ok::<_, rusqlite::Error>(found == Some(seal(key, BLOCK_VERSIONS.purpose, row, BLOCK_SEALED)?))
    };
    let blocks = statement.query_map(values, |row| block(row, of.key.map_or(Ok(false), |key| is_sealed(row, key))?))?;
    let blocks: Vec<Option<Block>> = blocks.collect::<Result<_, _>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

/// The newest versions of the blocks that hold everywhere or have this root; of all with `None`.
pub(super) fn newest(of: SealedFile<'_>, of_root: Option<&Path>) -> Result<Vec<Block>, StoreError> {
    let newest = |condition: &str| {
        format!("n IN (SELECT max(n) FROM block_versions WHERE {condition} GROUP BY root, label) ORDER BY label, root")
    };
    match of_root {
        Some(of_root) => read(of, &newest("root IN (x'', ?1)"), [root(&Scope::Project(of_root.to_owned()))]),
        None => read(of, &newest("TRUE"), []),
    }
}

/// The versions of a block, newest first.
pub(super) fn versions(of: SealedFile<'_>, key: &BlockKey) -> Result<Vec<Block>, StoreError> {
    let key = params![root(&key.scope), key.label.as_str()];
    read(of, "root = ?1 AND label = ?2 ORDER BY n DESC", key)
}

/// The version with this number.
pub(super) fn version(of: SealedFile<'_>, number: i64) -> Result<Option<Block>, StoreError> {
    Ok(read(of, "n = ?1", [number])?.pop())
}

/// The numbers of the versions of a block, newest first, without the first `skipped`.
pub(super) fn numbers(connection: &Connection, key: &BlockKey, skipped: usize) -> Result<Vec<i64>, StoreError> {
    let query = "SELECT n FROM block_versions WHERE root = ?1 AND label = ?2 ORDER BY n DESC LIMIT -1 OFFSET ?3";
    let key = params![root(&key.scope), key.label.as_str(), i64::try_from(skipped).unwrap_or(i64::MAX)];
    Ok(connection.prepare_cached(query)?.query_map(key, |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// The number of the newest version of a block.
pub(super) fn newest_number(connection: &Connection, key: &BlockKey) -> Result<Option<i64>, StoreError> {
    let query = "SELECT n FROM block_versions WHERE root = ?1 AND label = ?2 ORDER BY n DESC LIMIT 1";
    let key = params![root(&key.scope), key.label.as_str()];
    Ok(connection.prepare_cached(query)?.query_row(key, |row| row.get(0)).optional()?)
}
