//! Checks a repository's settings for programs that git would start in the daemon's separate shell. In the live shell the client checks
//! them before it types a line unasked; in the separate shell only this module does.

use std::{
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    time::Instant,
};

pub use cohab_policy::Caveat;
use cohab_policy::Context;
use cohab_policy_io::{
    files::FileSystem,
    git_settings::{self, LIMIT},
};
use cohab_secrets::secret_names::{Use, holds_secret};
use cohab_shell_state::state::{Item, Snapshot};
use cohab_types::environment::Variables;

use super::consents::Consents;

/// Checks repository settings before git starts unasked.
#[derive(Clone)]
pub struct RepositorySettings {
    home: PathBuf,
    shell: Snapshot,
    consents: Consents,
}

impl RepositorySettings {
    /// For a shell with this `environment`, or the daemon's own if that is empty; the settled reasons are in `consents`.
    #[must_use]
    pub fn new(home: &Path, environment: &Variables, consents: Consents) -> Self {
        let own = || std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_vec())));
        let variables: Vec<(String, Vec<u8>)> = match environment.is_empty() {
            true => own().collect(),
            false => environment.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect(),
        };
        // That shell does not see those variables either.
        let seen = variables.into_iter().filter(|(name, _)| !holds_secret(name, Use::Inherit));
        let shell = seen.map(|(name, value)| (Item::Exported(name), vec![value])).collect();
        Self { home: home.to_owned(), shell, consents }
    }

    /// The caveats of `command`, which only reads, in the folder `cwd`; empty if there are none, or the user has settled all
    /// of them.
    pub async fn why_asked(&self, command: &str, cwd: &Path) -> Vec<Caveat> {
        let (this, command, cwd) = (self.clone(), command.to_owned(), cwd.to_owned());
        let look = move || {
            let context = Context::new(&cwd, &this.home).with_files(&FileSystem);
            git_settings::why_asked(&command, context, &this.shell, Instant::now() + LIMIT)
        };
        let mut caveats = tokio::task::spawn_blocking(look).await.unwrap_or_else(|_| vec![Caveat::GitSilent]);
        caveats.retain(|caveat| !self.consents.is_settled(caveat));
        caveats
    }

    /// The user agreed despite `caveats`.
    pub fn settle(&self, caveats: Vec<Caveat>) {
        self.consents.settle(caveats);
    }
}

/// The caveats as one text.
#[must_use]
pub fn joined(caveats: &[Caveat]) -> String {
    caveats.iter().map(Caveat::to_string).collect::<Vec<_>>().join("; ")
}

/// For tests: repositories that are not to be trusted.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use std::{path::Path, process::Command};

    /// Makes `folder` a repository whose settings name a program.
    pub fn plant(folder: &Path) {
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.env("HOME", "/nowhere").arg("-C").arg(folder).args(args);
            assert!(command.output().expect("git runs").status.success(), "{args:?}");
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "core.fsmonitor", "./evil"]);
    }
}
