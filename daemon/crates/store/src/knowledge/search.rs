//! Finds passages: candidates for a ranking that is made elsewhere, in the stages of the search of what was done.

use std::{collections::BTreeSet, path::Path};

use cohab_memory::{
    knowledge::store::{KnowledgeFound, MAX_ALTERNATIVES, MAX_HITS},
    past::{store::WordGroup, terms},
};
use rusqlite::{Connection, OptionalExtension};

use super::{
    read,
    write::{LEAST_WORD_BYTES, mark},
};
use crate::{
    StoreError,
    past::{
        index::{is_indexable, phrase},
        search::{IndexedGroup, queries},
    },
};

/// Searches.
pub(super) fn search(
    connection: &Connection,
    groups: &[WordGroup],
    folder: Option<&Path>,
) -> Result<KnowledgeFound, StoreError> {
    // One state of the file for all queries.
    let transaction = connection.unchecked_transaction()?;
    let total: i64 =
        transaction.prepare_cached("SELECT coalesce(sum(passages), 0) FROM files")?.query_row([], |row| row.get(0))?;
    let (mut with_term, mut wanted) = (Vec::new(), Vec::new());
    for group in groups {
        let others = group.others.iter().map(|other| count(&transaction, other)).collect::<Result<_, _>>()?;
        let counts = (count(&transaction, &group.term)?, others);
        wanted.extend(IndexedGroup::of(group, &counts, total));
        with_term.push(counts);
    }
    wanted.sort_by(|one, other| other.rarity.total_cmp(&one.rarity));
    let mut found = BTreeSet::new();
    let marks = marks(&transaction, folder)?;
    if !marks.is_empty() {
        let mut statement = transaction.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1")?;
        for words in queries(&transaction, &wanted)? {
            let mut rows = statement.query([format!("({words}) AND ({})", marks.join(" OR "))])?;
            while found.len() < MAX_HITS
                && let Some(row) = rows.next()?
            {
                found.insert(row.get(0)?);
            }
        }
    }
    let ids: Vec<i64> = found.into_iter().collect();
    let hits = read::passages(&transaction, &ids)?;
    Ok(KnowledgeFound { total: total.cast_unsigned(), with_term, hits })
}

/// The marks of the places whose passages are found from a folder.
fn marks(connection: &Connection, folder: Option<&Path>) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id, project FROM places")?;
    let mut rows = statement.query([])?;
    let mut marks = Vec::new();
    while let Some(row) = rows.next()? {
        let scope = read::scope(row, 1)?;
        if folder.is_none_or(|folder| scope.holds_in(folder)) {
            marks.push(phrase(&mark(row.get(0)?)));
        }
    }
    Ok(marks)
}

/// Number of passages with a term.
fn count(connection: &Connection, term: &str) -> Result<u64, StoreError> {
    if !is_indexable(term) {
        return Ok(0);
    }
    let mut statement = connection.prepare_cached("SELECT doc FROM search_terms WHERE term = ?1")?;
    let count: Option<i64> = statement.query_row([term], |row| row.get(0)).optional()?;
    Ok(count.unwrap_or(0).cast_unsigned())
}

/// Stored terms that contain this one, the shortest first, or else those that are a slip away; none if it is stored.
pub(super) fn alternatives(connection: &Connection, term: &str) -> Result<Vec<String>, StoreError> {
    if !is_indexable(term) || term.len() + 1 < LEAST_WORD_BYTES || count(connection, term)? > 0 {
        return Ok(Vec::new());
    }
    let letters: Vec<char> = term.chars().collect();
    let trigrams: Vec<String> = letters.windows(3).map(|part| phrase(&part.iter().collect::<String>())).collect();
    let mut found: Vec<String> = Vec::new();
    if !trigrams.is_empty() {
        let query = "SELECT words.term FROM word_parts JOIN words ON words.id = word_parts.rowid
            WHERE word_parts MATCH ?1 AND instr(words.term, ?2) ORDER BY length(words.term), words.term LIMIT ?3";
        let mut statement = connection.prepare_cached(query)?;
        let values = (trigrams.join(" AND "), term, MAX_ALTERNATIVES as i64);
        found = statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
    }
    if found.is_empty() { slips(connection, term) } else { Ok(found) }
}

/// Stored terms with the same first letter that are a slip away from this one.
fn slips(connection: &Connection, term: &str) -> Result<Vec<String>, StoreError> {
    let Some(first) = term.chars().next().filter(char::is_ascii_alphanumeric) else { return Ok(Vec::new()) };
    let after = char::from_u32(u32::from(first) + 1).unwrap_or(first);
    let mut statement = connection.prepare_cached("SELECT term FROM words WHERE term >= ?1 AND term < ?2")?;
    let mut rows = statement.query([first.to_string(), after.to_string()])?;
    let mut slips = Vec::new();
    while slips.len() < MAX_ALTERNATIVES
        && let Some(row) = rows.next()?
    {
        let stored: String = row.get(0)?;
        if terms::is_slip(term, &stored) {
            slips.push(stored);
        }
    }
    Ok(slips)
}
