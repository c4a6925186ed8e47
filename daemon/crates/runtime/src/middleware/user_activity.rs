//! Reports the user's commands since the last call to the model: it must not rely on an outdated state.

use cohab_agent::Middleware;
use cohab_context::{query::PastCommand, user_activity::note};

/// Returns the commands that were not reported yet, oldest first, each once.
pub type TakeCommands = Box<dyn Fn() -> Vec<PastCommand> + Send + Sync>;

/// For one turn.
pub struct UserActivity(pub TakeCommands);

impl Middleware for UserActivity {
    fn pending_notes(&self) -> Option<String> {
        note(&(self.0)())
    }
}
