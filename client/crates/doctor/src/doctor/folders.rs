//! Checks the owner and the permissions of the folders and files that cohab keeps.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use super::context::Context;
use crate::shell_check::{
    facts::{Facts, shown},
    finding::{Finding, FindingVerdict, finding},
    findings,
};

/// Looks and judges.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let mut found: Vec<Finding> = context.facts.iter().map(socket_folder).collect();
    let paths = &context.paths;
    let kept = [("state", &paths.state_dir), ("settings-folder", &paths.config_dir), ("cache", &paths.cache_dir)];
    found.extend(kept.iter().map(|(id, path)| folder(id, path, &look(path))));
    // What is kept about conversations and their cost.
    found.extend([paths.usage_file(), paths.sessions_file()].iter().filter_map(|file| private(file)));
    found
}

/// The folder of the socket and of running shells.
fn socket_folder(facts: &Facts) -> Finding {
    Finding { id: "socket-folder", ..findings::folder(facts) }
}

/// What the kernel reports of a path.
#[derive(Clone, Copy, Debug)]
struct PathFacts {
    is_folder: bool,
    is_own: bool,
    mode: u32,
    can_write: bool,
}

fn look(path: &Path) -> io::Result<PathFacts> {
    let metadata = fs::metadata(path)?;
    Ok(PathFacts {
        is_folder: metadata.is_dir(),
        is_own: metadata.uid() == rustix::process::getuid().as_raw(),
        mode: metadata.permissions().mode() & 0o777,
        can_write: rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok(),
    })
}

fn folder(id: &'static str, path: &Path, seen: &io::Result<PathFacts>) -> Finding {
    let name = shown(path);
    match seen {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            finding(id, FindingVerdict::Ok, format!("{name} is not there yet; it is made when needed"))
        }
        Err(error) => {
            finding(id, FindingVerdict::Fail, format!("{name}: {error}")).hint("look at the folders above it")
        }
        Ok(seen) if !seen.is_folder => {
            finding(id, FindingVerdict::Fail, format!("{name} is not a folder")).hint("move it out of the way")
        }
        Ok(seen) if !seen.is_own => finding(id, FindingVerdict::Fail, format!("{name} belongs to another user"))
            .hint("set COHAB_HOME to a folder of your own"),
        Ok(seen) if !seen.can_write => finding(id, FindingVerdict::Warn, format!("{name} cannot be written"))
            .hint(format!("`chmod u+w {name}`, or see whether the disk is read-only")),
        Ok(seen) if seen.mode & 0o022 != 0 => {
            finding(id, FindingVerdict::Fail, format!("others may write to {name}, its mode is {:04o}", seen.mode))
                .hint(format!("`chmod 700 {name}`"))
        }
        Ok(_) => finding(id, FindingVerdict::Ok, name),
    }
}

/// A file that others may read and that is no affair of theirs.
fn private(path: &Path) -> Option<Finding> {
    let seen = look(path).ok().filter(|seen| !seen.is_folder && seen.mode & 0o077 != 0)?;
    let name = shown(path);
    let text = format!("others may read {name}, its mode is {:04o}", seen.mode);
    Some(finding("private-files", FindingVerdict::Fail, text).hint(format!("`chmod 600 {name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: PathFacts = PathFacts { is_folder: true, is_own: true, mode: 0o700, can_write: true };

    #[test]
    fn a_folder_is_judged_by_owner_mode_and_kind() {
        let verdict = |seen: io::Result<PathFacts>| folder("state", Path::new("/s"), &seen).verdict;
        assert_eq!(verdict(Ok(GOOD)), FindingVerdict::Ok);
        assert_eq!(verdict(Ok(PathFacts { mode: 0o755, ..GOOD })), FindingVerdict::Ok);
        assert_eq!(verdict(Err(io::ErrorKind::NotFound.into())), FindingVerdict::Ok);
        assert_eq!(verdict(Ok(PathFacts { mode: 0o777, ..GOOD })), FindingVerdict::Fail);
        assert_eq!(verdict(Ok(PathFacts { is_own: false, ..GOOD })), FindingVerdict::Fail);
        assert_eq!(verdict(Ok(PathFacts { is_folder: false, ..GOOD })), FindingVerdict::Fail);
        assert_eq!(verdict(Ok(PathFacts { can_write: false, ..GOOD })), FindingVerdict::Warn);
        assert_eq!(verdict(Err(io::ErrorKind::PermissionDenied.into())), FindingVerdict::Fail);
    }

    #[test]
    fn a_file_about_conversations_is_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("usage.db");
        assert!(private(&file).is_none());
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(private(&file).unwrap().hint.unwrap().contains("chmod 600"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(private(&file).is_none());
    }
}
