//! Lists what a command of git would change: files of the working tree, and files of the repository such as HEAD, branches and the index.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    time::Instant,
};

use super::{below, output};
use crate::{changes::GitCall, git::GitPart};

/// Settings that keep git from starting a program, whatever the repository's settings are.
const SETTINGS: [&str; 9] = [
    "--no-pager",
    "-c",
    "core.fsmonitor=",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
    "-c",
    "core.untrackedCache=false",
];
/// Variables that keep git from fetching, asking and writing.
pub(super) const VARIABLES: [(&str, &str); 4] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// What a repository holds while a merge, a rebase or a pick is under way.
const STATE: [&str; 10] = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];
/// Lines about a file in `git ls-files --debug`.
const DEBUG_LINES: usize = 5;

/// The paths that the command may change, files of the working tree first. `None` if they cannot be listed.
pub(super) fn paths(call: &GitCall, deadline: Instant) -> Option<Vec<PathBuf>> {
    let git = Git::open(call, deadline)?;
    let (tree, paths) = git.target()?;
    let mut found = Vec::new();
    for part in &call.parts {
        match part {
            GitPart::Tree => found.extend(tree.as_deref().map_or(Some(Vec::new()), |tree| git.tree(tree, &paths))?),
            GitPart::Dirty => found.extend(git.dirty(&paths)?),
            GitPart::Untracked => found.extend(git.untracked(&paths)?),
            GitPart::Commits => {
                for commit in &call.operands {
                    found.extend(git.commit(commit.to_str()?, None)?);
                }
            }
            GitPart::Stashed => found.extend(git.stashed()?),
            // Others are files of the repository, or known without git.
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    for part in &call.parts {
        found.extend(git.own_files(*part)?);
    }
    Some(found)
}

struct Git<'a> {
    call: &'a GitCall,
    deadline: Instant,
    /// The folder of the working tree.
    top: PathBuf,
    /// The repository of this working tree, and the one that all share.
    own: PathBuf,
    common: PathBuf,
}

impl<'a> Git<'a> {
    fn open(call: &'a GitCall, deadline: Instant) -> Option<Self> {
        let mut git = Self { call, deadline, top: call.folder.clone(), own: PathBuf::new(), common: PathBuf::new() };
        let asked = ["--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
        let told = git.run("rev-parse", asked)?;
        let mut lines = told.split(|byte| *byte == b'\n').map(|line| PathBuf::from(OsStr::from_bytes(line)));
        (git.top, git.own, git.common) = (lines.next()?, lines.next()?, lines.next()?);
        // A name with a line end would be more lines.
        let is_whole = lines.next()?.as_os_str().is_empty() && lines.next().is_none();
        let are_there = git.top.is_dir() && git.own.is_dir() && git.common.is_dir();
        // Such a repository does not keep branches in files.
        (is_whole && are_there && !git.common.join("reftable").exists()).then_some(git)
    }

    fn run<S: AsRef<OsStr>>(&self, command: &str, arguments: impl IntoIterator<Item = S>) -> Option<Vec<u8>> {
        self.run_in(&self.call.folder, command, arguments)
    }

    fn run_in<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        command: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Option<Vec<u8>> {
        let all = SETTINGS.iter().map(OsString::from).chain([OsString::from(command)]);
        let all: Vec<OsString> = all.chain(arguments.into_iter().map(|one| one.as_ref().to_owned())).collect();
        output("git", &all, folder, self.deadline)
    }

    /// The names of a listing, with NUL behind each, below the working tree.
    fn names(&self, listing: &[u8]) -> Vec<PathBuf> {
        let names = listing.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.filter_map(|name| below(&self.top, Path::new(OsStr::from_bytes(name)))).collect()
    }

    fn has(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.call.options.iter().any(|one| one == option))
    }

    /// The name of a commit, in full.
    fn resolved(&self, name: &str) -> Option<String> {
        let name = if name == "-" { "@{-1}" } else { name };
        let told = self.run("rev-parse", ["--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])?;
        let told = String::from_utf8(told).ok()?;
        // Git may repeat the option.
        told.lines().last().filter(|line| line.bytes().all(|byte| byte.is_ascii_hexdigit())).map(str::to_owned)
    }

    /// The commit whose files the command takes, and the files that it is restricted to.
    fn target(&self) -> Option<(Option<String>, Vec<PathBuf>)> {
        let GitCall { subcommand, operands, paths, values, .. } = self.call;
        let all = |operands: &[PathBuf]| [operands, paths].concat();
        let is_from_head = match subcommand.as_str() {
            "restore" => {
                let source = match values.last() {
                    Some(source) => Some(self.resolved(source.to_str()?)?),
                    None if self.has(&["-S", "--staged"]) => self.resolved("HEAD"),
                    None => None,
                };
                return Some((source, all(operands)));
            }
            "stash" if self.call.parts.contains(&GitPart::Tree) => {
                let is_path = |word: &&PathBuf| !["push", "save"].iter().any(|name| word.as_path() == Path::new(name));
                let paths = operands.iter().filter(is_path).chain(paths).cloned().collect();
                return Some((self.resolved("HEAD"), paths));
            }
            "stash" => return Some((None, paths.clone())),
            "reset" => true,
            _ if !self.call.parts.contains(&GitPart::Tree) => return Some((None, all(operands))),
            _ => false,
        };
        let Some((first, rest)) = operands.split_first() else {
            let name = if matches!(subcommand.as_str(), "merge" | "rebase") { "@{upstream}" } else { "HEAD" };
            let is_needed = name != "HEAD" || is_from_head;
            // A branch without a commit has no files.
            return Some((is_needed.then(|| self.resolved(name)).flatten(), paths.clone()));
        };
        let name = first.to_str()?;
        // Git makes a branch of this name from that of the other repository.
        let commit = self.resolved(name).or_else(|| self.resolved(&format!("refs/remotes/origin/{name}")));
        match commit {
            Some(commit) => Some((Some(commit), all(rest))),
            None if matches!(subcommand.as_str(), "checkout" | "reset") => Some((None, all(operands))),
            None => None,
        }
    }

    /// Files that differ between the index and a commit.
    fn tree(&self, commit: &str, paths: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let options = ["--cached", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", "-z"];
        let listing = self.run("diff-index", with_paths(options.into_iter().chain([commit]), paths))?;
        Some(self.names(&listing))
    }

    /// Tracked files that are not as in the index, by their times and sizes. Git itself would run filters to find out.
    fn dirty(&self, paths: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let folder = if paths.is_empty() { &self.top } else { &self.call.folder };
        let listing =
            self.run_in(folder, "ls-files", with_paths(["--cached", "--debug", "--full-name", "-z"], paths))?;
        let index = fs::symlink_metadata(self.own.join("index")).ok()?;
        let mut found = Vec::new();
        let mut rest = listing.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            let name = Path::new(OsStr::from_bytes(&rest[..end]));
            rest = &rest[end + 1..];
            let about = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(DEBUG_LINES - 1)?.0;
            let noted = Noted::read(std::str::from_utf8(&rest[..about]).ok()?)?;
            rest = &rest[about + 1..];
            if let Some(path) = below(&self.top, name)
                && !path.is_dir()
                && !noted.is_sure(&path, &index)
            {
                found.push(path);
            }
        }
        Some(found)
    }

    fn untracked(&self, paths: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let is_stash = self.call.subcommand == "stash";
        if is_stash && !self.has(&["-u", "-a", "--include-untracked", "--all"]) {
            return Some(Vec::new());
        }
        let takes_ignored = if is_stash { self.has(&["-a", "--all"]) } else { self.has(&["-x"]) };
        let mut options = vec!["--others", "--full-name", "-z"];
        options.extend((!takes_ignored).then_some("--exclude-standard"));
        options.extend(self.has(&["-X"]).then_some("--ignored"));
        options.extend((is_stash || self.has(&["-d"])).then_some("--directory"));
        let folder = if is_stash { &self.top } else { &self.call.folder };
        let listing = self.run_in(folder, "ls-files", with_paths(options, paths))?;
        let mut found = self.names(&listing);
        // Another repository in it stays, unless `-f` is given twice.
        let is_forced =
            self.call.options.iter().filter(|option| matches!(option.as_str(), "-f" | "--force")).count() > 1;
        found.retain(|path| is_forced || !path.join(".git").exists());
        Some(found)
    }

    /// Files that a commit changed, or files that differ between two.
    fn commit(&self, name: &str, to: Option<&str>) -> Option<Vec<PathBuf>> {
        let commits =
            [Some(name), to].into_iter().flatten().map(|name| self.resolved(name)).collect::<Option<Vec<_>>>()?;
        let options = ["-r", "-m", "--root", "--no-commit-id", "--name-only", "--no-renames", "--no-ext-diff", "-z"];
        let listing = self.run("diff-tree", options.into_iter().chain(commits.iter().map(String::as_str)))?;
        Some(self.names(&listing))
    }

    fn stashed(&self) -> Option<Vec<PathBuf>> {
        let name = match self.call.operands.first().map(|name| name.to_str()) {
            None => "stash@{0}".to_owned(),
            Some(name) => match name?.parse::<usize>() {
                Ok(number) => format!("stash@{{{number}}}"),
                Err(_) => name?.to_owned(),
            },
        };
        let mut found = self.commit(&format!("{name}^1"), Some(&name))?;
        // What was not tracked is in a commit of its own.
        if let Some(others) = self.resolved(&format!("{name}^3")) {
            found.extend(self.names(&self.run("ls-tree", ["-r", "--full-tree", "--name-only", "-z", &others])?));
        }
        Some(found)
    }

    /// Files of the repository that stand for this part.
    fn own_files(&self, part: GitPart) -> Option<Vec<PathBuf>> {
        let GitCall { operands, values, .. } = self.call;
        let named = |folder: &str| -> Vec<PathBuf> {
            let names = operands.iter().chain(values);
            let refs = names.filter_map(|name| below(Path::new(folder), name));
            let others = ["packed-refs", "config"].map(PathBuf::from);
            refs.chain(others).map(|name| self.common.join(name)).collect()
        };
        Some(match part {
            GitPart::Head => {
                let head = self.own.join("HEAD");
                let text = fs::read_to_string(&head).ok()?;
                let branch = text.trim_end().strip_prefix("ref: ");
                let branch = branch.and_then(|branch| below(&self.common, Path::new(branch)));
                [head].into_iter().chain(branch).collect()
            }
            GitPart::Index => vec![self.own.join("index")],
            GitPart::Heads => named("refs/heads"),
            GitPart::Tags => named("refs/tags"),
            GitPart::Stash => vec![self.common.join("refs/stash"), self.common.join("logs/refs/stash")],
            GitPart::State => STATE.iter().map(|name| self.own.join(name)).collect(),
            _ => Vec::new(),
        })
    }
}

/// What the index notes about a file.
struct Noted {
    seconds: i64,
    nanoseconds: i64,
    bytes: u64,
    /// Its lower 32 bits.
    inode: u32,
}

impl Noted {
    /// Reads the lines of `git ls-files --debug` about a file.
    fn read(about: &str) -> Option<Self> {
        let field = |name: &str| {
            let rest = about.split_once(name)?.1;
            rest.split(|c: char| c.is_whitespace()).find(|word| !word.is_empty())
        };
        let (seconds, nanoseconds) = field("mtime:")?.split_once(':')?;
        Some(Self {
            seconds: seconds.parse().ok()?,
            nanoseconds: nanoseconds.parse().ok()?,
            bytes: field("size:")?.parse().ok()?,
            inode: field("ino:")?.parse().ok()?,
        })
    }

    /// Whether the file is surely as noted: not if it may have changed in the same moment in which the index was written, or if another file
    /// of the same size and time was moved there.
    fn is_sure(&self, path: &Path, index: &fs::Metadata) -> bool {
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        let now = (metadata.mtime(), metadata.mtime_nsec());
        let is_same_time = now.0 == self.seconds && (self.nanoseconds == 0 || now.1 == self.nanoseconds);
        is_same_time && metadata.size() == self.bytes && metadata.ino() as u32 == self.inode && now.0 < index.mtime()
    }
}

fn with_paths<'a>(options: impl IntoIterator<Item = &'a str>, paths: &[PathBuf]) -> impl Iterator<Item = OsString> {
    let paths = paths.iter().map(|path| path.clone().into_os_string());
    options
        .into_iter()
        .map(OsString::from)
        .chain([OsString::from("--")])
        .chain(paths.collect::<Vec<_>>())
        .collect::<Vec<_>>()
        .into_iter()
}
