//! Restricts a command in a separate shell by the kernel. The profile is a second wall behind the policy: it holds for everything the
//! command starts, and no program inside can remove it. The live shell is the user's and is never confined; programs
//! that run unasked there have a separate lock (`lock.rs`).
//!
//! Landlock limits writes to a few folders, seccomp refuses sockets. [`Support`] reports the parts that this kernel has, so
//! that messages promise no more.

mod git_files;

pub use cohab_types::sandbox_profile::Profile;
use std::{
    fmt::{self, Display, Formatter},
    io,
    path::{Component, Path, PathBuf},
};

use cohab_confine::{Calls, REFUSALS, Rules};

pub use cohab_confine::Support;
pub use git_files::GitFiles;

/// Below these folders of the root nothing is a workspace, even if a repository was checked out there.
const SYSTEM_FOLDERS: [&str; 13] =
    ["etc", "usr", "boot", "sys", "proc", "dev", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "run"];
/// The searched length of the end of an output, in bytes.
const SEARCHED_BYTES: usize = 16 * 1024;
/// The begin of the line about the sandbox.
const NOTE: &str = "[sandbox: ";

/// The confinement of the commands of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    profile: Profile,
    /// Existing folders, links resolved.
    writable: Vec<PathBuf>,
    /// The one of them that is the user's own work.
    workspace: Option<PathBuf>,
    /// The one of them for temporary files.
    temporary: Option<PathBuf>,
    kernel: Support,
    way_out: &'static str,
}

impl Sandbox {
    /// For commands of `workspace`, whose user's home is `home`; both with links resolved. A workspace that holds the home, or is a part
    /// of the system, does not count: nothing in it can be written then. `way_out` is a sentence that advises a model when the profile is
    /// in the way.
    #[must_use]
    pub fn new(profile: Profile, workspace: &Path, home: &Path, kernel: Support, way_out: &'static str) -> Self {
        let is_writing = profile == Profile::WorkspaceWrite && is_workspace(workspace, home);
        let workspace = is_writing.then(|| workspace.to_owned());
        let writable = workspace.iter().cloned().collect();
        Self { profile, writable, workspace, temporary: None, kernel, way_out }
    }

    /// The same without a workspace that holds one of `own`, such as the folder of our socket. Links are resolved in all of them.
    #[must_use]
    pub fn away_from(mut self, own: &[PathBuf]) -> Self {
        let holds_own = |folder: &Path| own.iter().any(|own| own.starts_with(folder));
        self.writable.retain(|folder| !holds_own(folder));
        self.workspace = self.workspace.filter(|workspace| !holds_own(workspace));
        self
    }

    /// The same with a folder for temporary files, which `private` makes: the common one holds the work, the sockets and the programs of
    /// others, and may hold the workspace itself. Links are resolved in it.
    #[must_use]
    pub fn with_temporary(mut self, private: impl FnOnce() -> Option<PathBuf>) -> Self {
        if self.profile == Profile::WorkspaceWrite {
            self.temporary = private();
            self.writable.extend(self.temporary.clone());
        }
        self
    }

    /// No sandbox at all.
    #[must_use]
    pub fn none() -> Self {
        Self {
            profile: Profile::Full,
            writable: Vec::new(),
            workspace: None,
            temporary: None,
            kernel: Support::NONE,
            way_out: "",
        }
    }

    /// Whether there is anything that the kernel can refuse.
    #[must_use]
    pub fn confines(&self) -> bool {
        self.profile != Profile::Full && self.kernel != Support::NONE
    }

    /// Whether the kernel refuses to write anywhere else than in [`writable`](Self::writable).
    #[must_use]
    pub fn keeps_writes(&self) -> bool {
        self.profile != Profile::Full && self.kernel.keeps_writes()
    }

    /// The places that can be written, except for a few devices.
    #[must_use]
    pub fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    /// The folder for programs' temporary files, as they cannot use the common one.
    #[must_use]
    pub fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref().filter(|_| self.confines())
    }

    /// The hooks and settings of the workspace's repository as they are now, if a command might change them. Blocks.
    #[must_use]
    pub fn git_files(&self) -> Option<GitFiles> {
        self.workspace.as_deref().filter(|_| self.confines()).and_then(GitFiles::of)
    }

    /// A report of the files of git that were taken back, one line.
    #[must_use]
    pub fn note_taken_back(&self, files: &[String]) -> String {
        let files = files.join(", ");
        format!(
            "{NOTE}what it changed of {files} was taken back: it decides which programs git runs. {}]\n",
            self.way_out
        )
    }

    /// An explanation of the failure of a command, one line; `None` if the sandbox had nothing to do with it.
    #[must_use]
    pub fn note(&self, status: i32, output: &str) -> Option<String> {
        let end = &output.as_bytes()[output.len().saturating_sub(SEARCHED_BYTES)..];
        let end = String::from_utf8_lossy(end).to_lowercase();
        let is_refused = self.confines() && status != 0 && REFUSALS.iter().any(|words| end.contains(words));
        is_refused.then(|| format!("{NOTE}this ran with {self}; that may be what stopped it. {}]\n", self.way_out))
    }
}

/// Whether an output ends with [`Sandbox::note`].
#[must_use]
pub fn is_noted(output: &str) -> bool {
    output.lines().next_back().is_some_and(|line| line.starts_with(NOTE))
}

impl Display for Sandbox {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.profile {
            Profile::Full => return write!(f, "`full`: nothing is confined"),
            Profile::ReadOnly => write!(f, "`read-only`: nothing can be written")?,
            Profile::WorkspaceWrite => {
                let folders: Vec<_> = self.writable.iter().map(|folder| folder.display().to_string()).collect();
                write!(f, "`workspace-write`: writes only below {}", folders.join(", "))?;
            }
        }
        write!(f, ", no network")
    }
}

/// This system's means to confine a thread; on other systems than Linux, none.
#[must_use]
pub fn present() -> Support {
    if cfg!(target_os = "linux") { cohab_confine::present() } else { Support::NONE }
}

/// Binds the calling thread, and every program that it starts from now on, for good.
///
/// # Errors
/// If the kernel refuses a means that it claimed to have: then nothing may be started.
pub fn enforce(sandbox: &Sandbox) -> io::Result<()> {
    if !sandbox.confines() {
        return Ok(());
    }
    let calls = if sandbox.profile == Profile::ReadOnly { Calls::Reading } else { Calls::Building };
    let rules = Rules { writable: sandbox.writable.clone(), readable: None, has_terminal: false, calls };
    cohab_confine::enforce(&rules, sandbox.kernel, None)
}

fn is_workspace(folder: &Path, home: &Path) -> bool {
    let first = folder.components().find_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let is_system = first.is_none_or(|name| SYSTEM_FOLDERS.iter().any(|system| name == *system));
    !is_system && !home.starts_with(folder)
}

#[cfg(test)]
mod tests;
