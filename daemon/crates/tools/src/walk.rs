//! Walks the files below a folder for `glob` and `grep`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cohab_context::ignore_rules::{Checker, IgnoreRules};
use cohab_system::files::FileError;
use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder};
use tokio_util::sync::CancellationToken;

use super::{blocking, path, render};

/// Most entries of one walk.
const ENTRIES_MAX: usize = 200_000;
/// Largest ignore file that is read. A folder with a larger one, or with a pipe of that name, is not entered.
const IGNORE_FILE_MAX_BYTES: u64 = 1024 * 1024;
/// Longest pattern.
const PATTERN_MAX_BYTES: usize = 4 * 1024;

/// A pattern for paths below a folder.
pub(super) struct PathPattern {
    matcher: GlobMatcher,
    is_for_names: bool,
    wants_hidden: bool,
}

impl PathPattern {
    /// `*` and `?` stop at `/`, `**` does not; `{a,b}` and `[a-z]` are known. Without `/` it is matched with the name alone.
    ///
    /// # Errors
    /// A sentence for the model about the fault of the pattern.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let pattern = pattern.trim_start_matches("./");
        Self::build(pattern, !pattern.contains('/'))
    }

    /// The same for a pattern that may lead elsewhere: also returns the folder it starts from. `../src/*.rs` is `*.rs` right in
    /// `../src`.
    ///
    /// # Errors
    /// As [`PathPattern::new`].
    pub(super) fn with_base(pattern: &str) -> Result<(&str, Self), String> {
        let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
        match pattern[..special].rfind('/') {
            None => Ok(("", Self::new(pattern)?)),
            Some(slash) => Ok((&pattern[..slash.max(1)], Self::build(&pattern[slash + 1..], false)?)),
        }
    }

    fn build(pattern: &str, is_for_names: bool) -> Result<Self, String> {
        if pattern.is_empty() || pattern.len() > PATTERN_MAX_BYTES {
            return Err(format!("the glob pattern names no file, or is longer than {PATTERN_MAX_BYTES} bytes"));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| format!("the glob pattern is wrong: {}", error.kind()))?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            is_for_names,
            wants_hidden: pattern.split(['/', '{', ',']).any(|part| part.starts_with('.')),
        })
    }

    fn is_match(&self, below: &Path) -> bool {
        if self.is_for_names {
            return below.file_name().is_some_and(|name| self.matcher.is_match(name));
        }
        self.matcher.is_match(below)
    }
}

/// The result of a walk.
pub(super) struct WalkResult {
    /// Absolute paths of files and links, sorted. The base itself if it is a file.
    pub(super) files: Vec<PathBuf>,
    /// Folders and files that could not be read.
    pub(super) unreadable: usize,
    /// Whether the walk reached its limit.
    pub(super) is_cut: bool,
    /// Whether ignore files were applied.
    pub(super) is_filtered: bool,
}

/// Collects the files below `base` that match `pattern`, without those that ignore files exclude, without hidden ones unless the
/// pattern asks for them, without what `rules` keep, and never inside `.git`. Links are listed, not followed.
///
/// # Errors
/// A sentence for the model: `base` cannot be entered, or the call was cancelled.
pub(super) fn files(
    base: &Path,
    pattern: Option<&PathPattern>,
    rules: &IgnoreRules,
    cancel: &CancellationToken,
) -> Result<WalkResult, String> {
    let named = |reason: &str| format!("{}: {reason}", render::path(base));
    let metadata = fs::symlink_metadata(base).map_err(|error| named(&FileError::from(error).to_string()))?;
    if metadata.is_file() {
        return Ok(WalkResult { files: vec![base.to_owned()], unreadable: 0, is_cut: false, is_filtered: true });
    }
    if !metadata.is_dir() {
        return Err(named("is neither a file nor a folder"));
    }
    fs::read_dir(base).map_err(|error| named(&FileError::from(error).to_string()))?;

    let is_filtered = base.ancestors().all(has_sane_ignore_files);
    let mut found = WalkResult { files: Vec::new(), unreadable: 0, is_cut: false, is_filtered };
    let wants_hidden = pattern.is_some_and(|pattern| pattern.wants_hidden);
    for (seen, entry) in walker(base, wants_hidden, is_filtered, rules.checker()).build().enumerate() {
        if cancel.is_cancelled() {
            return Err(blocking::CANCELLED.into());
        }
        if seen == ENTRIES_MAX {
            found.is_cut = true;
            break;
        }
        let Ok(entry) = entry else {
            found.unreadable += 1;
            continue;
        };
        let is_wanted = entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink());
        let below = entry.path().strip_prefix(base).unwrap_or(entry.path());
        if is_wanted && pattern.is_none_or(|pattern| pattern.is_match(below)) {
            found.files.push(entry.into_path());
        }
    }
    found.files.sort_unstable();
    Ok(found)
}

fn walker(base: &Path, wants_hidden: bool, is_filtered: bool, kept: Checker) -> WalkBuilder {
    let mut builder = WalkBuilder::new(base);
    builder.hidden(!wants_hidden).follow_links(false).require_git(false);
    builder.filter_entry(move |entry| may_enter(entry) && !is_kept(entry, &kept));
    // With either of the first two, the walker reads the ignore files of all folders above.
    builder.git_ignore(is_filtered).ignore(is_filtered).parents(is_filtered);
    // These read files outside of the folder, or files that an untrusted `.git` file names.
    builder.git_global(false).git_exclude(false);
    builder
}

/// Whether the user keeps it from the assistant. The base was looked at before.
fn is_kept(entry: &DirEntry, kept: &Checker) -> bool {
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    entry.depth() > 0 && kept.kept_by(entry.path(), is_folder).is_some()
}

fn may_enter(entry: &DirEntry) -> bool {
    !entry.file_type().is_some_and(|kind| kind.is_dir())
        || (entry.file_name() != ".git" && has_sane_ignore_files(entry.path()))
}

/// The walker opens ignore files by name and reads them whole, so a pipe or a device there would block it forever.
fn has_sane_ignore_files(folder: &Path) -> bool {
    [".ignore", ".gitignore"].iter().all(|name| match fs::metadata(folder.join(name)) {
        Ok(metadata) => metadata.is_dir() || (metadata.is_file() && metadata.len() <= IGNORE_FILE_MAX_BYTES),
        Err(_) => true,
    })
}

/// The omissions of a walk, for the end of a result; empty if there are none.
pub(super) fn gaps(found: &WalkResult, cwd: &Path, base: &Path) -> Vec<String> {
    let mut gaps = Vec::new();
    if found.is_cut {
        gaps.push(format!("stopped after {ENTRIES_MAX} entries; search in a smaller folder"));
    }
    if !found.is_filtered {
        gaps.push("ignore files were not heeded: one here or above is no regular file, or too large".into());
    }
    if found.unreadable > 0 {
        let places = render::count(found.unreadable, "place");
        gaps.push(format!("{places} below {} could not be read", path::shown(base, cwd)));
    }
    gaps
}
