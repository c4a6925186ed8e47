//! Runs a program without a terminal and within a time limit.

use std::{process::Stdio, time::Duration};

use futures::future;
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::SecretString;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
    time::timeout,
};

/// Most kept bytes of its output and of its errors, each.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Time to read its output after its end: a process that it left behind may hold the pipe.
const GRACE: Duration = Duration::from_millis(200);
/// Longest complaint that is shown, in characters.
const MAX_COMPLAINT_CHARS: usize = 160;

/// A program that ended by itself.
pub(super) struct Ended {
    /// Status 0.
    pub(super) is_success: bool,
    /// Standard output, up to 64 KiB.
    pub(super) output: Vec<u8>,
    errors: Vec<u8>,
    status: String,
}

impl Ended {
    /// Whether it wrote any errors.
    pub(super) fn has_errors(&self) -> bool {
        self.errors.iter().any(|byte| !byte.is_ascii_whitespace())
    }

    /// Its own words about a failure, in one short line, else its status.
    pub(super) fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors);
        let words: Vec<&str> =
            text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
        let line: String = words.join(" ").chars().take(MAX_COMPLAINT_CHARS).collect();
        if line.is_empty() { self.status.clone() } else { line }
    }
}

/// The program did not run, or did not end in time.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error("cannot be started: {0}")]
    Start(#[from] std::io::Error),
    #[error("did not end within {} s", .0.as_secs())]
    Late(Duration),
}

/// Kills the rest of a program, with its children.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Fails if all of it has ended.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Runs `command` with `input`. It is killed, children included, at the limit or when the future is dropped.
pub(super) async fn run(mut command: Command, input: &[u8], limit: Duration) -> Result<Ended, RunError> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let mut group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let work = async {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read it reports that by its status.
            let _ = stdin.write_all(input).await;
        }
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut reading = std::pin::pin!(future::join(read(stdout, &mut output), read(stderr, &mut errors)));
        tokio::select! {
            status = child.wait() => {
                let _ = timeout(GRACE, &mut reading).await;
                status
            }
            _ = &mut reading => child.wait().await,
        }
    };
    let status = timeout(limit, work).await.map_err(|_| RunError::Late(limit))??;
    group.0 = None;
    Ok(Ended { is_success: status.success(), output, errors, status: status.to_string() })
}

/// Reads to the end; surplus bytes are dropped.
async fn read(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 4096];
    while let Ok(length @ 1..) = pipe.read(&mut buffer).await {
        let room = MAX_OUTPUT_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..length.min(room)]);
    }
}

/// The first line, if it can be a key.
pub(super) fn first_line(output: &[u8]) -> Option<SecretString> {
    let line = output.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim();
    (!line.is_empty() && !line.chars().any(char::is_control)).then(|| line.to_owned().into())
}
