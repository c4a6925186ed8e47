//! Reads the state of a repository from its files, without running git: git runs hooks and programs that a repository names.
//!
//! Only branch and commit names are taken from the files, and only if they look like names: no other content reaches the model, no
//! matter where the files lead.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cohab_system::files::read_regular;

/// Largest file that is read, except the list of packed references.
const MAX_FILE_BYTES: u64 = 4 * 1024;
/// Largest list of packed references that is read.
const MAX_PACKED_BYTES: u64 = 4 * 1024 * 1024;
/// Longest name of a branch.
const MAX_NAME_BYTES: usize = 255;
/// Digits of a commit's name in the request.
const SHOWN_DIGITS: usize = 10;
/// Files in git's folder during an operation.
const ACTIVITIES: [(&str, &str); 6] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

/// State of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitState {
    /// Its root.
    pub root: PathBuf,
    /// Branch that is checked out.
    pub branch: Option<String>,
    /// Start of the name of the commit that is checked out.
    pub commit: Option<String>,
    /// The operation in progress, one word.
    pub activity: Option<&'static str>,
}

/// The state of the repository at `root`; `None` if it is no repository. Blocks: file systems may be slow.
#[must_use]
pub fn read(root: &Path) -> Option<GitState> {
    let folder = folder_of(root)?;
    let head = small_file(&folder.join("HEAD"))?;
    let (branch, commit) = match head.strip_prefix("ref: ") {
        Some(name) => {
            let name = name.trim();
            let branch = name.strip_prefix("refs/heads/").filter(|branch| is_name(branch))?;
            (Some(branch.to_owned()), commit_of(&folder, name))
        }
        None => (None, Some(digits(&head)?)),
    };
    let activity = ACTIVITIES.iter().find(|(name, _)| fs::symlink_metadata(folder.join(name)).is_ok());
    Some(GitState { root: root.to_owned(), branch, commit, activity: activity.map(|(_, word)| *word) })
}

/// `.git` itself, or the folder that it names: in worktrees and submodules it is a file.
fn folder_of(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let text = small_file(&path)?;
    let folder = root.join(text.strip_prefix("gitdir: ")?.trim_end());
    folder.is_dir().then_some(folder)
}

/// The commit of a reference, from its own file or the packed ones; those of a worktree are in the main folder.
fn commit_of(folder: &Path, name: &str) -> Option<String> {
    let common = small_file(&folder.join("commondir")).map(|common| folder.join(common.trim_end()));
    let folders = [Some(folder.to_owned()), common];
    folders.iter().flatten().find_map(|folder| {
        let own = small_file(&folder.join(name)).and_then(|text| digits(&text));
        own.or_else(|| {
            let (bytes, _) = read_regular(&folder.join("packed-refs"), MAX_PACKED_BYTES).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            text.lines().find_map(|line| {
                line.split_once(' ').filter(|(_, other)| *other == name).and_then(|(id, _)| digits(id))
            })
        })
    })
}

fn small_file(path: &Path) -> Option<String> {
    let (bytes, _) = read_regular(path, MAX_FILE_BYTES).ok()?;
    String::from_utf8(bytes).ok()
}

/// The start of a commit's name, if it is one.
fn digits(text: &str) -> Option<String> {
    let text = text.trim_end();
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text[..SHOWN_DIGITS].to_owned())
}

/// Whether git accepts this name of a branch, roughly; with `.invalid` git says that the name is elsewhere.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    name.len() <= MAX_NAME_BYTES
        && name.split('/').all(is_part)
        && !name.contains("..")
        && !name.contains(|c: char| c.is_control() || c.is_whitespace() || "\\~^:?*[`".contains(c))
}

#[cfg(test)]
#[path = "git_state_tests.rs"]
mod tests;
