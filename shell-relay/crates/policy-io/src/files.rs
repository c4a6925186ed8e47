//! Resolves the paths of a line in the file system, for the policy.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    fs,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use cohab_policy::{Files, Program};
use cohab_shell_syntax::glob;

/// A pattern that matches more files is not judged file by file.
const MAX_TARGETS: usize = 1_000;
/// Largest number of names that are read to expand one pattern.
const MAX_PATTERN_NAMES: usize = 50_000;
/// Largest number of links on one path that are followed; the system itself follows no more.
const MAX_LINKS: usize = 40;
/// Largest number of names in one search for a secret file; the nearest come first.
const MAX_SEARCH_NAMES: usize = 20_000;
/// Groups of the system, such as `staff`, may own folders of programs.
const FIRST_GROUP_OF_PEOPLE: u32 = 1_000;
/// Folders of files made by others: examples of keys there are not secret.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules", "target", "vendor", ".venv", "venv", "testdata"];

/// Largest number of folders of PATH that are used.
const MAX_PROGRAM_FOLDERS: usize = 256;

/// The folders in `path`, a value of PATH, also by their real names: relative ones are left out.
#[must_use]
pub fn program_folders(path: &OsStr) -> Vec<PathBuf> {
    let named = std::env::split_paths(path).filter(|folder| folder.is_absolute()).take(MAX_PROGRAM_FOLDERS);
    let mut folders: Vec<PathBuf> =
        named.flat_map(|folder| [fs::canonicalize(&folder).ok(), Some(folder)]).flatten().collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Files for FileSystem {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        Some(matched(path)?.iter().filter_map(|path| fs::canonicalize(path).ok()).collect())
    }

    fn landings(&self, path: &Path, follows_last: bool) -> Option<Vec<PathBuf>> {
        Some(matched(path)?.iter().map(|path| landing(path, follows_last)).collect())
    }

    fn find_below(&self, root: &Path, with_hidden: bool, is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        let mut folders = VecDeque::from([root.to_owned()]);
        let mut names_left = MAX_SEARCH_NAMES;
        while let Some(folder) = folders.pop_front() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                names_left = names_left.checked_sub(1)?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') && !with_hidden {
                    continue;
                }
                // The judged program does not follow a link.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_ref()) => {
                        folders.push_back(entry.path());
                    }
                    Ok(kind) if kind.is_file() && is_wanted(&name) => return Some(entry.path()),
                    _ => {}
                }
            }
        }
        None
    }

    fn matches(&self, path: &Path) -> Option<Vec<PathBuf>> {
        matched(path)
    }

    fn has_names_below(&self, root: &Path, is_odd: &dyn Fn(&str) -> bool) -> bool {
        entry_below(root, &|entry| is_odd(&entry.file_name().to_string_lossy())).is_some()
    }

    fn link_below(&self, root: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        entry_below(root, &|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_symlink())
                && fs::canonicalize(entry.path()).is_ok_and(|target| is_wanted(&target))
        })
    }

    fn is_open_to_others(&self, path: &Path, below: &Path) -> bool {
        let Ok(way) = path.strip_prefix(below) else { return true };
        let mut place = below.to_owned();
        way.components().any(|part| {
            place.push(part);
            fs::metadata(&place).is_ok_and(|found| !is_owned_here(&found) || is_writable_by_others(&found))
        })
    }

    fn program(&self, path: &Path) -> Option<Program> {
        let real = fs::canonicalize(path).ok()?;
        let file = fs::metadata(&real).ok().filter(|file| file.is_file() && file.mode() & 0o111 != 0)?;
        let is_open_folder = |folder: &Path| fs::metadata(folder).is_ok_and(|folder| is_writable_by_others(&folder));
        let is_open =
            file.mode() & 0o022 != 0 || [path, real.as_path()].into_iter().filter_map(Path::parent).any(is_open_folder);
        Some(Program { is_trusted: is_owned_here(&file), is_open, real })
    }
}

/// Whether a file belongs to root or the user.
fn is_owned_here(file: &fs::Metadata) -> bool {
    file.uid() == 0 || file.uid() == rustix::process::geteuid().as_raw()
}

/// Whether other people can write a file or, in a folder, its entries.
fn is_writable_by_others(file: &fs::Metadata) -> bool {
    let is_of_people = file.gid() >= FIRST_GROUP_OF_PEOPLE && file.gid() != rustix::process::getegid().as_raw();
    file.mode() & 0o002 != 0 || (file.mode() & 0o020 != 0 && is_of_people)
}

/// The paths that match a pattern, or the path itself.
fn matched(path: &Path) -> Option<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from("/")];
    let mut names_left = MAX_PATTERN_NAMES;
    for component in path.components() {
        match component {
            Component::Normal(name) if has_wildcard(name) => found = expand(&found, name, &mut names_left)?,
            Component::Normal(name) => found.iter_mut().for_each(|path| path.push(name)),
            Component::ParentDir => found.iter_mut().for_each(|path| path.push("..")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(found)
}

/// The target of a write to `path`, which is absolute: links are followed as the system does it, and missing parts keep their names.
/// Beyond [`MAX_LINKS`], where the system would give up, they are not followed any more.
fn landing(path: &Path, follows_last: bool) -> PathBuf {
    let names = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let mut place = PathBuf::from("/");
    // The next one is the last.
    let mut rest = names(path);
    let mut links_left = MAX_LINKS;
    while let Some(name) = rest.pop() {
        match Path::new(&name).components().next() {
            Some(Component::RootDir) => place = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(place.pop()),
            Some(Component::Normal(_)) => place.push(&name),
            _ => continue,
        }
        let is_passed = !rest.is_empty() || follows_last;
        if is_passed
            && links_left > 0
            && let Ok(target) = fs::read_link(&place)
        {
            links_left -= 1;
            place.pop();
            rest.extend(names(&target));
        }
    }
    place
}

/// The first entry below `root` that `is_wanted`, or `root` if there are too many entries. No link is followed.
fn entry_below(root: &Path, is_wanted: &dyn Fn(&fs::DirEntry) -> bool) -> Option<PathBuf> {
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut names_left = MAX_SEARCH_NAMES;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if names_left == 0 {
                return Some(root.to_owned());
            }
            names_left -= 1;
            if is_wanted(&entry) {
                return Some(entry.path());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back(entry.path());
            }
        }
    }
    None
}

fn has_wildcard(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// The entries of `folders` that match `pattern`, and the entry with exactly that name.
fn expand(folders: &[PathBuf], pattern: &OsStr, names_left: &mut usize) -> Option<Vec<PathBuf>> {
    let pattern = pattern.to_string_lossy().to_lowercase();
    // With `globstar` the pattern stands for folders of any depth.
    if pattern == "**" {
        return None;
    }
    let mut found = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            *names_left = names_left.checked_sub(1)?;
            let name = entry.file_name();
            // With `nocaseglob` the shell compares so, too.
            let text = name.to_string_lossy().to_lowercase();
            let is_hidden = text.starts_with('.') && !pattern.starts_with('.');
            if text == pattern || (!is_hidden && glob::matches(&text, &pattern)) {
                found.push(entry.path());
            }
        }
        if found.len() > MAX_TARGETS {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod planted_tests;

#[cfg(test)]
mod tests;
