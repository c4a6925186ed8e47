//! The chain checks that each record follows the one before it. Pure.

use super::record::{Event, Record};
use crate::seal::{Key, Mac, Purpose};

/// A fault of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its seal is not that of its bytes.
    Changed,
    /// It has no end.
    Cut,
    /// Records are missing before it: the first and the last of them.
    Missing(u64, u64),
    /// It repeats an earlier record, or stands where a later one should.
    OutOfOrder {
        /// Its number.
        found: u64,
        /// The expected number.
        due: u64,
    },
    /// It has the expected number, but follows another record than the one before it.
    Foreign,
    /// Its writer found the records before it changed.
    Noticed(String),
}

/// The position of a walk through the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Number of the last record; 0 before the first.
    pub n: u64,
    /// Its seal.
    pub mac: Mac,
}

/// Opens a line without its end; `None` if any byte of it was changed.
pub(super) fn opened(key: &Key, line: &[u8]) -> Option<(Record, Mac)> {
    let (body, mac) = key.opened(Purpose::Record, line)?;
    Some((serde_json::from_str(&body).ok()?, mac))
}

impl Link {
    /// Advances to the next line, including its end if it has one.
    pub fn follow(&mut self, key: &Key, line: &[u8]) -> Result<Record, Fault> {
        let whole = line.strip_suffix(b"\n").ok_or(Fault::Cut)?;
        let (record, mac) = opened(key, whole).ok_or(Fault::Changed)?;
        let due = self.n + 1;
        match record.n {
            n if n > due => return Err(Fault::Missing(due, n - 1)),
            n if n < due => return Err(Fault::OutOfOrder { found: n, due }),
            _ if record.prev != self.mac => return Err(Fault::Foreign),
            _ => *self = Self { n: due, mac },
        }
        match &record.event {
            Event::Broken { reason } => Err(Fault::Noticed(reason.clone())),
            _ => Ok(record),
        }
    }
}
