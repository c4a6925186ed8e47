//! Tells the terminal what is new, asks it what matters, and takes its answers out of the keys.

use std::borrow::Cow;

use cohab_shell_relay::live::ShellState;

use super::Driver;

impl Driver {
    /// Tells the terminal what is new, and asks it what matters now. Not while a program of the user's writes: a sequence of its own may be
    /// cut just there.
    pub(super) fn attend(&mut self) {
        self.focus.watch(self.app.watches_focus(), &mut self.live, &mut self.terminal);
        let is_ours = self.app.owns_terminal();
        if is_ours && self.abilities.colors.has_colours() {
            self.background.ask(&mut self.terminal);
        }
        if is_ours || matches!(self.live.state(), ShellState::Prompt | ShellState::RunningAgent) {
            self.focus.tell_status(self.app.status(), &mut self.terminal);
        }
    }

    /// The keys without the terminal's answer about its background. From then on colours fit that.
    pub(super) fn take_background<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let (keys, background) = self.background.keys(bytes);
        if let Some(background) = background {
            self.abilities.colors = self.abilities.colors.on(background);
            self.area.set_colors(self.abilities.colors);
        }
        keys
    }
}
