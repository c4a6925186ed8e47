//! The surroundings of a question as the client knows them: home folder, shell, machine, and the file of rules.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use cohab_impact::plan::{Known, Plan, plan};
use cohab_policy::{self, Context, Files, Part};
use cohab_protocol::{ApprovalDecision, ApprovalSubject, RunMode};
use cohab_secrets::as_words;
use cohab_shell_state::shell::Shell;

/// For how long a consent for the session holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// As long as the shell lives.
    Shell,
    /// To the end of one answer.
    Answer,
}

/// The surroundings of all questions of one client.
#[derive(Clone, Debug)]
pub struct ApprovalEnvironment {
    /// The user's home.
    pub home: PathBuf,
    /// The kind of the shell: how it reads a command.
    pub shell: Shell,
    /// Where the paths of a command lead.
    pub files: &'static dyn Files,
    /// Folders of ours, wherever they are.
    pub own_folders: Arc<[PathBuf]>,
    /// Folders of PATH, as this process was given it. They are looked at when the first line is judged, not before the shell is there.
    pub program_folders: Arc<LazyLock<Vec<PathBuf>>>,
    /// Where rules are kept.
    pub rules_file: PathBuf,
    /// How long `s` holds.
    pub lasting: Lasting,
    /// Whether commands run as root.
    pub is_root: bool,
    /// Name of the machine, if the user is there over ssh.
    pub remote_host: Option<String>,
}

impl ApprovalEnvironment {
    /// What a line of the user's shell is judged against in this folder.
    #[must_use]
    pub(crate) fn context<'a>(&'a self, cwd: &'a Path) -> Context<'a> {
        let context = Context::new(cwd, &self.home).in_shell(self.shell).with_files(self.files);
        context.with_own(&self.own_folders).with_programs(&self.program_folders)
    }

    /// The same of a line that runs in this `mode`: a separate shell is bash or sh, also for users of other shells.
    pub(super) fn context_of<'a>(&'a self, mode: RunMode, cwd: &'a Path) -> Context<'a> {
        let context = self.context(cwd);
        if mode == RunMode::Isolated { context.in_shell(Shell::Bash) } else { context }
    }

    /// A path as people write it: `~` for the home.
    #[must_use]
    pub(crate) fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".into(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// The file of rules, for people.
    #[must_use]
    pub(crate) fn rules_name(&self) -> String {
        self.short(&self.rules_file)
    }

    /// What a consent for the session means.
    pub(super) fn remembered_here(&self) -> String {
        match self.lasting {
            Lasting::Shell => "Remembered for this shell.".into(),
            Lasting::Answer => "Remembered until this answer ends.".into(),
        }
    }

    /// What a stored consent means.
    pub(super) fn remembered(&self, subject: &ApprovalSubject, decision: &ApprovalDecision) -> String {
        let place = match subject {
            ApprovalSubject::Command { cwd, .. } if *decision == ApprovalDecision::Folder => self.short(cwd.as_path()),
            _ => "every folder".into(),
        };
        format!("Remembered for {place}, in {}.", self.rules_name())
    }

    /// The commands of a subject one by one, where it is one line of several.
    pub(super) fn parts(&self, subject: &ApprovalSubject) -> Vec<Part> {
        let ApprovalSubject::Command { command, cwd, mode } = subject else { return Vec::new() };
        cohab_policy::parts(command, self.context_of(*mode, cwd.as_path()))
    }

    /// What is to be looked at, a command each.
    pub(super) fn plans(&self, subject: &ApprovalSubject) -> Vec<Plan> {
        let planned =
            |command: &str, cwd: &Path| plan(&as_words(command), &Known::of(self.home.clone(), cwd.to_owned()));
        match subject {
            ApprovalSubject::Command { command, cwd, .. } => vec![planned(command, cwd.as_path())],
            ApprovalSubject::Commands(commands) => {
                commands.iter().map(|one| planned(&one.command, one.cwd.as_path())).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl ApprovalEnvironment {
    /// The surroundings in tests: a bash of Ann's, on the disk behind `files`.
    #[must_use]
    pub fn of_ann(files: &'static dyn Files) -> Self {
        Self {
            home: "/home/ann".into(),
            shell: Shell::Bash,
            files,
            own_folders: Arc::new([]),
            program_folders: Arc::new(LazyLock::new(Vec::new)),
            rules_file: "/home/ann/.config/cohab/rules.toml".into(),
            lasting: Lasting::Shell,
            is_root: false,
            remote_host: None,
        }
    }
}
