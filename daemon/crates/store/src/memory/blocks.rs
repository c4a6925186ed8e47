//! Memory blocks in the file of facts: each change is a sealed row, and an entry of the journal.

use std::path::Path;

use cohab_memory::blocks::{
    record::{Block, BlockDeed, BlockKey},
    store::{BlockStore, MAX_VERSIONS},
};
use jiff::Timestamp;
use rusqlite::params;

use super::{
    SqliteMemory,
    block_rows::{self, BLOCK_VERSIONS},
    journal::{ADD_BLOCK, Entry, FORGET_BLOCK},
    rows::root,
    write::Change,
};
use crate::{StoreError, file};

impl BlockStore for SqliteMemory {
    type Error = StoreError;

    fn blocks(&self, root: Option<&Path>) -> Result<Vec<Block>, StoreError> {
        block_rows::newest(self.sealed(), root)
    }

    fn block_versions(&self, key: &BlockKey) -> Result<Vec<Block>, StoreError> {
        block_rows::versions(self.sealed(), key)
    }

    fn write_block(&mut self, block: &Block, deed: BlockDeed, now: Timestamp) -> Result<Option<Block>, StoreError> {
        self.write(|change| {
            let newest = block_rows::newest_number(change.transaction(), &block.key)?;
            if newest.map(i64::cast_unsigned) != block.version.map(|version| version.number) {
                return Ok(None);
            }
            let written = add(change, block, deed, now)?;
            let dropped = block_rows::numbers(change.transaction(), &block.key, MAX_VERSIONS)?;
            delete(change, &dropped, now)?;
            Ok(Some(written))
        })
    }

    fn forget_block(&mut self, key: &BlockKey, replacement: Option<&Block>, now: Timestamp) -> Result<u64, StoreError> {
        let forgotten = self.write(|change| {
            let all = block_rows::numbers(change.transaction(), key, 0)?;
            delete(change, &all, now)?;
            replacement.map(|block| add(change, block, BlockDeed::Clear, now)).transpose()?;
            Ok(all.len() as u64)
        })?;
        // Also without a deleted row: an earlier call may have failed at this.
        file::purge(&self.connection)?;
        Ok(forgotten)
    }
}

fn add(change: &mut Change<'_>, block: &Block, deed: BlockDeed, now: Timestamp) -> Result<Block, StoreError> {
    let insert = "INSERT INTO block_versions (label, root, description, max_chars, template, value, deed, at_ms, mac)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, x'')";
    let (at_ms, max_chars) = (now.as_millisecond(), i64::try_from(block.max_chars).unwrap_or(i64::MAX));
    let (label, root) = (block.key.label.as_str(), root(&block.key.scope));
    let values = params![label, root, block.description, max_chars, block.template, block.value, deed.word(), at_ms];
    let id = change.transaction().prepare_cached(insert)?.insert(values)?;
    let row_mac = Some(change.seal(&BLOCK_VERSIONS, id)?);
    change.append(&Entry { what: ADD_BLOCK, id, at_ms, other: None, row_mac })?;
    // What was sealed is what is stored: a trigger that another program left in the file could have changed it.
    let stored = block_rows::version(change.sealed(), id)?;
    let is_same = |stored: &Block| stored.is_sound() && *stored == Block { version: stored.version, ..block.clone() };
    stored.filter(is_same).ok_or(StoreError::Broken)
}

fn delete(change: &mut Change<'_>, numbers: &[i64], now: Timestamp) -> Result<(), StoreError> {
    for id in numbers.iter().copied() {
        let row_mac = change.seal_of(&BLOCK_VERSIONS, id)?;
        change.transaction().prepare_cached("DELETE FROM block_versions WHERE n = ?1")?.execute([id])?;
        let at_ms = now.as_millisecond();
        change.append(&Entry { what: FORGET_BLOCK, id, at_ms, other: None, row_mac })?;
    }
    Ok(())
}
