//! Keeps the conversation after every step, so that a dying turn loses at most its last step.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cohab_agent::{Fact, TurnObserver, state::Progress};
use cohab_model_api::Message;

/// The conversation of a session, as of the last complete step.
pub type Conversation = Arc<Mutex<Vec<Message>>>;

/// Saves to memory.
pub struct Checkpoint(pub Conversation);

#[async_trait]
impl TurnObserver for Checkpoint {
    async fn observe(&self, fact: Fact<'_>) {
        let (Fact::Extended(state) | Fact::StepEnded(state)) = fact else { return };
        // Calls without results must not be kept: no provider accepts them.
        if !matches!(state.progress(), Progress::Tools { .. }) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state.messages().to_vec();
        }
    }
}
