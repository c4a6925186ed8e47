//! Every state of the live shell, reached from its start as a real shell would reach it.

use crate::bench::Bench;

/// The command that is on its way in the states that have one.
pub const RUNNING: &str = "a0";

/// Makes a bench in a state, with nothing left of the way there.
pub type Make = fn() -> Bench;

pub const STATES: [(&str, Make); 17] = [
    ("boot", Bench::booting),
    ("prompt_idle", Bench::prompt_idle),
    ("prompt_typing", Bench::prompt_typing),
    ("cont", Bench::continuation),
    ("stashing", Bench::stashing),
    ("loaded", Bench::loaded),
    ("running_user", Bench::running_user),
    ("running_agent", Bench::running_agent),
    ("precmd", Bench::precmd),
    ("answering", Bench::answering),
    ("full_screen", Bench::full_screen),
    ("password_user", Bench::password_of_user),
    ("password_agent", Bench::password_of_agent),
    ("nested", Bench::nested),
    ("replaced", Bench::replaced),
    ("not_integrated", Bench::not_integrated),
    ("dead", Bench::dead),
];

impl Bench {
    pub fn prompt_idle() -> Self {
        let mut bench = Self::booting();
        bench.marks(&["D;;0;/home", "B"]);
        bench.wait(1000);
        bench.cleared()
    }

    pub fn prompt_typing() -> Self {
        let mut bench = Self::prompt_idle();
        bench.keys(b"x");
        bench.cleared()
    }

    pub fn continuation() -> Self {
        let mut bench = Self::prompt_idle();
        bench.keys(b"\r");
        bench.marks(&["P"]);
        bench.wait(1000);
        bench.cleared()
    }

    pub fn stashing() -> Self {
        let mut bench = Self::prompt_idle();
        bench.run(RUNNING, "true");
        bench.cleared()
    }

    pub fn loaded() -> Self {
        let mut bench = Self::stashing();
        bench.marks(&["S;3", "B", "L;a0"]);
        bench.cleared()
    }

    pub fn running_user() -> Self {
        let mut bench = Self::prompt_idle();
        bench.keys(b"\r");
        bench.marks(&["C"]);
        bench.probe.program_in_front("sleep", true);
        bench.wait(1000);
        bench.cleared()
    }

    pub fn running_agent() -> Self {
        let mut bench = Self::loaded();
        bench.marks(&["B", "C", "O;a0"]);
        bench.probe.program_in_front("sleep", true);
        bench.wait(1000);
        bench.cleared()
    }

    pub fn precmd() -> Self {
        let mut bench = Self::running_user();
        bench.probe.front.set(crate::bench::SHELL_GROUP);
        bench.marks(&["D;;0;/home"]);
        bench.cleared()
    }

    pub fn answering() -> Self {
        let mut bench = Self::prompt_idle();
        bench.live.begin_answer(&bench.probe, bench.now, &mut bench.fx);
        bench.marks(&["S;3", "B"]);
        bench.cleared()
    }

    pub fn full_screen() -> Self {
        let mut bench = Self::running_user();
        bench.probe.program_in_front("vim", false);
        bench.output(b"\x1b[?1049h");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn password_of_user() -> Self {
        let mut bench = Self::running_user();
        bench.probe.program_in_front("sudo", false);
        bench.output(b"Password: ");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn password_of_agent() -> Self {
        let mut bench = Self::running_agent();
        bench.probe.program_in_front("sudo", false);
        bench.output(b"Password: ");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn nested() -> Self {
        let mut bench = Self::running_user();
        bench.probe.program_in_front("python3", false);
        bench.output(b">>> ");
        bench.wait(1000);
        bench.cleared()
    }

    pub fn replaced() -> Self {
        let bench = Self::running_user();
        bench.probe.editor_in_front();
        bench.probe.replaced.set(true);
        *bench.probe.name.borrow_mut() = "sh";
        bench.cleared()
    }

    pub fn not_integrated() -> Self {
        let mut bench = Self::booting();
        bench.output(b"$ ");
        bench.wait(6000);
        bench.cleared()
    }

    pub fn dead() -> Self {
        let mut bench = Self::prompt_idle();
        bench.end();
        bench.cleared()
    }

    fn cleared(mut self) -> Self {
        self.fx.clear();
        self
    }
}
