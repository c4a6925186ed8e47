//! Helpers that the writers of sessions and of steps share.

use std::io;

use rusqlite::{OptionalExtension, Transaction};
use serde::Serialize;

use crate::StoreError;

/// Whether there is a session of this name.
pub(super) fn is_there(transaction: &Transaction<'_>, session: &str) -> Result<bool, StoreError> {
    let row = transaction.prepare_cached("SELECT 1 FROM sessions WHERE key = ?1")?.query_row([session], |_| Ok(()));
    Ok(row.optional()?.is_some())
}

/// A value as it is kept, in no more memory than it takes: a text that grows takes up to twice its length.
pub(super) fn payload(value: &impl Serialize) -> String {
    let mut length = Length(0);
    if serde_json::to_writer(&mut length, value).is_err() {
        return String::new();
    }
    let mut bytes = Vec::with_capacity(length.0);
    let is_written = serde_json::to_writer(&mut bytes, value).is_ok();
    String::from_utf8(bytes).ok().filter(|_| is_written).unwrap_or_default()
}

/// Counts what is written.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
