//! A file together with the key that its rows are checked with.

use rusqlite::Connection;

use crate::seal::Key;

/// A file with the key of its seals. Without one no fact is sound.
#[derive(Clone, Copy)]
pub(super) struct SealedFile<'a> {
    pub connection: &'a Connection,
    pub key: Option<&'a Key>,
}
