//! Tracks the terminal's focus, for the assistant only.

use super::{LiveEvent, LiveShell, StepContext, Token, TokenKind};

impl LiveShell {
    /// From now on the terminal's reports of its focus become events and are kept from the shell, unless the shell has asked for them,
    /// too. This cannot be undone: a report may still come after the last request, and a shell that has not asked takes it for keys.
    pub fn watch_focus(&mut self) {
        self.watches_focus = true;
    }

    /// Takes a report of the focus. False for any other key, and for a report without a request from here.
    pub(super) fn take_focus_report(&mut self, token: Token<'_>, cx: &mut StepContext<'_>) -> bool {
        if !self.watches_focus || token.kind != TokenKind::Focus {
            return false;
        }
        cx.fx.events.push(LiveEvent::FocusChanged(token.bytes.ends_with(b"I")));
        if self.modes.focus_reporting() {
            cx.fx.pty.extend_from_slice(token.bytes);
        }
        true
    }
}
