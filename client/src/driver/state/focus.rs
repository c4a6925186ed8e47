//! Asks the terminal for focus reports, sends notifications and tells the program status. The client asks only while the assistant has the
//! terminal, and passes no report to a party that did not ask for it.

use cohab_daemon_link::config::Config;
use cohab_shell_relay::live::LiveShell;
use cohab_term::{
    capability::{Notifier, Passage, reads_strings},
    notify::notification,
    program_status::ProgramStatus,
};

use crate::terminal::Terminal;

const FOCUS_REPORTS_ON: &[u8] = b"\x1b[?1004h";
const FOCUS_REPORTS_OFF: &[u8] = b"\x1b[?1004l";

/// Whether the user wants to be called and the terminal to be told, and whether the terminal has been asked for its focus.
#[derive(Debug)]
pub struct Focus {
    notifies: bool,
    notifier: Notifier,
    passage: Passage,
    is_asked_for: bool,
    tells_status: bool,
    told: ProgramStatus,
}

impl Focus {
    /// By the user's settings. A dumb terminal is not asked, and one that would print the sequences gets none.
    pub fn new(config: &Config) -> Self {
        let term = std::env::var("TERM").unwrap_or_default();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            notifies: config.client.notify && !matches!(term.as_str(), "" | "dumb"),
            notifier: Notifier::detect(&term, is_set("VTE_VERSION")),
            passage: Passage::detect(is_set("TMUX"), is_set("STY")),
            is_asked_for: false,
            tells_status: config.client.status && reads_strings(&term),
            told: ProgramStatus::Idle,
        }
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
            terminal.write(&notification(text, self.notifier, self.passage));
        }
    }

    /// Tells the terminal what cohab does, if that is new.
    pub fn tell_status(&mut self, status: ProgramStatus, terminal: &mut Terminal) {
        if self.tells_status && status != self.told {
            self.told = status;
            terminal.write(&self.passage.wrap(status.sequence().as_bytes()));
        }
    }
}
