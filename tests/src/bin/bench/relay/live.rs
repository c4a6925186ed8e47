//! A shell with the relay, driven as the client drives it, but without a model, a daemon or a terminal.

use std::time::{Duration, Instant};

use cohab_e2e::Home;
use cohab_shell_relay::live::{Effects, LiveEvent, LivePty, LiveSetup, LiveShell, RelayDir, ShellState};
use cohab_types::command::{CommandOutcome, CommandRequest};

use super::{
    reader::{self, PATIENCE, Tail},
    shells::Measured,
};

const QUIET: Duration = Duration::from_millis(20);
/// Time limit of a command of the bench.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A live shell.
pub(crate) struct Live {
    live: LiveShell,
    pty: LivePty,
    dir: RelayDir,
    fx: Effects,
    buffer: Vec<u8>,
    tail: Tail,
    /// The result of the last command.
    result: Option<Result<CommandOutcome, String>>,
    is_started: bool,
    next_id: u32,
    /// The screen that terminal output is drawn on; absent while time or memory is measured.
    screen: Option<vt100::Parser>,
}

impl Live {
    /// Starts it, with its directory, and waits for its prompt and the mark of it.
    ///
    /// # Errors
    /// With a sentence, if the shell gives no marks.
    pub(crate) fn at_prompt(shell: &Measured, home: &Home) -> Result<Self, String> {
        let nonce = RelayDir::fresh_nonce();
        let folder = home.path("");
        let dir = RelayDir::create(&folder, |_| Ok(()), shell.kind, false, &nonce).expect("the home can be written");
        let pty = reader::spawn(shell, home, dir.startup_file());
        let setup = LiveSetup { shell: shell.kind, nonce, child_pid: pty.child_pid(), initial_cwd: folder };
        let mut made = Self {
            live: LiveShell::new(setup, Instant::now()),
            pty,
            dir,
            fx: Effects::default(),
            buffer: vec![0; 64 * 1024],
            tail: Tail::default(),
            result: None,
            is_started: false,
            next_id: 1,
            screen: None,
        };
        made.wait(|live| live.is_without_marks() || (live.is_idle() && live.tail.is_at_prompt()));
        if made.is_without_marks() { Err("the shell gives no marks".into()) } else { Ok(made) }
    }

    /// Runs a command of the agent. Returns the time from the request to the next prompt, and the outcome.
    pub(crate) fn relayed(&mut self, text: &str) -> (Duration, CommandOutcome) {
        self.relayed_as(text, false)
    }

    /// The same in the way of an agent's command: the shell lists its state before and after it.
    pub(crate) fn relayed_and_listed(&mut self, text: &str) -> Duration {
        self.relayed_as(text, true).0
    }

    fn relayed_as(&mut self, text: &str, wants_env_delta: bool) -> (Duration, CommandOutcome) {
        self.settle();
        let start = Instant::now();
        self.begin(text, wants_env_delta);
        self.wait(Self::is_done);
        (start.elapsed(), self.take_outcome(text))
    }

    /// Starts a command that ends only by Ctrl-C, lets it run for `time`. Returns the time from Ctrl-C to the next prompt.
    pub(crate) fn interrupted(&mut self, text: &str, time: Duration) -> (Duration, CommandOutcome) {
        self.settle();
        self.begin(text, false);
        self.wait(|live| live.is_started);
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.step(until);
        }
        let start = Instant::now();
        self.live.user_input(b"\x03", &self.pty, start, &mut self.fx);
        self.carry_out();
        self.wait(Self::is_done);
        (start.elapsed(), self.take_outcome(text))
    }

    /// Draws terminal output from now on.
    pub(crate) fn draw(&mut self) {
        let size = |count| std::num::NonZeroU16::new(count).unwrap_or(std::num::NonZeroU16::MIN);
        self.screen = Some(vt100::Parser::new(size(24), size(80), 10_000));
    }

    /// Rows used so far, on the screen and above it.
    pub(crate) fn rows(&self) -> usize {
        let screen = self.screen.as_ref().map(vt100::Parser::screen);
        screen.map_or(0, |screen| screen.scrollback_len() + usize::from(screen.cursor_position().0))
    }

    /// The shell's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pty.child_pid()
    }

    fn begin(&mut self, text: &str, wants_env_delta: bool) {
        self.next_id += 1;
        self.result = None;
        self.is_started = false;
        self.tail.clear();
        let request = CommandRequest {
            id: format!("{:x}", self.next_id),
            text: text.to_owned(),
            timeout: TIMEOUT,
            wants_env_delta,
        };
        self.live.run(request, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    fn take_outcome(&mut self, text: &str) -> CommandOutcome {
        match self.result.take() {
            Some(Ok(outcome)) => outcome,
            other => panic!("`{text:.60}` was not run: {other:?}"),
        }
    }

    fn is_without_marks(&self) -> bool {
        self.live.state() == ShellState::NotIntegrated
    }

    fn is_idle(&self) -> bool {
        self.live.state() == ShellState::Prompt
    }

    /// The result is there and the prompt follows it.
    fn is_done(&self) -> bool {
        self.result.is_some() && self.is_idle() && self.tail.is_at_next_prompt()
    }

    fn settle(&mut self) {
        while self.step(Instant::now() + QUIET) {}
    }

    fn wait(&mut self, condition: impl Fn(&Self) -> bool) {
        let give_up = Instant::now() + PATIENCE;
        while !condition(self) {
            assert!(
                Instant::now() < give_up,
                "waited in vain; state {:?}, result {:?}, last {}",
                self.live.state(),
                self.result,
                self.tail.text()
            );
            self.step(give_up);
        }
    }

    /// One round of waiting and reading; returns whether the shell wrote.
    fn step(&mut self, until: Instant) -> bool {
        let due = self.live.deadline();
        let bytes = reader::read(&self.pty, &mut self.buffer, due.map_or(until, |due| due.min(until)));
        let has_written = !bytes.is_empty();
        let now = Instant::now();
        if has_written {
            self.live.shell_output(bytes, &self.pty, now, &mut self.fx);
        }
        if self.live.deadline().is_some_and(|due| due <= now) {
            self.live.tick(&self.pty, now, &mut self.fx);
        }
        self.carry_out();
        has_written
    }

    fn carry_out(&mut self) {
        self.dir.apply(&mut self.fx).expect("the relay's directory can be written");
        reader::write(&self.pty, &self.fx.pty);
        self.tail.push(&self.fx.terminal);
        if let Some(screen) = &mut self.screen {
            screen.process(&self.fx.terminal);
        }
        if let Some(signal) = self.fx.signal {
            self.pty.send(signal);
        }
        for event in self.fx.events.drain(..) {
            match event {
                LiveEvent::CommandStarted { .. } => self.is_started = true,
                LiveEvent::CommandFinished { outcome, .. } => self.result = Some(Ok(outcome)),
                LiveEvent::CommandRefused { error, .. } => self.result = Some(Err(error.to_string())),
                _ => {}
            }
        }
        self.fx.clear();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        reader::end(&mut self.pty);
    }
}
