//! Whether the terminal has the focus, as far as the terminal reports it, and what the user is told without looking.

use cohab_term::program_status::{Need, ProgramStatus, StatusReader};

/// What is known of the focus, and of what waits for the user.
#[derive(Debug, Default)]
pub(crate) struct Attention {
    pub has_left: bool,
    /// How the last turn ended, until the user does something else.
    pub last_end: ProgramStatus,
    /// What the program in the running command says that it waits for.
    pub program_needs: Option<Need>,
    program: StatusReader,
}

impl Attention {
    /// The terminal says so, or a key does.
    pub(crate) fn has_focus(&mut self, has_focus: bool) {
        self.has_left = !has_focus;
    }

    /// Reads output of the running command. True if its program waits for the user now, and did not before.
    pub(crate) fn read(&mut self, output: &[u8]) -> bool {
        let Some(status) = self.program.push(output) else { return false };
        let before = self.program_needs;
        self.program_needs = match status {
            ProgramStatus::Blocked(need) => Some(need),
            _ => None,
        };
        before.is_none() && self.program_needs.is_some()
    }

    /// The command has ended.
    pub(crate) fn command_ended(&mut self) {
        (self.program_needs, self.program) = (None, StatusReader::default());
    }
}
