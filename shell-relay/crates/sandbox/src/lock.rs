//! Finds the second lock of this machine: the launcher for programs that run unasked, and the kernel's support for it.

use std::{
    env,
    fmt::{self, Display, Formatter},
    path::{Path, PathBuf},
};

pub use cohab_confine::names::VARIABLE as NAMES_VARIABLE;
use cohab_confine::{
    Denied, Record, Support,
    launch::{NAME, NOT_CONFINED},
    names::{Server, Services},
};
use cohab_policy::{self, Context, Level, Lock};
use cohab_text::sanitize;
use rustix::fs::{Access, access};

use crate::profile;

/// The longest path that is shown.
const PATH_COLUMNS: usize = 80;

/// The reason why there is no second lock; the policy alone decides then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLock {
    /// The launcher is not where it is looked for.
    Missing(PathBuf),
    /// Not all shells read the launcher's path as it stands.
    Path(PathBuf),
    /// The missing parts of this system, in words.
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

/// Explains the failure of a command that ran locked in the folder of `context`, as a clause: "it could only read, and probably wanted to
/// write `target/x`". `None` if the lock is not the cause, for example if the user may not use the named path either.
#[must_use]
pub fn why_stopped(status: i32, output: &str, context: Context<'_>) -> Option<String> {
    if status == i32::from(NOT_CONFINED) && output.contains(NAME) {
        return Some("it was not started, since it could not be kept from writing".to_owned());
    }
    let ran = Record { cwd: context.cwd.to_owned(), ..Record::default() };
    let what = match ran.explain(status, output)? {
        Denied::Path(path) | Denied::Secret(path) => refused_at(&path, context)?,
        Denied::Network => "probably wanted to reach the network or another program's service".to_owned(),
        Denied::Unknown => "was refused something that it did not name".to_owned(),
    };
    Some(format!("it could only read, and {what}"))
}

/// The access to `path` that the user has and a locked program does not.
fn refused_at(path: &Path, context: Context<'_>) -> Option<String> {
    let may = |path: &Path, how| access(path, how).is_ok();
    let can_read = may(path, Access::READ_OK);
    let is_process = path.starts_with("/proc");
    // A user who may write in a folder can make a missing file.
    let could_make =
        || !is_process && !path.exists() && path.parent().is_some_and(|folder| may(folder, Access::WRITE_OK));
    let what = if can_read && is_process {
        "probably wanted to look into another process:"
    } else if can_read && cohab_policy::assess_read(path, context).level > Level::Allow {
        "not what may be secret:"
    } else if may(path, Access::WRITE_OK) || could_make() {
        "probably wanted to write"
    } else if can_read {
        "was refused something at"
    } else {
        return None;
    };
    // A program wrote the path: it must be read as a name only.
    let shown = path.strip_prefix(context.cwd).unwrap_or(path).to_string_lossy().replace('`', "'");
    Some(format!("{what} `{}`", sanitize::one_line(&shown, PATH_COLUMNS)))
}

/// The launcher next to the running program. Makes some system calls each time; none of them waits.
///
/// # Errors
/// The reason why the launcher cannot be used.
pub fn launcher() -> Result<PathBuf, NoLock> {
    let path = env::current_exe().unwrap_or_default().with_file_name(NAME);
    usable(path, profile::present())
}

/// Connects programs behind the lock with the services that know users' names, by a socket at `file`; `None` without such a service or
/// without a lock. [`NAMES_VARIABLE`] passes the socket to the launcher.
#[must_use]
pub fn name_server(file: &Path) -> Option<Server> {
    let services = Services::of_system()?;
    launcher().ok()?;
    Server::start(file, services).ok()
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

    fn why(status: i32, output: &str, cwd: &Path) -> Option<String> {
        why_stopped(status, output, Context::new(cwd, Path::new("/home/ann")))
    }

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
            assert_eq!(why(status, output, cwd).is_some(), expected, "{output}");
        }
    }

    #[test]
    fn the_clause_says_what_it_wanted_as_far_as_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        fs::create_dir(cwd.join("target")).unwrap();
        for name in [".env", "target/there"] {
            fs::write(cwd.join(name), "").unwrap();
        }
        for (output, expected) in [
            (
                "sort: open failed: target/new: Permission denied",
                "it could only read, and probably wanted to write `target/new`",
            ),
            (
                "touch: cannot touch 'target/there': Permission denied",
                "it could only read, and probably wanted to write `target/there`",
            ),
            (
                "touch: x` is safe, `y: Permission denied",
                "it could only read, and probably wanted to write `x' is safe, 'y`",
            ),
            ("grep: .env: Permission denied", "it could only read, and not what may be secret: `.env`"),
            (
                "cat: /proc/self/environ: Permission denied",
                "it could only read, and probably wanted to look into another process: `/proc/self/environ`",
            ),
            (
                "curl: (6) Could not resolve host: example.org",
                "it could only read, and probably wanted to reach the network or another program's service",
            ),
            ("Operation not permitted", "it could only read, and was refused something that it did not name"),
        ] {
            assert_eq!(why(1, output, &cwd).as_deref(), Some(expected), "{output}");
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
