//! Compares facts, memory blocks, journal and head with their seals.

use std::collections::BTreeMap;

use cohab_memory::{record::MemoryId, store::MemoryFault};
use rusqlite::{Connection, Row};

use super::{
    block_rows::{BLOCK_SEALED, BLOCK_VERSIONS},
    head::Head,
    journal::{self, ADD, ADD_BLOCK, FAULT, FORGET, FORGET_BLOCK, SUPERSEDE, Tail, mac, seal},
    proposal_rows,
    rows::{self, MEMORIES},
};
use crate::{
    StoreError,
    key_folder::{KeyFolder, small},
    seal::{Key, Mac, Purpose},
};

/// What the journal says about what is not forgotten.
#[derive(Default)]
struct Recorded {
    facts: BTreeMap<i64, Expected>,
    /// The seals of versions of blocks.
    blocks: BTreeMap<i64, Option<Mac>>,
}

/// What the journal says about a record that is not forgotten.
struct Expected {
    seal: Option<Mac>,
    /// The time at which it was superseded, and by which record.
    superseded: Option<(i64, Option<i64>)>,
}

/// Whether a row of [`rows::COLUMNS`] and its seal is as the journal's entries about it say, and these are sealed. What the order of all entries
/// shows, such as a missing one, only [`faults`] finds.
pub(super) fn is_sound(connection: &Connection, key: &Key, row: &Row<'_>) -> Result<bool, StoreError> {
    let id: i64 = row.get(0)?;
    let query = format!("SELECT {} FROM journal WHERE id = ?1 ORDER BY n", journal::COLUMNS);
    let mut statement = connection.prepare_cached(&query)?;
    let mut entries = statement.query([id])?;
    let mut recorded = Recorded::default();
    while let Some(entry) = entries.next()? {
        if !is_entry_sealed(key, entry)? {
            return Ok(false);
        }
        apply(entry, &mut recorded)?;
    }
    is_as_recorded(key, row, recorded.facts.get(&id))
}

/// The faults of a store.
pub(super) fn faults(connection: &Connection, keys: &KeyFolder) -> Result<Vec<MemoryFault>, StoreError> {
    let Some(key) = keys.existing_key()? else { return Ok(vec![MemoryFault::NoKey]) };
    let head_file = keys.lock(false)?;
    let transaction = connection.unchecked_transaction()?;
    // The first query fixes the state of the file that all others see.
    let tail = journal::tail(&transaction)?;
    let head = head_file.map(|mut file| small(&mut file)).transpose()?;
    let head = head.and_then(|text| Head::opened(&key, &text));
    let mut faults = Vec::new();
    let Recorded { facts: mut expected, mut blocks } = follow(&transaction, &key, &mut faults)?;
    if !head.is_some_and(|head| head.allows(tail)) {
        let fault = MemoryFault::Journal(tail.count.saturating_add(1).cast_unsigned());
        faults.push(fault);
    }
    compare(&transaction, &key, &mut expected, &mut faults)?;
    faults.extend(proposal_rows::changed(&transaction, &key)?.into_iter().map(MemoryFault::Proposal));
    compare_blocks(&transaction, &key, &mut blocks, &mut faults)?;
    faults.extend(expected.into_keys().map(|id| MemoryFault::Missing(MemoryId(id.cast_unsigned()))));
    faults.extend(blocks.into_keys().map(|number| MemoryFault::MissingBlock(number.cast_unsigned())));
    Ok(faults)
}

/// Follows the journal. Its entries are used behind a fault as well: they still say which records there were.
fn follow(connection: &Connection, key: &Key, faults: &mut Vec<MemoryFault>) -> Result<Recorded, StoreError> {
    let mut recorded = Recorded::default();
    let mut before = Tail::default();
    let mut is_broken = false;
    let query = format!("SELECT {} FROM journal ORDER BY n", journal::COLUMNS);
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let due = before.count.saturating_add(1);
        let is_sound = is_next(key, row, before)?;
        if what(row)? == FAULT.as_bytes() || (!is_sound && !is_broken) {
            faults.push(MemoryFault::Journal(due.cast_unsigned()));
        }
        is_broken |= !is_sound;
        before = Tail { count: row.get(0)?, last: mac(row, 7)?.unwrap_or_default() };
        apply(row, &mut recorded)?;
    }
    Ok(recorded)
}

fn is_next(key: &Key, row: &Row<'_>, before: Tail) -> Result<bool, StoreError> {
    let follows = Some(row.get(0)?) == before.count.checked_add(1) && mac(row, 6)? == Some(before.last);
    Ok(is_entry_sealed(key, row)? && follows)
}

fn is_entry_sealed(key: &Key, row: &Row<'_>) -> Result<bool, StoreError> {
    Ok(mac(row, 7)? == Some(seal(key, Purpose::MemoryEntry, row, journal::SEALED)?))
}

fn what<'a>(row: &'a Row<'_>) -> Result<&'a [u8], rusqlite::Error> {
    Ok(row.get_ref(1)?.as_bytes()?)
}

fn apply(row: &Row<'_>, Recorded { facts: expected, blocks }: &mut Recorded) -> Result<(), StoreError> {
    let id: i64 = row.get(2)?;
    let what = what(row)?;
    if what == ADD.as_bytes() {
        expected.insert(id, Expected { seal: mac(row, 5)?, superseded: None });
    } else if what == FORGET.as_bytes() {
        expected.remove(&id);
    } else if what == SUPERSEDE.as_bytes()
        && let Some(record) = expected.get_mut(&id)
    {
        record.superseded = Some((row.get(3)?, row.get(4)?));
    } else if what == ADD_BLOCK.as_bytes() {
        blocks.insert(id, mac(row, 5)?);
    } else if what == FORGET_BLOCK.as_bytes() {
        blocks.remove(&id);
    }
    Ok(())
}

/// Compares each row with its seal and with what the journal says, and removes it from what is expected.
fn compare(
    connection: &Connection,
    key: &Key,
    expected: &mut BTreeMap<i64, Expected>,
    faults: &mut Vec<MemoryFault>,
) -> Result<(), StoreError> {
    // Not by an index: a changed one could leave rows out.
    let query = format!("SELECT {}, mac FROM memories NOT INDEXED ORDER BY id", rows::COLUMNS);
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if !is_as_recorded(key, row, expected.remove(&id).as_ref())? {
            faults.push(MemoryFault::Changed(MemoryId(id.cast_unsigned())));
        }
    }
    Ok(())
}

/// Whether a row has its seal, and is what the journal says about it.
fn is_as_recorded(key: &Key, row: &Row<'_>, expected: Option<&Expected>) -> Result<bool, StoreError> {
    let found = mac(row, 10)?;
    let is_sealed = found == Some(seal(key, MEMORIES.purpose, row, rows::sealed_columns(row)?)?);
    let superseded = row.get::<_, Option<i64>>(8)?.map(|at| Ok::<_, StoreError>((at, row.get(9)?))).transpose()?;
    let has_successor = row.get::<_, Option<i64>>(9)?.is_some();
    let is_as_recorded = expected.is_some_and(|record| record.seal == found && record.superseded == superseded);
    Ok(is_sealed && is_as_recorded && has_successor == superseded.is_some())
}

/// Compares each version of a block with its seal and with that of the journal, and removes it from what is expected.
fn compare_blocks(
    connection: &Connection,
    key: &Key,
    expected: &mut BTreeMap<i64, Option<Mac>>,
    faults: &mut Vec<MemoryFault>,
) -> Result<(), StoreError> {
    let query = format!("SELECT {}, mac FROM block_versions NOT INDEXED ORDER BY n", BLOCK_VERSIONS.columns);
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let found = mac(row, BLOCK_SEALED)?;
        let is_sealed = found == Some(seal(key, BLOCK_VERSIONS.purpose, row, BLOCK_SEALED)?);
        let is_as_recorded = expected.remove(&number).is_some_and(|recorded| recorded == found);
        if !(is_sealed && is_as_recorded) {
            let (label, version) = (rows::lossy(row, 1).unwrap_or_default(), number.cast_unsigned());
            faults.push(MemoryFault::ChangedBlock { label, version });
        }
    }
    Ok(())
}
