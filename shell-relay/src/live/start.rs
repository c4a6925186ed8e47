//! Starts a shell as the user's, in a pseudo terminal of its own: with the integration, or as it is.

use std::{
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::Instant,
};

use cohab_confine::names::Server;
use cohab_shell_state::shell::{self, Shell};
use rustix::{fs::OFlags, termios::Termios};

use super::{LivePty, LiveSetup, LiveShell, PtySize, RelayDir, SpawnShell};

/// Lines behind the integration script: those that `write` makes of these words for a kind of shell.
#[derive(Clone, Debug)]
pub struct ExtraLines {
    /// Makes the lines; see [`RelayDir::extend_script`].
    pub write: fn(Shell, &[String]) -> String,
    /// What they are made of.
    pub words: Vec<String>,
}

/// How shells are started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// As login shells.
    pub is_login: bool,
    /// Arguments of the user's. They may defeat the integration or clash with it, so with any of them the shell is started as it is.
    pub arguments: Vec<OsString>,
    /// Variables of the shell's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What the hotkey sends; empty for none.
    pub hotkey: &'static [u8],
    /// Starts the server that programs behind the lock ask for users' names; see [`RelayDir::serve_names`].
    pub name_server: Option<fn(&Path) -> Option<Server>>,
    /// Where the shell's private directory is made.
    pub runtime_dir: PathBuf,
    /// Makes that folder, and fails unless it is private.
    pub secure_parent: fn(&Path) -> io::Result<()>,
    /// Lines behind the integration script.
    pub extra_lines: Option<ExtraLines>,
}

/// What makes a shell ours.
#[derive(Debug)]
pub struct Integration {
    /// Absent for shells that are opened as they are.
    pub directory: Option<RelayDir>,
    /// See [`LiveSetup::nonce`].
    pub nonce: String,
}

impl Integration {
    /// Without anything: the shell is opened as it is.
    #[must_use]
    pub fn none() -> Self {
        Self { directory: None, nonce: RelayDir::fresh_nonce() }
    }

    /// The integration of this kind of shell, if it has one.
    ///
    /// # Errors
    /// If there is no safe place for its files.
    pub fn new(options: &StartOptions, kind: Shell) -> io::Result<Self> {
        let mut integration = Self::none();
        if kind == Shell::Other || !options.arguments.is_empty() {
            return Ok(integration);
        }
        let (secure, nonce) = (options.secure_parent, &integration.nonce);
        let directory = RelayDir::create(&options.runtime_dir, secure, kind, options.is_login, nonce)?;
        if let Some(ExtraLines { write, words }) = &options.extra_lines {
            directory.extend_script(&write(kind, words))?;
        }
        integration.directory = Some(directory);
        Ok(integration)
    }
}

/// A shell that has just been started, in its terminal.
#[derive(Debug)]
pub struct Started {
    /// Its terminal.
    pub pty: LivePty,
    /// Its relay.
    pub live: LiveShell,
    /// The relay's directory; absent without the integration.
    pub directory: Option<RelayDir>,
    /// The kind of shell.
    pub kind: Shell,
}

/// Starts `program` as the user's shell. Its terminal has these modes, or the kernel's own.
///
/// # Errors
/// If there is no terminal for it or it cannot be executed.
pub fn start(
    program: &Path,
    Integration { mut directory, nonce }: Integration,
    options: &StartOptions,
    modes: Option<&Termios>,
    size: PtySize,
    now: Instant,
) -> io::Result<Started> {
    let kind = Shell::of(program);
    let integration = directory.as_ref().and_then(RelayDir::startup_file);
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    let mut shell_start = shell::start(kind, options.is_login, integration, &home);
    shell_start.arguments.extend(options.arguments.iter().cloned());
    shell_start.environment.push(("SHELL".into(), program.into()));
    shell_start.environment.extend(options.environment.iter().cloned());
    let names = match (&mut directory, options.name_server) {
        (Some(directory), Some(start_server)) => directory.serve_names(start_server),
        _ => None,
    };
    shell_start.environment.extend(names.map(|(name, file)| (name.into(), file.into())));
    let cwd = std::env::current_dir()?;
    let spawn = SpawnShell {
        argv0: argv0(program, options.is_login),
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
    live.set_hotkey(options.hotkey);
    Ok(Started { pty, live, directory, kind })
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
