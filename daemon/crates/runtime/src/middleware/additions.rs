//! Takes what the user adds to the running turn: the model reads it with its next call.

use cohab_agent::{Middleware, hook::Addition};
use cohab_context::addition::message;

/// Returns the additions that were not taken yet, oldest first, each once.
pub type TakeAdditions = Box<dyn Fn() -> Vec<String> + Send + Sync>;

/// For one turn.
pub struct Additions {
    take: TakeAdditions,
}

impl Additions {
    /// Takes the additions that `take` returns.
    #[must_use]
    pub fn new(take: TakeAdditions) -> Self {
        Self { take }
    }
}

impl Middleware for Additions {
    fn additions(&self) -> Vec<Addition> {
        (self.take)().into_iter().map(|words| Addition { message: message(&words), words }).collect()
    }
}
