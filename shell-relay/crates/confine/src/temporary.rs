//! Makes private folders for temporary files, one for each confined program.
//!
//! All of them are in one folder of the user's. Their names contain the number of their process, which stays the same when the launcher
//! becomes the program. No launcher is left to remove a folder when its program ends, so the next launcher removes it.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, fstat, mkdir, mkdirat, open, openat, unlinkat},
    io::Errno,
    path::Arg,
    process::{Pid, getpid, getuid, test_kill_process, umask},
};

/// The name of the folder that holds all of them, before the number of its user.
const PREFIX: &str = "cohab-confined-";
/// Permissions for the owner only.
const PRIVATE: Mode = Mode::RWXU;

/// The user's folder in `place`.
#[must_use]
pub fn shared(place: &Path) -> PathBuf {
    place.join(format!("{PREFIX}{}", getuid().as_raw()))
}

/// Makes the folder of this process in `place`, and removes those of processes that are gone.
///
/// # Errors
/// If the folder cannot be made, or another user has taken the name.
pub fn make(place: &Path) -> io::Result<PathBuf> {
    let shared = shared(place);
    if let Err(error) = with_own_mask(|| mkdir(&shared, PRIVATE))
        && error != Errno::EXIST
    {
        return Err(error.into());
    }
    // The checked folder is the one that is used, even if another takes the name meanwhile.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(&shared, flags, Mode::empty())?;
    let found = fstat(&opened)?;
    if found.st_uid != getuid().as_raw() || Mode::from_raw_mode(found.st_mode) != PRIVATE {
        return Err(io::Error::other(format!("{} is not a private folder of yours", shared.display())));
    }
    let own = getpid().as_raw_nonzero().to_string();
    sweep(&opened, &own)?;
    with_own_mask(|| mkdirat(&opened, &own, PRIVATE))?;
    Ok(shared.join(own))
}

/// The mask of the user may only take permissions away from others.
fn with_own_mask<T>(make: impl FnOnce() -> T) -> T {
    let mask = umask(Mode::RWXG | Mode::RWXO);
    let made = make();
    umask(mask);
    made
}

/// Removes folders of ended processes, also one that an earlier process of our number has left. Nothing without a number is touched, and
/// no link is followed.
fn sweep(shared: &OwnedFd, own: &str) -> io::Result<()> {
    for entry in Dir::read_from(shared)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name == own || is_gone(name) {
            let _ = unlinkat(shared, name, AtFlags::REMOVEDIR).or_else(|_| remove_all(shared, name));
        }
    }
    Ok(())
}

/// Removes a folder with everything in it. Names are few; a confined program may have made any files below them.
fn remove_all(folder: impl AsFd, name: impl Arg + Copy) -> rustix::io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat(&folder, name, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(_) => return unlinkat(&folder, name, AtFlags::empty()),
    };
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            let _ = unlinkat(&opened, entry.file_name(), AtFlags::empty())
                .or_else(|_| remove_all(&opened, entry.file_name()));
        }
    }
    unlinkat(&folder, name, AtFlags::REMOVEDIR)
}

fn is_gone(number: &str) -> bool {
    let pid = number.parse().ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{MetadataExt, symlink},
    };

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
                assert_eq!(fs::metadata(folder).unwrap().mode() & 0o7777, 0o700, "{}", folder.display());
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
        fs::create_dir(shared.join("no number")).unwrap();
        symlink(&outside, shared.join("2147483646/link")).unwrap();
        fs::write(own.join("of an earlier process"), "x").unwrap();
        let again = make(place.path()).unwrap();
        assert_eq!((again.as_path(), fs::read_dir(&again).unwrap().count()), (own.as_path(), 0));
        assert!(!shared.join("2147483646").exists() && shared.join("1").exists());
        assert!(shared.join("no number").exists() && outside.join("kept").exists());
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
