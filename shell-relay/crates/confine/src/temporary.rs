//! Private folders for temporary files, one for each confined program.
//!
//! They lie in one folder of the user's and carry the number of their process, which stays the same as the launcher becomes the
//! program. Who could remove them when the program ends has become the program: the next launcher does, and only then.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::Mode,
    process::{Pid, getpid, getuid, test_kill_process, umask},
};

/// How the folder that holds them all is called, before the number of its user.
const PREFIX: &str = "cohab-confined-";
/// Nobody but the owner.
const PRIVATE: u32 = 0o700;

/// The user's folder in `place`.
#[must_use]
pub fn shared(place: &Path) -> PathBuf {
    place.join(format!("{PREFIX}{}", getuid().as_raw()))
}

/// Makes the folder of this process in `place`, and removes those of processes that are gone.
///
/// # Errors
/// If it cannot be made, or somebody else has taken the name.
pub fn make(place: &Path) -> io::Result<PathBuf> {
    let shared = shared(place);
    if let Err(error) = make_private(&shared)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    let found = fs::symlink_metadata(&shared)?;
    if !found.is_dir() || found.uid() != getuid().as_raw() || found.mode() & 0o7777 != PRIVATE {
        return Err(io::Error::other(format!("{} is not a private folder of yours", shared.display())));
    }
    let own = shared.join(getpid().as_raw_nonzero().to_string());
    sweep(&shared, &own);
    make_private(&own)?;
    Ok(own)
}

/// The mask of the user may only take permissions away from others.
fn make_private(folder: &Path) -> io::Result<()> {
    let mask = umask(Mode::RWXG | Mode::RWXO);
    let made = DirBuilder::new().mode(PRIVATE).create(folder);
    umask(mask);
    made
}

/// Also one that an earlier process of our number has left. No link is followed.
fn sweep(shared: &Path, own: &Path) {
    for entry in fs::read_dir(shared).into_iter().flatten().flatten() {
        let path = entry.path();
        if path == own || entry.file_name().to_str().is_none_or(|name| !is_alive(name)) {
            let _ = fs::remove_dir(&path).or_else(|_| fs::remove_dir_all(&path));
        }
    }
}

/// A number that says nothing is nobody's.
fn is_alive(number: &str) -> bool {
    let pid = number.parse().ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn it_is_private_whatever_the_mask() {
        let place = tempfile::tempdir().unwrap();
        for mask in [0o000, 0o777, 0o022] {
            let before = umask(Mode::from_raw_mode(mask));
            let made = make(place.path());
            umask(before);
            let made = made.unwrap();
            for folder in [made.as_path(), made.parent().unwrap()] {
                assert_eq!(fs::metadata(folder).unwrap().mode() & 0o7777, PRIVATE, "{}", folder.display());
            }
            assert_eq!(Mode::from_raw_mode(umask(before).as_raw_mode()), before, "the mask is the user's again");
        }
    }

    #[test]
    fn those_of_processes_that_are_gone_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let own = make(place.path()).unwrap();
        let shared = shared(place.path());
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        fs::create_dir_all(shared.join("2147483646/deep")).unwrap();
        fs::create_dir(shared.join("1")).unwrap();
        symlink(&outside, shared.join("2147483646/link")).unwrap();
        fs::write(own.join("of an earlier process"), "x").unwrap();
        let again = make(place.path()).unwrap();
        assert_eq!((again.as_path(), fs::read_dir(&again).unwrap().count()), (own.as_path(), 0));
        assert!(!shared.join("2147483646").exists() && shared.join("1").exists() && outside.join("kept").exists());
    }

    #[test]
    fn a_name_that_is_not_private_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let open = shared(place.path());
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert!(make(place.path()).is_err());
        fs::remove_dir(&open).unwrap();
        symlink(place.path(), &open).unwrap();
        assert!(make(place.path()).is_err());
    }
}
