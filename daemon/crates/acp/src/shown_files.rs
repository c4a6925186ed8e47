//! Files that an agent was shown with parts left out: writing them back whole would lose those parts.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

/// The files, by their paths without links.
#[derive(Debug, Default)]
pub(crate) struct ShownFiles(HashSet<PathBuf>);

impl ShownFiles {
    /// Notes how a file was shown. A part that was shown exactly says nothing about the rest.
    pub(crate) fn note(&mut self, path: &Path, is_exact: bool, is_whole: bool) {
        if !is_exact {
            self.0.insert(path.to_owned());
        } else if is_whole {
            self.0.remove(path);
        }
    }

    /// Whether the agent lacks parts of this file.
    pub(crate) fn has_gaps(&self, path: &Path) -> bool {
        self.0.contains(path)
    }
}

/// The path without links that `given` means in `cwd`; `~` is `home`. The file need not exist. Blocks.
pub(crate) fn real_path(given: &str, cwd: &Path, home: &Path) -> PathBuf {
    let path = match given.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(given),
    };
    if let Ok(real) = fs::canonicalize(&path) {
        return real;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path };
    fs::canonicalize(folder).map_or_else(|_| path.clone(), |folder| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_path_in_all_spellings() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        fs::create_dir(root.join("x")).expect("a folder");
        fs::write(root.join("a"), "").expect("a file");
        std::os::unix::fs::symlink("a", root.join("link")).expect("a link");
        let here = root.join("x");
        let whole = format!("{}/x/../a", root.display());
        for given in ["../a", "../link", ".././a", "~/a", "~/x/../link", whole.as_str()] {
            assert_eq!(real_path(given, &here, &root), root.join("a"), "{given}");
        }
        assert_eq!(real_path("../new", &here, &root), root.join("new"));
        assert_eq!(real_path("none/new", &here, &root), here.join("none/new"));
    }

    #[test]
    fn only_an_exact_read_of_all_closes_the_gaps() {
        let (mut files, path) = (ShownFiles::default(), Path::new("/w/a"));
        assert!(!files.has_gaps(path));
        files.note(path, false, true);
        files.note(path, true, false);
        assert!(files.has_gaps(path), "a part says nothing about the rest");
        files.note(path, true, true);
        assert!(!files.has_gaps(path));
    }
}
