//! Keeps the conversation after every step, so that a dying turn loses at most its last step.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cohab_agent::{Fact, TurnObserver, TurnState, state::Progress};
use cohab_model_api::Message;

/// The conversation of a session, as of the last complete step.
pub type Conversation = Arc<Mutex<Vec<Message>>>;

/// Saves to memory.
pub struct Checkpoint {
    conversation: Conversation,
    saved: Mutex<Option<Saved>>,
}

/// What of the turn's conversation is in memory.
#[derive(Clone, Copy)]
struct Saved {
    /// Messages.
    count: usize,
    /// Rewrites of the conversation before.
    rewrites: u32,
}

impl Checkpoint {
    /// Saves to this conversation, which nothing else changes while the turn runs.
    #[must_use]
    pub fn of(conversation: Conversation) -> Self {
        Self { conversation, saved: Mutex::default() }
    }

    fn save(&self, state: &TurnState) {
        let (messages, rewrites) = (state.messages(), state.rewrites());
        let mut conversation = self.conversation.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Saved { count: messages.len(), rewrites };
        let before = self.saved.lock().unwrap_or_else(PoisonError::into_inner).replace(now);
        // Between rewrites only the last message of before can have changed.
        let known = before.filter(|saved| saved.rewrites == rewrites && saved.count == conversation.len());
        let same = match known {
            Some(saved) => saved.count.saturating_sub(1).min(messages.len()),
            None => conversation.iter().zip(messages).take_while(|(saved, message)| saved == message).count(),
        };
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
            self.save(state);
        }
    }
}
