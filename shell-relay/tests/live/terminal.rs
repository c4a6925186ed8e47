//! A user's terminal for tests: a real shell in a PTY, the live shell, a screen of 24 x 80.

use std::{
    fs,
    os::fd::AsFd,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use cohab_secrets::FilledLine;
use cohab_shell_relay::live::{
    Effects, Keyboard, LineDecision, LiveEvent, LivePty, LiveSetup, LiveShell, Probe, PtySize, RelayDir, SpawnShell,
    UserCommand,
};
use cohab_shell_state::shell::start;
use cohab_types::command::{CommandOutcome, CommandRequest, Ending, Interrupter, Mode, RelayError};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::Mode as FileMode,
    process::{Pid, Signal, kill_process, umask},
};

/// Interrupted by Ctrl-C of the user.
pub const BY_USER: Ending = Ending::Interrupted { by: Interrupter::User };
/// Interrupted by [`Terminal::cancel`].
pub const BY_TURN: Ending = Ending::Interrupted { by: Interrupter::Turn };

pub use crate::shells::{Kind, has, newer};

/// A condition that takes longer than this never comes.
const PATIENCE: Duration = Duration::from_secs(20);
pub const SIZE: PtySize = PtySize { rows: 24, columns: 80, pixel_width: 0, pixel_height: 0 };

pub struct Terminal {
    pub live: LiveShell,
    pub pty: LivePty,
    pub screen: vt100::Parser,
    /// Everything the user's terminal got.
    pub shown: Vec<u8>,
    pub events: Vec<LiveEvent>,
    pub home: tempfile::TempDir,
    pub nonce: String,
    dir: RelayDir,
    fx: Effects,
    next_id: u32,
    pub ended: bool,
}

pub struct Options<'a> {
    pub kind: Kind,
    /// The user's start-up file.
    pub rc: &'a str,
    pub login: bool,
    pub files: &'a [(&'a str, &'a str)],
    pub variables: &'a [(&'a str, &'a str)],
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { kind: Kind::Bash, rc: Kind::Bash.plain_rc(), login: false, files: &[], variables: &[] }
    }
}

/// The shell ends before its home is removed: as it hangs up it may write its history there.
impl Drop for Terminal {
    fn drop(&mut self) {
        if let (Ok(None), Some(pid)) = (self.pty.try_wait(), Pid::from_raw(self.pty.child_pid().cast_signed())) {
            let _ = kill_process(pid, Signal::KILL);
            let _ = self.pty.wait();
        }
    }
}

impl Terminal {
    pub fn bash() -> Self {
        Self::with(&Options::default())
    }

    pub fn with_rc(rc: &str) -> Self {
        Self::with(&Options { rc, ..Options::default() })
    }

    /// A shell with a plain prompt.
    pub fn of(kind: Kind) -> Self {
        Self::with(&Options { kind, rc: kind.plain_rc(), ..Options::default() })
    }

    pub fn with(options: &Options<'_>) -> Self {
        let mut terminal = Self::unready(options);
        terminal.wait("the first prompt", |t| t.events.contains(&LiveEvent::PromptReady));
        terminal.pty.remember_shell();
        terminal.events.clear();
        terminal
    }

    pub fn unready(options: &Options<'_>) -> Self {
        // The report of a changed mask names the one before.
        umask(FileMode::from_raw_mode(0o022));
        let home = tempfile::tempdir().unwrap();
        let kind = options.kind;
        let program = kind.program().expect("the shell is installed");
        fs::create_dir_all(home.path().join(".config/fish")).unwrap();
        fs::write(home.path().join(kind.rc_file()), options.rc).unwrap();
        fs::write(home.path().join(".hushlogin"), "").unwrap();
        keep_fish_from_learning_manuals(home.path());
        for (name, content) in options.files {
            fs::write(home.path().join(name), content).unwrap();
        }
        let nonce = RelayDir::fresh_nonce();
        let dir = RelayDir::create(home.path(), |_| Ok(()), kind.shell(), options.login, &nonce).unwrap();
        let mut start = start(kind.shell(), options.login, dir.startup_file(), home.path());
        for (name, value) in
            [("HOME", home.path().to_str().unwrap()), ("TERM", "xterm-256color"), ("LC_ALL", "C.UTF-8")]
                .iter()
                .chain(options.variables)
        {
            start.environment.push((name.into(), value.into()));
        }
        let spawn = SpawnShell {
            argv0: program.file_name().unwrap().to_owned(),
            program,
            start,
            cwd: home.path().to_owned(),
            size: SIZE,
            modes: None,
        };
        let pty = LivePty::spawn(&spawn).unwrap();
        let setup = LiveSetup {
            shell: kind.shell(),
            nonce: nonce.clone(),
            child_pid: pty.child_pid(),
            initial_cwd: home.path().to_owned(),
        };
        Self {
            live: LiveShell::new(setup, Instant::now()),
            pty,
            screen: vt100::Parser::new(SIZE.rows.try_into().unwrap(), SIZE.columns.try_into().unwrap(), 1000),
            shown: Vec::new(),
            events: Vec::new(),
            home,
            nonce,
            dir,
            fx: Effects::default(),
            next_id: 1,
            ended: false,
        }
    }

    pub fn home_path(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// Types keys.
    pub fn keys(&mut self, keys: impl AsRef<[u8]>) {
        self.live.user_input(keys.as_ref(), &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    /// Types keys and pauses: the next event finds a user who does not type.
    pub fn type_slowly(&mut self, keys: &str) {
        self.keys(keys);
        self.settle_for(Duration::from_millis(250));
    }

    /// Asks `why` and lets the assistant answer `Because.`, up to the prompt after it.
    pub fn ask_why(&mut self) {
        self.events.clear();
        self.keys("? why\r");
        self.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
        self.draw("? why\nBecause.\n");
        self.end_answer(false);
    }

    /// Types a line and Enter, and waits until the command has ended.
    pub fn line(&mut self, line: &str) -> UserCommand {
        self.events.clear();
        self.keys(format!("{line}\r"));
        self.wait(line, |t| t.events.contains(&LiveEvent::PromptReady));
        let finished = self.events.iter().find_map(|event| match event {
            LiveEvent::UserCommandFinished(command) => Some(command.clone()),
            _ => None,
        });
        finished.unwrap_or_else(|| panic!("{line} was not seen: {:?}\n{}", self.events, self.text()))
    }

    pub fn request(&mut self, text: &str) -> CommandRequest {
        self.next_id += 1;
        CommandRequest {
            id: format!("{:x}", self.next_id),
            text: text.to_owned(),
            timeout: Duration::from_secs(60),
            wants_env_delta: false,
        }
    }

    /// Requests a command; returns its id.
    pub fn begin(&mut self, text: &str) -> String {
        let request = self.request(text);
        self.begin_request(request)
    }

    pub fn begin_request(&mut self, request: CommandRequest) -> String {
        let id = request.id.clone();
        self.live.run(request, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
        id
    }

    pub fn begin_as(&mut self, text: &str, mode: Mode) -> String {
        let request = self.request(text);
        self.begin_request_as(request, mode)
    }

    pub fn begin_request_as(&mut self, request: CommandRequest, mode: Mode) -> String {
        let id = request.id.clone();
        self.live.run_as(request, mode, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
        id
    }

    /// Runs what is shown as `text` with a secret filled in, to its end.
    pub fn run_filled(&mut self, text: &str, filled: &FilledLine) -> CommandOutcome {
        let request = self.request(text);
        let id = request.id.clone();
        self.live.run_filled(request, filled, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
        self.end_of(text, &id)
    }

    pub fn cancel(&mut self, id: &str) {
        self.live.cancel(id, Interrupter::Turn, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    pub fn result(&mut self, id: &str) -> Result<CommandOutcome, RelayError> {
        self.wait(&format!("the result of {id}"), |t| t.result_now(id).is_some());
        self.result_now(id).unwrap()
    }

    fn result_now(&self, id: &str) -> Option<Result<CommandOutcome, RelayError>> {
        self.events.iter().find_map(|event| match event {
            LiveEvent::CommandFinished { id: of, outcome } if of == id => Some(Ok(outcome.clone())),
            LiveEvent::CommandRefused { id: of, error } if of == id => Some(Err(error.clone())),
            _ => None,
        })
    }

    /// Runs a command to its end.
    pub fn run(&mut self, text: &str) -> CommandOutcome {
        let id = self.begin(text);
        self.end_of(text, &id)
    }

    fn end_of(&mut self, text: &str, id: &str) -> CommandOutcome {
        let outcome = self.result(id).unwrap_or_else(|error| panic!("{text}: {error:?}\n{}", self.text()));
        self.settle();
        outcome
    }

    pub fn refused(&mut self, text: &str) -> &'static str {
        let id = self.begin(text);
        self.result(&id).expect_err("it should be refused").code()
    }

    pub fn wait_started(&mut self, id: &str) {
        let started = LiveEvent::CommandStarted { id: id.to_owned() };
        self.wait("the command's start", move |t| t.events.contains(&started));
    }

    /// Waits until this program has the terminal: earlier, keys for it would reach the shell.
    pub fn wait_foreground(&mut self, name: &str) {
        let give_up = Instant::now() + PATIENCE;
        while self.pty.foreground_name().as_deref() != Some(name) {
            assert!(Instant::now() < give_up, "{name} did not start");
            self.step(Instant::now() + Duration::from_millis(5));
        }
    }

    pub fn decide(&mut self, decision: LineDecision) {
        self.live.decide_line(decision, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    pub fn end_answer(&mut self, restore_line: bool) {
        self.live.end_answer(restore_line, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
        self.wait("the answer's end", |t| t.events.contains(&LiveEvent::AnswerEnded));
        self.settle();
    }

    /// Draws text of the assistant.
    pub fn draw(&mut self, text: &str) {
        let text = text.replace('\n', "\r\n");
        self.shown.extend_from_slice(text.as_bytes());
        self.screen.process(text.as_bytes());
    }

    pub fn keyboard(&mut self, keyboard: Keyboard) {
        self.live.set_keyboard(keyboard);
    }

    /// The screen, blank ends cut.
    pub fn text(&self) -> String {
        let screen = self.screen.screen();
        let rows: Vec<String> = screen.rows(0, screen.size().1.into()).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    pub fn wait_text(&mut self, part: &str) {
        self.wait(part, |t| t.text().contains(part));
    }

    pub fn wait_screen(&mut self, whole: &str) {
        self.wait(whole, |t| t.text() == whole);
    }

    pub fn wait(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        let give_up = Instant::now() + PATIENCE;
        while !condition(self) {
            assert!(
                Instant::now() < give_up,
                "{what} did not come\nstate: {:?}\nevents: {:?}\nscreen:\n{}\nlast: {:?}",
                self.live.state(),
                self.events,
                self.text(),
                String::from_utf8_lossy(&self.shown[self.shown.len().saturating_sub(600)..]),
            );
            self.step(give_up);
        }
    }

    /// Runs until nothing has come and nothing was due for a while.
    pub fn settle(&mut self) {
        self.settle_for(Duration::from_millis(60));
    }

    pub fn settle_for(&mut self, quiet: Duration) {
        while self.step(Instant::now() + quiet) {}
    }

    /// Runs for this duration, regardless of events.
    pub fn settle_until(&mut self, duration: Duration) {
        let until = Instant::now() + duration;
        while Instant::now() < until {
            self.step(until);
        }
    }

    /// One round of waiting and reading; returns whether anything happened before `until`.
    pub fn step(&mut self, until: Instant) -> bool {
        let now = Instant::now();
        let due = self.live.deadline();
        let wait = due.map_or(until, |due| due.min(until)).saturating_duration_since(now);
        let timeout = Timespec::try_from(wait).unwrap();
        let readable = !self.ended && {
            let mut fds = [PollFd::from_borrowed_fd(self.pty.master().as_fd(), PollFlags::IN)];
            poll(&mut fds, Some(&timeout)).unwrap() > 0
        };
        let now = Instant::now();
        let mut happened = false;
        if readable {
            let mut buffer = [0; 65536];
            match rustix::io::read(self.pty.master(), &mut buffer) {
                Ok(length) if length > 0 => self.live.shell_output(&buffer[..length], &self.pty, now, &mut self.fx),
                _ => {
                    self.ended = true;
                    let end = self.pty.wait().unwrap();
                    self.live.shell_ended(Some(end.status), now, &mut self.fx);
                }
            }
            happened = true;
        }
        if self.live.deadline().is_some_and(|due| due <= now) {
            self.live.tick(&self.pty, now, &mut self.fx);
            happened |= due.is_some_and(|due| due < until);
        }
        self.carry_out();
        happened
    }

    /// The user makes the window another size.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        self.pty.resize(PtySize { rows, columns, ..SIZE }).unwrap();
        self.screen.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
    }

    /// From now on no command file can be written.
    pub fn refuse_files(&self) {
        fs::create_dir_all(self.relay_dir().join("cmd.new/in the way")).unwrap();
    }

    /// The folder of the files through which commands reach the shell.
    pub fn relay_dir(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.home.path()).unwrap().map(|entry| entry.unwrap().path());
        let is_ours = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("shell-");
        entries.find(is_ours).expect("the folder is there")
    }

    /// Runs now the tasks that are due within this time.
    pub fn tick_later(&mut self, later: Duration) {
        self.live.tick(&self.pty, Instant::now() + later, &mut self.fx);
        self.carry_out();
    }

    fn carry_out(&mut self) {
        if let Err(error) = self.dir.apply(&mut self.fx) {
            self.live.command_not_written(&error, &self.pty, Instant::now(), &mut self.fx);
            self.dir.apply(&mut self.fx).unwrap();
        }
        let mut fx = std::mem::take(&mut self.fx);
        let mut rest = fx.pty.as_slice();
        while !rest.is_empty() && !self.ended {
            let written = rustix::io::write(self.pty.master(), rest).unwrap();
            rest = &rest[written..];
        }
        if let Some(signal) = fx.signal {
            self.pty.send(signal);
        }
        self.screen.process(&fx.terminal);
        self.shown.extend_from_slice(&fx.terminal);
        let asked = |query: &[u8]| fx.terminal.windows(query.len()).filter(|window| *window == query).count();
        let colours = asked(b"\x1b]11;?\x07");
        let (replies, identities) = (asked(b"\x1b[6n"), asked(b"\x1b[0c") + asked(b"\x1b[c"));
        // Lines that begin with `?` are questions.
        let mut decisions = Vec::new();
        for event in fx.events.drain(..) {
            match &event {
                LiveEvent::LineEntered { text, .. } if text.starts_with("?!") => {
                    decisions.push(LineDecision::Unrecorded);
                }
                LiveEvent::LineEntered { text, .. } if text.starts_with('?') => decisions.push(LineDecision::Assistant),
                LiveEvent::LineEntered { .. } => decisions.push(LineDecision::Shell),
                LiveEvent::HotkeyPressed { .. } => decisions.push(LineDecision::Assistant),
                _ => {}
            }
            self.events.push(event);
        }
        fx.clear();
        self.fx = fx;
        for decision in decisions {
            self.decide(decision);
        }
        for _ in 0..replies {
            let (row, column) = self.screen.screen().cursor_position();
            self.keys(format!("\x1b[{};{}R", row + 1, column + 1));
        }
        for _ in 0..colours {
            self.keys("\x1b]11;rgb:1111/2222/3333\x07");
        }
        for _ in 0..identities {
            self.keys("\x1b[?62;22c");
        }
    }
}

/// At its first start in a new home fish 3 lets python read all manuals, in the background.
fn keep_fish_from_learning_manuals(home: &Path) {
    let generated = home.join(".local/share/fish/generated_completions");
    fs::create_dir_all(&generated).unwrap();
    fs::create_dir_all(home.join(".cache/fish/generated_completions")).unwrap();
}
