//! Reads facts.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use cohab_memory::{
    record::{Memory, MemoryId, NewMemory, Source},
    store::{FoundFacts, Hit},
    words::MAX_WORDS,
};
use rusqlite::{Connection, Params, params, params_from_iter, types::Value};

use super::{
    rows::{COLUMNS, VisibleRoots, folded, memory, number, root},
    sealed_file::SealedFile,
    verify,
};
use crate::StoreError;

/// Counting the facts with one word stops here; the newest are counted first.
const MAX_WITH_WORD: usize = 256;
/// Most facts that a search returns. Those with its rarest words come first.
const MAX_HITS: usize = 256;

/// The facts that fulfil this condition, in this order.
fn facts(of: SealedFile<'_>, condition: &str, values: impl Params) -> Result<Vec<Memory>, StoreError> {
    let query = format!("SELECT {COLUMNS}, mac FROM memories WHERE {condition}");
    let mut statement = of.connection.prepare_cached(&query)?;
    let mut rows = statement.query(values)?;
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        let is_sound = of.key.is_some_and(|key| verify::is_sound(of.connection, key, row).unwrap_or(false));
        facts.push(Memory { is_sound, ..memory(row)? });
    }
    Ok(facts)
}

/// The record of this number.
pub(super) fn get(of: SealedFile<'_>, id: MemoryId) -> Result<Option<Memory>, StoreError> {
    let Some(id) = number(id) else { return Ok(None) };
    Ok(facts(of, "id = ?1", [id])?.pop())
}

/// Number of records, the superseded ones included.
pub(super) fn records(connection: &Connection) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM memories")?;
    Ok(statement.query_row([], |row| row.get::<_, i64>(0))?.cast_unsigned())
}

/// The valid fact with this text and scope.
pub(super) fn known(of: SealedFile<'_>, new: &NewMemory) -> Result<Option<Memory>, StoreError> {
    let facts = facts(of, "valid_to_ms IS NULL AND root = ?1 AND text = ?2", params![root(&new.scope), new.text])?;
    Ok(facts.into_iter().find(|fact| fact.is_sound))
}

/// All versions of a fact, oldest first.
pub(super) fn versions(of: SealedFile<'_>, id: MemoryId) -> Result<Vec<Memory>, StoreError> {
    let mut before = of.connection.prepare_cached("SELECT id FROM memories WHERE superseded_by = ?1")?;
    let mut found = BTreeMap::new();
    // A damaged file may have a cycle: no record is visited twice.
    let mut visited = BTreeSet::from([id]);
    let mut next = vec![id];
    while let Some(id) = next.pop() {
        let Some(version) = get(of, id)? else { continue };
        let earlier = before.query_map([number(id)], |row| row.get::<_, i64>(0))?;
        let earlier: Vec<i64> = earlier.collect::<Result<_, _>>()?;
        let linked = earlier.into_iter().map(|id| MemoryId(id.cast_unsigned())).chain(version.superseded_by);
        next.extend(linked.filter(|id| visited.insert(*id)));
        found.insert(id, version);
    }
    Ok(found.into_values().collect())
}

/// The valid facts that hold in `folder`, newest first.
pub(super) fn list(of: SealedFile<'_>, folder: Option<&Path>) -> Result<Vec<Memory>, StoreError> {
    let roots = VisibleRoots::of(folder);
    let condition = format!("valid_to_ms IS NULL AND {} ORDER BY stated_ms DESC, id DESC", roots.condition("memories"));
    facts(of, &condition, params_from_iter(roots.values()))
}

/// The records that come from this source, directly or by way of other facts, with their versions; ascending.
pub(super) fn derived_from(of: SealedFile<'_>, source: &Source) -> Result<Vec<MemoryId>, StoreError> {
    let derived = facts(of, "sources IS NOT NULL", [])?;
    let mut found = BTreeSet::new();
    let mut next = vec![source.clone()];
    if let Source::Fact(id) = source {
        next.extend(versions(of, *id)?.into_iter().map(|version| Source::Fact(version.id)));
    }
    while let Some(source) = next.pop() {
        for fact in derived.iter().filter(|fact| fact.sources.contains(&source)) {
            for version in versions(of, fact.id)? {
                if found.insert(version.id) {
                    next.push(Source::Fact(version.id));
                }
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// The valid facts that hold in `folder` and have one of these words.
pub(super) fn search(of: SealedFile<'_>, words: &[String], folder: Option<&Path>) -> Result<FoundFacts, StoreError> {
    // One state of the file for all queries.
    let transaction = of.connection.unchecked_transaction()?;
    let roots = VisibleRoots::of(folder);
    let total = count(&transaction, &roots)?;
    let mut with_word = vec![0; words.len()];
    let mut by_word = Vec::new();
    for (index, word) in words.iter().take(MAX_WORDS).enumerate() {
        let ids = with(&transaction, word, &roots)?;
        if let Some(count) = with_word.get_mut(index) {
            *count = ids.len() as u64;
        }
        by_word.push((index, ids));
    }
    by_word.sort_by_key(|(_, ids)| ids.len());
    let mut hits = BTreeMap::<MemoryId, Vec<usize>>::new();
    for (index, ids) in by_word {
        for id in ids {
            if hits.len() < MAX_HITS || hits.contains_key(&id) {
                hits.entry(id).or_default().push(index);
            }
        }
    }
    let hits = hits.into_iter().map(|(id, mut words)| {
        words.sort_unstable();
        Ok(get(of, id)?.map(|memory| Hit { memory, words }))
    });
    let hits: Vec<Option<Hit>> = hits.collect::<Result<_, StoreError>>()?;
    Ok(FoundFacts { total, with_word, hits: hits.into_iter().flatten().collect() })
}

/// Number of valid facts with these roots.
fn count(connection: &Connection, roots: &VisibleRoots) -> Result<u64, StoreError> {
    let query = format!("SELECT coalesce(sum(facts), 0) FROM valid_facts WHERE {}", roots.condition("valid_facts"));
    let mut statement = connection.prepare_cached(&query)?;
    Ok(statement.query_row(params_from_iter(roots.values()), |row| row.get::<_, i64>(0))?.cast_unsigned())
}

/// The newest facts with this word.
fn with(connection: &Connection, word: &str, roots: &VisibleRoots) -> Result<Vec<MemoryId>, StoreError> {
    let Some(phrase) = phrase(word) else { return Ok(Vec::new()) };
    // Without CROSS, SQLite may look each fact of the roots up in the search index.
    let query = format!(
        "SELECT memories.id FROM memory_search CROSS JOIN memories ON memories.id = memory_search.rowid
        WHERE memory_search MATCH ? AND memories.valid_to_ms IS NULL AND {} ORDER BY memory_search.rowid DESC LIMIT {MAX_WITH_WORD}",
        roots.condition("memories")
    );
    let mut statement = connection.prepare_cached(&query)?;
    let wanted = Value::Text(format!("{{text}} : {phrase}{}", roots.index_condition()));
    let ids = statement.query_map(params_from_iter(std::iter::once(wanted).chain(roots.values())), |row| {
        Ok(MemoryId(row.get::<_, i64>(0)?.cast_unsigned()))
    })?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// A word as a query of the index in which no character has a meaning; `None` if it has nothing that the index could hold.
fn phrase(word: &str) -> Option<String> {
    let word = folded(word).replace('\0', " ").replace('"', "\"\"");
    word.contains(char::is_alphanumeric).then(|| format!("\"{word}\""))
}
