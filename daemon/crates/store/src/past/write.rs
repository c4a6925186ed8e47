//! Adds runs and turns.

use std::collections::{BTreeSet, HashMap};

use cohab_memory::past::{
    record::{NewRun, NewTurn},
    store::Added,
};
use rusqlite::{OptionalExtension, Transaction, params, types::ValueRef};

use super::{
    index,
    rows::{commands_text, have_succeeded, line_hash, milliseconds, path_bytes, seal, source_code},
};
use crate::{
    StoreError,
    seal::{Key, Purpose},
};

/// A series of additions that is not committed yet.
pub(super) struct Additions<'a> {
    transaction: &'a Transaction<'a>,
    key: &'a Key,
    /// Number of the next run and of the next turn.
    next_run: i64,
    next_turn: i64,
    folders: HashMap<Vec<u8>, i64>,
    /// Entries of the index to be written, by span and line.
    lines: BTreeSet<(i64, i64)>,
    turns: BTreeSet<(i64, i64)>,
    added: Added,
}

impl<'a> Additions<'a> {
    /// Begins with the numbers behind those in the file.
    pub fn begin(transaction: &'a Transaction<'a>, key: &'a Key) -> Result<Self, StoreError> {
        let number =
            |query: &str| transaction.prepare_cached(query)?.query_row([], |row| row.get::<_, i64>(0)).optional();
        let next = |last: Option<i64>| last.unwrap_or(0).checked_add(1).ok_or(StoreError::Broken);
        Ok(Self {
            transaction,
            key,
            next_run: next(number("SELECT id FROM runs ORDER BY id DESC LIMIT 1")?)?,
            next_turn: next(number("SELECT seq FROM sqlite_sequence WHERE name = 'turns'")?)?,
            folders: HashMap::new(),
            lines: BTreeSet::new(),
            turns: BTreeSet::new(),
            added: Added::default(),
        })
    }

    /// Writes the entries of the index, in the order of their numbers: the index collects only ascending ones in memory.
    pub fn end(self) -> Result<Added, StoreError> {
        let (transaction, mut terms) = (self.transaction, index::Terms::new());
        self.lines.into_iter().try_for_each(|(span, line)| index::refresh_line(transaction, span, line, &mut terms))?;
        self.turns.into_iter().try_for_each(|(_, turn)| index::refresh_turn(transaction, turn, &mut terms))?;
        index::list(transaction, &terms)?;
        Ok(self.added)
    }

    /// Adds a run, unless it is stored.
    pub fn run(&mut self, new: &NewRun) -> Result<(), StoreError> {
        let (at_ms, source, hash) = (new.at.map(milliseconds), source_code(new.source), line_hash(&new.line));
        let line = match self.line(hash, &new.line)? {
            Some(line) if self.is_known(line, at_ms, source)? => {
                self.added.known += 1;
                return Ok(());
            }
            Some(line) => line,
            None => self.add_line(hash, &new.line)?,
        };
        let path = new.folder.as_deref().map(path_bytes);
        let folder = path.as_ref().map(|path| self.folder(path)).transpose()?;
        let exit = new.exit_code.map(i64::from);
        if !index::has_entry(self.transaction, line, at_ms, folder, exit)? {
            self.lines.insert((index::span(at_ms), line));
        }
        let id = self.next_run;
        let duration = new.duration.map(|duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX));
        let output = Some(&new.output_tail).filter(|output| !output.is_empty());
        let mac = seal(
            self.key,
            Purpose::PastRun,
            [
                ValueRef::Integer(id),
                ValueRef::Integer(line),
                integer(at_ms),
                integer(folder),
                integer(exit),
                integer(duration),
                ValueRef::Integer(source),
                output.map_or(ValueRef::Null, |output| ValueRef::Text(output.as_bytes())),
                ValueRef::Integer(hash),
                ValueRef::Text(new.line.as_bytes()),
                path.as_ref().map_or(ValueRef::Null, |path| ValueRef::Blob(path)),
            ],
        );
        let insert = "INSERT INTO runs (id, line, at_ms, folder, exit, duration_ms, source, output, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let values = params![id, line, at_ms, folder, exit, duration, source, output, mac];
        self.transaction.prepare_cached(insert)?.execute(values)?;
        self.next_run = id.checked_add(1).ok_or(StoreError::Broken)?;
        self.added.new += 1;
        Ok(())
    }

    /// Adds a turn, unless it is stored.
    pub fn turn(&mut self, new: &NewTurn) -> Result<(), StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM turns WHERE turn = ?1)";
        if self.transaction.prepare_cached(query)?.query_row([&new.turn], |row| row.get(0))? {
            self.added.known += 1;
            return Ok(());
        }
        let (id, at_ms, path) = (self.next_turn, milliseconds(new.at), path_bytes(&new.folder));
        if !index::has_room(id) {
            return Err(StoreError::Broken);
        }
        let folder = self.folder(&path)?;
        let (commands, has_succeeded) = (commands_text(&new.commands), have_succeeded(&new.commands));
        // SQLite knows neither an undefined number nor a negative zero.
        let trust = if new.trust.is_nan() { 0.0 } else { new.trust.clamp(0.0, 1.0) + 0.0 };
        let mac = seal(
            self.key,
            Purpose::PastTurn,
            [
                ValueRef::Integer(id),
                ValueRef::Text(new.turn.as_bytes()),
                ValueRef::Text(new.session.as_bytes()),
                ValueRef::Integer(at_ms),
                ValueRef::Integer(folder),
                ValueRef::Text(new.question.as_bytes()),
                ValueRef::Text(new.answer.as_bytes()),
                ValueRef::Text(commands.as_bytes()),
                ValueRef::Integer(has_succeeded.into()),
                ValueRef::Real(trust),
                ValueRef::Blob(&path),
            ],
        );
        let insert = "INSERT INTO turns
            (id, turn, session, at_ms, folder, question, answer, commands, has_succeeded, trust, mac)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let (question, answer) = (&new.question, &new.answer);
        let values =
            params![id, new.turn, new.session, at_ms, folder, question, answer, commands, has_succeeded, trust, mac];
        self.transaction.prepare_cached(insert)?.execute(values)?;
        self.turns.insert((index::span(Some(at_ms)), id));
        self.next_turn = id.checked_add(1).ok_or(StoreError::Broken)?;
        self.added.new += 1;
        Ok(())
    }

    /// The number of the line with this text.
    fn line(&self, hash: i64, text: &str) -> Result<Option<i64>, StoreError> {
        let query = "SELECT id FROM lines WHERE hash = ?1 AND text = ?2";
        Ok(self.transaction.prepare_cached(query)?.query_row(params![hash, text], |row| row.get(0)).optional()?)
    }

    fn add_line(&self, hash: i64, text: &str) -> Result<i64, StoreError> {
        let insert = "INSERT INTO lines (hash, text) VALUES (?1, ?2)";
        let id = self.transaction.prepare_cached(insert)?.insert(params![hash, text])?;
        if index::has_room(id) { Ok(id) } else { Err(StoreError::Broken) }
    }

    fn is_known(&self, line: i64, at_ms: Option<i64>, source: i64) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (
            SELECT 1 FROM runs INDEXED BY runs_by_line WHERE line = ?1 AND at_ms IS ?2 AND source = ?3)";
        let mut statement = self.transaction.prepare_cached(query)?;
        Ok(statement.query_row(params![line, at_ms, source], |row| row.get(0))?)
    }

    /// The number of a folder, which is added if it is missing.
    fn folder(&mut self, path: &[u8]) -> Result<i64, StoreError> {
        if let Some(id) = self.folders.get(path) {
            return Ok(*id);
        }
        let mut known = self.transaction.prepare_cached("SELECT id FROM folders WHERE path = ?1")?;
        let id = match known.query_row([path], |row| row.get(0)).optional()? {
            Some(id) => id,
            None => self.transaction.prepare_cached("INSERT INTO folders (path) VALUES (?1)")?.insert([path])?,
        };
        self.folders.insert(path.to_owned(), id);
        Ok(id)
    }
}

fn integer(value: Option<i64>) -> ValueRef<'static> {
    value.map_or(ValueRef::Null, ValueRef::Integer)
}
