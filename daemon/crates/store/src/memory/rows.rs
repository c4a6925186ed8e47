//! Facts as rows: columns, paths and the folders that a query may see.

use std::{
    ffi::OsStr,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Component, Path, PathBuf},
};

use cohab_memory::record::{Memory, MemoryId, Origin, Scope, Source};
use jiff::Timestamp;
use rusqlite::{
    Row,
    types::{Value, ValueRef},
};

use super::journal::Sealed;
use crate::seal::Purpose;

/// The columns that [`memory`] reads. The first of them never change and are sealed ([`sealed_columns`]).
pub(super) const COLUMNS: &str =
    "id, text, root, origin, folder, trust, stated_ms, sources, valid_to_ms, superseded_by";
/// The table of facts.
pub(super) const MEMORIES: Sealed =
    Sealed { purpose: Purpose::MemoryRow, table: "memories", number: "id", columns: COLUMNS, sealed_columns };
/// Number of sealed columns; the last of them are the sources.
const SEALED: usize = 8;
const SOURCES: usize = SEALED - 1;

/// Most folders above the folder of a query that can be the root of a project.
const MAX_ROOTS: usize = 128;

/// The fact in a row of [`COLUMNS`]. A damaged value is replaced by the least trusted one; verification names it.
pub(super) fn memory(row: &Row<'_>) -> Result<Memory, rusqlite::Error> {
    let origin: String = lossy(row, 3)?;
    let root = path(row, 2)?;
    Ok(Memory {
        id: MemoryId(row.get::<_, i64>(0)?.cast_unsigned()),
        text: lossy(row, 1)?,
        scope: scope(root),
        origin: Origin::of_word(&origin).unwrap_or(Origin::Import),
        folder: path(row, 4)?,
        trust: row.get::<_, f64>(5)?.clamp(0.0, 1.0),
        stated: moment(row.get(6)?),
        valid_to: row.get::<_, Option<i64>>(8)?.map(moment),
        superseded_by: row.get::<_, Option<i64>>(9)?.map(|id| MemoryId(id.cast_unsigned())),
        sources: sources(row, SOURCES)?,
        // Only the seals show it.
        is_sound: false,
    })
}

/// The scope of a root as it is stored.
pub(super) fn scope(root: PathBuf) -> Scope {
    if root.as_os_str().is_empty() { Scope::Everywhere } else { Scope::Project(root) }
}

/// How many columns of this row are sealed: rows of older files have no column of sources.
pub(super) fn sealed_columns(row: &Row<'_>) -> Result<usize, rusqlite::Error> {
    Ok(if row.get_ref(SOURCES)? == ValueRef::Null { SOURCES } else { SEALED })
}

/// Sources as they are stored; `None` without any.
pub(super) fn sources_text(sources: &[Source]) -> Option<String> {
    let lines: Vec<String> = sources.iter().map(|source| source.to_string().replace('\n', " ")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The sources in a column; what is none is left out.
pub(super) fn sources(row: &Row<'_>, column: usize) -> Result<Vec<Source>, rusqlite::Error> {
    let text = row.get_ref(column)?.as_bytes_or_null()?.map(String::from_utf8_lossy).unwrap_or_default();
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// A number of a record as SQLite has it; `None` for one that no record has.
pub(super) fn number(id: MemoryId) -> Option<i64> {
    i64::try_from(id.0).ok()
}

/// The root of a scope as it is stored: without `.` and doubled slashes, because roots are compared as bytes.
pub(super) fn root(scope: &Scope) -> Vec<u8> {
    match scope {
        Scope::Everywhere => Vec::new(),
        Scope::Project(root) => normal(root).into_os_string().into_vec(),
    }
}

/// The text as it is indexed. The tokenizer drops diacritics but keeps the sharp s, which is typed as "ss" as well.
///
/// ```text
/// "größte" -> "grösste"
/// ```
pub(super) fn folded(text: &str) -> String {
    text.replace(['ß', 'ẞ'], "ss")
}

/// A root as one word of the search index. It ends in a digit, which the tokenizer takes for no ending of a word.
pub(super) fn root_word(root: &[u8]) -> String {
    let mut word = "r".to_owned();
    for byte in root {
        word.push_str(&format!("{byte:02x}"));
    }
    word.push('0');
    word
}

/// The roots whose facts hold in a folder: those facts that hold everywhere, and those of the folders above it.
pub(super) struct VisibleRoots(Option<Vec<Vec<u8>>>);

impl VisibleRoots {
    /// Those of this folder; all with `None`. In a folder with `..` in its path only those facts hold that hold everywhere.
    pub fn of(folder: Option<&Path>) -> Self {
        let above = |folder: &Path| {
            let folder = normal(folder);
            // Without the file system it is unknown which folder `..` leads to.
            let is_clear = !folder.components().any(|component| component == Component::ParentDir);
            let above = folder.ancestors().take(MAX_ROOTS).filter(|root| is_clear && !root.as_os_str().is_empty());
            let above = above.map(|root| root.as_os_str().as_bytes().to_vec());
            std::iter::once(Vec::new()).chain(above).collect()
        };
        Self(folder.map(above))
    }

    /// The condition of a query on a table with a root, whose last parameters are [`VisibleRoots::values`].
    pub fn condition(&self, table: &str) -> String {
        match &self.0 {
            None => "TRUE".to_owned(),
            Some(roots) => format!("{table}.root IN ({})", vec!["?"; roots.len()].join(", ")),
        }
    }

    pub fn values(&self) -> impl Iterator<Item = Value> {
        self.0.iter().flatten().map(|root| Value::Blob(root.clone()))
    }

    /// The condition of a query of the search index. It only spares looking at the facts of other projects: the index may take two
    /// roots for one.
    pub fn index_condition(&self) -> String {
        let words = |roots: &Vec<Vec<u8>>| roots.iter().map(|root| root_word(root)).collect::<Vec<_>>().join(" OR ");
        self.0.as_ref().map(|roots| format!(" AND {{root}} : ({})", words(roots))).unwrap_or_default()
    }
}

fn normal(path: &Path) -> PathBuf {
    path.components().collect()
}

/// A path in a column, with any bytes.
pub(super) fn path(row: &Row<'_>, column: usize) -> Result<PathBuf, rusqlite::Error> {
    Ok(OsStr::from_bytes(row.get_ref(column)?.as_blob()?).into())
}

/// A text in a column; what is not UTF-8 is replaced.
pub(super) fn lossy(row: &Row<'_>, column: usize) -> Result<String, rusqlite::Error> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned())
}

/// A stored time; one that no calendar has is the epoch.
pub(super) fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}
