//! The memory of a turn: the conversation, its tasks, and the consents. That of the session, or one that ends with a private question.

use std::sync::{Arc, PoisonError};

use cohab_agent::tasks::TaskBoard;
use cohab_context::fit::fit;
use cohab_guard::gate::Consents;
use cohab_model_api::Message;
use cohab_runtime::middleware::checkpoint::Conversation;

use crate::session::Session;

/// A conversation is kept up to about this size between turns.
pub(crate) const MAX_CONVERSATION_TOKENS: u64 = 400_000;
/// Stands for the words of a private question where a record must exist.
pub const PRIVATE_QUESTION: &str = "private question";

/// What a turn reads and leaves behind. Clones share it.
#[derive(Clone)]
pub struct TurnMemory {
    /// The conversation.
    pub conversation: Conversation,
    /// The tasks.
    pub tasks: Arc<TaskBoard>,
    /// The consents, and what the conversation was touched by.
    pub consents: Consents,
    /// Whether nothing of the turn is stored.
    pub is_private: bool,
}

impl TurnMemory {
    /// The memory of the session.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        Self {
            conversation: Arc::clone(session.conversation()),
            tasks: Arc::clone(session.tasks()),
            consents: session.consents().clone(),
            is_private: false,
        }
    }

    /// The conversation as of now.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The conversation is this from now on, as far as it is kept between turns.
    pub(crate) fn keep(&self, mut messages: Vec<Message>) {
        fit(&mut messages, MAX_CONVERSATION_TOKENS);
        *self.conversation.lock().unwrap_or_else(PoisonError::into_inner) = messages;
    }

    /// A memory for the turn of a subagent that works for this one: empty, without consents.
    pub(crate) fn for_subagent(&self) -> Self {
        Self {
            conversation: Conversation::default(),
            tasks: Arc::default(),
            consents: self.consents.for_subagent(),
            is_private: self.is_private,
        }
    }

    /// A memory for one private turn: empty, except for what the user allowed in this session.
    #[must_use]
    pub fn private(session: &Session) -> Self {
        Self {
            conversation: Conversation::default(),
            tasks: Arc::default(),
            consents: session.consents().for_new_conversation(),
            is_private: true,
        }
    }
}
