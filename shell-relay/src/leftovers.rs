//! Finds and removes hand-over folders of clients that were killed.
//!
//! The owner of a folder holds a lock on a file in it for life; the kernel releases the lock, however the owner ends. The file gets
//! its name only after it is locked, so an unlocked file has lost its owner. A folder without the file is never touched.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, process::getuid};

/// The prefix of the names of these folders.
pub(crate) const FOLDER_PREFIX: &str = "shell-";
const LOCK: &str = "lock";

/// Makes the caller the owner of `folder` for as long as it keeps the file.
///
/// # Errors
/// If the file cannot be made, or the file system has no locks.
pub(crate) fn claim(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("lock.new");
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
    file.try_lock()?;
    fs::rename(unnamed, folder.join(LOCK))?;
    Ok(file)
}

/// Removes the folders below `runtime_dir` whose owners are gone. Follows no link. Blocks.
pub fn sweep(runtime_dir: &Path) {
    let entries = fs::read_dir(runtime_dir).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes()));
    for folder in folders.map(|entry| entry.path()) {
        if let Some(_lock) = take_from_dead_owner(&folder) {
            // Another client may be removing it, too.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn take_from_dead_owner(folder: &PathBuf) -> Option<File> {
    let found = fs::symlink_metadata(folder).ok().filter(|found| found.is_dir() && found.uid() == getuid().as_raw());
    found?;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).ok()?;
    let lock = OpenOptions::new().write(true).custom_flags(flags).open(folder.join(LOCK)).ok()?;
    (lock.metadata().ok()?.is_file() && lock.try_lock().is_ok()).then_some(lock)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_folder_whose_owner_is_gone_is_removed() {
        let runtime = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = runtime.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("cmd"), "x").unwrap();
            path
        };
        let (dead, alive, unclaimed, other) =
            (folder("shell-dead"), folder("shell-alive"), folder("shell-unclaimed"), folder("other"));
        drop(claim(&dead).unwrap());
        drop(claim(&other).unwrap());
        let owner = claim(&alive).unwrap();
        symlink(&dead, runtime.path().join("shell-link")).unwrap();
        // A pipe would block, a link may lead to another user's file.
        let linked = folder("shell-linked");
        symlink(other.join(LOCK), linked.join(LOCK)).unwrap();
        sweep(runtime.path());
        assert!(!dead.exists() && alive.exists() && unclaimed.exists() && other.exists() && linked.exists());
        drop(owner);
        sweep(runtime.path());
        assert!(!alive.exists() && unclaimed.exists());
        sweep(&runtime.path().join("missing"));
    }

    #[test]
    fn a_folder_has_one_owner() {
        let folder = tempfile::tempdir().unwrap();
        let _owner = claim(folder.path()).unwrap();
        assert!(take_from_dead_owner(&folder.path().to_owned()).is_none());
    }
}
