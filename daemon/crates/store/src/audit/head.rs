//! The head stores the number of records and the place of the last one. Pure.

use serde::{Deserialize, Serialize};

use crate::seal::{Key, Mac, Purpose, first_line};

/// The state of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Number of the oldest record that is kept.
    pub first: u64,
    /// The seal before it.
    pub first_prev: Mac,
    /// Number of the last record; 0 if there are none.
    pub count: u64,
    /// Its seal.
    pub last: Mac,
    /// The file that it is in.
    pub segment: u64,
    /// Length of that file, in bytes.
    pub bytes: u64,
    /// When the file was begun, in seconds since 1970.
    pub since: i64,
}

impl Head {
    /// Nothing is recorded yet.
    pub fn empty() -> Self {
        let none = Mac::default();
        Self { first: 1, first_prev: none, count: 0, last: none, segment: 0, bytes: 0, since: 0 }
    }

    pub fn sealed(&self, key: &Key) -> String {
        key.sealed(Purpose::Head, &serde_json::to_string(self).unwrap_or_default()).0
    }

    /// `None` if any byte was changed. Text behind the first line is the end of a longer head that a dying process overwrote.
    pub fn opened(key: &Key, text: &[u8]) -> Option<Self> {
        let (body, _) = key.opened(Purpose::Head, first_line(text)?)?;
        serde_json::from_str(&body).ok()
    }

    /// Whether a head, with any seal, says that there are records.
    pub fn counts_records(text: &[u8]) -> bool {
        first_line(text).and_then(|line| serde_json::from_slice::<Self>(line).ok()).is_some_and(|head| head.count > 0)
    }
}
