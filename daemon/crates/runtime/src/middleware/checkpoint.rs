//! Keeps the conversation after every step, so that a dying turn loses at most its last step.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cohab_agent::{Middleware, TurnState, state::Progress};
use cohab_model_api::Message;

/// The conversation of a session, as of the last complete step.
pub type Conversation = Arc<Mutex<Vec<Message>>>;

/// Saves to memory.
pub struct Checkpoint {
    conversation: Conversation,
}

impl Checkpoint {
    /// Saves into `conversation`.
    #[must_use]
    pub fn new(conversation: Conversation) -> Self {
        Self { conversation }
    }
}

#[async_trait]
impl Middleware for Checkpoint {
    async fn extended(&self, state: &TurnState) {
        self.after_step(state).await;
    }

    async fn after_step(&self, state: &TurnState) {
        // Calls without results must not be kept: no provider accepts them.
        if !matches!(state.progress(), Progress::Tools { .. }) {
            *self.conversation.lock().unwrap_or_else(PoisonError::into_inner) = state.messages().to_vec();
        }
    }
}
