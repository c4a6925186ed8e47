//! The shell's side of the driver: its PTY, its relay directory, and the bytes that wait for it.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    time::Instant,
};

use cohab_shell_relay::live::{
    self, Effects, Integration, LivePty, LiveShell, Probe, PtySize, RelayDir, ShellEnd, Started,
};
use cohab_shell_state::shell::Shell;
use cohab_term::async_tty::AsyncTty;
use rustix::termios::Termios;

use super::start::Start;

/// What is read from the PTY in one call of the kernel on Linux: a full read means that there may be more.
const PTY_READ_BYTES: usize = 4096;

/// The shell in its PTY.
#[derive(Debug)]
pub(super) struct ShellIo {
    pty: LivePty,
    /// A second descriptor of the PTY's master.
    master: AsyncTty,
    directory: Option<RelayDir>,
    kind: Shell,
    end: Option<ShellEnd>,
}

/// A shell that runs.
pub(super) struct Opened {
    pub shell: ShellIo,
    pub live: LiveShell,
    /// Why it is not the one that was wanted most, if it is not: a sentence for the user.
    pub complaint: Option<String>,
}

/// Starts the first shell that starts.
pub(super) fn open(start: &Start, modes: &Termios, (columns, rows): (u16, u16), now: Instant) -> io::Result<Opened> {
    let mut failed: Option<io::Error> = None;
    for program in &start.shells {
        // Without a safe place for its files the integration is no use, in any shell.
        let integration = Integration::new(&start.options, Shell::of(program))?;
        let size = PtySize { rows, columns, pixel_width: 0, pixel_height: 0 };
        let opened = live::start(program, integration, &start.options, Some(modes), size, now).and_then(ShellIo::over);
        match opened {
            Ok((shell, live)) => {
                let complaint = failed.map(|error| format!("{error}; this is {}", program.display()));
                return Ok(Opened { shell, live, complaint });
            }
            // The first is the one that the user wants.
            Err(cause) => {
                failed.get_or_insert_with(|| io::Error::new(cause.kind(), format!("{}: {cause}", program.display())));
            }
        }
    }
    Err(failed.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no shell was found")))
}

impl ShellIo {
    /// Watches the shell's terminal.
    fn over(Started { pty, live, mut directory, kind }: Started) -> io::Result<(Self, LiveShell)> {
        let master = AsyncTty::new(pty.master().try_clone()?)?;
        if let Some(directory) = &mut directory {
            directory.claim();
        }
        Ok((Self { pty, master, directory, kind, end: None }, live))
    }

    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    pub fn kind(&self) -> Shell {
        self.kind
    }

    /// Where the shell says what it has named.
    pub fn names_file(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(RelayDir::names_file)
    }

    pub fn probe(&self) -> &dyn Probe {
        &self.pty
    }

    /// The shell's first prompt stands.
    pub fn remember_shell(&self) {
        self.pty.remember_shell();
    }

    /// Does what concerns the shell: the command file, keys, signals. Terminal bytes and events are left to the caller.
    /// Gives the error of a command file that could not be written.
    pub fn apply(&mut self, effects: &mut Effects) -> Option<io::Error> {
        let failed = self.directory.as_mut().and_then(|directory| directory.apply(effects).err());
        self.master.write(&effects.pty);
        effects.pty.clear();
        if let Some(signal) = effects.signal.take() {
            self.pty.send(signal);
        }
        failed
    }

    /// Input that waits for the shell.
    pub fn queued_bytes(&self) -> usize {
        self.master.queued_bytes()
    }

    /// Waits until [`flush`](Self::flush) can do something; for ever if nothing waits. Cancel-safe.
    pub async fn writable(&self) {
        self.master.writable().await;
    }

    pub fn flush(&mut self) {
        self.master.flush();
    }

    /// Waits for output and reads what is there, until `buffer` is full. 0 means that the shell and all its jobs are gone.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.master.read_with(|fd| read_available(fd, buffer)).await
    }

    /// Reads what is there without waiting.
    pub fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        read_available(self.master.fd(), buffer).ok().filter(|count| *count > 0)
    }

    pub fn resize(&self, (columns, rows): (u16, u16)) {
        // A terminal that is gone has no size; its end is noticed elsewhere.
        let _ = self.pty.resize(PtySize { rows, columns, pixel_width: 0, pixel_height: 0 });
    }

    pub fn has_ended(&mut self) -> bool {
        if let Ok(Some(end)) = self.pty.try_wait() {
            self.end = Some(end);
        }
        self.end.is_some()
    }

    /// How the shell ended, once its output has.
    pub fn wait(&mut self) -> ShellEnd {
        self.end.unwrap_or_else(|| self.pty.wait().unwrap_or(ShellEnd { status: 1, is_killed: false }))
    }
}

/// Reads until there is no more, or `buffer` is full. A PTY gives at most a page at once.
fn read_available(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    loop {
        match rustix::io::read(fd.as_fd(), &mut buffer[filled..]) {
            Ok(0) => return Ok(filled),
            Ok(count) => {
                filled += count;
                if count < PTY_READ_BYTES.min(buffer.len()) || filled == buffer.len() {
                    return Ok(filled);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            // Linux says EIO when the last process has closed the terminal.
            Err(rustix::io::Errno::IO) => return Ok(filled),
            Err(_) if filled > 0 => return Ok(filled),
            Err(error) => return Err(error.into()),
        }
    }
}
