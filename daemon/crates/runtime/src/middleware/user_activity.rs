//! Tells the model what the user ran in the shell since its last call: it must not build on what is no longer so.

use cohab_agent::Middleware;
use cohab_context::{query::PastCommand, user_activity::note};

/// Gives the commands that were not told yet, oldest first, each once.
pub type TakeCommands = Box<dyn Fn() -> Vec<PastCommand> + Send + Sync>;

/// For one turn.
pub struct Meanwhile {
    take: TakeCommands,
}

impl Meanwhile {
    /// Tells what `take` gives.
    #[must_use]
    pub fn new(take: TakeCommands) -> Self {
        Self { take }
    }
}

impl Middleware for Meanwhile {
    fn news(&self) -> Option<String> {
        note(&(self.take)())
    }
}
