//! Lists what an archive would write.

use std::{
    path::{Component, Path, PathBuf},
    time::Instant,
};

use super::{below, output};
use crate::{changes::ArchiveCall, plan::Lister};

/// The paths that the archive would write, a folder before what is in it. `None` if they cannot be listed.
pub(super) fn paths(call: &ArchiveCall, deadline: Instant) -> Option<Vec<PathBuf>> {
    // An absolute path is no name of another machine, nor an option.
    let archive = call.archive.to_str().filter(|archive| archive.starts_with('/'))?;
    // The folder into which it goes need not exist.
    let folder = call.archive.parent()?;
    let listing = match call.lister {
        Lister::Tar => output("tar", &["-tf", archive], folder, deadline)?,
        Lister::Unzip => output("unzip", &["-Z1", archive], folder, deadline)?,
    };
    let listing = String::from_utf8(listing).ok()?;
    // Names with unusual letters are written in another way than they are.
    if listing.contains('\\') {
        return None;
    }
    let mut found: Vec<PathBuf> = listing.lines().filter_map(|name| place(call, name)).collect();
    // A folder that is there already stays.
    found.retain(|path| !path.is_dir());
    found.sort();
    found.dedup();
    Some(found)
}

/// Where a name of the archive goes. The programs leave `/` at the beginning out, and refuse names with `..`.
fn place(call: &ArchiveCall, name: &str) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> =
        Path::new(name).components().filter(|part| !matches!(part, Component::RootDir | Component::CurDir)).collect();
    let strip = if call.strip == usize::MAX { parts.len().saturating_sub(1) } else { call.strip };
    below(&call.folder, &parts.get(strip..)?.iter().collect::<PathBuf>())
}
