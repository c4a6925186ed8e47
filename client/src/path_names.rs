//! Resolves names by `PATH` and the shells' builtins, for lines that do not come from a live shell.

use std::{
    cell::RefCell,
    collections::HashMap,
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use cohab_line_classifier::{Names, builtins::is_builtin_somewhere};

/// Programs on `PATH`, builtins and keywords of bash, zsh and fish.
#[derive(Debug)]
pub struct PathNames {
    folders: Vec<PathBuf>,
    /// Below this folder arguments are looked for; nothing exists without one.
    folder: Option<PathBuf>,
    /// Of `cohab`.
    subcommands: &'static [&'static str],
    found: RefCell<HashMap<String, bool>>,
}

impl PathNames {
    /// Of a `PATH`; arguments are looked for below `folder`, if there is one. `subcommands` are those of `cohab`.
    #[must_use]
    pub fn of(path: Option<&OsStr>, folder: Option<PathBuf>, subcommands: &'static [&'static str]) -> Self {
        let folders = path.map(|path| env::split_paths(path).collect()).unwrap_or_default();
        Self { folders, folder, subcommands, found: RefCell::default() }
    }

    fn is_program(&self, name: &str) -> bool {
        !name.is_empty()
            && !name.contains(['/', '\0'])
            && self.folders.iter().any(|folder| is_executable(&folder.join(name)))
    }
}

impl Names for PathNames {
    fn resolves(&self, name: &str) -> bool {
        if is_builtin_somewhere(name) {
            return true;
        }
        if let Some(found) = self.found.borrow().get(name) {
            return *found;
        }
        let found = self.is_program(name);
        let mut known = self.found.borrow_mut();
        if known.len() >= MAX_CACHED {
            known.clear();
        }
        known.insert(name.to_owned(), found);
        found
    }

    fn exists(&self, argument: &str) -> bool {
        self.folder
            .as_ref()
            .is_some_and(|folder| !argument.contains('\0') && folder.join(argument).symlink_metadata().is_ok())
    }

    fn subcommands_of_cohab(&self) -> &[&str] {
        self.subcommands
    }
}

/// How many names are remembered.
const MAX_CACHED: usize = 50_000;

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn programs_builtins_and_files_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, "").expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
        };
        file("frobnicate", 0o755);
        file("notes", 0o644);
        fs::create_dir(folder.path().join("sub")).expect("a folder");
        let names = PathNames::of(Some(folder.path().as_os_str()), Some(folder.path().to_owned()), &[]);
        for (name, resolves) in [
            ("frobnicate", true),
            ("notes", false),
            ("sub", false),
            ("cd", true),
            ("while", true),
            ("", false),
            ("a/b", false),
        ] {
            assert_eq!(names.resolves(name), resolves, "{name}");
            assert_eq!(names.resolves(name), resolves, "{name}, once more");
        }
        assert!(names.exists("notes") && !names.exists("other") && !names.exists("a\0b"));
        assert!(!PathNames::of(None, None, &[]).exists("notes"));
    }
}
