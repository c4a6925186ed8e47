//! Reads the history database of atuin, another program's file. Changes nothing in it.
//!
//! [`AtuinHistory`] returns one run after another and holds a bounded number of them. Releases of atuin differ in their columns: older
//! ones do not mark deleted rows, and only later ones say whether an assistant ran a command.
//!
//! Rows that are marked as deleted are not read, and are not counted. Commands of assistants are counted as
//! [`SkipReason::ByAgent`]: a run is what the user ran.

use std::{
    collections::VecDeque,
    fs, io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_memory::past::{
    import::{ImportCounts, SkipReason, clean_line, plausible_duration, plausible_time},
    record::{MAX_LINE_BYTES, NewRun, RunSource},
};
use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, config::DbConfig, types::ValueRef};

use super::form;

/// Longest wait for another program that writes.
const BUSY_WAIT: Duration = Duration::from_secs(2);
/// Rows that are read at once.
const PAGE_ROWS: usize = 256;
/// Longest folder.
const MAX_FOLDER_BYTES: usize = 4_096;
/// Longest number, time or name.
const MAX_WORD_BYTES: usize = 256;
/// The columns that every release has, as far as they are read.
const COLUMNS: [&str; 5] = ["timestamp", "duration", "exit", "command", "cwd"];
/// The authors that atuin itself takes for assistants where a row does not say what its author is.
const AGENTS: &str = "'claude-code', 'codex', 'copilot', 'opencode', 'pi'";
/// `author_kind` of a person.
const KIND_USER: i64 = 1;
/// `author_kind` of an assistant.
const KIND_AGENT: i64 = 2;

/// The reason why the database cannot be read. `Display` is a phrase.
#[derive(Debug, thiserror::Error)]
pub enum AtuinError {
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A pipe, a folder, a device.
    #[error("it is not a regular file")]
    Irregular,
    /// Another database, or no database.
    #[error("it is not a history database of atuin")]
    Foreign,
    /// A part of it cannot be read.
    #[error("a part of it cannot be read")]
    Broken,
    /// Another program has it.
    #[error("another program has locked it; try again")]
    Busy,
    /// Another refusal of SQLite.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for AtuinError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign,
            Some(ErrorCode::DatabaseCorrupt) => Self::Broken,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}

/// Reads the history database of atuin, in the order in which it was written. After an error it returns no more.
pub struct AtuinHistory {
    file: OtherFile,
    query: String,
    now: Timestamp,
    /// The runs that were read and not returned yet.
    ready: VecDeque<NewRun>,
    /// The number of the last row that was read.
    after: i64,
    counts: ImportCounts,
    is_over: bool,
}

impl AtuinHistory {
    /// Opens the database at this path.
    ///
    /// # Errors
    /// It cannot be read, or is another file.
    pub fn open(path: &Path, now: Timestamp) -> Result<Self, AtuinError> {
        // SQLite looks for its helper files next to the file that a link leads to.
        let path = fs::canonicalize(path)?;
        if !fs::metadata(&path)?.is_file() {
            return Err(AtuinError::Irregular);
        }
        let mut file = OtherFile::open(path)?;
        let query = file.read(query)?;
        let counts = ImportCounts::default();
        Ok(Self { file, query, now, ready: VecDeque::new(), after: i64::MIN, counts, is_over: false })
    }

    /// The counts up to here. Rows that are not imported are counted some rows ahead.
    #[must_use]
    pub fn counts(&self) -> ImportCounts {
        self.counts
    }

    /// Reads the next rows.
    fn next_page(&mut self) -> Result<(), AtuinError> {
        let Self { file, query, now, after, .. } = self;
        let page = file.read(|connection| AtuinPage::read(connection, query, *after, *now))?;
        self.is_over = page.rows < PAGE_ROWS;
        self.after = page.last;
        for run in page.runs {
            match run {
                Ok(run) => self.ready.push_back(run),
                Err(reason) => self.counts.skip(reason),
            }
        }
        Ok(())
    }
}

impl Iterator for AtuinHistory {
    type Item = Result<NewRun, AtuinError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.is_over {
            if let Err(error) = self.next_page() {
                self.is_over = true;
                return Some(Err(error));
            }
        }
        let run = self.ready.pop_front()?;
        self.counts.read += 1;
        Some(Ok(run))
    }
}

/// The state of a file that no program is using.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl FileStamp {
    /// `None` if a program is writing the file, or was interrupted.
    fn of_unused(path: &Path) -> io::Result<Option<Self>> {
        if ["-wal", "-journal"].iter().any(|suffix| form::beside(path, suffix).exists()) {
            return Ok(None);
        }
        let metadata = fs::metadata(path)?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        Ok(Some(Self { inode: metadata.ino(), bytes: metadata.len(), changed }))
    }
}

/// A connection that only reads. SQLite leaves helper files next to a file that it opens in the usual way, even to read it; while no
/// program uses the file, it is read as one that does not change, which needs none.
struct OtherFile {
    path: PathBuf,
    connection: Connection,
    /// The state in which the file was, as long as it is read as one that does not change.
    unused: Option<FileStamp>,
}

impl OtherFile {
    fn open(path: PathBuf) -> Result<Self, AtuinError> {
        let unused = FileStamp::of_unused(&path)?;
        let connection = connect(&path, unused.is_some())?;
        Ok(Self { path, connection, unused })
    }

    /// Reads; and again, in the usual way, if a program began to use the file meanwhile: what was read may be half old.
    fn read<T>(&mut self, read: impl Fn(&Connection) -> Result<T, AtuinError>) -> Result<T, AtuinError> {
        let result = read(&self.connection);
        if self.unused.is_none() || FileStamp::of_unused(&self.path)? == self.unused {
            return result;
        }
        self.unused = None;
        self.connection = connect(&self.path, false)?;
        read(&self.connection)
    }
}

fn connect(path: &Path, is_unused: bool) -> Result<Connection, AtuinError> {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str(if is_unused { "?mode=ro&immutable=1" } else { "?mode=ro" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    // The file may be anything: nothing in its schema is run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Makes the query for the rows behind row `?1`.
fn query(connection: &Connection) -> Result<String, AtuinError> {
    // A view or a virtual table runs what its author wrote.
    let mut tables = connection
        .prepare("SELECT type = 'table' AND NOT wr FROM pragma_table_list('history') WHERE schema = 'main'")?;
    let is_table = tables.query_map([], |row| row.get(0))?.collect::<Result<Vec<bool>, _>>()?;
    if is_table != [true] {
        return Err(AtuinError::Foreign);
    }
    let mut columns = connection.prepare("SELECT name FROM pragma_table_xinfo('history') WHERE hidden = 0")?;
    let columns = columns.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if !COLUMNS.iter().all(|name| has(name)) {
        return Err(AtuinError::Foreign);
    }
    // A longer value is not loaded.
    let short = |column: &str, bytes: usize| format!("CASE WHEN octet_length({column}) <= {bytes} THEN {column} END");
    let by_name = if has("author") && has("hostname") {
        // The author of a row is the user, which is in the name of the host, unless an assistant says who it is.
        let (author, host) = (short("author", MAX_WORD_BYTES), short("hostname", MAX_WORD_BYTES));
        format!("coalesce(({author}) IN ({AGENTS}) AND author <> substr({host}, instr({host}, ':') + 1), 0)")
    } else {
        "0".to_owned()
    };
    let by_agent = if has("author_kind") {
        format!("CASE author_kind WHEN {KIND_USER} THEN 0 WHEN {KIND_AGENT} THEN 1 ELSE {by_name} END")
    } else {
        by_name
    };
    let (time, duration, exit) =
        (short("timestamp", MAX_WORD_BYTES), short("duration", MAX_WORD_BYTES), short("exit", MAX_WORD_BYTES));
    let (command, folder) = (short("command", MAX_LINE_BYTES), short("cwd", MAX_FOLDER_BYTES));
    let kept = if has("deleted_at") { "AND deleted_at IS NULL" } else { "" };
    Ok(format!(
        "SELECT rowid, {by_agent}, octet_length(command) > {MAX_LINE_BYTES}, {command}, {time}, {duration}, {exit}, {folder} \
         FROM history WHERE rowid > ?1 {kept} ORDER BY rowid LIMIT {PAGE_ROWS}"
    ))
}

/// Some rows, one behind another.
struct AtuinPage {
    runs: Vec<Result<NewRun, SkipReason>>,
    /// Number of the last row.
    last: i64,
    rows: usize,
}

impl AtuinPage {
    fn read(connection: &Connection, query: &str, after: i64, now: Timestamp) -> Result<Self, AtuinError> {
        let mut statement = connection.prepare_cached(query)?;
        let mut rows = statement.query([after])?;
        let mut page = Self { runs: Vec::new(), last: after, rows: 0 };
        while let Some(row) = rows.next()? {
            let number = row.get(0)?;
            // The pages of a damaged file may lead back to rows that were read, again and again.
            if number <= page.last {
                return Err(AtuinError::Broken);
            }
            page.last = number;
            page.rows += 1;
            page.runs.push(run_of(row, now)?);
        }
        Ok(page)
    }
}

/// Reads a row of [`query`].
fn run_of(row: &Row<'_>, now: Timestamp) -> Result<Result<NewRun, SkipReason>, AtuinError> {
    if row.get(1)? {
        return Ok(Err(SkipReason::ByAgent));
    }
    if row.get::<_, Option<bool>>(2)? == Some(true) {
        return Ok(Err(SkipReason::TooLong));
    }
    let line = match row.get_ref(3)? {
        ValueRef::Text(command) => clean_line(command),
        ValueRef::Blob(_) => Err(SkipReason::NotText),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Err(SkipReason::Malformed),
    };
    let at = time(row.get_ref(4)?).and_then(|at| plausible_time(at, now));
    // -1 is written for a command that still runs, or whose end is not known.
    let duration = number(row.get_ref(5)?).filter(|nanoseconds| *nanoseconds > 0);
    let exit_code = number(row.get_ref(6)?).filter(|code| *code != -1).and_then(|code| i32::try_from(code).ok());
    let folder = folder(row.get_ref(7)?);
    Ok(line.map(|line| NewRun {
        line,
        at,
        folder,
        exit_code,
        duration: duration
            .map(|nanoseconds| Duration::from_nanos(nanoseconds.unsigned_abs()))
            .and_then(plausible_duration),
        output_tail: String::new(),
        source: RunSource::Atuin,
    }))
}

/// Nanoseconds since 1970. The first releases declared the column as text.
fn time(value: ValueRef<'_>) -> Option<Timestamp> {
    Timestamp::from_nanosecond(number(value)?.into()).ok()
}

fn number(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Text(digits) => str::from_utf8(digits).ok()?.parse().ok(),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

/// Atuin writes `unknown` for the folder of a command that it imported.
fn folder(value: ValueRef<'_>) -> Option<PathBuf> {
    let ValueRef::Text(path) = value else { return None };
    let path = str::from_utf8(path).ok()?;
    (path.starts_with('/') && !path.contains(char::is_control)).then(|| path.into())
}

#[cfg(test)]
mod tests;
