//! Reports the user's commands since the last call to the model: it must not rely on an outdated state.

use cohab_agent::Middleware;

use crate::context::{meanwhile::note, query::PastCommand};

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
