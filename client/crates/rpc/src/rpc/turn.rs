//! The turn that runs in a session of `cohab rpc`.

use cohab_protocol::{DaemonMessage, TurnId};
use serde_json::Value;

use crate::{
    answer_text::AnswerText,
    event::{EventEnd, EventError},
    rpc::calls::AskResult,
};

/// A running turn.
#[derive(Debug)]
pub struct RunningTurn {
    /// Its id.
    pub id: TurnId,
    /// The request that it answers.
    pub request: Value,
    error: Option<EventError>,
    answer: AnswerText,
}

impl RunningTurn {
    /// A turn that begins.
    #[must_use]
    pub fn new(id: TurnId, request: Value) -> Self {
        Self { id, request, error: None, answer: AnswerText::default() }
    }

    /// Follows a message about the turn.
    pub fn follow(&mut self, message: &DaemonMessage) {
        self.answer.follow(message);
        if let DaemonMessage::Error(error) = message {
            self.error = Some(error.into());
        }
    }

    /// The result of the request, at the end of the turn.
    #[must_use]
    pub fn result(self, end: EventEnd) -> AskResult {
        let (answer, is_answer_cut) = self.answer.get();
        AskResult {
            turn: self.id.to_string(),
            reason: end.reason,
            answer: answer.to_owned(),
            is_answer_cut,
            usage: end.usage,
            error: self.error,
        }
    }
}
