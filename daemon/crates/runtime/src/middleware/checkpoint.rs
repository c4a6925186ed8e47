//! Keeps the conversation after every step, so that a dying turn loses at most its last step.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cohab_agent::{Fact, TurnObserver, state::Progress};
use cohab_model_api::Message;

/// The conversation of a session, as of the last complete step.
pub type Conversation = Arc<Mutex<Vec<Message>>>;

/// Saves to memory.
pub struct Checkpoint(pub Conversation);

impl Checkpoint {
    /// Copies only what differs: to compare a conversation costs a fraction of copying it.
    fn save(&self, messages: &[Message]) {
        let mut conversation = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = conversation.iter().zip(messages).take_while(|(saved, message)| saved == message).count();
        conversation.truncate(same);
        conversation.extend_from_slice(messages.get(same..).unwrap_or_default());
    }
}

#[async_trait]
impl TurnObserver for Checkpoint {
    async fn observe(&self, fact: Fact<'_>) {
        let (Fact::Extended(state) | Fact::StepEnded(state)) = fact else { return };
        // Calls without results must not be kept: no provider accepts them.
        if !matches!(state.progress(), Progress::Tools { .. }) {
            self.save(state.messages());
        }
    }
}
