//! Protects the files of a repository that decide which programs git runs: hooks and settings. A confined command may write below the
//! workspace, and Landlock has no exceptions below a folder; so both are read before and after the command, and changes are reverted.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Larger files, and more of them, are not kept; only their change is reported.
const FILE_MAX_BYTES: u64 = 256 * 1024;
const MAX_FILES: usize = 200;
/// The settings of a repository that a command may change: none of them names a program. Section and key; `*` is any key.
const HARMLESS: &[(&str, &str)] = &[
    ("user", "name"),
    ("user", "email"),
    ("branch", "*"),
    ("remote", "url"),
    ("remote", "fetch"),
    ("remote", "pushurl"),
    ("remote", "tagopt"),
    ("remote", "prune"),
    ("core", "repositoryformatversion"),
    ("core", "filemode"),
    ("core", "bare"),
    ("core", "logallrefupdates"),
    ("core", "ignorecase"),
    ("core", "precomposeunicode"),
    ("core", "autocrlf"),
    ("core", "eol"),
    ("core", "sparsecheckout"),
    ("core", "sparsecheckoutcone"),
    // The settings that it enables are in `config.worktree`, which is read, too.
    ("extensions", "worktreeconfig"),
    ("submodule", "url"),
    ("submodule", "active"),
    ("pull", "*"),
    ("push", "*"),
    ("fetch", "*"),
    ("rebase", "*"),
    ("color", "*"),
];

/// The hooks and settings of a repository as they were.
#[derive(Debug)]
pub struct GitFiles {
    folder: PathBuf,
    files: BTreeMap<PathBuf, Kept>,
}

#[derive(Debug, PartialEq, Eq)]
enum Kept {
    /// A regular file: its bytes and mode.
    File(Vec<u8>, u32),
    /// Another kind of file, or one too large to be kept.
    Other,
}

impl GitFiles {
    /// The files of the repository whose root is `workspace`; empty if it is not a repository or its files lie elsewhere. Blocks.
    #[must_use]
    pub fn of(workspace: &Path) -> Option<Self> {
        let folder = workspace.join(".git");
        let is_folder = fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir());
        is_folder.then(|| Self { files: look(&folder), folder })
    }

    /// Takes back changes of the files that decide which programs run; returns the names of those files, from `.git` on. Blocks.
    #[must_use]
    pub fn take_back(&self) -> Vec<String> {
        let now = look(&self.folder);
        let names: BTreeSet<&PathBuf> = self.files.keys().chain(now.keys()).collect();
        let changed = names.into_iter().filter(|name| {
            let (before, after) = (self.files.get(*name), now.get(*name));
            before != after && !(name.ends_with("config") && is_harmless(before, after))
        });
        changed.map(|name| self.put_back(name)).collect()
    }

    /// Restores the file; returns the name, with a note if that failed.
    fn put_back(&self, name: &Path) -> String {
        let path = self.folder.join(name);
        let done = match self.files.get(name) {
            None => fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)),
            Some(Kept::File(bytes, mode)) => restore(&path, bytes, *mode),
            Some(Kept::Other) => Err(io::ErrorKind::FileTooLarge.into()),
        };
        let word = if done.is_ok() { "" } else { " (could not be taken back)" };
        format!(".git/{}{word}", name.display())
    }
}

/// The protected files, by their names below `.git`.
fn look(folder: &Path) -> BTreeMap<PathBuf, Kept> {
    let mut names: Vec<PathBuf> = ["config", "config.worktree", "info/attributes"].map(PathBuf::from).into();
    let hooks = fs::read_dir(folder.join("hooks")).into_iter().flatten().flatten().take(MAX_FILES);
    names.extend(hooks.map(|hook| Path::new("hooks").join(hook.file_name())));
    let kept = |name: PathBuf| {
        let found = fs::symlink_metadata(folder.join(&name)).ok()?;
        let file = (found.is_file() && found.len() <= FILE_MAX_BYTES).then(|| read(&folder.join(&name)).ok()).flatten();
        let kept = file.map_or(Kept::Other, |bytes| Kept::File(bytes, found.permissions().mode() & 0o7777));
        Some((name, kept))
    };
    names.into_iter().filter_map(kept).collect()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(FILE_MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Rewrites the whole file next to its place: the present file may be a link.
fn restore(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        let _ = fs::remove_file(folder);
        fs::create_dir_all(folder)?;
    }
    let temporary = folder.join(format!(".cohab-{}", uuid::Uuid::new_v4().simple()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(path)?;
        }
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Whether settings differ only in what names no program.
fn is_harmless(before: Option<&Kept>, after: Option<&Kept>) -> bool {
    let entries = |kept: Option<&Kept>| match kept {
        None => Some(BTreeSet::new()),
        Some(Kept::File(bytes, _)) => std::str::from_utf8(bytes).ok().map(entries),
        Some(Kept::Other) => None,
    };
    match (entries(before), entries(after)) {
        (Some(before), Some(after)) => before.symmetric_difference(&after).all(|(section, key, line)| {
            // A line that continues in the next one may hide the section.
            !line.ends_with('\\') && HARMLESS.iter().any(|(of, name)| of == section && (*name == "*" || name == key))
        }),
        _ => false,
    }
}

/// Section, key and line of each setting; a line of any other kind has neither section nor key.
fn entries(text: &str) -> BTreeSet<(String, String, String)> {
    let mut section = String::new();
    let mut entries = BTreeSet::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        let mut rest = line;
        if let Some((header, behind)) = line.strip_prefix('[').and_then(|inner| inner.rsplit_once(']')) {
            section = header.split([' ', '"', '.']).next().unwrap_or_default().to_ascii_lowercase();
            rest = behind.trim();
        }
        if !rest.is_empty() {
            let key = rest.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
            // A setting behind its header, or a bracket in it: git's reading of it is unknown.
            let section = if line.contains('[') && rest != line { String::new() } else { section.clone() };
            entries.insert((section, key, line.to_owned()));
        }
    }
    entries
}

#[cfg(test)]
#[path = "git_files_tests.rs"]
mod tests;
