//! The text of the model's last message in a turn, if no tool ran after it, for those who want it whole.

use cohab_protocol::{AgentStreamChunk, ChunkDelta, DaemonMessage, StepActivity};

/// Longest text that is kept, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Gathers the text of the model's last message.
#[derive(Debug, Default)]
pub struct AnswerText {
    text: String,
    is_cut: bool,
}

impl AnswerText {
    /// Follows a message about the turn.
    pub fn follow(&mut self, message: &DaemonMessage) {
        match message {
            DaemonMessage::AgentStreamChunk(AgentStreamChunk { delta, .. }) => match delta {
                ChunkDelta::Text(text) if !self.is_cut && self.text.len() + text.len() <= MAX_BYTES => {
                    self.text.push_str(text);
                }
                ChunkDelta::Text(_) => self.is_cut = true,
                ChunkDelta::Reset => *self = Self::default(),
                ChunkDelta::Reasoning(_) => {}
            },
            DaemonMessage::TurnStarted { .. } => *self = Self::default(),
            DaemonMessage::StepStarted(started) => match started.activity {
                StepActivity::ModelCall { .. } | StepActivity::Shared | StepActivity::ToolCall { .. } => {
                    *self = Self::default();
                }
                StepActivity::Compaction | StepActivity::Attachment { .. } => {}
            },
            _ => {}
        }
    }

    /// The text, and whether it is only the beginning.
    #[must_use]
    pub fn get(&self) -> (&str, bool) {
        (&self.text, self.is_cut)
    }
}

#[cfg(test)]
mod tests {
    use cohab_protocol::{StepStarted, TurnId};

    use super::*;

    fn text(text: &str) -> DaemonMessage {
        let turn_id = TurnId(uuid::Uuid::nil());
        DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id, seq: 0, delta: ChunkDelta::Text(text.into()) })
    }

    #[test]
    fn the_last_message_counts_and_one_that_is_too_long_spoils_no_other() {
        let (mut answer, turn_id) = (AnswerText::default(), TurnId(uuid::Uuid::nil()));
        answer.follow(&text("first"));
        answer.follow(&text(&"x".repeat(MAX_BYTES)));
        answer.follow(&text("last"));
        assert_eq!(answer.get(), ("first", true));
        let activity = StepActivity::ModelCall { model: "m".into() };
        answer.follow(&DaemonMessage::StepStarted(StepStarted { turn_id, step: 1, activity }));
        answer.follow(&text("second"));
        assert_eq!(answer.get(), ("second", false));
    }
}
