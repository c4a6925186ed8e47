//! A copy of a repository in the state of its working tree, which a subagent may change.
//!
//! The copy is a clone that shares the objects of the repository. Its first commit holds the working tree as it is: also what is not
//! committed, and files that git does not know, except for ignored ones. Nothing is written in the repository itself, and its own settings,
//! hooks and filters are not used; those of the user are.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tempfile::TempDir;
use tokio::{process::Command, task::spawn_blocking, time::timeout};

/// Longest time for one call of git.
const GIT_WAIT: Duration = Duration::from_secs(120);
/// Longest diff that is handed on, in bytes.
const MAX_DIFF_BYTES: u64 = 8 * 1024 * 1024;
/// Longest part of an error of git that is told, in bytes.
const MAX_ERROR_BYTES: usize = 400;

/// Why there is no copy, or no diff of it.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The folder is in no repository with a commit.
    #[error("there is no git repository with a commit at {0}")]
    NoRepository(PathBuf),
    /// A call of git failed.
    #[error("git {what} failed: {error}")]
    Git {
        /// The command of git.
        what: String,
        /// What git said.
        error: String,
    },
    /// The diff is too long.
    #[error("the changes are larger than 8 MiB")]
    TooLong,
    /// The disk refused.
    #[error("the copy cannot be made: {0}")]
    Io(#[from] io::Error),
}

/// A copy. It is deleted when dropped.
#[derive(Debug)]
pub struct WorkingCopy {
    folder: TempDir,
    /// The folder in the copy that stands for the one that was asked for.
    cwd: PathBuf,
    base: String,
}

impl WorkingCopy {
    /// Copies the repository around `cwd`, whose root is `root`, into a new folder below `place`.
    ///
    /// # Errors
    /// There is no repository, or git or the disk failed.
    pub async fn of(root: &Path, cwd: &Path, place: &Path) -> Result<Self, CopyError> {
        fs::create_dir_all(place)?;
        let folder = tempfile::Builder::new().prefix("copy-").tempdir_in(place)?;
        let copy = folder.path().canonicalize()?.join("files");
        let quoted = [OsStr::new("clone"), OsStr::new("--quiet"), OsStr::new("--shared"), OsStr::new("--no-checkout")];
        let cloned = git(place, &[], &[&quoted[..], &[root.as_os_str(), copy.as_os_str()]].concat()).await;
        cloned.map_err(
            |error| if root.join(".git").exists() { error } else { CopyError::NoRepository(root.to_owned()) },
        )?;
        let tree = [("GIT_DIR", copy.join(".git")), ("GIT_WORK_TREE", root.to_owned())];
        // Its times of files spare git to read all of them.
        if fs::copy(root.join(".git/index"), copy.join(".git/index")).is_err() {
            run(root, &tree, &["read-tree", "HEAD"]).await?;
        }
        run(root, &tree, &["add", "--all", "."]).await?;
        run(root, &tree, &["commit", "--quiet", "--allow-empty", "--no-verify", "--message", "state at the begin"])
            .await?;
        run(&copy, &[], &["reset", "--quiet", "--hard"]).await?;
        let base = run(&copy, &[], &["rev-parse", "HEAD"]).await?;
        let cwd = cwd.strip_prefix(root).map_or_else(|_| copy.clone(), |below| copy.join(below));
        Ok(Self { folder, cwd, base: String::from_utf8_lossy(&base).trim().to_owned() })
    }

    /// The folder to work in.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The root of the copy.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap_or_else(|_| self.folder.path().to_owned()).join("files")
    }

    /// What changed since the begin, as a diff that `git apply` takes; empty if nothing did.
    ///
    /// # Errors
    /// Git failed, or the diff is too long.
    pub async fn diff(&self) -> Result<String, CopyError> {
        let root = self.root();
        run(&root, &[], &["add", "--all", "."]).await?;
        let file = self.folder.path().join("diff");
        let output = format!("--output={}", file.display());
        let args = ["diff", "--cached", "--binary", "--no-ext-diff", "--no-textconv", &output, &self.base];
        run(&root, &[], &args).await?;
        if fs::metadata(&file)?.len() > MAX_DIFF_BYTES {
            return Err(CopyError::TooLong);
        }
        Ok(String::from_utf8_lossy(&fs::read(&file)?).into_owned())
    }

    /// Deletes the copy while the caller goes on: with what was built in it, it can be large.
    pub fn discard(self) {
        spawn_blocking(move || drop(self));
    }
}

async fn run(folder: &Path, variables: &[(&str, PathBuf)], args: &[&str]) -> Result<Vec<u8>, CopyError> {
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    git(folder, variables, &args).await
}

/// Calls git without hooks, without a watcher of files and without the variables of git in the environment.
async fn git(folder: &Path, variables: &[(&str, PathBuf)], args: &[&OsStr]) -> Result<Vec<u8>, CopyError> {
    let mut command = Command::new("git");
    let own = std::env::vars_os().map(|(name, _)| name).filter(is_of_git);
    own.for_each(|name| {
        command.env_remove(name);
    });
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"]);
    command.args(["-c", "user.name=cohab", "-c", "user.email=cohab@localhost", "-c", "advice.detachedHead=false"]);
    command.args(["-c", "core.autocrlf=false", "-c", "gc.auto=0"]);
    command.args(args).current_dir(folder).envs(variables.iter().map(|(name, value)| (*name, value)));
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let what = || args.first().map_or_else(String::new, |arg| arg.to_string_lossy().into_owned());
    let output = timeout(GIT_WAIT, command.output()).await;
    let output = output.map_err(|_| CopyError::Git { what: what(), error: "it took too long".to_owned() })??;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let error = String::from_utf8_lossy(&output.stderr[..output.stderr.len().min(MAX_ERROR_BYTES)]).trim().to_owned();
    Err(CopyError::Git { what: what(), error })
}

fn is_of_git(name: &OsString) -> bool {
    name.to_string_lossy().starts_with("GIT_")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn repository(folder: &Path) {
        for args in [
            &["init", "--quiet", "--initial-branch", "main"][..],
            &["add", "."],
            &["commit", "--quiet", "--message", "a"],
        ] {
            run(folder, &[], args).await.unwrap();
        }
    }

    #[tokio::test]
    async fn the_copy_has_the_state_of_the_tree_and_changes_nothing_there() {
        let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = home.path().canonicalize().unwrap();
        fs::create_dir(root.join("src")).unwrap();
        for (name, text) in [(".gitignore", "target\n"), ("src/a", "one\n"), ("gone", "x\n")] {
            fs::write(root.join(name), text).unwrap();
        }
        repository(&root).await;
        fs::write(root.join("src/a"), "one\ntwo\n").unwrap();
        fs::write(root.join("new file"), "n\n").unwrap();
        fs::write(root.join("target"), "built\n").unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        // It would run if git read the settings of the repository.
        fs::write(root.join(".git/hooks/post-checkout"), "#!/bin/sh\ntouch ran\n").unwrap();
        let before =
            (run(&root, &[], &["status", "--porcelain"]).await.unwrap(), fs::read(root.join(".git/index")).unwrap());
        let copy = WorkingCopy::of(&root, &root.join("src"), place.path()).await.unwrap();
        assert_eq!(fs::read_to_string(copy.cwd().join("a")).unwrap(), "one\ntwo\n");
        assert!(copy.root().join("new file").exists());
        assert!(!copy.root().join("target").exists() && !copy.root().join("gone").exists());
        assert_eq!(copy.diff().await.unwrap(), "");
        fs::write(copy.cwd().join("a"), "one\nthree\n").unwrap();
        fs::write(copy.root().join("b"), [0, 255]).unwrap();
        let diff = copy.diff().await.unwrap();
        assert!(diff.contains("-two\n+three\n") && diff.contains("GIT binary patch"), "{diff}");
        let after =
            (run(&root, &[], &["status", "--porcelain"]).await.unwrap(), fs::read(root.join(".git/index")).unwrap());
        assert_eq!(before, after);
        let patch = place.path().join("p.diff");
        fs::write(&patch, diff).unwrap();
        run(&root, &[], &["apply", &patch.to_string_lossy()]).await.unwrap();
        assert_eq!(fs::read_to_string(root.join("src/a")).unwrap(), "one\nthree\n");
        let folder = copy.root();
        drop(copy);
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_folder_without_a_repository_has_no_copy() {
        let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = WorkingCopy::of(home.path(), home.path(), place.path()).await.unwrap_err();
        assert!(matches!(error, CopyError::NoRepository(_)), "{error}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing is left behind");
    }
}
