//! Reads a shell in a PTY and keeps the end of its output: the same reader for shells with and without the relay.

use std::{
    ffi::OsString,
    os::fd::AsFd,
    path::Path,
    time::{Duration, Instant},
};

use cohab_e2e::{Home, home::PROMPT};
use cohab_shell_relay::live::{LivePty, PtySize, SpawnShell};
use cohab_shell_state::shell::start;
use memchr::{memmem, memrchr};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process},
};

use super::shells::Measured;

/// An event that takes longer than this never comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Silence before a measure starts.
const QUIET: Duration = Duration::from_millis(20);
/// Least kept end of the output.
const TAIL_BYTES: usize = 4 * 1024;
const SIZE: PtySize = PtySize { rows: 24, columns: 80, pixel_width: 0, pixel_height: 0 };

/// Starts a shell; `start_up` is its integration, if any.
pub(crate) fn spawn(shell: &Measured, home: &Home, start_up: Option<&Path>) -> LivePty {
    let folder = home.path("");
    let mut start = start(shell.kind, false, start_up, &folder);
    let below = |name: &str| home.path(name).into_os_string();
    let variables: [(&str, OsString); 6] = [
        ("HOME", below("")),
        ("XDG_CONFIG_HOME", below(".config")),
        ("XDG_DATA_HOME", below(".local/share")),
        ("XDG_CACHE_HOME", below(".cache")),
        ("TERM", "xterm-256color".into()),
        ("LC_ALL", "C.UTF-8".into()),
    ];
    start.environment.extend(variables.map(|(name, value)| (name.into(), value)));
    let argv0 = shell.program.file_name().unwrap_or_default().to_owned();
    let spawn = SpawnShell { program: shell.program.clone(), argv0, start, cwd: folder, size: SIZE, modes: None };
    LivePty::spawn(&spawn).expect("the shell starts")
}

/// The bytes that come from a PTY until `until`; empty if none came.
pub(crate) fn read<'a>(pty: &LivePty, buffer: &'a mut [u8], until: Instant) -> &'a [u8] {
    let wait = until.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(wait).expect("a wait of seconds");
    let mut descriptors = [PollFd::from_borrowed_fd(pty.master().as_fd(), PollFlags::IN)];
    if poll(&mut descriptors, Some(&timeout)).expect("a PTY can be waited for") == 0 {
        return &[];
    }
    let length = rustix::io::read(pty.master(), &mut *buffer).unwrap_or(0);
    assert!(length > 0, "the shell ended");
    &buffer[..length]
}

pub(crate) fn write(pty: &LivePty, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let written = rustix::io::write(pty.master(), bytes).expect("the shell lives");
        bytes = &bytes[written..];
    }
}

/// Ends a shell in any state.
pub(crate) fn end(pty: &mut LivePty) {
    if let Some(pid) = i32::try_from(pty.child_pid()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    let _ = pty.wait();
}

/// The end of what the terminal got.
#[derive(Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > 16 * TAIL_BYTES {
            let useless = self.bytes.len().saturating_sub(TAIL_BYTES);
            self.bytes.drain(..useless);
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Whether the prompt stands in the last row; a row above it must have ended since the last [`clear`](Self::clear).
    pub(crate) fn is_at_next_prompt(&self) -> bool {
        memrchr(b'\n', &self.bytes).is_some_and(|end| has_prompt(&self.bytes[end..]))
    }

    pub(crate) fn is_at_prompt(&self) -> bool {
        has_prompt(&self.bytes)
    }

    pub(crate) fn text(&self) -> String {
        self.bytes.escape_ascii().to_string()
    }
}

fn has_prompt(bytes: &[u8]) -> bool {
    memmem::find(bytes, PROMPT.as_bytes()).is_some()
}

/// A shell without cohab.
pub(crate) struct Plain {
    pty: LivePty,
    buffer: Vec<u8>,
    tail: Tail,
}

impl Plain {
    /// Starts it and waits for its prompt.
    pub(crate) fn at_prompt(shell: &Measured, home: &Home) -> Self {
        let pty = spawn(shell, home, None);
        let mut plain = Self { pty, buffer: vec![0; 64 * 1024], tail: Tail::default() };
        plain.wait(Tail::is_at_prompt);
        plain
    }

    /// From Enter to the next prompt. The line is typed before, and its echo is over.
    pub(crate) fn typed(&mut self, line: &str) -> Duration {
        write(&self.pty, line.as_bytes());
        self.settle();
        self.tail.clear();
        let start = Instant::now();
        write(&self.pty, b"\r");
        self.wait(Tail::is_at_next_prompt);
        let time = start.elapsed();
        self.settle();
        time
    }

    /// Types a line with Enter at once, and waits for the next prompt.
    pub(crate) fn entered(&mut self, line: &str) {
        self.tail.clear();
        write(&self.pty, format!("{line}\r").as_bytes());
        self.wait(Tail::is_at_next_prompt);
    }

    /// The shell's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pty.child_pid()
    }

    fn settle(&mut self) {
        while self.step(Instant::now() + QUIET) {}
    }

    fn step(&mut self, until: Instant) -> bool {
        let bytes = read(&self.pty, &mut self.buffer, until);
        self.tail.push(bytes);
        !bytes.is_empty()
    }

    fn wait(&mut self, has_come: impl Fn(&Tail) -> bool) {
        let give_up = Instant::now() + PATIENCE;
        while !has_come(&self.tail) {
            assert!(self.step(give_up), "the prompt did not come: {}", self.tail.text());
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        end(&mut self.pty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_prompt_stands_below_a_line_end() {
        let mut tail = Tail::default();
        tail.push(PROMPT.as_bytes());
        assert!(tail.is_at_prompt() && !tail.is_at_next_prompt());
        tail.push(b"true\r\n");
        assert!(!tail.is_at_next_prompt());
        tail.push(format!("\x1b[K{PROMPT}").as_bytes());
        assert!(tail.is_at_next_prompt());
    }

    #[test]
    fn a_tail_is_bounded() {
        let mut tail = Tail::default();
        (0..1000).for_each(|_| tail.push(&[b'x'; 1024]));
        assert!(tail.bytes.len() <= 16 * TAIL_BYTES && tail.bytes.len() >= TAIL_BYTES);
    }
}
