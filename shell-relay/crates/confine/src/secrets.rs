//! Finds the places of secrets that exist on this system, links resolved.
//!
//! The search covers known places below the homes and below the working folder and the folders above it, places from the root, and
//! names of files in the same folders and in the nearest folders below the working folder. The rest of the disk
//! is not searched: a program that starts has a millisecond.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, access},
    process::geteuid,
};

use crate::folders::{self, Folders, Kind};

/// The number of folders below the working folder that are searched for names.
const WALKED_FOLDERS: usize = 24;
/// Folders that are not searched: large, and written by programs.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", "vendor", ".venv", "__pycache__"];
/// Folders of the root in which no user keeps secrets by name.
const SYSTEM_FOLDERS: &[&str] =
    &["etc", "usr", "boot", "sys", "proc", "dev", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "run", "nix"];
/// The number of entries of a folder that are tested for reading.
const LISTED_ENTRIES: usize = 16;
/// Largest number of wanted names in a folder that are looked up without a listing.
const LOOKED_UP_NAMES: usize = 24;
/// Places from the root that need no search: only named devices of `/dev` can be read, and the kernel protects `/proc` from programs that
/// did not start the process.
const KEPT_OTHERWISE: &[&str] = &["proc/", "dev/"];

/// Places of secrets, as runs of path components with `*` and `?`.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// Places below a home.
    pub in_homes: &'a [&'a str],
    /// Places from the root.
    pub from_root: &'a [&'a [&'a str]],
    /// Names of files.
    pub names: &'a [&'a [&'a str]],
    /// Names that look secret and are not.
    pub plain_names: &'a [&'a str],
}

/// Folders to search.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Existing folders, links resolved.
    pub homes: Vec<PathBuf>,
    /// The working folder, links resolved.
    pub cwd: PathBuf,
}

/// Finds the places that exist and can be read.
#[must_use]
pub fn find(places: Places<'_>, surroundings: &Surroundings, folders: &mut Folders) -> BTreeSet<PathBuf> {
    let mut search = Search { places, folders, found: BTreeSet::new() };
    for home in &surroundings.homes {
        search.below(home, places.in_homes);
        search.names_in(home);
    }
    let needs_search = |place: &&str| !KEPT_OTHERWISE.iter().any(|kept| place.starts_with(kept));
    let from_root: Vec<&str> = places.from_root.iter().copied().flatten().copied().filter(needs_search).collect();
    search.below(Path::new("/"), &from_root);
    if !is_system(&surroundings.cwd) {
        for folder in surroundings.cwd.ancestors().filter(|folder| folder.parent().is_some()) {
            if surroundings.homes.iter().any(|home| home.starts_with(folder)) {
                break;
            }
            search.below(folder, places.in_homes);
            search.names_in(folder);
        }
        search.names_below(&surroundings.cwd);
    }
    // Fewer places of a home are asked about: most files there are the user's own.
    search.found.retain(|path| surroundings.homes.iter().any(|home| path.starts_with(home)) || is_readable(path));
    search.found
}

/// Whether the user can read a path; an unreadable one needs no rule, since a confined program cannot change modes. Some folders of the
/// system can be listed though their files cannot be read.
fn is_readable(path: &Path) -> bool {
    let may = |path: &Path, kind| access(path, kind).is_ok();
    if !may(path, Access::READ_OK) {
        return may(path, Access::EXEC_OK);
    }
    let is_of_others =
        fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() != geteuid().as_raw());
    let Some(mut entries) = is_of_others.then(|| fs::read_dir(path).ok()).flatten() else { return true };
    let is_open = |entry: &fs::DirEntry| {
        entry.file_type().map_or(true, |kind| !kind.is_file()) || may(&entry.path(), Access::READ_OK)
    };
    entries.by_ref().take(LISTED_ENTRIES).flatten().any(|entry| is_open(&entry)) || entries.next().is_some()
}

fn is_system(folder: &Path) -> bool {
    let first = folder.components().nth(1);
    first.is_none_or(|first| SYSTEM_FOLDERS.iter().any(|system| first.as_os_str() == *system))
}

struct Search<'a, 'f> {
    places: Places<'a>,
    folders: &'f mut Folders,
    found: BTreeSet<PathBuf>,
}

impl Search<'_, '_> {
    /// Adds the finds of `places` below `folder`, a path without links.
    fn below(&mut self, folder: &Path, places: &[&str]) {
        let first = |place: &&'_ str| place.find('/').map_or(place.len(), |end| end);
        let has_plain_start = |place: &&str| !place[..first(place)].contains(['*', '?']);
        if places.len() <= LOOKED_UP_NAMES && places.iter().all(has_plain_start) {
            let names: BTreeSet<&str> = places.iter().map(|place| &place[..first(place)]).collect();
            for name in names {
                let path = folder.join(name);
                if let Some(kind) = folders::kind(&path) {
                    self.entry(folder, OsStr::new(name), kind, places);
                }
            }
            return;
        }
        for entry in self.folders.entries(folder).iter().flat_map(|entries| entries.iter()) {
            self.entry(folder, &entry.name, entry.kind, places);
        }
    }

    fn entry(&mut self, folder: &Path, name: &OsStr, kind: Kind, places: &[&str]) {
        let mut rests = Vec::new();
        let mut is_secret = false;
        for place in places.iter().filter(|place| may_begin(name.as_bytes(), place.as_bytes())) {
            match place.split_once('/') {
                Some((first, rest)) if is_like(name, first) => rests.push(rest),
                None if is_like(name, place) => is_secret = true,
                _ => {}
            }
        }
        if rests.is_empty() && !is_secret {
            return;
        }
        let Some(real) = resolved(folder.join(name), kind) else { return };
        if is_secret {
            self.found.insert(real);
        } else {
            self.below(&real, &rests);
        }
    }

    fn names_in(&mut self, folder: &Path) {
        for entry in self.folders.entries(folder).iter().flat_map(|entries| entries.iter()) {
            if entry.kind != Kind::Folder && self.is_secret_name(&entry.name) {
                self.found.extend(resolved(folder.join(&entry.name), entry.kind));
            }
        }
    }

    fn names_below(&mut self, folder: &Path) {
        let mut waiting = VecDeque::from([folder.to_owned()]);
        for _ in 0..WALKED_FOLDERS {
            let Some(folder) = waiting.pop_front() else { return };
            self.names_in(&folder);
            for entry in self.folders.entries(&folder).iter().flat_map(|entries| entries.iter()) {
                let is_walked = entry.kind == Kind::Folder && !SKIPPED.iter().any(|skipped| entry.name == *skipped);
                if is_walked && waiting.len() < WALKED_FOLDERS {
                    waiting.push_back(folder.join(&entry.name));
                }
            }
        }
    }

    fn is_secret_name(&self, name: &OsStr) -> bool {
        let is_secret = self.places.names.iter().copied().flatten().any(|pattern| is_like(name, pattern));
        is_secret && !self.places.plain_names.iter().any(|pattern| is_like(name, pattern))
    }
}

/// The path without links; `None` for a dangling link.
fn resolved(path: PathBuf, kind: Kind) -> Option<PathBuf> {
    if kind == Kind::Link { path.canonicalize().ok() } else { Some(path) }
}

/// Whether the first name of a place may be this one, by its first bytes: nearly all pairs differ there.
fn may_begin(name: &[u8], place: &[u8]) -> bool {
    for (index, wanted) in place.iter().enumerate().take(3) {
        match wanted {
            b'*' | b'?' => return true,
            b'/' => return name.len() == index,
            _ if name.get(index) != Some(wanted) => return false,
            _ => {}
        }
    }
    true
}

/// Whether a name fits a pattern of `*` and `?`.
fn is_like(name: &OsStr, pattern: &str) -> bool {
    let (name, pattern) = (name.as_bytes(), pattern.as_bytes());
    let (Some((first, rest)), Some(last)) = (pattern.split_first(), pattern.last()) else { return name.is_empty() };
    // Most of all pairs differ at one end.
    let is_end = |wanted: &u8, byte: Option<&u8>| matches!(wanted, b'*' | b'?') || Some(wanted) == byte;
    is_end(first, name.first())
        && is_end(last, name.last())
        && match (first, rest) {
            (b'*', end) if !has_wildcard(end) => name.ends_with(end),
            _ if !has_wildcard(pattern) => name == pattern,
            _ => fits(name, pattern),
        }
}

fn has_wildcard(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| matches!(byte, b'*' | b'?'))
}

fn fits(name: &[u8], pattern: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', rest @ ..] => (0..=name.len()).any(|skipped| fits(&name[skipped..], rest)),
        [b'?', rest @ ..] => !name.is_empty() && fits(&name[1..], rest),
        [first, rest @ ..] => name.first() == Some(first) && fits(&name[1..], rest),
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
