//! The index of words: which lines and turns have a term.
//!
//! A line has an entry for each span of twelve days in which it ran, with its terms, those of what it does, and the names of the folders in
//! which it ran then; a turn has one entry. Marks of folders and of success leave out most entries that a condition does not allow. The
//! number of an entry begins with its span: the newest come first without any sorting, and a period is a range of numbers. The index holds
//! no text, only terms; its tokenizer leaves those of [`terms::of`] exactly as they are.

use std::{cmp::Ordering, collections::BTreeSet, ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use cohab_memory::past::{about, store::MAX_SLIPS, terms};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{
    rows::commands_of,
    tally::{TALLY_ENTRIES, TALLY_LINES, TALLY_TURNS, TALLY_VERSION},
};
use crate::StoreError;

/// A span has 2^30 milliseconds.
const SPAN_BITS: u32 = 30;
/// Number of the span that begins with the epoch; 0 is that of runs without a time.
const EPOCH_SPAN: i64 = 1 << 19;
/// The bits of an entry's number below the span, with the number of the line or turn.
const ID_BITS: u32 = 32;
const ID_MASK: i64 = (1 << ID_BITS) - 1;
/// The bit of a turn, above the span.
const TURN_BIT: i64 = 1 << 52;

/// Begins a mark, and is in no term.
pub(crate) const MARK: char = '§';
/// The mark of an entry that does not have all marks of its runs.
const PARTLY_MARKED: &str = "§partly";

/// Most runs of a line in one span whose folders and success are indexed, and most names of these folders: the newest.
const MAX_MARKED_RUNS: usize = 64;
const MAX_NAMES: usize = 8;
/// Up to this number of entries those with a term are counted; beyond, their number is estimated.
const MAX_COUNTED: usize = 512;
/// Changes when the index has another form: it is made again then.
const FORM_VERSION: i64 = 2;

/// The terms of entries that were written.
pub(super) type Terms = BTreeSet<String>;

/// What an index holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Totals {
    /// Number of stored lines and turns.
    pub records: i64,
    /// Number of entries by the part of their numbers that begins with their span, ascending.
    entries: Vec<(i64, i64)>,
}

/// The span of a time.
pub(super) fn span(at_ms: Option<i64>) -> i64 {
    at_ms.map_or(0, |at_ms| ((at_ms >> SPAN_BITS) + EPOCH_SPAN).clamp(1, (1 << 20) - 1))
}

/// The first and the last millisecond of a span; `None` for that of runs without a time.
fn milliseconds(span: i64) -> Option<(i64, i64)> {
    let start = (span - EPOCH_SPAN) << SPAN_BITS;
    (span > 0).then_some((start, start + (1 << SPAN_BITS) - 1))
}

/// Number of the entry of a line in a span.
pub(super) fn line_entry(span: i64, line: i64) -> i64 {
    span << ID_BITS | (line & ID_MASK)
}

/// Number of the entry of a turn.
pub(super) fn turn_entry(at_ms: i64, turn: i64) -> i64 {
    TURN_BIT | line_entry(span(Some(at_ms)), turn)
}

/// The line or turn of an entry.
pub(super) fn record_of(entry: i64) -> i64 {
    entry & ID_MASK
}

/// The first and the last number of entries of turns, or of lines, from one span to another.
pub(super) fn entries(is_turn: bool, first: i64, last: i64) -> (i64, i64) {
    let bit = if is_turn { TURN_BIT } else { 0 };
    (bit | line_entry(first, 0), bit | line_entry(last, ID_MASK))
}

/// Whether a line or turn of this number can be indexed.
pub(super) fn has_room(id: i64) -> bool {
    (0..=ID_MASK).contains(&id)
}

/// Whether a term can be in the index: others would be split or changed by its tokenizer.
pub(crate) fn is_indexable(term: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || !(c.is_ascii() || c == MARK);
    !term.is_empty() && term.chars().all(is_part)
}

/// The mark of entries with a run in this folder.
pub(super) fn folder_mark(folder: i64) -> String {
    format!("{MARK}{folder}")
}

/// The mark of entries with a run that succeeded, or failed.
pub(super) fn success_mark(has_succeeded: bool) -> String {
    format!("{MARK}{}", if has_succeeded { "ok" } else { "failed" })
}

/// The part of a query of the index that leaves out entries without any of these marks.
pub(super) fn marked(marks: impl IntoIterator<Item = String>) -> String {
    let marks: Vec<_> = marks.into_iter().chain([PARTLY_MARKED.to_owned()]).map(|mark| phrase(&mark)).collect();
    format!(" AND ({})", marks.join(" OR "))
}

/// The condition of runs of the line `?1` in a span, with its parameters `?2` and `?3`.
fn in_span(span: i64) -> (&'static str, (i64, i64)) {
    match milliseconds(span) {
        Some(range) => ("line = ?1 AND at_ms BETWEEN ?2 AND ?3", range),
        None => ("line = ?1 AND at_ms IS NULL AND ?2 <= ?3", (0, 0)),
    }
}

/// Whether the entry of a line for a run in this folder and with this exit status is there already.
pub(super) fn has_entry(
    transaction: &Transaction<'_>,
    line: i64,
    at_ms: Option<i64>,
    folder: Option<i64>,
    exit: Option<i64>,
) -> Result<bool, StoreError> {
    let (condition, (from, to)) = in_span(span(at_ms));
    let query = format!(
        "SELECT EXISTS (SELECT 1 FROM (SELECT folder, exit FROM runs INDEXED BY runs_by_line WHERE {condition}
            ORDER BY at_ms DESC LIMIT {MAX_MARKED_RUNS}) WHERE folder IS ?4 AND (exit = 0) IS (?5 = 0))"
    );
    Ok(transaction.prepare_cached(&query)?.query_row(params![line, from, to, folder, exit], |row| row.get(0))?)
}

/// Writes the entry of a line in a span, or deletes it if there are no runs in it. Its terms come to `known`.
pub(super) fn refresh_line(
    transaction: &Transaction<'_>,
    span: i64,
    line: i64,
    known: &mut Terms,
) -> Result<(), StoreError> {
    let (condition, (from, to)) = in_span(span);
    let query = format!(
        "SELECT runs.folder, runs.exit = 0, folders.path FROM runs INDEXED BY runs_by_line
            LEFT JOIN folders ON folders.id = runs.folder WHERE {condition}
            ORDER BY at_ms DESC LIMIT {}",
        MAX_MARKED_RUNS + 1
    );
    let mut statement = transaction.prepare_cached(&query)?;
    let mut rows = statement.query(params![line, from, to])?;
    let (mut words, mut folders, mut runs) = (BTreeSet::new(), BTreeSet::new(), 0);
    while let Some(row) = rows.next()? {
        runs += 1;
        if runs > MAX_MARKED_RUNS {
            words.insert(PARTLY_MARKED.to_owned());
            break;
        }
        words.extend(row.get::<_, Option<bool>>(1)?.map(success_mark));
        if let Some(folder) = row.get(0)?
            && folders.insert(folder)
        {
            words.insert(folder_mark(folder));
            if folders.len() <= MAX_NAMES {
                words.extend(folder_terms(row.get_ref(2)?.as_bytes_or_null().map_err(rusqlite::Error::from)?));
            }
        }
    }
    if runs > 0 {
        let mut text = transaction.prepare_cached("SELECT text FROM lines WHERE id = ?1")?;
        let text =
            text.query_row([line], |row| Ok(command_terms(&String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?))));
        words.extend(text.optional()?.unwrap_or_default());
    }
    put(transaction, line_entry(span, line), words, known)
}

/// The terms of a text that are indexed.
fn terms_of(text: &str) -> impl Iterator<Item = String> + use<> {
    terms::of(text).into_iter().filter(|term| is_indexable(term))
}

/// The terms of a command that are indexed: its own, and those of what it does.
pub(super) fn command_terms(line: &str) -> Vec<String> {
    let about = about::of(line).into_iter().filter(|term| is_indexable(term)).map(str::to_owned);
    terms_of(line).chain(about).collect()
}

/// The terms of a folder's path that are indexed.
pub(super) fn folder_terms(path: Option<&[u8]>) -> impl Iterator<Item = String> + use<> {
    let path = Path::new(OsStr::from_bytes(path.unwrap_or_default()));
    terms::of_folder(path).into_iter().filter(|term| is_indexable(term))
}

/// The terms of a turn that are indexed, with the columns of its question, answer and commands.
pub(super) fn turn_terms(row: &Row<'_>, columns: [usize; 3]) -> Result<Vec<String>, StoreError> {
    let text = |column| -> Result<_, StoreError> {
        Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?))
    };
    let [question, answer, commands] = columns;
    let mut words: Vec<String> = terms_of(&text(question)?).chain(terms_of(&text(answer)?)).collect();
    words.extend(commands_of(&text(commands)?).iter().flat_map(|command| command_terms(&command.line)));
    Ok(words)
}

/// Writes the entry of a turn. Its terms come to `known`.
pub(super) fn refresh_turn(transaction: &Transaction<'_>, turn: i64, known: &mut Terms) -> Result<(), StoreError> {
    let query = "SELECT question, answer, commands, path, at_ms, folder, has_succeeded FROM turns
        JOIN folders ON folders.id = turns.folder WHERE turns.id = ?1";
    let mut statement = transaction.prepare_cached(query)?;
    let mut rows = statement.query([turn])?;
    let Some(row) = rows.next()? else { return Ok(()) };
    let mut words = BTreeSet::from([folder_mark(row.get(5)?), success_mark(row.get(6)?)]);
    words.extend(folder_terms(row.get_ref(3)?.as_bytes_or_null().map_err(rusqlite::Error::from)?));
    words.extend(turn_terms(row, [0, 1, 2])?);
    put(transaction, turn_entry(row.get(4)?, turn), words, known)
}

/// Replaces an entry by one with these words, or by none without words.
fn put(
    transaction: &Transaction<'_>,
    entry: i64,
    words: BTreeSet<String>,
    known: &mut Terms,
) -> Result<(), StoreError> {
    remove(transaction, entry)?;
    if words.is_empty() {
        return Ok(());
    }
    let words: Vec<String> = words.into_iter().collect();
    let insert = "INSERT INTO search (rowid, terms) VALUES (?1, ?2)";
    transaction.prepare_cached(insert)?.execute(params![entry, words.join(" ")])?;
    for word in words {
        if !word.starts_with(MARK) && !known.contains(&word) {
            known.insert(word);
        }
    }
    count(transaction, entry, 1)
}

/// Lists these terms, of which some may be listed.
pub(super) fn list(transaction: &Transaction<'_>, terms: &Terms) -> Result<(), StoreError> {
    let mut insert = transaction.prepare_cached("INSERT OR IGNORE INTO terms VALUES (?1)")?;
    terms.iter().try_for_each(|term| insert.execute([term]).map(|_| ()))?;
    Ok(())
}

/// Takes those of these terms from the list that no entry has.
pub(super) fn unlist(transaction: &Transaction<'_>, terms: &Terms) -> Result<(), StoreError> {
    let mut delete = transaction.prepare_cached("DELETE FROM terms WHERE term = ?1")?;
    for term in terms {
        if !has_any(transaction, &phrase(term))? {
            delete.execute([term])?;
        }
    }
    Ok(())
}

/// Deletes an entry, if it is there.
pub(super) fn remove(transaction: &Transaction<'_>, entry: i64) -> Result<(), StoreError> {
    // To find this out by deleting takes longer.
    let query = "SELECT EXISTS (SELECT 1 FROM search_docsize WHERE id = ?1)";
    if !transaction.prepare_cached(query)?.query_row([entry], |row| row.get(0))? {
        return Ok(());
    }
    transaction.prepare_cached("DELETE FROM search WHERE rowid = ?1")?.execute([entry])?;
    count(transaction, entry, -1)
}

fn count(transaction: &Transaction<'_>, entry: i64, change: i64) -> Result<(), StoreError> {
    let update = "INSERT INTO tally VALUES (?1, ?2) ON CONFLICT DO UPDATE SET rows = rows + ?2";
    transaction.prepare_cached(update)?.execute([TALLY_ENTRIES + (entry >> ID_BITS), change])?;
    Ok(())
}

/// What is in the index.
pub(super) fn totals(connection: &Connection) -> Result<Totals, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT what, max(rows, 0) FROM tally WHERE what >= ?1 ORDER BY what")?;
    let (mut totals, mut rows) = (Totals { records: 0, entries: Vec::new() }, statement.query([TALLY_LINES])?);
    while let Some(row) = rows.next()? {
        match (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?) {
            (TALLY_LINES | TALLY_TURNS, rows) => totals.records += rows,
            (what, rows) if what >= TALLY_ENTRIES => totals.entries.push((what - TALLY_ENTRIES, rows)),
            _ => {}
        }
    }
    Ok(totals)
}

impl Totals {
    /// Number of entries.
    pub fn entries(&self) -> i64 {
        self.entries.iter().map(|(_, entries)| entries).sum()
    }

    /// Number of records with a term, if `entries` of them have it from the newest to this one, or from the oldest.
    fn estimated(&self, entries: i64, last: i64, is_newest: bool, share: f64) -> i64 {
        let span = last >> ID_BITS;
        let among = self.entries.iter().map(|(of, entries)| match of.cmp(&span) {
            Ordering::Equal => (*entries as f64 * share) as i64,
            Ordering::Greater if is_newest => *entries,
            Ordering::Less if !is_newest => *entries,
            _ => 0,
        });
        entries.saturating_mul(self.records) / among.sum::<i64>().max(entries)
    }
}

/// The share of the entries of its span that are not older than this one, or not newer, by their numbers.
fn share_of_span(connection: &Connection, entry: i64, is_newest: bool) -> Result<f64, StoreError> {
    let (first, last) = (entry & !ID_MASK, entry | ID_MASK);
    let at = |order: &str| -> Result<i64, StoreError> {
        let query = format!("SELECT id FROM search_docsize WHERE id BETWEEN ?1 AND ?2 ORDER BY id {order} LIMIT 1");
        Ok(connection.prepare_cached(&query)?.query_row([first, last], |row| row.get(0))?)
    };
    let (oldest, newest) = (at("ASC")?, at("DESC")?);
    let part = if is_newest { newest - entry } else { entry - oldest };
    Ok((part + 1) as f64 / (newest - oldest + 1) as f64)
}

/// Number of lines and turns with a term. Of a common one it is estimated by its newest and its oldest entries: to count them would take
/// as long as to read them all.
pub(super) fn with_term(connection: &Connection, term: &str, totals: &Totals) -> Result<u64, StoreError> {
    if !is_indexable(term) {
        return Ok(0);
    }
    let mut records = totals.records;
    for order in ["DESC", "ASC"] {
        let query =
            format!("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid {order} LIMIT {MAX_COUNTED}");
        let mut statement = connection.prepare_cached(&query)?;
        let entries = statement.query_map([phrase(term)], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        let of_record: BTreeSet<i64> = entries.iter().map(|entry| entry & (TURN_BIT | ID_MASK)).collect();
        match entries.last() {
            Some(last) if entries.len() == MAX_COUNTED => {
                let is_newest = order == "DESC";
                let share = share_of_span(connection, *last, is_newest)?;
                let estimated = totals.estimated(entries.len() as i64, *last, is_newest, share);
                records = records.min(estimated.max(of_record.len() as i64));
            }
            _ => return Ok(of_record.len() as u64),
        }
    }
    Ok(records.cast_unsigned())
}

/// Stored terms with the same first letter that are a slip away from this one.
pub(super) fn slips(connection: &Connection, term: &str) -> Result<Vec<String>, StoreError> {
    let Some(first) = term.chars().next().filter(char::is_ascii_alphanumeric) else { return Ok(Vec::new()) };
    let mut known = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM terms WHERE term = ?1)")?;
    if known.query_row([term], |row| row.get(0))? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached("SELECT term FROM terms WHERE term >= ?1 AND term < ?2")?;
    let after = char::from_u32(u32::from(first) + 1).unwrap_or(first);
    let mut rows = statement.query(params![first.to_string(), after.to_string()])?;
    let mut slips = Vec::new();
    while slips.len() < MAX_SLIPS
        && let Some(row) = rows.next()?
    {
        let stored = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if terms::is_slip(term, stored) {
            slips.push(stored.to_owned());
        }
    }
    Ok(slips)
}

/// A term as a query of the index in which no character has a meaning.
pub(crate) fn phrase(term: &str) -> String {
    format!("\"{term}\"")
}

/// Whether there is any entry with the words of this query.
pub(super) fn has_any(connection: &Connection, words: &str) -> Result<bool, StoreError> {
    let query = "SELECT EXISTS (SELECT 1 FROM search WHERE search MATCH ?1)";
    Ok(connection.prepare_cached(query)?.query_row([words], |row| row.get(0))?)
}

/// Merges all parts of the index into one, without what was deleted.
pub(crate) fn purge(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute("INSERT INTO search (search) VALUES ('optimize')", [])?;
    Ok(())
}

/// Deletes all entries.
pub(super) fn clear(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
    transaction.execute("DELETE FROM tally WHERE what >= ?1", [TALLY_ENTRIES])?;
    transaction.execute("DELETE FROM terms", [])?;
    Ok(())
}

/// Whether the index was made by another release, or by other tables of words than those of this one.
pub(super) fn is_outdated(connection: &Connection) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached("SELECT rows FROM tally WHERE what = ?1")?;
    let found: Option<i64> = statement.query_row([TALLY_VERSION], |row| row.get(0)).optional()?;
    Ok(found != Some(version()))
}

fn version() -> i64 {
    FORM_VERSION << 32 | i64::from(about::version())
}

/// Indexes all lines and turns again.
pub(super) fn rebuild(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    clear(transaction)?;
    // In the order of their numbers: the index collects only ascending ones in memory.
    let mut entries: BTreeSet<(i64, i64)> = BTreeSet::new();
    let mut statement = transaction.prepare("SELECT at_ms, line FROM runs")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        entries.insert((span(row.get(0)?), row.get(1)?));
    }
    let mut known = Terms::new();
    entries.into_iter().try_for_each(|(span, line)| refresh_line(transaction, span, line, &mut known))?;
    let mut statement = transaction.prepare("SELECT id FROM turns ORDER BY at_ms, id")?;
    let turns: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    turns.into_iter().try_for_each(|turn| refresh_turn(transaction, turn, &mut known))?;
    list(transaction, &known)?;
    transaction.execute("INSERT OR REPLACE INTO tally VALUES (?1, ?2)", [TALLY_VERSION, version()])?;
    Ok(())
}
