//! A session for the turn of a subagent: no client is attached to it, and it ends with that turn.

use std::path::PathBuf;

use cohab_protocol::{ApprovalMode, SessionKey};

use super::Session;

impl Session {
    /// A session that works for this one, in `cwd`. It has the user's environment, is paused with this session, and nobody can be asked
    /// in it.
    #[must_use]
    pub(crate) fn for_subagent(&self, number: u32, approval: ApprovalMode, cwd: PathBuf) -> Self {
        let session = Self::new(SessionKey(format!("{}/{number}", self.key)));
        let (variables, environment) = {
            let state = self.lock();
            (state.variables.clone(), state.environment.clone())
        };
        let mut state = session.lock();
        (state.variables, state.environment, state.approval, state.cwd) = (variables, environment, approval, cwd);
        drop(state);
        Self { pause: self.pause.clone(), ..session }
    }
}
