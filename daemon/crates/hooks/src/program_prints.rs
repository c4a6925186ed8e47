//! Remembers fingerprints of programs, so that not every turn reads each of them.

use std::{
    collections::HashMap,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use crate::consent::Fingerprint;

/// Most fingerprints that are remembered.
const MAX_KNOWN: usize = 256;
/// A file that changed so recently may change again without its times showing it.
const SETTLED: Duration = Duration::from_secs(2);

/// A state of a file. A program cannot set the time of the last change of its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mode: metadata.mode(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn is_settled(&self, now: SystemTime) -> bool {
        let changed =
            u64::try_from(self.changed.0).map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > SETTLED))
    }
}

/// Fingerprints of files by their state. Only for what is offered: before a program runs it is read again.
#[derive(Debug, Default)]
pub struct ProgramPrints(Mutex<HashMap<FileState, Fingerprint>>);

impl ProgramPrints {
    fn lock(&self) -> MutexGuard<'_, HashMap<FileState, Fingerprint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fingerprint of a file that is as it was. Blocks.
    #[must_use]
    pub fn known(&self, path: &Path) -> Option<Fingerprint> {
        let state = FileState::of(&fs::symlink_metadata(path).ok()?);
        self.lock().get(&state).cloned()
    }

    /// Remembers the fingerprint of a file that had this state before it was read.
    pub fn remember(&self, before: &Metadata, fingerprint: &Fingerprint, now: SystemTime) {
        let state = FileState::of(before);
        if !state.is_settled(now) {
            return;
        }
        let mut all = self.lock();
        if all.len() >= MAX_KNOWN {
            all.clear();
        }
        all.insert(state, fingerprint.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_until_its_state_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, prints) = (folder.path().join("tool"), ProgramPrints::default());
        let print = Fingerprint::of([b"1".as_slice()]);
        fs::write(&path, "1").unwrap();
        let state = fs::metadata(&path).unwrap();
        prints.remember(&state, &print, SystemTime::now());
        assert_eq!(prints.known(&path), None, "it has just changed");
        let later = SystemTime::now() + SETTLED * 2;
        prints.remember(&state, &print, later);
        assert_eq!(prints.known(&path), Some(print));
        // The same size and time of the content.
        let old = state.modified().unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        while fs::metadata(&path).unwrap().ctime_nsec() == state.ctime_nsec() {
            fs::write(&path, "2").unwrap();
            file.set_modified(old).unwrap();
        }
        assert_eq!(prints.known(&path), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let (prints, later) = (ProgramPrints::default(), SystemTime::now() + SETTLED * 100);
        for n in 0..=MAX_KNOWN {
            let path = folder.path().join(n.to_string());
            fs::write(&path, "").unwrap();
            prints.remember(&fs::metadata(&path).unwrap(), &Fingerprint::of([]), later);
        }
        assert_eq!(prints.lock().len(), 1);
    }
}
