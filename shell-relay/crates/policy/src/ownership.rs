//! Decides by path and owner whether others may have written a file.

use std::path::{Component, Path, PathBuf};

use super::Context;

/// Places that belong to the system's owner.
const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/opt",
    "/nix/store",
];
/// Places with texts of others, regardless of their owner: logs, mail, disks that move between machines, files of all users.
const SHARED: &[&str] = &[
    "/dev/shm",
    "/media",
    "/mnt",
    "/net",
    "/run/media",
    "/tmp",
    "/var/log",
    "/var/mail",
    "/var/spool",
    "/var/tmp",
    "/Volumes",
    "/private/tmp",
    "/private/var/log",
];
/// The same below the home: downloads and mail.
const FETCHED: &[&str] = &[
    "Descargas",
    "Downloads",
    "Library/Mail",
    "Mail",
    "Maildir",
    "Scaricati",
    "T\u{e9}l\u{e9}chargements",
    ".mail",
    ".thunderbird",
    "mail",
    "mbox",
];

/// Whether others may have written the file at `path`, which is absolute, or something below it: it is neither in `workspace` nor the
/// system's, and its place or its owner says so. A place outside of the home whose owner is not known may be anyone's.
pub(super) fn is_foreign(path: &Path, context: Context<'_>, workspace: &Path) -> bool {
    is_foreign_to(path, context, workspace, true)
}

/// The same, without what is below a folder: only of the names in it.
pub(super) fn has_foreign_names(path: &Path, context: Context<'_>, workspace: &Path) -> bool {
    is_foreign_to(path, context, workspace, false)
}

fn is_foreign_to(path: &Path, context: Context<'_>, workspace: &Path, descends: bool) -> bool {
    let path = plain(path);
    // A workspace in such a folder is the user's choice.
    let is_fetched = |folder: &Path| is_within(&path, folder) && !is_within(workspace, folder);
    if FETCHED.iter().any(|name| is_fetched(&context.home.join(name))) {
        return true;
    }
    if is_within(&path, workspace) {
        return false;
    }
    let is_open = |below: &Path| context.files.map(|files| files.is_open_to_others(&path, below));
    if is_within(&path, context.home) {
        return is_open(context.home).unwrap_or(false);
    }
    if SHARED.iter().any(|place| path.starts_with(place)) {
        return true;
    }
    // What holds such a place holds texts of others, too.
    let holds_shared = || descends && SHARED.iter().any(|place| Path::new(place).starts_with(&path));
    !is_of_system(&path) && (holds_shared() || is_open(Path::new("/")).unwrap_or(true))
}

/// Whether a path is one of the system's by its text.
pub(super) fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().any(|root| is_within(path, Path::new(root)))
}

/// Whether a path is below `folder`, or is that folder, by its text alone.
pub(super) fn is_within(path: &Path, folder: &Path) -> bool {
    plain(path).starts_with(folder)
}

/// The path without `.` and `..`, by its text alone.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
