//! The programs under comparison.

use cohab_e2e::{Home, binaries, home::PROMPT};
use portable_pty::CommandBuilder;

use crate::{
    pty::Pty,
    report::{Report, Samples},
};

/// One way to a bash prompt.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    program: String,
    arguments: Vec<String>,
}

pub(crate) const BASH: &str = "bash";
pub(crate) const MINIMAL: &str = "minimal proxy";
pub(crate) const COHAB: &str = "cohab";
pub(crate) const TMUX: &str = "tmux";
const TMUX_SOCKET: &str = "cohab-bench";

impl Contestant {
    fn new(name: &'static str, program: &str, arguments: &[&str]) -> Self {
        Self { name, program: program.into(), arguments: arguments.iter().map(|word| (*word).to_owned()).collect() }
    }

    fn command(&self, home: &Home) -> CommandBuilder {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        home.in_terminal(&self.program, &arguments)
    }

    /// Starts it, not yet at its prompt.
    pub(crate) fn spawn(&self, home: &Home) -> Pty {
        Pty::spawn(self.command(home))
    }

    /// Starts it and waits for its prompt.
    pub(crate) fn at_prompt(&self, home: &Home) -> Pty {
        let mut pty = self.spawn(home);
        pty.read_until(PROMPT);
        pty
    }
}

/// Whether `cohab` was built.
pub(crate) fn has_cohab() -> bool {
    binaries::folder().join("cohab").is_file()
}

/// The contestants of one measure, and their samples.
pub(crate) struct Race {
    pub(crate) contestants: Vec<Contestant>,
    /// In the order of the contestants.
    pub(crate) samples: Vec<Samples>,
}

impl Race {
    pub(crate) fn new() -> Self {
        let contestants = all();
        let samples = vec![Samples::default(); contestants.len()];
        Self { contestants, samples }
    }

    /// All of them at their prompts.
    pub(crate) fn at_prompts(&self, home: &Home) -> Vec<Pty> {
        self.contestants.iter().map(|contestant| contestant.at_prompt(home)).collect()
    }

    /// The samples of one of them; nothing if it did not take part.
    pub(crate) fn of(&self, name: &str) -> Option<&Samples> {
        let at = self.contestants.iter().position(|contestant| contestant.name == name)?;
        self.samples.get(at)
    }

    /// The median of one of them; nothing if it did not take part.
    pub(crate) fn p50(&self, name: &str) -> Option<f64> {
        self.of(name).map(Samples::p50)
    }

    /// A row for each.
    pub(crate) fn report(&self, report: &mut Report, measure: &'static str, unit: &str) {
        for (contestant, samples) in self.contestants.iter().zip(&self.samples) {
            report.samples(measure, contestant.name, unit, samples);
        }
    }
}

/// Raw bash, the minimal proxy, cohab if it was built, and the others on this machine.
fn all() -> Vec<Contestant> {
    let mut all = vec![
        Contestant::new(BASH, "/bin/bash", &["-i"]),
        Contestant::new(MINIMAL, &binaries::program("pty_proxy_minimal").display().to_string(), &["/bin/bash", "-i"]),
    ];
    if has_cohab() {
        all.push(cohab());
    }
    if binaries::is_installed("script") {
        all.push(Contestant::new("script", "script", &["-qfc", "/bin/bash -i", "/dev/null"]));
    }
    if binaries::is_installed("tmux") {
        // A separate server, apart from the user's.
        all.push(Contestant::new(TMUX, "tmux", &["-L", TMUX_SOCKET, "-f", "/dev/null", "new-session", "/bin/bash -i"]));
    }
    all
}

/// cohab as a user starts it.
pub(crate) fn cohab() -> Contestant {
    Contestant::new(COHAB, &binaries::program("cohab").display().to_string(), &[])
}

/// A home for all of them. tmux keeps its socket in it.
pub(crate) fn home() -> Home {
    let home = Home::new();
    let folder = home.path("").display().to_string();
    home.env("TMUX_TMPDIR", &folder)
}

/// Ends programs that outlive their terminal.
pub(crate) fn clean_up(home: &Home) {
    if binaries::is_installed("tmux") {
        let _ = home.process("tmux", &["-L", TMUX_SOCKET, "kill-server"]).output();
    }
}
