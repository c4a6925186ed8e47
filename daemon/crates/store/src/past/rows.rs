//! Runs and turns as rows: their columns, values and seals.

use std::{
    ffi::OsStr,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_memory::past::record::{NewRun, NewTurn, PastLine, PastTurn, RunSource, TurnCommand};
use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use rusqlite::{Row, types::ValueRef};

use crate::{
    StoreError,
    seal::{Key, Purpose},
};

/// Length of a seal, in bytes. Half of the HMAC is enough against forgery, and there are a million of them.
pub(super) const SEAL_BYTES: usize = 16;
/// The sealed columns of a run: those of its row, its line and its folder.
pub(super) const RUN_COLUMNS: &str = "runs.id, runs.line, runs.at_ms, runs.folder, runs.exit, runs.duration_ms, \
                                      runs.source, runs.output, lines.hash, lines.text, folders.path";
pub(super) const RUN_SEALED: usize = 11;
/// The sealed columns of a turn: those of its row and its folder.
pub(super) const TURN_COLUMNS: &str = "turns.id, turns.turn, turns.session, turns.at_ms, turns.folder, turns.question, \
                                       turns.answer, turns.commands, turns.has_succeeded, turns.trust, folders.path";
pub(super) const TURN_SEALED: usize = 11;

/// The number of a source in a row. Each stays what it is.
pub(super) fn source_code(source: RunSource) -> i64 {
    match source {
        RunSource::Shell => 0,
        RunSource::Bash => 1,
        RunSource::Zsh => 2,
        RunSource::Fish => 3,
        RunSource::Atuin => 4,
    }
}

/// The source of this number.
pub(super) fn source_of(code: i64) -> Option<RunSource> {
    RunSource::WORDS.iter().map(|(source, _)| *source).find(|source| source_code(*source) == code)
}

/// The seal over these values, of whatever type they are. Each has its type and length before it, so that no two rows have the same bytes.
pub(crate) fn seal<'a>(
    key: &Key,
    purpose: Purpose,
    values: impl IntoIterator<Item = ValueRef<'a>>,
) -> [u8; SEAL_BYTES] {
    let mut bytes = Vec::new();
    let mut push = |kind: u8, value: &[u8]| {
        bytes.push(kind);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(value);
    };
    for value in values {
        match value {
            ValueRef::Null => push(0, &[]),
            ValueRef::Integer(value) => push(1, &value.to_le_bytes()),
            ValueRef::Real(value) => push(2, &value.to_bits().to_le_bytes()),
            ValueRef::Text(value) => push(3, value),
            ValueRef::Blob(value) => push(4, value),
        }
    }
    let mac = key.mac(purpose, &bytes).bytes();
    mac.first_chunk().copied().unwrap_or_default()
}

/// Whether the seal in the column behind the sealed ones is that of the row.
pub(crate) fn is_sealed(key: &Key, purpose: Purpose, row: &Row<'_>, columns: usize) -> Result<bool, StoreError> {
    let values: Vec<_> = (0..columns).map(|column| row.get_ref(column)).collect::<Result<_, _>>()?;
    Ok(matches!(row.get_ref(columns)?, ValueRef::Blob(found) if found == seal(key, purpose, values)))
}

/// The run in a row of [`RUN_COLUMNS`]. A damaged value is replaced; verification names it.
pub(super) fn run(row: &Row<'_>) -> Result<NewRun, rusqlite::Error> {
    let output = row.get_ref(7)?.as_bytes_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default();
    let folder = row.get_ref(10)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
    let duration = row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned);
    Ok(NewRun {
        line: lossy(row, 9)?,
        at: row.get::<_, Option<i64>>(2)?.map(moment),
        folder: folder.map(|folder| OsStr::from_bytes(folder).into()),
        exit_code: row.get::<_, Option<i64>>(4)?.map(exit_code),
        duration: duration.map(Duration::from_millis),
        output_tail: String::from_utf8_lossy(output).into_owned(),
        // An unknown source is that of the least trusted runs.
        source: source_of(row.get(6)?).unwrap_or(RunSource::Bash),
    })
}

/// The line in a row of [`RUN_COLUMNS`] and the number of its runs behind them.
pub(super) fn line(row: &Row<'_>) -> Result<PastLine, rusqlite::Error> {
    let runs = row.get::<_, i64>(RUN_SEALED)?.cast_unsigned();
    Ok(PastLine { id: row.get::<_, i64>(1)?.cast_unsigned(), last: run(row)?, runs })
}

/// The turn in a row of [`TURN_COLUMNS`]. A damaged value is replaced; verification names it.
pub(super) fn turn(row: &Row<'_>) -> Result<PastTurn, rusqlite::Error> {
    let folder = row.get_ref(10)?.as_bytes_or_null().map_err(rusqlite::Error::from)?;
    let turn = NewTurn {
        turn: lossy(row, 1)?,
        session: lossy(row, 2)?,
        at: moment(row.get(3)?),
        folder: folder.map(|folder| OsStr::from_bytes(folder).into()).unwrap_or_default(),
        question: lossy(row, 5)?,
        answer: lossy(row, 6)?,
        commands: commands_of(&lossy(row, 7)?),
        trust: row.get::<_, f64>(9)?.clamp(0.0, 1.0),
    };
    Ok(PastTurn { id: row.get::<_, i64>(0)?.cast_unsigned(), turn })
}

/// Commands as they are stored: `[["make",0],["make test",null]]`.
pub(super) fn commands_text(commands: &[TurnCommand]) -> String {
    let pairs: Vec<_> = commands.iter().map(|command| (&command.line, command.exit_code)).collect();
    serde_json::to_string(&pairs).unwrap_or_default()
}

/// The commands in a stored text.
pub(super) fn commands_of(text: &str) -> Vec<TurnCommand> {
    let pairs: Vec<(String, Option<i32>)> = serde_json::from_str(text).unwrap_or_default();
    pairs.into_iter().map(|(line, exit_code)| TurnCommand { line, exit_code }).collect()
}

/// The number that a line is found by.
pub(super) fn line_hash(text: &str) -> i64 {
    digest(&SHA256, text.as_bytes()).as_ref().first_chunk().copied().map(i64::from_le_bytes).unwrap_or_default()
}

/// A path as it is stored: without `.` and doubled slashes, because paths are compared as bytes.
pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    path.components().collect::<PathBuf>().into_os_string().into_vec()
}

/// A time as it is stored: its millisecond.
pub(crate) fn milliseconds(at: Timestamp) -> i64 {
    at.as_nanosecond().div_euclid(1_000_000) as i64
}

/// The first millisecond that is not before this time.
pub(super) fn milliseconds_from(at: Timestamp) -> i64 {
    milliseconds(at) + i64::from(at.as_nanosecond().rem_euclid(1_000_000) > 0)
}

/// The stored time.
pub(crate) fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Whether all of these succeeded.
pub(super) fn have_succeeded(commands: &[TurnCommand]) -> bool {
    commands.iter().all(|command| command.exit_code == Some(0))
}

fn exit_code(code: i64) -> i32 {
    i32::try_from(code).unwrap_or(i32::MAX)
}

fn lossy(row: &Row<'_>, column: usize) -> Result<String, rusqlite::Error> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned())
}
