//! Answers that wait for their calls.

use std::path::PathBuf;

use cohab_agent::port::{ApprovalAnswer, Effect};
use tokio::time::Instant;

/// An answer that waits for its call.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) effect: Effect,
    pub(super) cwd: PathBuf,
    pub(super) answer: ApprovalAnswer,
    pub(super) at: Instant,
}

/// Files that the answer at hand would change with a question, in order; absent once asked about. A change that is not asked about together
/// with others has a card of its own, which counts it.
pub(super) type Changes = Vec<Option<PathBuf>>;
