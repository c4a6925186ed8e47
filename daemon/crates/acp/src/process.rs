//! The process of an agent: its start in a session of its own, what it writes to standard error, and its end with all that it started.

use std::{
    io,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use cohab_system::process::{ControllingTerminal, Signal, lead_session, signal_group, status_of};
use cohab_text::{cut::tail, sanitize::one_line};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::{
    io::{AsyncReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::find::Launch;

/// Kept end of what an agent writes to standard error.
const STDERR_KEPT_BYTES: usize = 8 * 1024;
/// Lines of it that a message shows.
const STDERR_LINES: usize = 3;
/// Longest such line, in columns.
const STDERR_COLUMNS: usize = 200;
/// Wait for the status of a process whose output ended.
const STATUS_WAIT: Duration = Duration::from_millis(500);
/// Wait between two looks for it.
const STATUS_STEP: Duration = Duration::from_millis(5);

/// A started agent.
pub(crate) struct Process {
    // Dropped before the child, which is reaped then.
    group: ProcessGroup,
    child: Child,
    stderr: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
}

/// The process group of an agent, shared by all who may end it; ends it when one of them is dropped.
///
/// The number is taken by the first who ends the group, and always before its leader is reaped: later it may be another group's.
#[derive(Clone, Debug)]
pub(crate) struct ProcessGroup(Arc<Mutex<Option<i32>>>);

impl ProcessGroup {
    /// Ends all processes of the group at once.
    pub(crate) fn kill(&self) {
        // Held until the signal is sent: the leader is reaped behind this lock.
        let mut number = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        number.take().into_iter().for_each(|number| signal_group(number, Signal::Kill));
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The pipes of a started agent.
pub(crate) struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts an agent in a folder, without a terminal: it cannot ask the user behind cohab's back.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn start(launch: &Launch, folder: &Path) -> io::Result<(Self, Pipes)> {
        let mut command = std::process::Command::new(&launch.program);
        command.args(&launch.args).env_clear().envs(&launch.environment).current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lead_session(&mut command, ControllingTerminal::None);
        let mut child = Command::from(command).kill_on_drop(true).spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.ok_or_else(|| io::Error::other("it ended at once"))?;
        let group = ProcessGroup(Arc::new(Mutex::new(Some(id))));
        let missing = || io::Error::other("a pipe is missing");
        let (stdin, stdout) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let listening = child.stderr.take().map(|pipe| tokio::spawn(keep_end(pipe, Arc::clone(&stderr))));
        Ok((
            Self { group, child, stderr, listening },
            Pipes { stdin, stdout: BufReader::with_capacity(64 * 1024, stdout) },
        ))
    }

    /// How it ended, with the last lines that it wrote to standard error. Ends what still runs.
    pub(crate) async fn end(mut self) -> String {
        let has_ended = self.has_ended().await;
        self.group.kill();
        let status = timeout(STATUS_WAIT, self.child.wait()).await;
        if let Some(listening) = self.listening.take() {
            // What left the group may keep the pipe open.
            let _ = timeout(STATUS_WAIT, listening).await;
        }
        let how = match status {
            Ok(Ok(status)) if has_ended => format!("it ended with status {}", status_of(status)),
            _ => "it closed its output".to_owned(),
        };
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match last_lines(&String::from_utf8_lossy(&kept)) {
            lines if lines.is_empty() => how,
            lines => format!("{how}: {lines}"),
        }
    }

    /// Whether it ends by itself, without reaping it.
    async fn has_ended(&self) -> bool {
        let Some(pid) = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) else {
            return true;
        };
        let began = Instant::now();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), options) {
                Ok(Some(_)) => return true,
                Err(_) => return false,
                Ok(None) if began.elapsed() > STATUS_WAIT => return false,
                Ok(None) => sleep(STATUS_STEP).await,
            }
        }
    }

    /// The group, for an end from elsewhere.
    pub(crate) fn group(&self) -> ProcessGroup {
        self.group.clone()
    }
}

async fn keep_end(mut pipe: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut piece = vec![0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..count]);
        let excess = kept.len().saturating_sub(STDERR_KEPT_BYTES);
        kept.drain(..excess);
    }
}

/// The last lines of a text, harmless and in one line.
fn last_lines(text: &str) -> String {
    let lines: Vec<String> = tail(text, STDERR_KEPT_BYTES)
        .lines()
        .map(|line| one_line(line.trim(), STDERR_COLUMNS))
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(STDERR_LINES)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::io::AsyncBufReadExt as _;

    use super::*;

    fn launch(script: &str) -> Launch {
        let args = ["-c", script].map(str::to_owned).to_vec();
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Launch { program: "/bin/sh".into(), args, environment }
    }

    #[tokio::test]
    async fn the_end_tells_status_and_last_lines() {
        let script = "echo one >&2; echo two >&2; echo three >&2; printf '\\033[31mfour\\033[m\\n' >&2; exit 3";
        let (process, mut pipes) = Process::start(&launch(script), Path::new("/")).expect("a process");
        let mut line = String::new();
        assert_eq!(pipes.stdout.read_line(&mut line).await.expect("the end"), 0);
        let end = process.end().await;
        assert!(end.starts_with("it ended with status 3: two / three / ") && end.contains("four"), "{end}");
        assert!(!end.contains('\u{1b}'), "{end}");
    }

    #[tokio::test]
    async fn a_group_is_ended_once() {
        let (process, _pipes) = Process::start(&launch("sleep 1000"), Path::new("/")).expect("a process");
        let (one, other) = (process.group(), process.group());
        one.kill();
        assert_eq!(*other.0.lock().expect("a lock"), None, "no one has the number any more");
        other.kill();
        assert_eq!(process.end().await, "it ended with status 137");
    }

    #[tokio::test]
    async fn the_end_takes_all_that_it_started_along() {
        let script = "sleep 1000 & echo $!; exec 1>&-; sleep 1000";
        let (process, mut pipes) = Process::start(&launch(script), Path::new("/")).expect("a process");
        let mut line = String::new();
        pipes.stdout.read_line(&mut line).await.expect("a line");
        let handle = process.group();
        let group = handle.0.lock().expect("a lock").expect("a group");
        assert_eq!(process.end().await, "it closed its output");
        timeout(Duration::from_secs(10), async {
            while cohab_system::process::group_is_alive(group) {
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("the group ends");
    }
}
