//! Resolves paths in the model's notation to absolute paths of the system.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use cohab_policy::{self, Level};

use super::{ToolOptions, render};

/// The absolute path without links that `given` means in `cwd`; `~` is `home`. The file itself, and folders above it, need not exist.
/// Links are resolved here because the judged path must be the touched one.
///
/// # Errors
/// A sentence for the model: empty, `~user`, a link to nowhere, a circle of links, a folder that may not be entered.
pub(super) fn resolve(given: &str, cwd: &Path, home: &Path) -> Result<PathBuf, String> {
    if given.is_empty() || given.contains('\0') {
        return Err("the path is empty or has a NUL in it".into());
    }
    let expanded = match given.strip_prefix('~') {
        None => cwd.join(given),
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        Some(_) => return Err(format!("`{given}`: `~user` is not known here; give the whole path, or `./{given}`")),
    };
    follow(&expanded).map_err(|reason| format!("{}: {reason}", render::path(&expanded)))
}

/// The same, unless the user keeps that file from the assistant. Blocks.
///
/// # Errors
/// As [`resolve`], and which rule keeps it.
pub(super) fn resolve_open(given: &str, cwd: &Path, options: &ToolOptions) -> Result<PathBuf, String> {
    let path = resolve(given, cwd, &options.home)?;
    match options.ignore.kept_by(&path) {
        Some(by) => Err(format!("{}: {by}", render::path(&path))),
        None => Ok(path),
    }
}

fn follow(path: &Path) -> Result<PathBuf, String> {
    let error = match fs::canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) => error,
    };
    if error.kind() != io::ErrorKind::NotFound {
        return Err(match error.kind() {
            io::ErrorKind::PermissionDenied => "permission denied for a folder on the way".into(),
            io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".into(),
            _ => error.to_string(),
        });
    }
    if let Ok(target) = fs::read_link(path) {
        return Err(format!("is a link to {}, which does not exist", render::path(&target)));
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err("no such folder".into());
    };
    Ok(follow(parent)?.join(name))
}

/// The policy's level for reading `path`, which has no links in it.
pub(super) fn read_level(path: &Path, cwd: &Path, home: &Path) -> Level {
    cohab_policy::assess_read(path, cohab_policy::Context::new(cwd, home)).level
}

/// `path` as the model should write it: relative to `cwd` if it is below, else absolute.
pub(super) fn shown(path: &Path, cwd: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(below) if !below.as_os_str().is_empty() => render::path(below),
        _ => render::path(path),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn tilde_relative_and_missing_paths_become_absolute() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        let resolved = |given: &str| resolve(given, &root, Path::new("/")).unwrap();
        assert_eq!(resolved("~/etc"), Path::new("/etc"));
        assert_eq!(resolved("~"), Path::new("/"));
        assert_eq!(resolved("sub/../sub/./new/deep.txt"), root.join("sub/new/deep.txt"));
        assert_eq!(resolved("/"), Path::new("/"));
    }

    #[test]
    fn links_are_resolved_also_above_a_missing_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("link")).unwrap();
        assert_eq!(resolve("link/new", &root, &root).unwrap(), root.join("real/new"));
    }

    #[test]
    fn senseless_paths_are_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::write(root.join("file"), "").unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let error = |given: &str| resolve(given, &root, &root).unwrap_err();
        assert!(error("").contains("empty"));
        assert!(error("a\0b").contains("NUL"));
        assert!(error("~bob/x").contains("`./~bob/x`"));
        assert!(error("dangling").ends_with("is a link to nowhere, which does not exist"));
        assert!(error("circle/x").contains("links"), "{}", error("circle/x"));
        assert!(error("file/x").ends_with("a part of the path is a file, not a folder"));
        assert!(error("gone/..").ends_with("no such folder"));
        assert!(error(&"x".repeat(5000)).contains("too long"));
    }
}
