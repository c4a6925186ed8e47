//! Shows the status of the assistant's command while it is silent; see [`CommandStatus`] for when.

use std::time::Instant;

use cohab_shell_relay::live::LiveEvent;
use cohab_term::output_style::OutputStyle;

use super::{Driver, state::command_status::CommandStatus};

impl Driver {
    /// Notes the beginning and the end of the assistant's command.
    pub(super) fn note_command(&mut self, event: &LiveEvent) {
        match event {
            LiveEvent::CommandStarted { .. } if self.abilities.output_style == OutputStyle::Rich => {
                let now = Instant::now();
                self.command_status = self.app.running_command().map(|command| CommandStatus::begun(command, now));
            }
            // The row stays until something else is drawn in its place.
            LiveEvent::CommandFinished { .. } | LiveEvent::CommandRefused { .. } => self.end_command_status(),
            _ => {}
        }
    }

    fn end_command_status(&mut self) {
        self.hide_command_status();
        self.command_status = None;
    }

    /// When the row is due.
    pub(super) fn command_status_deadline(&self) -> Option<Instant> {
        self.command_status.as_ref().and_then(CommandStatus::deadline)
    }

    /// Draws the row if it is due. A program that reads single keys or a password has the row to itself.
    pub(super) fn tick_command_status(&mut self, now: Instant) {
        let width = self.area.max_columns();
        let Some(status) = &mut self.command_status else { return };
        if status.deadline().is_none_or(|due| due > now) {
            return;
        }
        status.put_off(now);
        let modes = self.shell.probe().terminal_modes();
        if !modes.is_some_and(|modes| modes.canonical && modes.echo) {
            return self.hide_command_status();
        }
        let row = status.draw(width, now);
        let mut out = Vec::new();
        self.area.draw(&[], &[row], None, &mut out);
        self.terminal.write(&out);
    }

    /// The shell is about to write: the row goes, and what is written is followed.
    pub(super) fn hide_command_status(&mut self) {
        let Some(status) = &mut self.command_status else { return };
        if status.hide() {
            let mut out = Vec::new();
            self.area.clear(&mut out);
            self.terminal.write(&out);
        }
        status.follow(&self.fx.terminal, Instant::now());
    }
}
