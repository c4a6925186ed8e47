//! Finds lines and turns: candidates for a ranking that is made elsewhere.
//!
//! A record is worth the sum of the rarities of the groups that it has terms of, times the weight of the wishes that it satisfies. Stages
//! are sets of groups with sets of wishes in the order of that worth: all records of a more valuable stage come before those that only
//! belong to a less valuable one, and the newest come first within a stage. All records with very rare terms come first. Conditions are
//! applied before anything is cut off.

use std::collections::HashSet;

use cohab_memory::past::store::{MAX_HITS, PastFound, PastQuery, WordGroup};
use rusqlite::Connection;

use super::{
    filter::Conditions,
    index::{self, Totals, is_indexable, phrase, record_of},
    read,
};
use crate::StoreError;

/// Most groups of a search, and most terms of a group; further ones find nothing.
const MAX_GROUPS: usize = 24;
const MAX_GROUP_TERMS: usize = 32;
/// Records with the rarest groups are all found, up to this number.
const RARE_RECORDS: u64 = 128;
/// The rarest of the other groups, of which every set is a stage.
const PAIRED_GROUPS: usize = 3;
/// Most turns among the hits of a search for words; the others are lines. A turn has much more text to be read and compared.
const MAX_TURNS_WITH_WORDS: usize = 128;
/// Up to this number of runs in a folder, those are sorted by time; beyond, the newest runs of all folders are gone through.
const FEW_RUNS: i64 = 4_096;

/// A group that is in the index.
pub(crate) struct IndexedGroup {
    /// Its terms as a query of the index.
    query: String,
    /// Number of records with it, at most.
    records: u64,
    /// How much a record with it is worth: more, the rarer it is.
    pub(crate) rarity: f64,
}

/// A line or turn that satisfies the conditions.
struct Candidate {
    is_turn: bool,
    id: i64,
    /// Number of the set of wishes that it satisfies: the first that does.
    set: usize,
    /// Its place: candidates with a lower one come first.
    order: (usize, i64, i64),
}

/// Groups that a record has.
struct Stage {
    /// They are so rare that all records with them are found.
    is_rare: bool,
    worth: f64,
    /// As a query of the index.
    query: String,
}

/// A set of wishes with the other conditions.
struct WishSet {
    weight: f64,
    conditions: Conditions,
}

/// The first groups, and the others.
fn split(wanted: &[IndexedGroup], at: usize) -> (&[IndexedGroup], &[IndexedGroup]) {
    wanted.split_at_checked(at).unwrap_or((wanted, &[]))
}

/// Searches.
pub(super) fn search(connection: &Connection, query: &PastQuery) -> Result<PastFound, StoreError> {
    // One state of the file for all queries.
    let transaction = connection.unchecked_transaction()?;
    let sets = query.narrowed().into_iter().map(|(weight, narrowed)| {
        Conditions::of(&transaction, &narrowed).map(|conditions| WishSet { weight, conditions })
    });
    let sets = sets.collect::<Result<Vec<_>, _>>()?;
    let totals = index::totals(&transaction)?;
    let mut with_term = Vec::new();
    let mut wanted = Vec::new();
    for (position, group) in query.groups.iter().enumerate() {
        let counts = if position < MAX_GROUPS {
            counts(&transaction, group, &totals)?
        } else {
            (0, vec![0; group.others.len()])
        };
        wanted.extend(IndexedGroup::of(group, &counts, totals.records));
        with_term.push(counts);
    }
    wanted.sort_by(|one, other| other.rarity.total_cmp(&one.rarity));
    let mut candidates =
        if query.groups.is_empty() { newest(&transaction, &sets)? } else { with_groups(&transaction, &wanted, &sets)? };
    candidates.sort_by_key(|candidate| candidate.order);
    candidates.truncate(MAX_HITS);
    let ids = |is_turn: bool, set: Option<usize>| -> Vec<i64> {
        let chosen = candidates.iter().filter(|one| one.is_turn == is_turn && set.is_none_or(|set| one.set == set));
        chosen.map(|candidate| candidate.id).collect()
    };
    let turns = ids(true, None);
    let mut hits = read::turns(&transaction, &turns)?;
    for (number, set) in sets.iter().enumerate() {
        hits.extend(read::lines(&transaction, &ids(false, Some(number)), &set.conditions)?);
    }
    let neighbours = read::neighbours(&transaction, &turns)?;
    Ok(PastFound { total: totals.records.cast_unsigned(), with_term, hits, neighbours })
}

/// Number of lines and turns with the term of a group, and with each of its others.
fn counts(connection: &Connection, group: &WordGroup, totals: &Totals) -> Result<(u64, Vec<u64>), StoreError> {
    let count = |(position, term): (usize, &String)| {
        if position < MAX_GROUP_TERMS { index::with_term(connection, term, totals) } else { Ok(0) }
    };
    let others = group.others.iter().enumerate().map(count).collect::<Result<_, _>>()?;
    Ok((count((0, &group.term))?, others))
}

impl IndexedGroup {
    /// The terms of a group that are in the index; `None` if there are none.
    pub(crate) fn of(group: &WordGroup, counts: &(u64, Vec<u64>), total: i64) -> Option<Self> {
        let terms = std::iter::once(&group.term).chain(&group.others);
        let counts = std::iter::once(&counts.0).chain(&counts.1);
        let (mut query, mut records) = (Vec::new(), 0);
        for (term, count) in terms.zip(counts).filter(|(term, count)| **count > 0 && is_indexable(term)) {
            query.push(phrase(term));
            records += count;
        }
        let rarity = ((total as f64 + 1.0) / (records as f64 + 0.5)).ln().max(0.01);
        (!query.is_empty()).then(|| Self { query: format!("({})", query.join(" OR ")), records, rarity })
    }
}

/// Sets of groups as queries of the index, the most valuable first.
pub(crate) fn queries(connection: &Connection, wanted: &[IndexedGroup]) -> Result<Vec<String>, StoreError> {
    let mut stages = stages(connection, wanted)?;
    stages.sort_by(|one, other| other.is_rare.cmp(&one.is_rare).then(other.worth.total_cmp(&one.worth)));
    Ok(stages.into_iter().map(|stage| stage.query).collect())
}

/// Sets of groups as queries of the index.
fn stages(connection: &Connection, wanted: &[IndexedGroup]) -> Result<Vec<Stage>, StoreError> {
    let query =
        |set: &[&IndexedGroup]| set.iter().map(|wanted| wanted.query.as_str()).collect::<Vec<_>>().join(" AND ");
    let mut sum = 0;
    let is_rare = |wanted: &&IndexedGroup| {
        sum += wanted.records;
        sum <= RARE_RECORDS
    };
    let (rare, common) = split(wanted, wanted.iter().take_while(is_rare).count());
    let (paired, others) = split(common, PAIRED_GROUPS);
    let mut sets: Vec<Vec<&IndexedGroup>> = (1..1_usize << paired.len())
        .map(|set| paired.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, wanted)| wanted).collect())
        .collect();
    // A record with all of them has the paired ones, which takes less time to find out.
    if !others.is_empty() && index::has_any(connection, &query(&paired.iter().collect::<Vec<_>>()))? {
        sets.push(common.iter().collect());
    }
    sets.extend(others.iter().map(|one| vec![one]));
    let sets = rare.iter().map(|one| (true, vec![one])).chain(sets.into_iter().map(|set| (false, set)));
    let stage = |(is_rare, set): (bool, Vec<&IndexedGroup>)| {
        let worth = set.iter().map(|wanted| wanted.rarity).sum::<f64>();
        Stage { is_rare, worth, query: query(&set) }
    };
    Ok(sets.map(stage).collect())
}

/// The records with terms of the groups.
fn with_groups(
    connection: &Connection,
    wanted: &[IndexedGroup],
    sets: &[WishSet],
) -> Result<Vec<Candidate>, StoreError> {
    let stages = stages(connection, wanted)?;
    let mut all: Vec<(&Stage, usize)> =
        stages.iter().flat_map(|stage| (0..sets.len()).map(move |set| (stage, set))).collect();
    let worth = |(stage, set): &(&Stage, usize)| stage.worth * sets[*set].weight;
    all.sort_by(|one, other| other.0.is_rare.cmp(&one.0.is_rare).then(worth(other).total_cmp(&worth(one))));
    let mut candidates = Vec::new();
    for is_turn in [false, true] {
        let most = if is_turn { MAX_TURNS_WITH_WORDS } else { MAX_HITS - MAX_TURNS_WITH_WORDS };
        let mut found = HashSet::new();
        for (number, (stage, set)) in all.iter().enumerate() {
            if found.len() == most {
                break;
            }
            let conditions = &sets[*set].conditions;
            let mut statement = connection.prepare_cached(&entries_query(conditions, is_turn))?;
            let words = format!("({}){}", stage.query, conditions.of_entries());
            let (first, last) = conditions.entries(is_turn);
            let values = conditions.values(&[(":words", &words), (":least", &first), (":most", &last)]);
            let mut rows = statement.query(values.as_slice())?;
            let mut rank = 0;
            while found.len() < most
                && let Some(row) = rows.next()?
            {
                let id = record_of(row.get(0)?);
                if found.insert(id) {
                    candidates.push(Candidate { is_turn, id, set: *set, order: (number, rank, 0) });
                    rank += 1;
                }
            }
        }
    }
    Ok(candidates)
}

/// The query for the entries with `:words` from `:least` to `:most` whose records satisfy the conditions, the newest first.
fn entries_query(conditions: &Conditions, is_turn: bool) -> String {
    let condition = match (conditions.is_empty(), is_turn) {
        (true, _) => String::new(),
        (false, false) => format!(
            " AND EXISTS (SELECT 1 FROM runs INDEXED BY runs_by_line WHERE line = search.rowid & 4294967295{})",
            conditions.of_runs()
        ),
        (false, true) => {
            format!(" AND EXISTS (SELECT 1 FROM turns WHERE id = search.rowid & 4294967295{})", conditions.of_turns())
        }
    };
    format!(
        "SELECT rowid FROM search WHERE search MATCH :words AND rowid BETWEEN :least AND :most{condition}
        ORDER BY rowid DESC"
    )
}

/// The newest records, [`MAX_HITS`] of each kind at most.
fn newest(connection: &Connection, sets: &[WishSet]) -> Result<Vec<Candidate>, StoreError> {
    let mut candidates = Vec::new();
    for is_turn in [false, true] {
        let mut found = HashSet::new();
        for (set, WishSet { conditions, .. }) in sets.iter().enumerate() {
            let mut statement = connection.prepare_cached(&newest_query(connection, conditions, is_turn)?)?;
            let mut rows = statement.query(conditions.values(&[]).as_slice())?;
            while found.len() < MAX_HITS
                && let Some(row) = rows.next()?
            {
                let id = row.get(0)?;
                if found.insert(id) {
                    // The newest first; those without a time are the last.
                    let at_ms = row.get::<_, Option<i64>>(1)?.unwrap_or(i64::MIN);
                    candidates.push(Candidate { is_turn, id, set, order: (set, !at_ms, !id) });
                }
            }
        }
    }
    Ok(candidates)
}

/// The query for the records that satisfy the conditions, the newest first.
fn newest_query(connection: &Connection, conditions: &Conditions, is_turn: bool) -> Result<String, StoreError> {
    if is_turn {
        let condition = conditions.of_turns();
        return Ok(format!("SELECT id, at_ms FROM turns WHERE TRUE{condition} ORDER BY at_ms DESC, id DESC"));
    }
    // A folder with few runs would be looked for among all others.
    let index = if has_few_runs(connection, conditions)? { "runs_by_folder" } else { "runs_by_time" };
    let condition = conditions.of_runs();
    Ok(format!("SELECT line, at_ms FROM runs INDEXED BY {index} WHERE TRUE{condition} ORDER BY at_ms DESC"))
}

/// Whether the conditions name folders with so few runs that sorting them takes no time.
fn has_few_runs(connection: &Connection, conditions: &Conditions) -> Result<bool, StoreError> {
    let Some(condition) = conditions.of_few_folders() else { return Ok(false) };
    let query = format!(
        "SELECT count(*) FROM (SELECT 1 FROM runs INDEXED BY runs_by_folder WHERE TRUE{condition} LIMIT {})",
        FEW_RUNS + 1
    );
    let runs: i64 = connection.prepare_cached(&query)?.query_row([], |row| row.get(0))?;
    Ok(runs <= FEW_RUNS)
}
