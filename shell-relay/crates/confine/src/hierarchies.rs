//! Splits the file system around secrets into whole hierarchies.
//!
//! Landlock takes permissions and no exceptions: the neighbours of a secret are permitted one by one, everything else as a whole. A
//! folder on the way to a secret is listed once; files made in it later cannot be read.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    path::{Component, Path, PathBuf},
};

use crate::folders::{Folders, Kind};

/// Never permitted as a whole: disks, the input of other terminals.
const DEVICES: &str = "/dev";

/// All but `secrets` and devices, links excluded: a link is read at its target. `known` are paths that must be found even if a folder
/// above them cannot be listed.
#[must_use]
pub fn around(secrets: &BTreeSet<PathBuf>, known: &[PathBuf], folders: &mut Folders) -> Vec<PathBuf> {
    let mut root = Branch::default();
    for secret in secrets.iter().map(PathBuf::as_path).chain([Path::new(DEVICES)]) {
        root.add(secret);
    }
    let mut around = Around { known, folders, found: Vec::new() };
    around.visit(Path::new("/"), &root);
    around.found
}

/// Names below a folder that lead to secrets.
#[derive(Debug, Default)]
struct Branch {
    is_secret: bool,
    below: BTreeMap<OsString, Self>,
}

impl Branch {
    fn add(&mut self, path: &Path) {
        let names = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            _ => None,
        });
        names.fold(self, |branch, name| branch.below.entry(name).or_default()).is_secret = true;
    }
}

struct Around<'a> {
    known: &'a [PathBuf],
    folders: &'a mut Folders,
    found: Vec<PathBuf>,
}

impl Around<'_> {
    fn visit(&mut self, folder: &Path, branch: &Branch) {
        let Some(entries) = self.folders.entries(folder) else {
            let known: BTreeSet<&OsStr> = self.known.iter().filter_map(|path| name_towards(folder, path)).collect();
            return known.into_iter().for_each(|name| self.take(folder, name, Kind::Folder, branch));
        };
        for entry in entries.iter().filter(|entry| entry.kind != Kind::Link) {
            self.take(folder, &entry.name, entry.kind, branch);
        }
    }

    fn take(&mut self, folder: &Path, name: &OsStr, kind: Kind, branch: &Branch) {
        match branch.below.get(name) {
            None => self.found.push(folder.join(name)),
            Some(below) if below.is_secret => {}
            Some(below) if kind == Kind::Folder => self.visit(&folder.join(name), below),
            Some(_) => {}
        }
    }
}

/// The name in `folder` through which `path` is reached.
fn name_towards<'a>(folder: &Path, path: &'a Path) -> Option<&'a OsStr> {
    match path.strip_prefix(folder).ok()?.components().next()? {
        Component::Normal(name) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn around_secrets(home: &Path, secrets: &[&str]) -> Vec<PathBuf> {
        let secrets = secrets.iter().map(|name| home.join(name)).collect();
        around(&secrets, &[], &mut Folders::default())
    }

    #[test]
    fn folders_are_whole_unless_a_secret_is_below() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in [".ssh", ".config/gh", ".config/git", ".sshx", "work/app"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join("notes"), "x").unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("link")).unwrap();
        let found = around_secrets(&home, &[".ssh", ".config/gh"]);
        let inside: BTreeSet<&Path> = found.iter().filter_map(|path| path.strip_prefix(&home).ok()).collect();
        assert_eq!(inside, [".config/git", ".sshx", "notes", "work"].map(Path::new).into());
        assert!(found.contains(&PathBuf::from("/proc")) && !found.iter().any(|path| path.starts_with("/dev")));
        assert!(!found.iter().any(|path| home.starts_with(path)), "{found:?}");
    }

    #[test]
    fn without_secrets_the_top_folders_do() {
        let found = around(&BTreeSet::new(), &[], &mut Folders::default());
        assert!(found.iter().all(|path| path.components().count() == 2) && found.len() > 5, "{found:?}");
    }

    #[test]
    fn below_an_unlistable_folder_known_paths_are_found() {
        let known = [PathBuf::from("/home/me/work"), PathBuf::from("/srv")];
        assert_eq!(name_towards(Path::new("/home"), &known[0]), Some(OsStr::new("me")));
        assert_eq!(name_towards(Path::new("/home"), &known[1]), None);
        assert_eq!(name_towards(Path::new("/srv"), &known[1]), None);
    }
}
