//! Starts the shell in a pseudo-terminal: the edge where the live shell meets the kernel.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, OpenOptions},
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{
            ffi::OsStringExt,
            fs::{MetadataExt, OpenOptionsExt},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::OnceLock,
};

use cohab_shell_state::shell::{Shell, Start};
use cohab_system::process::{self, ControllingTerminal};
use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::Pid,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, OptionalActions, Termios, Winsize, tcgetattr, tcgetpgrp, tcsetattr, tcsetwinsize},
};

use super::{ForegroundSignal, Probe, TerminalModes};

/// The variable by which a `cohab` in the shell knows that it is inside: the terminal's name.
const TTY_VARIABLE: &str = "COHAB_TTY";

/// The variable by which the lines of `cohab init` report that a shell waits for our end. It does not concern the shells in us.
const OUTER_VARIABLE: &str = "COHAB_OUTER";

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtySize {
    /// Rows of text.
    pub rows: u16,
    /// Columns of text.
    pub columns: u16,
    /// Width of the whole in pixels, or 0.
    pub pixel_width: u16,
    /// Height of the whole in pixels, or 0.
    pub pixel_height: u16,
}

/// A shell to start.
#[derive(Clone, Debug)]
pub struct SpawnShell {
    /// The shell's program.
    pub program: PathBuf,
    /// The shell's name for itself; with a leading `-` it is a login shell.
    pub argv0: OsString,
    /// The shell's arguments and additional variables.
    pub start: Start,
    /// The folder in which it starts.
    pub cwd: PathBuf,
    /// The terminal's size.
    pub size: PtySize,
    /// The terminal's modes at the start, as the user's terminal has them; the kernel's own if absent.
    pub modes: Option<Termios>,
}

/// The end of the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellEnd {
    /// The status as another shell would report it: 128 + n for signal n.
    pub status: i32,
    /// A signal ended the shell: it could not finish its row.
    pub is_killed: bool,
}

/// A shell in a separate pseudo-terminal. Dropping it closes the master: the shell gets SIGHUP.
#[derive(Debug)]
pub struct LivePty {
    master: OwnedFd,
    child: Child,
    /// The number of the shell's side as a device.
    slave: u64,
    /// The requested kind of shell.
    kind: Shell,
    /// The running program, recorded once it is the shell itself; shows a later replacement.
    image: OnceLock<Image>,
}

/// A program in memory: it changes with each `exec`, also of the same file.
#[derive(Debug, PartialEq, Eq)]
struct Image {
    program: PathBuf,
    /// Addresses of the code and the stack, as in `/proc/PID/stat`. Each `exec` draws new ones.
    addresses: Option<[u64; 2]>,
}

impl LivePty {
    /// Starts the shell as the leader of a session with the new terminal.
    ///
    /// # Errors
    /// If there is no terminal, or the program does not start.
    pub fn spawn(spawn: &SpawnShell) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        fcntl_setfd(&master, FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = OsString::from_vec(ptsname(&master, Vec::new())?.into_bytes());
        set_size(master.as_fd(), spawn.size)?;
        if let Some(modes) = &spawn.modes {
            // Set before the shell starts: its line editor sets its own modes.
            tcsetattr(&master, OptionalActions::Now, modes)?;
        }
        let child = spawn_on(&name, spawn)?;
        let slave = fs::metadata(&name).map_or(0, |metadata| metadata.rdev());
        Ok(Self { master, child, slave, kind: Shell::of(&spawn.program), image: OnceLock::new() })
    }

    /// The master, for reading, writing and waiting. Set to non-blocking by the caller if need be.
    #[must_use]
    pub fn master(&self) -> &OwnedFd {
        &self.master
    }

    /// The shell's process id.
    #[must_use]
    pub fn child_pid(&self) -> u32 {
        self.child.id()
    }

    /// Sets the size and informs the foreground program (SIGWINCH).
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn resize(&self, size: PtySize) -> io::Result<()> {
        set_size(self.master.as_fd(), size)
    }

    /// Sends the signal that the live shell asked for. A group that is gone needs no signal.
    pub fn send(&self, signal: ForegroundSignal) {
        process::signal_group(signal.pgid, signal.signal);
    }

    /// The shell's end, if it has ended.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub fn try_wait(&mut self) -> io::Result<Option<ShellEnd>> {
        Ok(self.child.try_wait()?.map(shell_end))
    }

    /// Waits for the shell's end; to be called after the master is at its end of file.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub fn wait(&mut self) -> io::Result<ShellEnd> {
        self.child.wait().map(shell_end)
    }

    /// To be called when the shell's first prompt stands: then the running program is the shell, wrappers are done.
    pub fn remember_shell(&self) {
        if self.image.get().is_none()
            && let Some(image) = self.image_now().filter(|image| Shell::of(&image.program) == self.kind)
        {
            // The first one counts.
            let _ = self.image.set(image);
        }
    }

    fn image_now(&self) -> Option<Image> {
        let folder = PathBuf::from(format!("/proc/{}", self.child.id()));
        let program = fs::read_link(folder.join("exe")).ok()?;
        let stat = fs::read(folder.join("stat")).unwrap_or_default();
        Some(Image { program, addresses: addresses(&stat) })
    }
}

/// Fields 26 and 28 of `/proc/PID/stat`, `startcode` and `startstack`; zero, and so absent, if the kernel hides them.
fn addresses(stat: &[u8]) -> Option<[u64; 2]> {
    // The name in parentheses may hold anything.
    let after_name = &stat[memchr::memrchr(b')', stat)? + 1..];
    let fields: Vec<&str> = std::str::from_utf8(after_name).ok()?.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse().ok().filter(|address| *address > 1);
    Some([field(26)?, field(28)?])
}

fn spawn_on(terminal: &OsStr, spawn: &SpawnShell) -> io::Result<Child> {
    let no_controlling = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap_or(0);
    let open = || OpenOptions::new().read(true).write(true).custom_flags(no_controlling).open(Path::new(terminal));
    let mut command = Command::new(&spawn.program);
    command
        .arg0(&spawn.argv0)
        .args(&spawn.start.arguments)
        .envs(spawn.start.environment.iter().map(|(name, value)| (name, value)))
        .env(TTY_VARIABLE, terminal)
        .env_remove(OUTER_VARIABLE)
        .env("SHELL", &spawn.program)
        .current_dir(&spawn.cwd)
        .stdin(Stdio::from(open()?))
        .stdout(Stdio::from(open()?))
        .stderr(Stdio::from(open()?));
    process::lead_session(&mut command, ControllingTerminal::Stdin);
    command.spawn()
}

fn set_size(master: BorrowedFd<'_>, size: PtySize) -> io::Result<()> {
    let winsize =
        Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: size.pixel_width, ws_ypixel: size.pixel_height };
    Ok(tcsetwinsize(master, winsize)?)
}

fn shell_end(status: ExitStatus) -> ShellEnd {
    ShellEnd { status: process::status_of(status), is_killed: status.code().is_none() }
}

impl Probe for LivePty {
    fn foreground_pgid(&self) -> Option<i32> {
        tcgetpgrp(&self.master).ok().map(Pid::as_raw_pid)
    }

    fn terminal_modes(&self) -> Option<TerminalModes> {
        let modes = tcgetattr(&self.master).ok()?.local_modes;
        Some(TerminalModes { echo: modes.contains(LocalModes::ECHO), canonical: modes.contains(LocalModes::ICANON) })
    }

    fn foreground_name(&self) -> Option<String> {
        let pgid = self.foreground_pgid()?;
        let name = fs::read(format!("/proc/{pgid}/comm")).ok()?;
        Some(String::from_utf8_lossy(name.trim_ascii_end()).into_owned())
    }

    fn shell_replaced(&self) -> bool {
        match (self.image.get(), self.image_now()) {
            (Some(then), Some(now)) => *then != now,
            _ => false,
        }
    }

    fn shell_shares_group(&self) -> bool {
        !process::children_in_own_group(self.child.id()).is_empty()
    }

    fn programs_at_terminal(&self) -> Vec<u32> {
        let mut children = process::children_in_own_group(self.child.id());
        children.retain(|child| process::has_open(*child, self.slave));
        children
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_a_program_are_read_behind_any_name() {
        let numbers: Vec<String> = (3..=52).map(|number| (number * 10).to_string()).collect();
        let stat = format!("7 (a ) b) {}\n", numbers.join(" "));
        assert_eq!(addresses(stat.as_bytes()), Some([260, 280]));
        assert_eq!(addresses(b"7 (sh) S 1 2"), None);
        assert_eq!(addresses(b""), None);
    }
}
