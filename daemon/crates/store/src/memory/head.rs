//! The head: the end of the journal, sealed and kept apart from the file.

use std::{fs::File, io};

use serde::{Deserialize, Serialize};

use super::journal::Tail;
use crate::{
    key_folder::{KeyFolder, replace, small},
    pace::Pace,
    seal::{Key, Purpose, first_line},
};

/// The ends of the journal that the file may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The end before the last write.
    settled: Tail,
    /// The end after it, as long as its commit is not certain.
    pending: Option<Tail>,
}

impl Head {
    /// The head in this text; `None` if any byte was changed.
    pub fn opened(key: &Key, text: &[u8]) -> Option<Self> {
        let (body, _) = key.opened(Purpose::MemoryHead, first_line(text)?)?;
        serde_json::from_str(&body).ok()
    }

    pub fn allows(&self, tail: Tail) -> bool {
        self.settled == tail || self.pending == Some(tail)
    }

    fn sealed(self, key: &Key) -> io::Result<String> {
        Ok(key.sealed(Purpose::MemoryHead, &serde_json::to_string(&self)?).0)
    }
}

/// The head of a writer. No other process writes or verifies as long as this lives.
pub(super) struct LockedHead {
    file: File,
    head: Option<Head>,
    pub key: Key,
}

impl LockedHead {
    /// Locks the head, and makes key and head if there is no key. A new key does not fit an existing journal, which the writer notes.
    pub fn lock(keys: &KeyFolder, pace: &Pace) -> io::Result<Self> {
        keys.make()?;
        let Some(mut file) = keys.lock(true)? else { return Err(io::ErrorKind::NotFound.into()) };
        if let Some(key) = keys.existing_key()? {
            let head = Head::opened(&key, &small(&mut file)?);
            return Ok(Self { file, head, key });
        }
        let head = Head::default();
        let key = keys.make_key(pace, |key| {
            replace(&file, &head.sealed(key)?, pace)?;
            file.sync_all()
        })?;
        Ok(Self { file, head: Some(head), key })
    }

    /// Whether the journal may end here.
    pub fn allows(&self, tail: Tail) -> bool {
        self.head.is_some_and(|head| head.allows(tail))
    }

    /// Allows a second end, which a commit is about to make. An end that is not allowed now stays so. It is on disk when this returns.
    pub fn announce(&mut self, before: Tail, after: Tail, pace: &Pace) -> io::Result<()> {
        let settled = if self.allows(before) { before } else { after };
        self.replace(Head { settled, pending: Some(after) }, pace)?;
        self.file.sync_data()
    }

    /// Allows only this end.
    pub fn settle(&mut self, after: Tail, pace: &Pace) -> io::Result<()> {
        self.replace(Head { settled: after, pending: None }, pace)
    }

    fn replace(&mut self, head: Head, pace: &Pace) -> io::Result<()> {
        replace(&self.file, &head.sealed(&self.key)?, pace)
    }
}
