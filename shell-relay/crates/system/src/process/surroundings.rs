//! Tells whether this process has a terminal, and whether cohab opened it.

use std::io::{self, IsTerminal as _};

/// What surrounds the process, gathered once so that the decision is pure.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Both standard input and output are terminals.
    pub is_terminal: bool,
    /// `$TERM` is `dumb`.
    pub is_dumb: bool,
    /// This terminal is one that cohab opened itself.
    pub is_inside_cohab: bool,
}

/// Set for our own programs that run beside a shell of ours, without its terminal.
pub const BESIDE_VARIABLE: &str = "COHAB_BESIDE";

impl Surroundings {
    /// What surrounds this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        let stdin_name = rustix::termios::ttyname(io::stdin(), Vec::new()).ok();
        let ours = std::env::var_os("COHAB_TTY");
        Self {
            is_terminal: io::stdin().is_terminal() && io::stdout().is_terminal(),
            is_dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
            is_inside_cohab: std::env::var_os(BESIDE_VARIABLE).is_some()
                || ours.is_some_and(|ours| stdin_name.is_some_and(|name| name.as_bytes() == ours.as_encoded_bytes())),
        }
    }
}
