//! The shell's side of the driver: its PTY, its relay directory, and the bytes that wait for it.

use std::{
    ffi::OsString,
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    time::Instant,
};

use cohab_protocol::socket::secure_directory;
use cohab_shell_relay::live::{Effects, LivePty, LiveSetup, LiveShell, Probe, PtySize, RelayDir, ShellEnd, SpawnShell};
use cohab_shell_state::shell::{self, Shell};
use cohab_term::async_tty::AsyncTty;
use rustix::{fs::OFlags, termios::Termios};

use super::Start;
use crate::slash::completion;

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
        let nonce = RelayDir::fresh_nonce();
        // Without a safe place for its files the integration is no use, in whatever shell.
        let directory = relay_directory(start, Shell::of(program), &nonce)?;
        let integration = Integration { directory, nonce };
        let size = PtySize { rows, columns, pixel_width: 0, pixel_height: 0 };
        let opened = start_one(program, integration, start, Some(modes), size, now).and_then(ShellIo::over);
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

/// What makes a shell ours.
#[derive(Debug)]
pub(crate) struct Integration {
    /// Absent for shells that are opened as they are.
    pub directory: Option<RelayDir>,
    /// See [`LiveSetup::nonce`].
    pub nonce: String,
}

/// A shell that has just been started, in its PTY.
#[derive(Debug)]
pub(crate) struct Started {
    pub pty: LivePty,
    pub live: LiveShell,
    pub directory: Option<RelayDir>,
    kind: Shell,
}

/// Starts `program` as the user's shell. Its terminal has these modes, or the kernel's own.
pub(crate) fn start_one(
    program: &Path,
    Integration { mut directory, nonce }: Integration,
    start: &Start,
    modes: Option<&Termios>,
    size: PtySize,
    now: Instant,
) -> io::Result<Started> {
    let kind = Shell::of(program);
    let integration = directory.as_ref().and_then(RelayDir::startup_file);
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    let mut shell_start = shell::start(kind, start.is_login, integration, &home);
    shell_start.arguments.extend(start.shell_args.iter().cloned());
    shell_start.environment.push(("SHELL".into(), program.into()));
    // So that `cohab ask` in this shell asks whom its prompt asks.
    shell_start.environment.extend(start.model.iter().map(|(name, value)| (name.into(), value.into())));
    let names = directory
        .as_mut()
        .filter(|_| start.config.client.lock)
        .and_then(|directory| directory.serve_names(cohab_sandbox::lock::name_server));
    shell_start.environment.extend(names.map(|(name, file)| (name.into(), file.into())));
    let cwd = std::env::current_dir()?;
    let spawn = SpawnShell {
        argv0: argv0(program, start.is_login),
        program: program.to_owned(),
        start: shell_start,
        cwd: cwd.clone(),
        size,
        modes: modes.cloned(),
    };
    let pty = LivePty::spawn(&spawn)?;
    set_non_blocking(pty.master())?;
    let relayed = if directory.is_some() { kind } else { Shell::Other };
    let setup = LiveSetup { shell: relayed, nonce, child_pid: pty.child_pid(), initial_cwd: cwd };
    let mut live = LiveShell::new(setup, now);
    live.set_hotkey(start.config.client.hotkey.bytes());
    Ok(Started { pty, live, directory, kind })
}

pub(crate) fn relay_directory(start: &Start, kind: Shell, nonce: &str) -> io::Result<Option<RelayDir>> {
    // Arguments of the user's may defeat the integration (`--norc`) or clash with it: then the shell is opened as it is.
    if kind == Shell::Other || !start.shell_args.is_empty() {
        return Ok(None);
    }
    let secured = |folder: &Path| secure_directory(folder).map_err(io::Error::other);
    let directory = RelayDir::create(&start.paths.runtime_dir, secured, kind, start.is_login, nonce)?;
    if start.config.client.question_prefix == completion::PREFIX {
        directory.extend_script(&completion::script(kind, &start.config.profiles))?;
    }
    Ok(Some(directory))
}

fn argv0(program: &Path, is_login: bool) -> OsString {
    let mut name = OsString::from(if is_login { "-" } else { "" });
    name.push(program.file_name().unwrap_or(program.as_os_str()));
    name
}

fn set_non_blocking(fd: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | OFlags::NONBLOCK)?)
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
