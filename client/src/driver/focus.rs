//! Asks the terminal for focus reports and sends notifications. The client asks only while the assistant has the terminal, and passes
//! no report to a party that did not ask for it.

use cohab_shell_relay::live::LiveShell;
use cohab_term::notify::notification;

use crate::terminal::Terminal;

const FOCUS_REPORTS_ON: &[u8] = b"\x1b[?1004h";
const FOCUS_REPORTS_OFF: &[u8] = b"\x1b[?1004l";

/// Whether the user wants to be called, and whether the terminal has been asked for its focus.
#[derive(Debug)]
pub(super) struct Focus {
    notifies: bool,
    is_asked_for: bool,
}

impl Focus {
    /// `notify` is the user's setting. A dumb terminal is not asked.
    pub fn new(notify: bool) -> Self {
        Self { notifies: notify && std::env::var_os("TERM").is_some_and(|term| term != "dumb"), is_asked_for: false }
    }

    /// Asks for reports of the focus, or no longer. What the shell, or a program in it, has asked for stays.
    pub fn watch(&mut self, wants: bool, live: &mut LiveShell, terminal: &mut Terminal) {
        let wants = wants && self.notifies;
        if wants == self.is_asked_for {
            return;
        }
        self.is_asked_for = wants;
        if wants {
            live.watch_focus();
        }
        if !live.modes().focus_reporting() {
            terminal.write(if wants { FOCUS_REPORTS_ON } else { FOCUS_REPORTS_OFF });
        }
    }

    /// Calls the user, if they want that.
    pub fn notify(&self, text: &str, terminal: &mut Terminal) {
        if self.notifies {
            terminal.write(&notification(text));
        }
    }
}
