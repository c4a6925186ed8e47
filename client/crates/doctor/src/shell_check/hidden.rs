//! The user's shell in a hidden terminal, served step by step without an event loop.

use std::{
    io,
    os::fd::AsFd,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use cohab_shell_relay::{
    live::{
        self, Effects, Integration, LineDecision, LiveEvent, LivePty, LiveShell, Probe, PtySize, RelayDir, ShellState,
        Signal, StartOptions, Started,
    },
    marks::{Item, Mark, MarkParser},
};
use cohab_shell_state::shell::Shell;
use cohab_system::process;
use cohab_text::capture::Capture;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::Termios,
};

use super::{facts::MarksSeen, queries::Queries};

const SIZE: PtySize = PtySize { rows: 24, columns: 80, pixel_width: 0, pixel_height: 0 };
/// The longest sleep: how soon a wish to stop is seen.
const SLICE: Duration = Duration::from_millis(20);
/// How often the kernel is asked whether the line editor reads.
const EDITOR_LOOK: Duration = Duration::from_micros(250);
/// Kept of what the shell prints.
const OUTPUT_HEAD_BYTES: usize = 32 * 1024;
const OUTPUT_TAIL_BYTES: usize = 8 * 1024;
/// A killed process is gone after this, or never.
const REAP_WAIT: Duration = Duration::from_secs(1);

/// Why waiting ended without what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmet {
    /// Its time, or that of the whole check, is over.
    Late,
    /// The shell has ended.
    Ended,
    /// The user wants to stop.
    Cancelled,
}

/// How a relayed command went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    Refused(RelayError),
    Unmet(Unmet),
}

/// The shell; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct HiddenShell<'a> {
    pub live: LiveShell,
    pub pty: LivePty,
    pub events: Vec<LiveEvent>,
    /// What it printed so far, as its terminal got it.
    pub printed: Capture,
    pub marks: MarksSeen,
    pub started: Instant,
    /// Its exit status, once it has ended.
    pub ended: Option<i32>,
    kind: Shell,
    /// The private folder of its integration.
    pub folder: Option<PathBuf>,
    /// What the hotkey sends; empty for none.
    pub hotkey: &'static [u8],
    directory: Option<RelayDir>,
    parser: MarkParser,
    fx: Effects,
    queries: Queries,
    last_id: u32,
    /// The last command's own end was seen; its prompt may still be missing.
    command_ended: bool,
    /// When the whole check is over.
    deadline: Instant,
    stop: &'a AtomicBool,
}

impl<'a> HiddenShell<'a> {
    /// Starts it as `cohab` would, or without the integration.
    ///
    /// # Errors
    /// If its folder or its terminal cannot be made, or it does not start.
    pub fn start(
        program: &Path,
        options: &StartOptions,
        modes: Option<&Termios>,
        is_integrated: bool,
        deadline: Instant,
        stop: &'a AtomicBool,
    ) -> io::Result<Self> {
        let integration =
            if is_integrated { Integration::new(options, Shell::of(program))? } else { Integration::none() };
        let nonce = integration.nonce.clone();
        let folder =
            integration.directory.as_ref().and_then(RelayDir::startup_file).and_then(Path::parent).map(Path::to_owned);
        let now = Instant::now();
        let Started { pty, live, directory, .. } = live::start(program, integration, options, modes, SIZE, now)?;
        Ok(Self {
            parser: MarkParser::new(&nonce, pty.child_pid()),
            live,
            pty,
            events: Vec::new(),
            printed: Capture::new(OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES),
            marks: MarksSeen::default(),
            started: now,
            kind: Shell::of(program),
            ended: None,
            folder,
            hotkey: options.hotkey,
            directory,
            fx: Effects::default(),
            queries: Queries::default(),
            last_id: 0,
            command_ended: false,
            deadline,
            stop,
        })
    }

    /// Whether the integration was given to it.
    pub fn is_integrated(&self) -> bool {
        self.directory.is_some()
    }

    /// Whether the shell's own line editor is reading keys.
    pub fn editor_reads(&self) -> bool {
        self.shell_is_in_front() && self.pty.terminal_modes().is_some_and(|modes| !modes.canonical)
    }

    /// Whether no other program has the terminal.
    pub fn shell_is_in_front(&self) -> bool {
        self.pty.foreground_pgid().and_then(|pgid| u32::try_from(pgid).ok()) == Some(self.pty.child_pid())
    }

    /// The program that runs in the shell's place, under its process id.
    pub fn replaced_by(&self) -> Option<String> {
        let program = std::fs::read_link(format!("/proc/{}/exe", self.pty.child_pid())).ok()?;
        if Shell::of(&program) == self.kind {
            return None;
        }
        Some(program.file_name()?.to_string_lossy().into_owned())
    }

    /// The program in front, or one that the shell itself waits for.
    pub fn running(&self) -> Option<String> {
        if !self.shell_is_in_front() {
            return self.pty.foreground_name();
        }
        // Without job control, as in start-up files, children stay in the shell's own group.
        let pid = self.pty.child_pid();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        let last = children.split_whitespace().next_back()?;
        Some(std::fs::read_to_string(format!("/proc/{last}/comm")).ok()?.trim_end().to_owned())
    }

    /// Serves the shell until `condition` holds, for at most `limit`.
    pub fn wait(&mut self, limit: Duration, condition: impl Fn(&Self) -> bool) -> Result<(), Unmet> {
        self.wait_in_steps(limit, SLICE, condition)
    }

    /// Serves the shell until its line editor reads; the time since the start.
    pub fn wait_editor(&mut self, limit: Duration) -> Result<Duration, Unmet> {
        self.wait_in_steps(limit, EDITOR_LOOK, Self::editor_reads)?;
        Ok(self.started.elapsed())
    }

    /// Serves the shell for so long.
    pub fn serve_for(&mut self, time: Duration) -> Result<(), Unmet> {
        match self.wait(time, |_| false) {
            Err(Unmet::Late) if Instant::now() < self.deadline => Ok(()),
            unmet => unmet,
        }
    }

    fn wait_in_steps(
        &mut self,
        limit: Duration,
        slice: Duration,
        condition: impl Fn(&Self) -> bool,
    ) -> Result<(), Unmet> {
        let until = Instant::now().checked_add(limit).map_or(self.deadline, |until| until.min(self.deadline));
        loop {
            if condition(self) {
                return Ok(());
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(Unmet::Cancelled);
            }
            if self.ended.is_some() {
                return Err(Unmet::Ended);
            }
            let now = Instant::now();
            if now >= until {
                return Err(Unmet::Late);
            }
            self.step(until.min(now + slice));
        }
    }

    /// Whether the time of the whole check is over.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Types keys.
    pub fn keys(&mut self, keys: &[u8]) {
        self.live.user_input(keys, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    /// Says what the line is.
    pub fn decide(&mut self, decision: LineDecision) {
        self.live.decide_line(decision, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    /// Ends the answer; the line does not come back.
    pub fn end_answer(&mut self) {
        self.live.end_answer(false, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
    }

    /// Runs a command to the next prompt. Its text gets a blank in front: then no tool that records commands keeps it.
    pub fn run(&mut self, text: &str, limit: Duration) -> Result<CommandOutcome, Failed> {
        self.events.clear();
        self.command_ended = false;
        self.last_id += 1;
        let request = CommandRequest {
            id: format!("{:x}", self.last_id),
            text: format!(" {text}"),
            timeout: limit,
            wants_env_delta: true,
        };
        self.live.run(request, &self.pty, Instant::now(), &mut self.fx);
        self.carry_out();
        let has_result = |shell: &Self| shell.events.iter().any(is_result);
        self.wait(limit, |shell| shell.command_ended || has_result(shell)).map_err(Failed::Unmet)?;
        // A slow prompt is slow in every shell; only the end of the whole check ends this.
        self.wait(Duration::MAX, has_result).map_err(Failed::Unmet)?;
        let result = self.events.iter().find_map(|event| match event {
            LiveEvent::CommandFinished { outcome, .. } => Some(Ok(outcome.clone())),
            LiveEvent::CommandRefused { error, .. } => Some(Err(Failed::Refused(error.clone()))),
            _ => None,
        });
        let outcome = result.unwrap_or(Err(Failed::Unmet(Unmet::Late)))?;
        let is_back = |shell: &Self| matches!(shell.live.state(), ShellState::Prompt | ShellState::Answering);
        self.wait(Duration::MAX, is_back).map_err(Failed::Unmet)?;
        Ok(outcome)
    }

    /// One round of waiting, reading and doing what is due.
    fn step(&mut self, until: Instant) {
        let now = Instant::now();
        let due = self.live.deadline().map_or(until, |due| due.min(until));
        let timeout = Timespec::try_from(due.saturating_duration_since(now)).unwrap_or_default();
        let mut fds = [PollFd::from_borrowed_fd(self.pty.master().as_fd(), PollFlags::IN)];
        // A signal ends the wait early, which does no harm.
        let is_readable = poll(&mut fds, Some(&timeout)).is_ok_and(|count| count > 0);
        let now = Instant::now();
        if is_readable {
            self.read(now);
        } else if let Ok(Some(end)) = self.pty.try_wait() {
            // Something it left behind may keep the terminal open.
            self.end(end.status, now);
        }
        if self.live.deadline().is_some_and(|due| due <= now) {
            self.live.tick(&self.pty, now, &mut self.fx);
        }
        self.carry_out();
    }

    fn read(&mut self, now: Instant) {
        let mut buffer = [0; 4096];
        match rustix::io::read(self.pty.master(), &mut buffer) {
            Ok(count) if count > 0 => {
                self.note_marks(&buffer[..count]);
                self.live.shell_output(&buffer[..count], &self.pty, now, &mut self.fx);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            _ => {
                let status = self.reap().unwrap_or(0);
                self.end(status, now);
            }
        }
    }

    fn end(&mut self, status: i32, now: Instant) {
        self.ended = Some(status);
        self.live.shell_ended(Some(status), now, &mut self.fx);
    }

    fn note_marks(&mut self, mut bytes: &[u8]) {
        while let Some(item) = self.parser.next(&mut bytes) {
            match item {
                Item::Mark(Mark::PromptReady) => self.marks.prompt = true,
                Item::Mark(Mark::Continuation) => self.marks.continuation = true,
                Item::Mark(Mark::Started { .. }) => self.marks.start = true,
                Item::Mark(Mark::Finished(_)) => self.marks.end = true,
                Item::Mark(Mark::Ended(_)) => self.command_ended = true,
                Item::Mark(_) | Item::Bytes(_) => {}
            }
        }
    }

    fn carry_out(&mut self) {
        if let Some(directory) = &mut self.directory {
            // As in the client: the command is refused for want of an answer.
            let _ = directory.apply(&mut self.fx);
        }
        let mut fx = std::mem::take(&mut self.fx);
        self.write(&fx.pty);
        if let Some(signal) = fx.signal {
            self.pty.send(signal);
        }
        self.printed.push(&fx.terminal);
        let replies = self.queries.replies_to(&fx.terminal);
        self.write(&replies);
        if fx.events.contains(&LiveEvent::PromptReady) {
            self.pty.remember_shell();
        }
        self.events.append(&mut fx.events);
        fx.clear();
        self.fx = fx;
    }

    /// What does not fit into the terminal's input is lost: a shell that reads nothing is recognized by its silence.
    fn write(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match rustix::io::write(self.pty.master(), bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    fn reap(&mut self) -> Option<i32> {
        let give_up = Instant::now() + REAP_WAIT;
        loop {
            match self.pty.try_wait() {
                Ok(Some(end)) => return Some(end.status),
                Ok(None) if Instant::now() < give_up => std::thread::sleep(Duration::from_millis(1)),
                _ => return None,
            }
        }
    }
}

impl Drop for HiddenShell<'_> {
    /// SIGKILL: on any other end a shell writes its history.
    fn drop(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let in_front = self.pty.foreground_pgid();
        if let Ok(shell) = i32::try_from(self.pty.child_pid()) {
            process::signal_group(shell, Signal::Kill);
        }
        // What the start-up files or a command left running in front goes along.
        if let Some(pgid) = in_front {
            process::signal_group(pgid, Signal::Kill);
        }
        self.reap();
    }
}

fn is_result(event: &LiveEvent) -> bool {
    matches!(event, LiveEvent::CommandFinished { .. } | LiveEvent::CommandRefused { .. })
}
