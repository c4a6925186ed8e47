//! Files that the user keeps from the assistant: the lines of `.cohabignore`, written as in `.gitignore`, and of one file for all folders.
//!
//! A `.cohabignore` counts in its folder and below. A file is kept if one of the files of rules keeps it: a `!` takes back a line of its own
//! file only, so that a folder that came from elsewhere cannot open what the user keeps. A file of rules that cannot be used keeps its whole
//! folder. One that belongs to another user does not count.

use std::{
    collections::HashMap,
    fmt,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use cohab_system::files::{self, FileError};
use cohab_text::sanitize::one_line;
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

/// Name of the file in folders.
pub const NAME: &str = ".cohabignore";
/// Largest file of rules.
const MAX_BYTES: u64 = 64 * 1024;
/// Folders whose rules are remembered; then all are read again.
const MAX_FOLDERS: usize = 50_000;
/// Longest path that is shown, in columns.
const PATH_COLUMNS: usize = 300;

/// The line that keeps a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBy {
    /// The file of rules.
    pub file: PathBuf,
    /// Its line, from 1; absent if the file cannot be read.
    pub line: Option<usize>,
    reason: String,
}

impl fmt::Display for KeptBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = one_line(&self.file.to_string_lossy(), PATH_COLUMNS);
        match self.line {
            Some(line) => write!(f, "is kept from the assistant by {file}:{line}"),
            None => write!(f, "is kept from the assistant by {file}, which cannot be used: {}", self.reason),
        }
    }
}

/// The rules of one file.
#[derive(Debug)]
enum FileRules {
    Read { file: PathBuf, matcher: Gitignore, lines: Vec<String> },
    Unusable(KeptBy),
}

/// Where the rules are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRules {
    home: PathBuf,
    own: PathBuf,
}

impl IgnoreRules {
    /// The rules in folders, and those of the file `own`, which need not exist; `home`, its links resolved, is what `~` stands for.
    #[must_use]
    pub fn new(home: PathBuf, own: PathBuf) -> Self {
        Self { home, own }
    }

    /// The line that keeps a file or folder, whose path is absolute and has no links. Blocks.
    #[must_use]
    pub fn kept_by(&self, path: &Path) -> Option<KeptBy> {
        self.checker().kept_by(path, path.is_dir())
    }

    /// Looks at many files, and reads each file of rules once.
    #[must_use]
    pub fn checker(&self) -> Checker {
        // Files of settings are often links into a folder of their own.
        let own = self.own.canonicalize().unwrap_or_else(|_| self.own.clone());
        let own = self.read(&own, Path::new("/"));
        Checker { rules: self.clone(), own, folders: Mutex::default() }
    }

    /// The rules of `file` for what is below `root`; `None` if there are none.
    fn read(&self, file: &Path, root: &Path) -> Option<FileRules> {
        let unusable = |line, reason: String| FileRules::Unusable(KeptBy { file: file.to_owned(), line, reason });
        let (bytes, metadata) = match files::read_regular(file, MAX_BYTES) {
            Ok(read) => read,
            Err(FileError::Missing | FileError::Folder) => return None,
            Err(error) => {
                let is_of_user = std::fs::symlink_metadata(file).is_ok_and(|metadata| is_own(metadata.uid()));
                return is_of_user.then(|| unusable(None, error.to_string()));
            }
        };
        if !is_own(metadata.uid()) {
            return None;
        }
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes));
        let lines: Vec<String> = text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect();
        let mut builder = GitignoreBuilder::new(root);
        for (line, number) in lines.iter().zip(1..) {
            if let Err(error) = builder.add_line(None, &self.expanded(line)) {
                return Some(unusable(
                    None,
                    format!("line {number} is no pattern: {}", one_line(&error.to_string(), 120)),
                ));
            }
        }
        match builder.build() {
            Ok(matcher) => Some(FileRules::Read { file: file.to_owned(), matcher, lines }),
            Err(error) => Some(unusable(None, one_line(&error.to_string(), 120))),
        }
    }

    /// A line with `~` resolved. The home's own name is no pattern.
    fn expanded(&self, line: &str) -> String {
        let (sign, pattern) = line.strip_prefix('!').map_or(("", line), |pattern| ("!", pattern));
        let Some(rest) = pattern.strip_prefix("~/") else { return line.to_owned() };
        let mut expanded = sign.to_owned();
        for sign in self.home.to_string_lossy().chars() {
            if matches!(sign, '\\' | '*' | '?' | '[' | ']' | '{' | '}') {
                expanded.push('\\');
            }
            expanded.push(sign);
        }
        expanded + "/" + rest
    }
}

fn is_own(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

/// The rules of folders that were looked at.
#[derive(Debug)]
pub struct Checker {
    rules: IgnoreRules,
    own: Option<FileRules>,
    /// Of each folder its rules and those above, the nearest first.
    folders: Mutex<HashMap<PathBuf, Arc<Vec<Arc<FileRules>>>>>,
}

impl Checker {
    /// The line that keeps a file or folder, whose path is absolute and has no links. Blocks.
    #[must_use]
    pub fn kept_by(&self, path: &Path, is_folder: bool) -> Option<KeptBy> {
        let own = self.own.as_ref().and_then(|rules| self.by(rules, path, is_folder));
        own.or_else(|| self.of_folder(path.parent()?).iter().find_map(|rules| self.by(rules, path, is_folder)))
    }

    /// The line of these rules that keeps a path below their folder.
    fn by(&self, rules: &FileRules, path: &Path, is_folder: bool) -> Option<KeptBy> {
        let (file, matcher, lines) = match rules {
            FileRules::Unusable(by) => return Some(by.clone()),
            FileRules::Read { file, matcher, lines } => (file, matcher, lines),
        };
        let Match::Ignore(glob) = matcher.matched_path_or_any_parents(path, is_folder) else { return None };
        let line = lines.iter().rposition(|line| self.rules.expanded(line).trim_end() == glob.original());
        Some(KeptBy { file: file.clone(), line: line.map(|at| at + 1), reason: String::new() })
    }

    fn of_folder(&self, folder: &Path) -> Arc<Vec<Arc<FileRules>>> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.len() > MAX_FOLDERS {
            folders.clear();
        }
        let chain: Vec<&Path> = folder.ancestors().collect();
        let mut above: Arc<Vec<Arc<FileRules>>> = Arc::default();
        for folder in chain.into_iter().rev() {
            if let Some(known) = folders.get(folder) {
                above = Arc::clone(known);
                continue;
            }
            if let Some(rules) = self.rules.read(&folder.join(NAME), folder) {
                above = Arc::new(std::iter::once(Arc::new(rules)).chain(above.iter().cloned()).collect());
            }
            folders.insert(folder.to_owned(), Arc::clone(&above));
        }
        above
    }
}

#[cfg(test)]
#[path = "ignore_rules_tests.rs"]
mod tests;
