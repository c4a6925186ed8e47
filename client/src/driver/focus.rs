//! Asks the terminal for focus reports and sends notifications. The client asks only while the assistant has the terminal, and passes
//! no report to a party that did not ask for it.

use cohab_term::notify::notification;

use super::Driver;

const FOCUS_REPORTS_ON: &[u8] = b"\x1b[?1004h";
const FOCUS_REPORTS_OFF: &[u8] = b"\x1b[?1004l";

/// Whether the user wants to be called, and whether the terminal has been asked for its focus.
#[derive(Debug)]
pub(super) struct Focus {
    pub notifies: bool,
    is_asked_for: bool,
}

impl Focus {
    /// `notify` is the user's setting. A dumb terminal is not asked.
    pub fn new(notify: bool) -> Self {
        Self { notifies: notify && std::env::var_os("TERM").is_some_and(|term| term != "dumb"), is_asked_for: false }
    }
}

impl Driver {
    /// Asks for reports of the focus, or no longer. What the shell, or a program in it, has asked for stays.
    pub(super) fn watch_focus(&mut self, wants: bool) {
        let wants = wants && self.focus.notifies;
        if wants == self.focus.is_asked_for {
            return;
        }
        self.focus.is_asked_for = wants;
        if wants {
            self.live.watch_focus();
        }
        if !self.live.modes().focus_reporting() {
            self.terminal.write(if wants { FOCUS_REPORTS_ON } else { FOCUS_REPORTS_OFF });
        }
    }

    pub(super) fn notify(&mut self, text: &str) {
        if self.focus.notifies {
            self.terminal.write(&notification(text));
        }
    }
}
