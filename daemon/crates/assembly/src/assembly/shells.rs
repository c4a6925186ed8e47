//! Builds the daemon's separate shells, confined as the settings say.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use cohab_agent::runner::CommandRunner;
use cohab_context::workspace::root_of;
use cohab_guard::{gate::SandboxReach, repository::RepositorySettings};
use cohab_sandbox::profile::{self, Profile, Sandbox};
use cohab_session::session::Session;
use cohab_session::shell::fallback::IsolatedShell;
use cohab_types::environment::Variables;

use super::{Assembly, TurnSettings};
use crate::temporary::TemporaryFolder;

/// Advice to the model when the sandbox blocks a command, where there is a live shell.
const OUT_OF_FALLBACK: &str = "In the user's live shell it could run without one, and they would be asked: it takes commands again \
     when the program that has it now is left";
/// The same, where there is no live shell.
const OUT_OF_OWN_SHELL: &str = "If it is needed, `bash_unconfined` runs it without one after the user has agreed";

/// The shells of a session without a live one.
pub(super) struct OwnShells {
    /// Confined as the settings say.
    pub confined: Arc<dyn CommandRunner>,
    /// The unconfined one, if the other is confined.
    pub free: Option<Arc<dyn CommandRunner>>,
    /// Where the confined one can write, if it is kept from writing elsewhere.
    pub reach: Option<SandboxReach>,
}

/// Makes sandboxes without access to cohab's own folders.
#[derive(Clone)]
struct Confining {
    own: Vec<PathBuf>,
    home: PathBuf,
    temporary: Arc<TemporaryFolder>,
}

impl Confining {
    /// A sandbox for commands in `root`.
    fn sandbox(&self, profile: Profile, root: &Path, way_out: &'static str) -> Sandbox {
        let sandbox = Sandbox::new(profile, root, &self.home, profile::present(), way_out);
        sandbox.away_from(&self.own).with_temporary(|| self.temporary.path())
    }
}

impl Assembly {
    fn confining(&self) -> Confining {
        Confining {
            own: self.paths.own_folders(),
            home: self.parts.home.clone(),
            temporary: Arc::clone(&self.temporary),
        }
    }

    /// The shell for times when the live shell takes no commands. A command that needs more than the sandbox allows gets it in the live
    /// shell, with the user's consent.
    pub(super) fn fallback_shell(&self, settings: &TurnSettings) -> IsolatedShell {
        let (make, confining, profile) = (Arc::clone(&self.parts.isolated_shell), self.confining(), settings.sandbox);
        Arc::new(move |cwd, environment| {
            let root = cwd.canonicalize().map_or_else(|_| PathBuf::from("/"), |cwd| root_of(&cwd, &confining.home));
            make(cwd, environment, confining.sandbox(profile, &root, OUT_OF_FALLBACK))
        })
    }

    /// Checks git's settings for the session's separate shells.
    pub(super) fn repository_settings(&self, session: &Session) -> RepositorySettings {
        RepositorySettings::new(&self.parts.home, &session.environment(), session.consents().clone())
    }

    /// The shells in this folder with these variables, where there is no live one. Without a root only temporary files can be written.
    pub(super) fn own_shells(
        &self,
        (cwd, environment): (&Path, &Variables),
        settings: &TurnSettings,
        root: Option<&Path>,
    ) -> OwnShells {
        let root = root.unwrap_or(Path::new("/"));
        let sandbox = self.confining().sandbox(settings.sandbox, root, OUT_OF_OWN_SHELL);
        let free = sandbox.confines().then(|| (self.parts.isolated_shell)(cwd, environment, Sandbox::none()));
        let reach = sandbox
            .keeps_writes()
            .then(|| SandboxReach { writable: sandbox.writable().to_vec(), home: self.parts.home.clone() });
        OwnShells { confined: (self.parts.isolated_shell)(cwd, environment, sandbox), free, reach }
    }
}
