//! Runs one hook: a shell without a terminal, in a process group of its own, with bounded input, output and time.
//!
//! Nothing of a hook outlives it: when its shell ends, at its time limit, and when the future is dropped, its process group is killed, and
//! every process that carries its mark although it left the group.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use cohab_secrets::secret_names::{Use, holds_secret};
use cohab_system::process::{Signal, signal_group, status_of};
use cohab_types::environment::Variables;
use futures::future;
use rustix::process::{Pid, kill_process};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
    runtime::Handle,
    task::spawn_blocking,
    time::timeout,
};

use crate::output::{Captured, HookEnd};

/// Kept bytes of the output and of the errors, each.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Time to read the rest after the end: a process that cannot be found may hold the pipe.
const REST_WAIT: Duration = Duration::from_millis(200);
/// The variable that marks the processes of a run.
const MARK: &str = "COHAB_HOOK_RUN";
/// Searches for processes that left the group, at most.
const MAX_SEARCHES: usize = 4;

/// The variables of a program of the user: these, or those of this process if there are none, without what is named like a secret.
#[must_use]
pub fn environment(variables: &Variables) -> Vec<(OsString, OsString)> {
    if variables.is_empty() {
        return std::env::vars_os().filter(|(name, _)| !holds_secret(&name.to_string_lossy(), Use::Inherit)).collect();
    }
    let harmless = variables.iter().filter(|(name, _)| !holds_secret(name, Use::Inherit));
    harmless.map(|(name, value)| (name.into(), value.into())).collect()
}

/// A run of a hook.
#[derive(Debug)]
pub struct HookRun<'a> {
    /// A line for `sh`.
    pub command: &'a str,
    /// Its folder.
    pub cwd: &'a Path,
    /// Its whole environment.
    pub environment: &'a [(OsString, OsString)],
    /// What it reads.
    pub input: &'a [u8],
    /// It is killed after this time.
    pub limit: Duration,
}

/// What is left of a run. It is killed when this is dropped.
struct Remains {
    group: Option<i32>,
    /// `None` once what left the group is killed, or is being killed.
    mark: Option<String>,
}

impl Remains {
    fn kill_group(&self) {
        if let Some(group) = self.group {
            signal_group(group, Signal::Kill);
        }
    }

    /// Kills all and waits until it is done.
    async fn clear(mut self) {
        self.kill_group();
        if let Some(mark) = self.mark.take() {
            // It is done even if the future is dropped.
            let _ = spawn_blocking(move || kill_strays(&mark)).await;
        }
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        let Some(mark) = self.mark.take() else { return };
        self.kill_group();
        match Handle::try_current() {
            // Looking through all processes takes too long for a thread that drives others.
            Ok(runtime) => drop(runtime.spawn_blocking(move || kill_strays(&mark))),
            Err(_) => kill_strays(&mark),
        }
    }
}

/// Kills the processes with the mark, which left the group. Blocks.
fn kill_strays(mark: &str) {
    // One that is found may have started another one meanwhile.
    for _ in 0..MAX_SEARCHES {
        if !kill_marked(mark) {
            break;
        }
    }
}

/// Kills all processes of this user with the mark in their environment; whether there were any.
fn kill_marked(mark: &str) -> bool {
    let mark = format!("{MARK}={mark}");
    let is_marked = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        Some((pid, entry.path()))
    });
    let mut is_any = false;
    for (pid, _) in processes.filter(|(_, process)| is_marked(process)) {
        is_any |= kill_process(pid, rustix::process::Signal::KILL).is_ok();
    }
    is_any
}

/// Runs a hook to its end.
pub async fn run(run: HookRun<'_>) -> HookEnd {
    let HookRun { command, cwd, environment, input, limit } = run;
    let mark = mark();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).current_dir(cwd).env_clear().envs(environment.iter().cloned()).env(MARK, &mark);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
    let mut child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return HookEnd::NotRun(format!("it cannot be started in {}: {error}", cwd.display())),
    };
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let mut remains = Some(Remains { group, mark: Some(mark) });
    let (mut output, mut errors) = (Captured::default(), Captured::default());
    let work = async {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let writing = async {
            if let Some(mut stdin) = stdin {
                // A hook need not read it.
                let _ = stdin.write_all(input).await;
            }
        };
        let mut exchange = std::pin::pin!(future::join3(writing, read(stdout, &mut output), read(stderr, &mut errors)));
        let mut is_over = false;
        let status = tokio::select! {
            status = child.wait() => status,
            _ = &mut exchange => {
                is_over = true;
                child.wait().await
            }
        };
        if let Some(remains) = remains.take() {
            remains.clear().await;
        }
        if !is_over {
            let _ = timeout(REST_WAIT, &mut exchange).await;
        }
        status
    };
    let ended = timeout(limit, work).await;
    if let Some(remains) = remains {
        remains.clear().await;
    }
    match ended {
        Ok(Ok(status)) => HookEnd::Exited { status: status_of(status), output, errors },
        Ok(Err(error)) => HookEnd::NotRun(format!("its end is not known: {error}")),
        Err(_) => HookEnd::Late(limit.as_secs().max(1)),
    }
}

/// A word that no other run has.
fn mark() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Reads to the end; surplus bytes are dropped.
async fn read(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Captured) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        let room = MAX_OUTPUT_BYTES.saturating_sub(kept.bytes.len());
        kept.bytes.extend_from_slice(&buffer[..length.min(room)]);
        kept.is_cut |= length > room;
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
