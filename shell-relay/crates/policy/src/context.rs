//! The facts against which a line is judged.

use std::path::{Path, PathBuf};

use cohab_shell_state::shell::Shell;

use super::{launchable, lock::Lock};

/// The known facts about a program's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file's real path, links resolved.
    pub real: PathBuf,
    /// The file belongs to root or the user.
    pub is_trusted: bool,
    /// Others can write the file, or replace it.
    pub is_open: bool,
}

/// File facts that the text of a path does not show. The policy itself touches no file; the caller that types the line can look.
pub trait Files: std::fmt::Debug + Sync {
    /// The real paths of the files that `path` leads to: links are followed, `*` and `?` match names as in the shell. Files that do not
    /// exist are left out. `None` if there are too many.
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>>;

    /// The real places that a write to `path` changes: links are followed, the last one only if it `follows_last`, also to targets that
    /// do not exist yet; patterns as in [`Files::targets`]. `None` if there are too many.
    fn landings(&self, path: &Path, follows_last: bool) -> Option<Vec<PathBuf>>;

    /// A file below `root` whose name `is_wanted`, if a bounded search finds one. Hidden files count if `with_hidden`.
    fn find_below(&self, root: &Path, with_hidden: bool, is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf>;

    /// The paths that match `path`, in which `*` and `?` match names as in the shell, as the shell would write them. `None` if there are
    /// too many.
    fn matches(&self, path: &Path) -> Option<Vec<PathBuf>> {
        self.targets(path)
    }

    /// Whether a name below `root` `is_odd`; true if there are too many names.
    fn has_names_below(&self, _root: &Path, _is_odd: &dyn Fn(&str) -> bool) -> bool {
        true
    }

    /// A link below `root` to a place that `is_wanted`, if there is one; `root` itself if there are too many names.
    fn link_below(&self, root: &Path, _is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        Some(root.to_owned())
    }

    /// Whether others can write or replace the file at `path`, by the owners and modes of everything on its way below `below`; what does
    /// not exist is left out. True if that is not known.
    fn is_open_to_others(&self, _path: &Path, _below: &Path) -> bool {
        true
    }

    /// The program at `path`, if it exists and can be run.
    fn program(&self, _path: &Path) -> Option<Program> {
        None
    }
}

/// The facts against which a line is judged.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Working directory of the shell.
    pub cwd: &'a Path,
    /// The user's home.
    pub home: &'a Path,
    /// Resolves paths; without it they are judged by their text alone.
    pub files: Option<&'a dyn Files>,
    /// The shell that will read a line.
    pub shell: Shell,
    /// Folders of cohab at the user's chosen places: secret with everything below them. Absolute.
    pub own: &'a [PathBuf],
    /// Folders of PATH, as far as they are known: a file written there may be run by its name. Absolute.
    pub programs: &'a [PathBuf],
    /// The launcher of the programs of a line that runs unasked.
    pub lock: Option<Lock<'a>>,
}

impl<'a> Context<'a> {
    /// Both paths are absolute. Lines are read by bash.
    #[must_use]
    pub fn new(cwd: &'a Path, home: &'a Path) -> Self {
        Self { cwd, home, files: None, shell: Shell::Bash, own: &[], programs: &[], lock: None }
    }

    /// The same with another shell that reads the lines.
    #[must_use]
    pub fn in_shell(self, shell: Shell) -> Self {
        Self { shell, ..self }
    }

    /// The same context, which also looks at the files that a line names.
    #[must_use]
    pub fn with_files(self, files: &'a dyn Files) -> Self {
        Self { files: Some(files), ..self }
    }

    /// The same context with these folders of ours.
    #[must_use]
    pub fn with_own(self, own: &'a [PathBuf]) -> Self {
        Self { own, ..self }
    }

    /// The same context with these folders in PATH.
    #[must_use]
    pub fn with_programs(self, programs: &'a [PathBuf]) -> Self {
        Self { programs, ..self }
    }

    /// Whether a program of this name can only read, with any arguments.
    pub(crate) fn confines(self, name: &str) -> bool {
        self.lock.is_some() && launchable::confines(name, self.shell)
    }

    /// The same in another directory.
    pub(crate) fn at<'b>(self, cwd: &'b Path) -> Context<'b>
    where
        'a: 'b,
    {
        Context { cwd, ..self }
    }

    /// The same by text alone.
    pub(crate) fn without_files(self) -> Self {
        Self { files: None, ..self }
    }
}
