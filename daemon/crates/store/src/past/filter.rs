//! The conditions of a search that need no words: time, folder and success, as SQL.

use cohab_memory::past::store::PastQuery;
use rusqlite::{Connection, ToSql, params};

use super::{
    index::{self, entries, span},
    rows::{milliseconds_from, path_bytes},
};
use crate::StoreError;

/// A parameter of a statement with its name.
pub(super) type Parameter<'a> = (&'static str, &'a dyn ToSql);

/// Most folders of a search that are looked for by their numbers.
const FEW_FOLDERS: usize = 64;

/// Time, folder and success of a search.
#[derive(Default)]
pub(super) struct Conditions {
    from_ms: Option<i64>,
    until_ms: Option<i64>,
    is_timed: bool,
    folders: Option<Subtree>,
    has_succeeded: Option<bool>,
}

/// A folder with those below it.
enum Subtree {
    /// Their numbers.
    Few(Vec<i64>),
    /// The path itself, and the paths from `first` on that are before `behind`.
    Many { path: Vec<u8>, first: Vec<u8>, behind: Vec<u8> },
}

impl Subtree {
    fn of(connection: &Connection, path: Vec<u8>) -> Result<Self, StoreError> {
        let mut first = path.clone();
        if !first.ends_with(b"/") {
            first.push(b'/');
        }
        let mut behind = first.clone();
        behind.pop();
        behind.push(b'/' + 1);
        let query = format!(
            "SELECT id FROM folders WHERE path = ?1 UNION ALL
            SELECT id FROM (SELECT id FROM folders WHERE path >= ?2 AND path < ?3 LIMIT {})",
            FEW_FOLDERS + 1
        );
        let mut statement = connection.prepare_cached(&query)?;
        let ids =
            statement.query_map(params![path, first, behind], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
        Ok(if ids.len() <= FEW_FOLDERS { Self::Few(ids) } else { Self::Many { path, first, behind } })
    }

    fn condition(&self) -> String {
        match self {
            Self::Few(ids) => {
                let ids: Vec<_> = ids.iter().map(i64::to_string).collect();
                format!(" AND folder IN ({})", ids.join(", "))
            }
            Self::Many { .. } => " AND EXISTS (SELECT 1 FROM folders WHERE folders.id = folder
                AND (path = :path OR (path >= :first AND path < :behind)))"
                .to_owned(),
        }
    }
}

impl Conditions {
    pub fn of(connection: &Connection, query: &PastQuery) -> Result<Self, StoreError> {
        let period = query.period.unwrap_or_default();
        let folders = query.folder.as_deref().map(|folder| Subtree::of(connection, path_bytes(folder)));
        Ok(Self {
            from_ms: period.from.map(milliseconds_from),
            until_ms: period.until.map(milliseconds_from),
            is_timed: query.period.is_some(),
            folders: folders.transpose()?,
            has_succeeded: query.has_succeeded,
        })
    }

    /// Whether every run satisfies them.
    pub fn is_empty(&self) -> bool {
        !self.is_timed && self.folders.is_none() && self.has_succeeded.is_none()
    }

    /// The condition of a few folders, to be used behind another one; `None` if there are many or all.
    pub fn of_few_folders(&self) -> Option<String> {
        self.folders.as_ref().filter(|folders| matches!(folders, Subtree::Few(_))).map(Subtree::condition)
    }

    /// The part of a query of the index that leaves out most entries without a run that satisfies them.
    pub fn of_entries(&self) -> String {
        let mut marks = String::new();
        if let Some(Subtree::Few(ids)) = &self.folders {
            marks += &index::marked(ids.iter().map(|id| index::folder_mark(*id)));
        }
        if let Some(has_succeeded) = self.has_succeeded {
            marks += &index::marked([index::success_mark(has_succeeded)]);
        }
        marks
    }

    /// The condition of a run, to be used behind another one.
    pub fn of_runs(&self) -> String {
        let has_time = if self.is_timed { " AND at_ms IS NOT NULL" } else { "" };
        has_time.to_owned() + &self.common() + self.success(" AND exit = 0", " AND exit <> 0")
    }

    /// The condition of a turn, to be used behind another one.
    pub fn of_turns(&self) -> String {
        self.common() + self.success(" AND has_succeeded = 1", " AND has_succeeded = 0")
    }

    /// The parameters of the conditions, and these.
    pub fn values<'a>(&'a self, more: &[Parameter<'a>]) -> Vec<Parameter<'a>> {
        let mut values = more.to_vec();
        values.extend(self.from_ms.iter().map(|ms| (":from", ms as &dyn ToSql)));
        values.extend(self.until_ms.iter().map(|ms| (":until", ms as &dyn ToSql)));
        if let Some(Subtree::Many { path, first, behind }) = &self.folders {
            values.extend([(":path", path as &dyn ToSql), (":first", first), (":behind", behind)]);
        }
        values
    }

    /// The first and the last number of entries of the index that can satisfy them.
    pub fn entries(&self, is_turn: bool) -> (i64, i64) {
        let last = span(Some(self.until_ms.unwrap_or(i64::MAX)));
        let first = self.from_ms.map_or(i64::from(self.is_timed), |ms| span(Some(ms)));
        entries(is_turn, first, last)
    }

    fn common(&self) -> String {
        let from = self.from_ms.map_or("", |_| " AND at_ms >= :from");
        let until = self.until_ms.map_or("", |_| " AND at_ms < :until");
        let folders = self.folders.as_ref().map(Subtree::condition).unwrap_or_default();
        from.to_owned() + until + &folders
    }

    fn success(&self, yes: &'static str, no: &'static str) -> &'static str {
        match self.has_succeeded {
            None => "",
            Some(true) => yes,
            Some(false) => no,
        }
    }
}
