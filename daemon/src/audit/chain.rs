//! The chain checks that each record follows the one before it. Pure.

use super::{
    record::{Event, Record},
    seal::{Key, Mac, Purpose},
};

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its seal is not that of its bytes.
    Changed,
    /// It has no end.
    Cut,
    /// Records are missing before it: from, to.
    Missing(u64, u64),
    /// It is an earlier one once more, or stands where a later one should.
    OutOfOrder {
        /// Its number.
        found: u64,
        /// The number that is due.
        due: u64,
    },
    /// It has the number that is due, but follows another record than the one before it.
    Foreign,
    /// When it was written, the records before it were not as they had been left.
    Noticed(String),
}

/// Where a walk through the records is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Number of the last record; 0 before the first.
    pub n: u64,
    /// Its seal.
    pub mac: Mac,
}

/// A line without its end as a record with its seal; `None` if a byte of it is another one.
pub(super) fn opened(key: &Key, line: &[u8]) -> Option<(Record, Mac)> {
    let (body, mac) = key.opened(Purpose::Record, line)?;
    Some((serde_json::from_str(&body).ok()?, mac))
}

impl Link {
    /// Goes on to the next line, which still has its end if it has one.
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
