//! Runs commands in separate shells: no terminal, no memory of the command before.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use cohab_policy::{self, Context, Level, Lock};
use cohab_policy_io::files::FileSystem;
use cohab_system::process::{self, ControllingTerminal, Signal};
use cohab_text::capture::{CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES, Capture};
use cohab_types::{
    command::{CommandOutcome, CommandRequest, Ending, Interrupter, Mode, RelayError, StateAfter},
    refusal::Refusal,
};
use tokio::{io::AsyncReadExt, net::unix::pipe::Receiver, process::Child, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    lock,
    profile::{self, GitFiles, Sandbox},
};

/// The kernel takes no longer argument.
const TEXT_MAX_BYTES: usize = 120 * 1024;
/// The wait for the output of background jobs when the shell has ended.
const DRAIN_WAIT: Duration = Duration::from_millis(100);
const READ_BYTES: usize = 16 * 1024;
/// Variables from which bash takes code, before a line or within it.
const CODE_VARIABLES: [&str; 5] = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4"];
/// The prefix of variables that are functions.
const FUNCTION_PREFIX: &[u8] = b"BASH_FUNC_";
/// Signals after a cancellation, each with its wait after the one before.
const CANCEL_LADDER: [(Signal, Duration); 3] = [
    (Signal::Interrupt, Duration::from_secs(2)),
    (Signal::Terminate, Duration::from_secs(1)),
    (Signal::Kill, Duration::from_secs(1)),
];

/// Runs each command in a fresh shell in the same directory: its own session, no terminal, nothing to read. Its changes (`cd`, `export`)
/// end with it. When its time is up it is ended, since no one could look after it later.
#[derive(Clone, Debug)]
pub struct DaemonShell {
    program: PathBuf,
    cwd: PathBuf,
    /// The environment in place of this process's own, if given.
    environment: Option<Vec<(OsString, OsString)>>,
    hidden_variables: Vec<OsString>,
    sandbox: Sandbox,
    /// The user's home; with it lines that plainly only read are hardened.
    home: Option<PathBuf>,
}

impl DaemonShell {
    /// Runs commands in `cwd`, with bash if it is installed, otherwise sh.
    #[must_use]
    pub fn new(cwd: PathBuf) -> Self {
        let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
            .into_iter()
            .map(PathBuf::from)
            .find(|path| path.exists());
        let program = bash.unwrap_or_else(|| "/bin/sh".into());
        Self { program, cwd, environment: None, hidden_variables: Vec::new(), sandbox: Sandbox::none(), home: None }
    }

    /// Restricts commands to the permissions of `sandbox`, as far as the kernel supports them.
    #[must_use]
    pub fn within(self, sandbox: Sandbox) -> Self {
        Self { sandbox, ..self }
    }

    /// Lines that the policy allows get the words that keep them read-only, and the second lock; `home` is the user's.
    #[must_use]
    pub fn reading_only(self, home: PathBuf) -> Self {
        Self { home: Some(home), ..self }
    }

    /// The hardened form of a line that only reads, and so runs unasked.
    fn typed(&self, text: &str) -> Option<String> {
        // Without a sandbox the user has agreed to this one run: it is not locked either.
        let launcher = lock::launcher().ok().filter(|_| self.sandbox != Sandbox::none());
        let lock = launcher.as_deref().and_then(|file| Lock::new(file, None));
        let context = Context { lock, ..Context::new(&self.cwd, self.home.as_deref()?).with_files(&FileSystem) };
        if cohab_policy::assess_line(text, context).level > Level::Allow {
            return None;
        }
        let unasked = cohab_policy::unasked(text, context).ok()?;
        Some(unasked.locked.unwrap_or(unasked.text))
    }

    /// Removes settings that would give the names in an unasked line another meaning than the policy knows: there is no shell to ask.
    fn take_meanings(&self, command: &mut Command) {
        let variables = self.environment.clone().unwrap_or_else(|| std::env::vars_os().collect());
        for (name, value) in variables {
            if CODE_VARIABLES.iter().any(|other| name == *other) || name.as_encoded_bytes().starts_with(FUNCTION_PREFIX)
            {
                command.env_remove(&name);
            } else if name == "PATH" {
                let folders = std::env::split_paths(&value);
                let others = folders.filter(|folder| folder.is_absolute() && !folder.starts_with(&self.cwd));
                // Joining cannot fail: the folders were split from one such value.
                command.env(name, std::env::join_paths(others).unwrap_or_default());
            }
        }
    }

    /// Commands see these variables instead of this process's own, except for those that are [hidden](Self::hiding).
    #[must_use]
    pub fn with_environment(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.environment = Some(variables.into_iter().collect());
        self
    }

    /// Keeps a variable (a key, say) from the commands.
    #[must_use]
    pub fn hiding(mut self, variable: impl Into<OsString>) -> Self {
        self.hidden_variables.push(variable.into());
        self
    }

    /// The shell's program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    fn spawn(&self, text: &str) -> io::Result<(Child, Receiver)> {
        let typed = self.typed(text);
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(&self.program);
        if let Some(variables) = &self.environment {
            command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        }
        command
            .arg("-c")
            .arg(typed.as_deref().unwrap_or(text))
            .current_dir(&self.cwd)
            .env("TERM", "dumb")
            .env("PAGER", "cat")
            .env("GIT_PAGER", "cat")
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        if let Some(folder) = self.sandbox.temporary() {
            command.env("TMPDIR", folder);
        }
        if typed.is_some() {
            self.take_meanings(&mut command);
        }
        for variable in &self.hidden_variables {
            command.env_remove(variable);
        }
        process::lead_session(&mut command, ControllingTerminal::None);
        let child = self.start(command.into())?;
        Ok((child, Receiver::from_owned_fd(reader.into())?))
    }

    /// A restriction of a thread binds all that it starts, and cannot be undone: this thread must not be bound.
    fn start(&self, mut command: tokio::process::Command) -> io::Result<Child> {
        if !self.sandbox.confines() {
            return command.spawn();
        }
        let runtime = tokio::runtime::Handle::current();
        let start = || {
            let _entered = runtime.enter();
            profile::enforce(&self.sandbox)?;
            command.spawn()
        };
        thread::scope(|scope| {
            let bound = thread::Builder::new().spawn_scoped(scope, start)?;
            bound.join().unwrap_or_else(|_| Err(io::Error::other("the sandbox could not be set up")))
        })
    }
}

/// The reason why a command was stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Cancelled,
    TimeUp,
}

impl Stop {
    fn by(self) -> Interrupter {
        match self {
            Self::Cancelled => Interrupter::Turn,
            Self::TimeUp => Interrupter::TimeLimit,
        }
    }
}

impl DaemonShell {
    /// Runs one command to its end, its timeout or its cancellation, which are outcomes; `cancel` interrupts it.
    ///
    /// # Errors
    /// If the command was not started, or its end is unknown.
    pub async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        if request.text.contains('\0') || request.text.len() > TEXT_MAX_BYTES {
            let reason = "the command holds a NUL byte or is longer than 120 KiB".to_owned();
            return Err(RelayError::NotAtPrompt { refusal: Refusal::BadText, reason });
        }
        let git_files = self.git_files().await;
        let mut outcome = self.run_once(&request, cancel).await?;
        if let Some(files) = git_files {
            let taken_back = tokio::task::spawn_blocking(move || files.take_back()).await.unwrap_or_default();
            if !taken_back.is_empty() {
                let line_break = if outcome.output.is_empty() || outcome.output.ends_with('\n') { "" } else { "\n" };
                outcome.output += &format!("{line_break}{}", self.sandbox.note_taken_back(&taken_back));
            }
        }
        Ok(outcome)
    }

    /// The folder in which each command starts.
    #[must_use]
    pub fn cwd(&self) -> PathBuf {
        self.cwd.clone()
    }

    async fn git_files(&self) -> Option<GitFiles> {
        if !self.sandbox.confines() {
            return None;
        }
        let sandbox = self.sandbox.clone();
        tokio::task::spawn_blocking(move || sandbox.git_files()).await.ok().flatten()
    }

    async fn run_once(
        &self,
        request: &CommandRequest,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, RelayError> {
        let started = Instant::now();
        let (mut child, mut output) = self.spawn(&request.text).map_err(|error| RelayError::Pty(error.to_string()))?;
        let mut group = Group::of(&child);
        let mut capture = Capture::new(CAPTURE_HEAD_BYTES, CAPTURE_TAIL_BYTES);

        let stop = tokio::select! {
            status = finish(&mut child, &mut output, &mut capture) => {
                group.disarm();
                return status.map(|status| self.outcome(&capture, status, None, request, started.elapsed()));
            }
            () = cancel.cancelled() => Stop::Cancelled,
            () = tokio::time::sleep(request.timeout) => Stop::TimeUp,
        };
        let first = usize::from(stop == Stop::TimeUp);
        let mut status = None;
        for (signal, wait) in &CANCEL_LADDER[first..] {
            group.signal(*signal);
            if let Ok(ended) = timeout(*wait, finish(&mut child, &mut output, &mut capture)).await {
                status = ended.ok();
                break;
            }
        }
        // The shell is gone, or cannot be killed; its children must not outlive it.
        group.signal(Signal::Kill);
        group.disarm();
        Ok(self.outcome(&capture, status.unwrap_or(137), Some(stop), request, started.elapsed()))
    }

    fn outcome(
        &self,
        capture: &Capture,
        status: i32,
        stop: Option<Stop>,
        request: &CommandRequest,
        duration: Duration,
    ) -> CommandOutcome {
        let (mut output, truncated_bytes) = capture.render();
        if stop == Some(Stop::TimeUp) {
            let line_break = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            output += &format!("{line_break}[ended: its time of {} s was up]\n", request.timeout.as_secs_f32());
        } else if let Some(note) = self.sandbox.note(status, &output) {
            let line_break = if output.ends_with('\n') { "" } else { "\n" };
            output += &format!("{line_break}{note}");
        }
        CommandOutcome {
            ending: stop.map_or(Ending::Exited, |stop| Ending::Interrupted { by: stop.by() }),
            status: Some(status),
            cwd: self.cwd.clone(),
            output,
            total_bytes: capture.total_bytes(),
            truncated_bytes,
            duration,
            mode: Mode::Isolated,
            state_after: StateAfter::Ended,
            env_delta: Vec::new(),
            first_run: None,
        }
    }
}

/// Reads until both the shell and its output have ended, or nothing more comes.
async fn finish(child: &mut Child, output: &mut Receiver, capture: &mut Capture) -> Result<i32, RelayError> {
    let mut buffer = vec![0; READ_BYTES];
    let mut open = true;
    let status = loop {
        tokio::select! {
            read = output.read(&mut buffer), if open => match read {
                Ok(length) if length > 0 => capture.push(&buffer[..length]),
                _ => open = false,
            },
            status = child.wait() => break status.map_err(|error| RelayError::Pty(error.to_string()))?,
        }
    };
    while open && let Ok(Ok(length @ 1..)) = timeout(DRAIN_WAIT, output.read(&mut buffer)).await {
        capture.push(&buffer[..length]);
    }
    Ok(process::status_of(status))
}

/// The command's process group; killed if it is dropped early.
struct Group {
    pgid: Option<i32>,
}

impl Group {
    fn of(child: &Child) -> Self {
        Self { pgid: child.id().and_then(|pid| i32::try_from(pid).ok()) }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pgid) = self.pgid {
            process::signal_group(pgid, signal);
        }
    }

    fn disarm(&mut self) {
        self.pgid = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(pgid) = self.pgid else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return process::signal_group(pgid, Signal::Kill);
        };
        process::signal_group(pgid, Signal::Interrupt);
        runtime.spawn(async move {
            for (before, (signal, _)) in CANCEL_LADDER.windows(2).map(|pair| (pair[0].1, pair[1])) {
                tokio::time::sleep(before).await;
                if !process::group_is_alive(pgid) {
                    return;
                }
                process::signal_group(pgid, signal);
            }
        });
    }
}

#[cfg(test)]
#[path = "isolated_sandbox_tests.rs"]
mod sandbox_tests;
#[cfg(test)]
#[path = "isolated_tests.rs"]
mod tests;
