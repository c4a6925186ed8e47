//! Brings the live shell into each of its states, from its start, as a real shell would.

use cohab_shell_relay::live::LineDecision;
use cohab_shell_state::shell::Shell;

use crate::{
    bench::{Bench, SHELL_GROUP},
    editor::prompt_after,
};

/// The command that is on its way in the states that have one.
pub const RUNNING: &str = "a0";

/// Makes a bench in a state, with nothing left of the way there.
pub type Make = fn(Shell) -> Bench;

/// fish has no `cont`: it keeps all lines in its buffer.
pub const STATES: [(&str, Make); 24] = [
    ("boot", Bench::booting),
    ("prompt_idle", Bench::prompt_idle),
    ("prompt_typing", Bench::prompt_typing),
    ("asked", Bench::asked),
    ("told", Bench::told),
    ("accepted", Bench::accepted),
    ("cont", Bench::continuation),
    ("stashing", Bench::stashing),
    ("loading", Bench::loading),
    ("loaded", Bench::loaded),
    ("running_user", Bench::running_user),
    ("running_agent", Bench::running_agent),
    ("restoring", Bench::restoring),
    ("precmd", Bench::precmd),
    ("taking", Bench::taking),
    ("answering", Bench::answering),
    ("leaving", Bench::leaving),
    ("full_screen", Bench::full_screen),
    ("password_user", Bench::password_of_user),
    ("password_agent", Bench::password_of_agent),
    ("nested", Bench::nested),
    ("replaced", Bench::replaced),
    ("not_integrated", Bench::not_integrated),
    ("dead", Bench::dead),
];

impl Bench {
    pub fn prompt_idle(shell: Shell) -> Self {
        let mut bench = Self::booting(shell);
        bench.output(prompt_after(shell, None).as_bytes());
        bench.wait(1000);
        bench.cleared()
    }

    pub fn prompt_typing(shell: Shell) -> Self {
        let mut bench = Self::prompt_idle(shell);
        bench.keys(b"x");
        bench.cleared()
    }

    /// Enter was pressed; the line is not yet known.
    pub fn asked(shell: Shell) -> Self {
        let mut bench = Self::prompt_typing(shell);
        bench.wait(1000);
        bench.keys(b"\r");
        bench.cleared()
    }

    /// The driver is to decide.
    pub fn told(shell: Shell) -> Self {
        let mut bench = Self::prompt_typing(shell);
        bench.wait(1000);
        bench.keys(b"\r");
        bench.obey("");
        bench.cleared()
    }

    /// The line is the shell's, which has not yet begun to run it.
    pub fn accepted(shell: Shell) -> Self {
        let mut bench = Self::told(shell);
        bench.decide(LineDecision::Shell);
        bench.cleared()
    }

    pub fn continuation(shell: Shell) -> Self {
        let mut bench = Self::accepted(shell);
        bench.marks(&["P"]);
        bench.wait(1000);
        bench.cleared()
    }

    pub fn stashing(shell: Shell) -> Self {
        let mut bench = Self::prompt_idle(shell);
        bench.run(RUNNING, "true");
        bench.cleared()
    }

    pub fn loading(shell: Shell) -> Self {
        let mut bench = Self::prompt_idle(shell);
        bench.run(RUNNING, "true");
        bench.obey(RUNNING);
        if shell == Shell::Fish {
            bench.obey(RUNNING);
        }
        bench.cleared()
    }

    pub fn loaded(shell: Shell) -> Self {
        let mut bench = Self::loading(shell);
        bench.marks(&["L;a0"]);
        bench.cleared()
    }

    pub fn running_user(shell: Shell) -> Self {
        let mut bench = Self::accepted(shell);
        bench.marks(&["C"]);
        bench.probe.program_in_front("sleep", true);
        bench.wait(1000);
        bench.cleared()
    }

    pub fn running_agent(shell: Shell) -> Self {
        let mut bench = Self::loaded(shell);
        let begins: &[&str] = if shell == Shell::Bash { &["B", "C", "O;a0"] } else { &["C", "O;a0"] };
        bench.marks(begins);
        bench.probe.program_in_front("sleep", true);
        bench.wait(1000);
        bench.cleared()
    }

    /// The prompt after a command into which the user typed; unread input may still be on its way.
    pub fn restoring(shell: Shell) -> Self {
        let mut bench = Self::running_agent(shell);
        bench.keys(b"x");
        bench.marks(&["E;a0;0;/home"]);
        bench.probe.editor_in_front();
        bench.output(prompt_after(shell, Some(RUNNING)).as_bytes());
        bench.cleared()
    }

    pub fn precmd(shell: Shell) -> Self {
        let mut bench = Self::running_user(shell);
        bench.probe.front.set(SHELL_GROUP);
        bench.marks(&["D;;0;/home"]);
        bench.cleared()
    }

    /// A question is on its way out of the line editor.
    pub fn taking(shell: Shell) -> Self {
        let mut bench = Self::told(shell);
        bench.decide(LineDecision::Assistant);
        bench.cleared()
    }

    pub fn answering(shell: Shell) -> Self {
        let mut bench = Self::told(shell);
        bench.decide(LineDecision::Assistant);
        bench.obey("");
        if shell == Shell::Fish {
            bench.obey("");
        }
        bench.cleared()
    }

    pub fn leaving(shell: Shell) -> Self {
        let mut bench = Self::answering(shell);
        bench.end_answer();
        bench.cleared()
    }

    pub fn full_screen(shell: Shell) -> Self {
        let mut bench = Self::running_user(shell);
        bench.probe.program_in_front("vim", false);
        bench.output(b"\x1b[?1049h");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn password_of_user(shell: Shell) -> Self {
        let mut bench = Self::running_user(shell);
        bench.probe.program_in_front("sudo", false);
        bench.output(b"Password: ");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn password_of_agent(shell: Shell) -> Self {
        let mut bench = Self::running_agent(shell);
        bench.probe.program_in_front("sudo", false);
        bench.output(b"Password: ");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn nested(shell: Shell) -> Self {
        let mut bench = Self::running_user(shell);
        bench.probe.program_in_front("python3", false);
        bench.output(b">>> ");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn replaced(shell: Shell) -> Self {
        let bench = Self::running_user(shell);
        bench.probe.editor_in_front();
        bench.probe.replaced.set(true);
        *bench.probe.name.borrow_mut() = "sh";
        bench.cleared()
    }

    pub fn not_integrated(shell: Shell) -> Self {
        let mut bench = Self::booting(shell);
        bench.output(b"$ ");
        bench.wait(6000);
        bench.cleared()
    }

    pub fn dead(shell: Shell) -> Self {
        let mut bench = Self::prompt_idle(shell);
        bench.end();
        bench.cleared()
    }

    fn cleared(mut self) -> Self {
        self.fx.clear();
        self
    }
}
