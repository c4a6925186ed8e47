//! Questions for consent that the other program has not answered, by the numbers of our requests.

use std::collections::BTreeMap;

use cohab_protocol::{ApprovalId, TurnId};

/// The open questions.
#[derive(Debug, Default)]
pub struct Questions {
    open: BTreeMap<u64, OpenQuestion>,
    asked: u64,
}

/// A question that waits.
#[derive(Debug)]
pub struct OpenQuestion {
    /// The session.
    pub session: String,
    /// The turn that waits.
    pub turn: TurnId,
    /// The daemon's name of it.
    pub approval: ApprovalId,
}

impl Questions {
    /// Keeps a question and gives it a number.
    pub fn keep(&mut self, question: OpenQuestion) -> u64 {
        self.asked += 1;
        self.open.insert(self.asked, question);
        self.asked
    }

    /// Takes the question out that this answer is for, by the id of our request. `None` for an answer that nobody waits for.
    pub fn answered(&mut self, id: &serde_json::Value) -> Option<OpenQuestion> {
        id.as_u64().and_then(|number| self.open.remove(&number))
    }

    /// Forgets those of a turn that is over.
    pub fn forget_turn(&mut self, turn: TurnId) {
        self.open.retain(|_, question| question.turn != turn);
    }

    /// Forgets those of a session that is no more.
    pub fn forget_session(&mut self, session: &str) {
        self.open.retain(|_, question| question.session != session);
    }
}
