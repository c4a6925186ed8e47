//! Shells of their own, confined as the settings say.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use cohab_shell_relay::{
    runner::CommandRunner,
    sandbox::{self, Sandbox},
};

use super::{Assembly, IsolatedShell, TurnSettings};
use crate::{context::surroundings::root_of, server::session::Session};

/// What a model can do when the sandbox is in its way, where there is a live shell.
const OUT_OF_FALLBACK: &str = "In the user's live shell it could run without one, and they would be asked: it takes commands again \
     when the program that has it now is left";
/// The same, where there is none.
const OUT_OF_OWN_SHELL: &str = "If it is needed, `bash_unconfined` runs it without one after the user has agreed";

impl Assembly {
    /// Where the live shell takes no commands. Whoever needs more than the sandbox gives gets it there, with the user's consent.
    pub(super) fn fallback_shell(&self, settings: &TurnSettings) -> IsolatedShell {
        let (make, home, profile) = (Arc::clone(&self.parts.isolated_shell), self.parts.home.clone(), settings.sandbox);
        Arc::new(move |cwd, environment| {
            let root = cwd.canonicalize().map_or_else(|_| PathBuf::from("/"), |cwd| root_of(&cwd, &home));
            let sandbox = Sandbox::new(profile, &root, &home, sandbox::present(), OUT_OF_FALLBACK);
            make(cwd, environment, sandbox)
        })
    }

    /// The shell of a session that has no live one, and, where that one is confined, one that is not. Without a root nothing but
    /// temporary files can be written.
    pub(super) fn own_shells(
        &self,
        session: &Session,
        settings: &TurnSettings,
        root: Option<&Path>,
    ) -> (Arc<dyn CommandRunner>, Option<Arc<dyn CommandRunner>>) {
        let (cwd, environment) = (session.cwd(), session.environment());
        let root = root.unwrap_or(Path::new("/"));
        let sandbox = Sandbox::new(settings.sandbox, root, &self.parts.home, sandbox::present(), OUT_OF_OWN_SHELL);
        let free = sandbox.confines().then(|| (self.parts.isolated_shell)(&cwd, &environment, Sandbox::none()));
        ((self.parts.isolated_shell)(&cwd, &environment, sandbox), free)
    }
}
