//! The temporary folder of confined commands: private, and found again by the next daemon if this one is killed.
//!
//! All daemons at one socket share one folder, one after the other. Each daemon has a separate folder in it, and removes those of its
//! predecessors when it starts.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use cohab_protocol::{Paths, socket::secure_directory};
use tempfile::{Builder, TempDir};

/// Created when it is first needed, and removed with this value.
#[derive(Debug)]
pub struct TemporaryFolder {
    shared: PathBuf,
    own: Mutex<Option<TempDir>>,
}

impl TemporaryFolder {
    /// The folder for the daemon at these paths.
    #[must_use]
    pub fn new(paths: &Paths) -> Self {
        Self { shared: paths.temporary_dir(), own: Mutex::default() }
    }

    /// Its path with links resolved; it is created again if it was removed. Blocks.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.as_ref().is_none_or(|own| !own.path().is_dir()) {
            *own = self.make().ok();
        }
        own.as_ref().and_then(|own| own.path().canonicalize().ok())
    }

    fn make(&self) -> io::Result<TempDir> {
        // Where another user has taken the name, a folder of another name is used; it may be left behind.
        let place = if secure_directory(&self.shared).is_ok() { self.shared.clone() } else { std::env::temp_dir() };
        Builder::new().prefix("cohab-tmp-").permissions(fs::Permissions::from_mode(0o700)).tempdir_in(place)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let own = self.own.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Empty, if no other daemon uses it by now.
        if own.is_some_and(|own| own.close().is_ok()) {
            let _ = fs::remove_dir(&self.shared);
        }
    }
}

/// The folders that earlier daemons at these paths left, for temporary files and of copies. To be called while no other one runs, and before this one creates anything
/// there.
#[must_use]
pub fn leftovers(paths: &Paths) -> Vec<PathBuf> {
    let places = [paths.temporary_dir(), paths.copies_dir()];
    // A folder of another user is left alone, and nothing is created for the check.
    let own = places.into_iter().filter(|place| place.is_dir() && secure_directory(place).is_ok());
    own.filter_map(|place| fs::read_dir(place).ok()).flatten().flatten().map(|entry| entry.path()).collect()
}

/// Removes them; no link is followed. Blocks.
pub fn remove(leftovers: &[PathBuf]) {
    for path in leftovers {
        if let Err(error) = remove_one(path) {
            tracing::warn!(path = %path.display(), %error, "a leftover could not be removed");
        }
    }
}

fn remove_one(path: &Path) -> io::Result<()> {
    let is_folder = fs::symlink_metadata(path)?.is_dir();
    if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    /// Paths whose shared folder belongs to this test alone.
    fn paths() -> (TempDir, Paths) {
        let home = tempfile::tempdir().expect("a temporary folder");
        let own = home.path().to_owned();
        let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| own.clone()), rustix::process::getuid().as_raw());
        (home, paths)
    }

    #[test]
    fn the_folder_is_private_comes_back_and_goes_with_its_owner() {
        let (_home, paths) = paths();
        let folder = TemporaryFolder::new(&paths);
        let first = folder.path().expect("a folder");
        let shared = first.parent().expect("the shared one").to_owned();
        for path in [&first, &shared] {
            assert_eq!(fs::metadata(path).expect("it is there").mode() & 0o777, 0o700, "{}", path.display());
        }
        assert_eq!(folder.path(), Some(first.clone()), "one for all");
        fs::remove_dir_all(&shared).expect("it is ours");
        let second = folder.path().expect("another one");
        assert!(second.is_dir() && second.starts_with(&shared));
        drop(folder);
        assert!(!shared.exists());
    }

    #[test]
    fn the_next_daemon_removes_what_a_killed_one_has_left_and_no_more() {
        let (home, paths) = paths();
        assert_eq!(leftovers(&paths), [""; 0].map(PathBuf::from));
        let killed = TemporaryFolder::new(&paths);
        let left = killed.path().expect("a folder");
        std::mem::forget(killed);
        fs::create_dir(left.join("deep")).expect("it is ours");
        fs::write(left.join("deep/file"), "x").expect("it is ours");
        let outside = home.path().join("outside");
        fs::create_dir(&outside).expect("it is ours");
        fs::write(outside.join("kept"), "x").expect("it is ours");
        symlink(&outside, left.join("link")).expect("it is ours");
        symlink(&outside, left.with_file_name("link")).expect("it is ours");

        let found = leftovers(&paths);
        let next = TemporaryFolder::new(&paths);
        let own = next.path().expect("a folder");
        remove(&found);
        assert!(!left.exists() && !left.with_file_name("link").exists() && own.is_dir());
        assert!(outside.join("kept").exists(), "a link was followed");
        assert_eq!(own.parent(), left.parent());
    }

    #[test]
    fn a_name_that_somebody_else_has_taken_is_left_alone() {
        let (home, paths) = paths();
        let elsewhere = home.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("it is ours");
        fs::write(elsewhere.join("kept"), "x").expect("it is ours");
        let shared = paths.temporary_dir();
        let open = |path: &Path| {
            fs::create_dir(path)?;
            fs::write(path.join("kept"), "x")?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o777))
        };
        for take in [&|path: &Path| symlink(&elsewhere, path), &open as &dyn Fn(&Path) -> io::Result<()>] {
            take(&shared).expect("nobody has it");
            assert_eq!(leftovers(&paths), [""; 0].map(PathBuf::from));
            let folder = TemporaryFolder::new(&paths).path().expect("a folder");
            assert!(!folder.starts_with(&elsewhere) && !folder.starts_with(&shared), "{}", folder.display());
            assert!(shared.join("kept").exists());
            remove_one(&shared).expect("it is ours");
        }
    }
}
