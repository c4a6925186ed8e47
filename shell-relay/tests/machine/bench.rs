//! A test bench for a live shell: its shell is made of marks, its kernel of flags, its clock of numbers. Only the public interface is
//! used.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use cohab_shell_relay::live::{Effects, LineDecision, LiveEvent, LiveSetup, LiveShell, Probe, TerminalModes};
use cohab_shell_state::shell::Shell;
use cohab_types::command::CommandRequest;

use crate::editor::{answer, keys_in};

pub const NONCE: &str = "00112233445566778899aabbccddeeff";
pub const CHILD: u32 = 500;
/// Process groups: the shell's own, and that of a program in front.
pub const SHELL_GROUP: i32 = 500;
pub const PROGRAM_GROUP: i32 = 600;
/// Time limit of every command.
pub const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// The kernel's reports.
pub struct FakeProbe {
    pub front: Cell<i32>,
    pub modes: Cell<TerminalModes>,
    pub name: RefCell<&'static str>,
    pub replaced: Cell<bool>,
}

impl Probe for FakeProbe {
    fn foreground_pgid(&self) -> Option<i32> {
        Some(self.front.get())
    }

    fn terminal_modes(&self) -> Option<TerminalModes> {
        Some(self.modes.get())
    }

    fn foreground_name(&self) -> Option<String> {
        Some((*self.name.borrow()).to_owned())
    }

    fn shell_replaced(&self) -> bool {
        self.replaced.get()
    }
}

impl FakeProbe {
    /// The line editor reads.
    pub fn editor_in_front(&self) {
        self.front.set(SHELL_GROUP);
        self.modes.set(TerminalModes { echo: false, canonical: false });
    }

    /// A program reads lines, which are echoed or not.
    pub fn program_in_front(&self, name: &'static str, echo: bool) {
        self.front.set(PROGRAM_GROUP);
        *self.name.borrow_mut() = name;
        self.modes.set(TerminalModes { echo, canonical: true });
    }
}

pub struct Bench {
    pub shell: Shell,
    pub live: LiveShell,
    pub probe: FakeProbe,
    pub now: Instant,
    pub fx: Effects,
}

impl Bench {
    pub fn booting(shell: Shell) -> Self {
        let now = Instant::now();
        let setup = LiveSetup { shell, nonce: NONCE.into(), child_pid: CHILD, initial_cwd: "/".into() };
        let probe = FakeProbe {
            front: Cell::new(SHELL_GROUP),
            modes: Cell::new(TerminalModes { echo: false, canonical: false }),
            name: RefCell::new("sleep"),
            replaced: Cell::new(false),
        };
        Self { shell, live: LiveShell::new(setup, now), probe, now, fx: Effects::default() }
    }

    pub fn output(&mut self, bytes: &[u8]) {
        self.live.shell_output(bytes, &self.probe, self.now, &mut self.fx);
    }

    pub fn marks(&mut self, bodies: &[&str]) {
        for body in bodies {
            self.output(mark(body).as_bytes());
        }
    }

    /// The shell carries out the keys that it was sent last.
    pub fn obey(&mut self, id: &str) {
        let sent = String::from_utf8_lossy(&std::mem::take(&mut self.fx.pty)).into_owned();
        for key in keys_in(self.shell, &sent) {
            self.output(answer(self.shell, key, id).as_bytes());
        }
    }

    pub fn decide(&mut self, decision: LineDecision) {
        self.live.decide_line(decision, &self.probe, self.now, &mut self.fx);
    }

    pub fn end_answer(&mut self) {
        self.live.end_answer(true, &self.probe, self.now, &mut self.fx);
    }

    pub fn come_back(&mut self) {
        self.live.begin_answer_when_idle(&self.probe, self.now, &mut self.fx);
    }

    pub fn keys(&mut self, keys: &[u8]) {
        self.live.user_input(keys, &self.probe, self.now, &mut self.fx);
    }

    pub fn run(&mut self, id: &str, text: &str) {
        let request =
            CommandRequest { id: id.into(), text: text.into(), timeout: COMMAND_LIMIT, wants_env_delta: false };
        self.live.run(request, &self.probe, self.now, &mut self.fx);
    }

    pub fn end(&mut self) {
        self.live.shell_ended(Some(0), self.now, &mut self.fx);
    }

    /// The file for the command on its way could not be written.
    pub fn not_written(&mut self) {
        let error = std::io::Error::other("disk full");
        self.fx.command_file = None;
        self.fx.pty.clear();
        self.live.command_not_written(&error, &self.probe, self.now, &mut self.fx);
    }

    /// Lets time pass, ticking when it is due.
    pub fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        for _ in 0..10_000 {
            let Some(due) = self.live.deadline().filter(|due| *due <= until) else {
                self.now = until;
                return;
            };
            self.now = self.now.max(due);
            self.live.tick(&self.probe, self.now, &mut self.fx);
        }
        panic!("the deadline does not move: {:?}", self.live);
    }
}

/// A mark of our shell.
pub fn mark(body: &str) -> String {
    format!("\x1b]7391;{NONCE};{CHILD};{body}\x07")
}

/// The id of the command that an event gives the result of.
pub fn result_of(event: &LiveEvent) -> Option<&str> {
    match event {
        LiveEvent::CommandFinished { id, .. } | LiveEvent::CommandRefused { id, .. } => Some(id),
        _ => None,
    }
}
