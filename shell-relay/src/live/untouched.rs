//! Is the prompt as it was drawn?

use super::{LiveShell, Phase};

impl LiveShell {
    /// Whether the primary prompt stands, its line is empty, and no key has come since. A key that means something only there can
    /// be taken.
    #[must_use]
    pub fn is_prompt_untouched(&self) -> bool {
        self.phase == Phase::Prompt
            && !self.prompt.typed
            && !self.prompt.searched
            && self.prompt.entered_at.is_none()
            && self.held.is_empty()
            && self.ask.is_none()
            && self.relay.is_none()
            && self.answer.is_none()
            && self.restore.is_none()
    }
}
