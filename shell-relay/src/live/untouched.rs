//! Reports whether the prompt is unchanged since it was drawn.

use super::{LiveShell, Phase, answer_state::AnswerStep};

/// The use of a key that means something only at an untouched prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntouchedPrompt {
    /// The primary prompt stands, its line is empty, and no key has come since.
    Stands,
    /// An answer is about to end in such a prompt, and no key has come since.
    Coming,
    /// The key is the shell's.
    No,
}

impl LiveShell {
    /// Whether a key that means something only at an untouched prompt can be taken.
    #[must_use]
    pub fn untouched_prompt(&self) -> UntouchedPrompt {
        if self.prompt.may_hold_a_line() || !self.held.is_empty() {
            return UntouchedPrompt::No;
        }
        let stands = self.phase == Phase::Prompt
            && !self.prompt.searched
            && self.prompt.entered_at.is_none()
            && self.editor.ask.is_none()
            && self.relay.is_none()
            && self.answer.is_none()
            && self.restore.is_none();
        let step = self.answer.as_ref().map(|answer| &answer.step);
        let is_coming = match step {
            Some(step) => matches!(step, AnswerStep::Leaving { .. } | AnswerStep::Returning),
            None => self.restore.is_some(),
        };
        match (stands, is_coming) {
            (true, _) => UntouchedPrompt::Stands,
            (false, true) => UntouchedPrompt::Coming,
            (false, false) => UntouchedPrompt::No,
        }
    }
}
