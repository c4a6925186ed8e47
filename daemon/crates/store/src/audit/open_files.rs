//! The files that a journal keeps open between two batches of records.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
};

use rustix::fs::{FlockOperation, flock};

use super::{files::Places, head::Head};
use crate::{key_folder::lock, seal::Key};

/// Head, key and newest file of records.
pub(super) struct OpenFiles {
    pub head_file: File,
    pub key: Key,
    pub head: Head,
    pub segment: File,
    /// When they were opened, in seconds since 1970.
    pub opened: i64,
    key_state: Option<FileState>,
}

/// What changes when a file is replaced or written.
#[derive(PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    modified: (i64, i64),
}

impl FileState {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        let modified = (found.mtime(), found.mtime_nsec());
        Some(Self { device: found.dev(), inode: found.ino(), modified })
    }
}

impl OpenFiles {
    pub fn new(places: &Places, opened: i64, head_file: File, key: Key, head: Head, segment: File) -> Self {
        Self { head_file, key, head, segment, opened, key_state: FileState::of(&places.key_file()) }
    }

    /// Gives the lock of the head back until the next batch.
    ///
    /// # Errors
    /// The system's.
    pub fn unlocked(self) -> io::Result<Self> {
        flock(&self.head_file, FlockOperation::Unlock)?;
        Ok(self)
    }

    /// Locks the head again. `None` if another process has written or replaced a file since.
    ///
    /// # Errors
    /// The head is locked by another process for too long.
    pub fn locked(self, places: &Places) -> io::Result<Option<Self>> {
        lock(&self.head_file)?;
        let expected = self.head.sealed(&self.key);
        let mut found = vec![0; expected.len()];
        let is_current = self.key_state.is_some()
            && FileState::of(&places.key_file()) == self.key_state
            && length_at(&self.segment, &places.segment_file(self.head.segment)) == Some(self.head.bytes)
            && length_at(&self.head_file, &places.head_file()) == Some(expected.len() as u64)
            && self.head_file.read_exact_at(&mut found, 0).is_ok()
            && found == expected.as_bytes();
        Ok(is_current.then_some(self))
    }
}

/// The length of the open file, if it is the one at this path.
fn length_at(file: &File, path: &Path) -> Option<u64> {
    let (open, found) = (file.metadata().ok()?, fs::symlink_metadata(path).ok()?);
    ((found.dev(), found.ino()) == (open.dev(), open.ino())).then_some(found.len())
}
