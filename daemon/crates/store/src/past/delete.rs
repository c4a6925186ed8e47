//! Deletes runs and turns: what the user wants forgotten, and the oldest beyond the limits.

use std::collections::BTreeSet;

use cohab_memory::past::{
    record::PastId,
    store::{MAX_RUNS, MAX_TURNS, PastSelection},
};
use rusqlite::{Params, Transaction};

use super::{
    index::{self, Terms},
    rows::{milliseconds_from, source_code},
    tally::{TALLY_LINES, TALLY_TURNS},
};
use crate::StoreError;

/// From this number of entries of the index on, it is built again if that is less work than deleting them one by one.
const MANY_ENTRIES: i64 = 4_096;

/// Most records of a file.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub runs: u64,
    pub turns: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { runs: MAX_RUNS, turns: MAX_TURNS }
    }
}

/// Rows that were deleted, and what may have gone with them.
struct Deletion<'a> {
    transaction: &'a Transaction<'a>,
    deleted: u64,
    /// Entries of the index to be looked at, by span and line.
    lines: BTreeSet<(i64, i64)>,
    /// Numbers of entries of turns.
    turns: Vec<i64>,
    folders: BTreeSet<i64>,
    /// The terms of what was deleted.
    terms: Terms,
}

/// Deletes the selected runs and turns; returns how many there were. The bytes may remain in the files.
pub(super) fn forget(transaction: &Transaction<'_>, what: &PastSelection) -> Result<u64, StoreError> {
    let mut deletion = Deletion::of(transaction);
    match what {
        PastSelection::Ids(ids) => {
            for id in ids {
                match id {
                    PastId::Line(id) => {
                        // Also a line without runs, which someone else put there.
                        deletion.lines.insert((0, id.cast_signed()));
                        deletion.runs("line = ?1", [id.cast_signed()])?;
                    }
                    PastId::Turn(id) => deletion.turns("id = ?1", [id.cast_signed()])?,
                }
            }
        }
        PastSelection::Source(source) => deletion.runs("source = ?1", [source_code(*source)])?,
        PastSelection::Before { at, timeless } => {
            let before = milliseconds_from(*at);
            deletion.runs("at_ms < ?1", [before])?;
            if *timeless {
                deletion.runs("at_ms IS NULL", [])?;
            }
            deletion.turns("at_ms < ?1", [before])?;
        }
        PastSelection::All => {
            deletion.runs("TRUE", [])?;
            deletion.turns("TRUE", [])?;
            transaction.execute_batch("DELETE FROM lines; DELETE FROM folders")?;
            index::clear(transaction)?;
            return Ok(deletion.deleted);
        }
    }
    deletion.end()
}

/// Deletes the oldest beyond the limits. Some more go, so that it is not done at each addition; runs without a time count as oldest.
pub(super) fn prune(transaction: &Transaction<'_>, limits: Limits) -> Result<(), StoreError> {
    let sum = |condition: &str| -> Result<u64, StoreError> {
        let query = format!("SELECT coalesce(sum(rows), 0) FROM tally WHERE {condition}");
        Ok(transaction.prepare_cached(&query)?.query_row([], |row| row.get::<_, i64>(0))?.cast_unsigned())
    };
    let excess = |rows: u64, limit: u64| {
        let excess = if rows > limit { rows - limit + limit / 1_000 } else { 0 };
        excess.cast_signed()
    };
    let runs = excess(sum(&format!("what < {TALLY_LINES}"))?, limits.runs);
    let turns = excess(sum(&format!("what = {TALLY_TURNS}"))?, limits.turns);
    if runs <= 0 && turns <= 0 {
        return Ok(());
    }
    let mut deletion = Deletion::of(transaction);
    if runs > 0 {
        deletion.runs("id IN (SELECT id FROM runs ORDER BY at_ms LIMIT ?1)", [runs])?;
    }
    if turns > 0 {
        deletion.turns("id IN (SELECT id FROM turns ORDER BY at_ms LIMIT ?1)", [turns])?;
    }
    deletion.end().map(|_| ())
}

impl<'a> Deletion<'a> {
    fn of(transaction: &'a Transaction<'a>) -> Self {
        let (lines, turns, folders, terms) = (BTreeSet::new(), Vec::new(), BTreeSet::new(), Terms::new());
        Self { transaction, deleted: 0, lines, turns, folders, terms }
    }

    fn runs(&mut self, condition: &str, values: impl Params) -> Result<(), StoreError> {
        let delete = format!("DELETE FROM runs WHERE {condition} RETURNING line, at_ms, folder");
        let mut statement = self.transaction.prepare_cached(&delete)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            self.lines.insert((index::span(row.get(1)?), row.get(0)?));
            self.folders.extend(row.get::<_, Option<i64>>(2)?);
            self.deleted += 1;
        }
        Ok(())
    }

    fn turns(&mut self, condition: &str, values: impl Params) -> Result<(), StoreError> {
        let delete =
            format!("DELETE FROM turns WHERE {condition} RETURNING id, at_ms, folder, question, answer, commands");
        let mut statement = self.transaction.prepare_cached(&delete)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            self.turns.push(index::turn_entry(row.get(1)?, row.get(0)?));
            self.folders.insert(row.get(2)?);
            self.terms.extend(index::turn_terms(row, [3, 4, 5])?);
            self.deleted += 1;
        }
        Ok(())
    }

    /// Deletes what belongs to the rows alone: entries of the index, lines without runs, folders without a name. Returns the number of
    /// deleted runs and turns.
    fn end(mut self) -> Result<u64, StoreError> {
        let transaction = self.transaction;
        let mut lines = transaction.prepare_cached(
            "DELETE FROM lines WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE line = ?1) RETURNING text",
        )?;
        for (_, line) in &self.lines {
            let mut rows = lines.query([line])?;
            while let Some(row) = rows.next()? {
                let text = row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?;
                self.terms.extend(index::command_terms(&String::from_utf8_lossy(text)));
            }
        }
        let mut folders = transaction.prepare_cached(
            "DELETE FROM folders WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE folder = ?1)
                AND NOT EXISTS (SELECT 1 FROM turns WHERE folder = ?1) RETURNING path",
        )?;
        for folder in &self.folders {
            let mut rows = folders.query([folder])?;
            while let Some(row) = rows.next()? {
                let path = row.get_ref(0)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
                self.terms.extend(index::folder_terms(path));
            }
        }
        let entries = index::totals(transaction)?.entries();
        let gone = (self.lines.len() + self.turns.len()) as i64;
        if entries > MANY_ENTRIES && gone > entries / 2 {
            index::rebuild(transaction)?;
        } else {
            let mut known = Terms::new();
            self.lines
                .into_iter()
                .try_for_each(|(span, line)| index::refresh_line(transaction, span, line, &mut known))?;
            self.turns.into_iter().try_for_each(|turn| index::remove(transaction, turn))?;
            index::unlist(transaction, &self.terms)?;
        }
        Ok(self.deleted)
    }
}
