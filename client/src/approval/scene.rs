//! What the client knows around a question: whose home, which shell, on which machine, where rules are kept.

use std::path::{Path, PathBuf};

use cohab_protocol::{ApprovalDecision, ApprovalSubject, Paths};
use cohab_shell_relay::{
    policy::{self, Part},
    scrub::as_words,
    shell::Shell,
};

use super::offer::shell_of;
use crate::touched::plan::{Known, Plan, plan};

/// For how long a consent for the session holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// As long as the shell lives.
    Shell,
    /// To the end of one answer.
    Answer,
}

/// The surroundings of all questions of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The user's home.
    pub home: PathBuf,
    /// The kind of the shell.
    pub shell: Shell,
    /// Where rules are kept.
    pub rules_file: PathBuf,
    /// How long `s` holds.
    pub lasting: Lasting,
    /// Whether commands run as root.
    pub is_root: bool,
    /// Name of the machine, if the user is there over ssh.
    pub remote_host: Option<String>,
}

impl Scene {
    /// The surroundings of this process.
    #[must_use]
    pub fn of_this_process(home: PathBuf, shell: Shell, paths: &Paths, lasting: Lasting) -> Self {
        let is_remote = std::env::var_os("SSH_CONNECTION").is_some_and(|value| !value.is_empty());
        let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self {
            home,
            shell,
            rules_file: paths.rules_file(),
            lasting,
            is_root: rustix::process::geteuid().is_root(),
            remote_host: is_remote.then(host),
        }
    }

    /// A path as people write it: `~` for the home.
    #[must_use]
    pub fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".into(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// The file of rules, for people.
    #[must_use]
    pub fn rules_name(&self) -> String {
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
        policy::parts(command, policy::Context::new(cwd.as_path(), &self.home).in_shell(shell_of(self, *mode)))
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

#[cfg(test)]
impl Scene {
    /// The surroundings in tests: a bash of Ann's.
    pub(crate) fn of_ann() -> Self {
        Self {
            home: "/home/ann".into(),
            shell: Shell::Bash,
            rules_file: "/home/ann/.config/cohab/rules.toml".into(),
            lasting: Lasting::Shell,
            is_root: false,
            remote_host: None,
        }
    }
}
