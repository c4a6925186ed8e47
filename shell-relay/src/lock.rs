//! The second lock of this machine: whether programs that run unasked can be started by the launcher, and where it lies.

use std::{
    env,
    fmt::{self, Display, Formatter},
    path::{Path, PathBuf},
};

use cohab_confine::{
    Denied, Record, Support,
    launch::{NAME, NOT_CONFINED},
};
use rustix::fs::{Access, access};

use crate::{policy::Lock, sandbox};

const NOTE: &str = "[lock: it ran unasked, so it could only read, without places of secrets, services and the network; that may be \
                    what stopped it. Run the same command again: then the user is asked to let it run without that]\n";

/// Why there is no second lock; the policy alone answers then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLock {
    /// The launcher is not where it is looked for.
    Missing(PathBuf),
    /// Its path is not one that all shells read as it stands.
    Path(PathBuf),
    /// What this system lacks, in words.
    System(Vec<&'static str>),
}

impl Display for NoLock {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "{} is missing", path.display()),
            Self::Path(path) => write!(f, "{} has signs in its path that a shell may read otherwise", path.display()),
            Self::System(gaps) => f.write_str(&gaps.join("; ")),
        }
    }
}

/// What may be told of a command that was locked and failed in this folder, one line; `None` if the lock had nothing to do with it, as
/// where the user may not read the path either that the command names.
#[must_use]
pub fn note(status: i32, output: &str, cwd: &Path) -> Option<&'static str> {
    if status == i32::from(NOT_CONFINED) && output.contains(NAME) {
        return Some(NOTE);
    }
    let ran = Record { cwd: cwd.to_owned(), ..Record::default() };
    match ran.explain(status, output)? {
        Denied::Path(path) if access(&path, Access::READ_OK).is_err() => None,
        _ => Some(NOTE),
    }
}

/// The launcher beside the running program. Some system calls each time, nothing that waits.
///
/// # Errors
/// Why it cannot be used.
pub fn launcher() -> Result<PathBuf, NoLock> {
    let path = env::current_exe().unwrap_or_default().with_file_name(NAME);
    usable(path, sandbox::present())
}

fn usable(path: PathBuf, system: Support) -> Result<PathBuf, NoLock> {
    if !path.is_file() {
        return Err(NoLock::Missing(path));
    }
    if Lock::new(&path, None).is_none() {
        return Err(NoLock::Path(path));
    }
    if system.can_launch() { Ok(path) } else { Err(NoLock::System(system.gaps())) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const KERNEL: Support = Support { landlock: 7, can_filter_calls: true, has_seatbelt: false };

    #[test]
    fn what_the_user_may_not_read_either_is_not_the_locks_doing() {
        let cwd = Path::new("/proc");
        for (status, output, expected) in [
            (1, "cat: self/status: Permission denied", true),
            (1, "find: ‘/proc/self/none’: Permission denied", false),
            (1, "cat: x: No such file or directory", false),
            (0, "cat: self/status: Permission denied", false),
            (1, "cannot connect: Operation not permitted", true),
            (125, "cohab-confine: not started: this system has nothing to confine a program with", true),
            (125, "timeout: failed", false),
        ] {
            assert_eq!(note(status, output, cwd).is_some(), expected, "{output}");
        }
    }

    #[test]
    fn a_launcher_is_used_where_it_lies_and_the_system_can_confine() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        assert_eq!(usable(path.clone(), KERNEL), Err(NoLock::Missing(path.clone())));
        fs::write(&path, "").unwrap();
        assert_eq!(usable(path.clone(), KERNEL), Ok(path.clone()));
        let old = Support { landlock: 0, ..KERNEL };
        assert_eq!(usable(path, old), Err(NoLock::System(old.gaps())));
        let blank = folder.path().join("a b");
        fs::create_dir(&blank).unwrap();
        fs::write(blank.join(NAME), "").unwrap();
        assert_eq!(usable(blank.join(NAME), KERNEL), Err(NoLock::Path(blank.join(NAME))));
    }
}
