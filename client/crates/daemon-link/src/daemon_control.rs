//! `cohab daemon`: status, start, stop, restart and logs of the daemon.

use std::{
    fs,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Subcommand;
use cohab_protocol::{ClientMessage, DaemonStatus, Paths, SessionAction, SessionAnswer};
use cohab_text::terminal_safe_writer::HarmlessWriter;
use futures::{SinkExt, StreamExt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time;

use crate::connection::{self, ConnectError, Frames};

/// How long a daemon may take to end before it is called hung.
const STOP_TIMEOUT_MS: u64 = 10_000;
/// The same for one that does not answer: it is killed then.
const HUNG_STOP_TIMEOUT_MS: u64 = 2_000;
/// Pause between two looks whether it has ended.
const STOP_POLL_MS: u64 = 10;
/// How much of a log file's end is looked at.
const LOG_TAIL_BYTES: u64 = 4 * 1024 * 1024;

/// `cohab daemon`.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    /// Say whether it runs, and with what
    Status {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Start it, unless it runs
    Start,
    /// End it; running questions are cancelled
    Stop,
    /// Stop, then start
    Restart,
    /// Print the end of its log
    Logs {
        /// How many lines
        #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
        lines: usize,
        /// Print its path only
        #[arg(long)]
        path: bool,
    },
}

/// Runs one command; output goes to `out`, complaints to `err`.
///
/// # Errors
/// If writing fails.
pub async fn run(
    command: DaemonCommand,
    paths: &Paths,
    out: &mut impl Write,
    err: &mut impl Write,
) -> io::Result<ExitCode> {
    let (out, err) = (&mut HarmlessWriter::new(out), &mut HarmlessWriter::new(err));
    match command {
        DaemonCommand::Status { json } => status(paths, json, out).await,
        DaemonCommand::Start => start(paths, out, err).await,
        DaemonCommand::Stop => stop(paths, out, err).await,
        DaemonCommand::Restart => {
            let stopped = stop(paths, out, err).await?;
            if stopped == ExitCode::SUCCESS { start(paths, out, err).await } else { Ok(stopped) }
        }
        DaemonCommand::Logs { lines, path } => logs(paths, lines, path, out, err),
    }
}

async fn ask_status(frames: &mut Frames) -> Result<DaemonStatus, ConnectError> {
    match connection::request(frames, SessionAction::Status).await? {
        SessionAnswer::Status(status) => Ok(status),
        other => Err(cohab_protocol::FrameError::Decode(format!("unexpected answer to Status: {other:?}")).into()),
    }
}

/// Asks the daemon how it is; with `may_start`, starts one that does not run.
///
/// # Errors
/// See [`ConnectError`].
pub async fn look(paths: &Paths, may_start: bool) -> Result<DaemonStatus, ConnectError> {
    ask_status(&mut connection::open(paths, may_start).await?).await
}

async fn status(paths: &Paths, as_json: bool, out: &mut impl Write) -> io::Result<ExitCode> {
    let socket = paths.socket();
    match look(paths, false).await {
        Ok(status) if as_json => writeln!(
            out,
            "{}",
            json!({
                "running": true, "pid": status.pid, "version": status.build, "uptime_ms": status.uptime_ms,
                "clients": status.clients, "sessions": status.sessions, "turns_running": status.turns_running,
                "commands_running": status.commands_running, "commands_waiting": status.commands_waiting,
                "socket": socket.display().to_string(), "log_dir": status.log_dir.to_string(),
                "config": status.config_path.to_string()
            })
        )?,
        Ok(status) => {
            writeln!(out, "cohabd {} runs: pid {}, up {}", status.build, status.pid, duration(status.uptime_ms))?;
            writeln!(
                out,
                "  clients {}   sessions {}   questions running {}",
                status.clients, status.sessions, status.turns_running
            )?;
            if status.commands_running > 0 {
                let (running, waiting) = (status.commands_running, status.commands_waiting);
                writeln!(out, "  commands in live shells {running}   waiting for one {waiting}")?;
            }
            writeln!(out, "  socket    {}", socket.display())?;
            writeln!(out, "  settings  {}", status.config_path)?;
            writeln!(out, "  logs      {}", status.log_dir)?;
        }
        Err(error) => {
            let hint = error.hint();
            if as_json {
                writeln!(out, "{}", json!({"running": false, "message": error.to_string(), "hint": hint}))?;
            } else {
                writeln!(out, "{error}\nHint: {hint}")?;
            }
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn start(paths: &Paths, out: &mut impl Write, err: &mut impl Write) -> io::Result<ExitCode> {
    if let Ok(status) = look(paths, false).await {
        writeln!(out, "cohabd runs already: pid {}", status.pid)?;
        return Ok(ExitCode::SUCCESS);
    }
    match look(paths, true).await {
        Ok(status) => {
            writeln!(out, "cohabd started: pid {}", status.pid)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => complain(&error, err),
    }
}

async fn stop(paths: &Paths, out: &mut impl Write, err: &mut impl Write) -> io::Result<ExitCode> {
    match connection::open(paths, false).await {
        Ok(mut frames) => {
            // It may close before it has read everything: that is the end we want.
            let _ = frames.send(ClientMessage::Shutdown).await;
            let drained = async { while frames.next().await.is_some_and(|frame| frame.is_ok()) {} };
            let _ = time::timeout(Duration::from_millis(STOP_TIMEOUT_MS), drained).await;
        }
        Err(ConnectError::NotRunning) => {
            writeln!(out, "cohabd is not running")?;
            return Ok(ExitCode::SUCCESS);
        }
        // One of another version does not understand `Shutdown`, but every version ends on SIGTERM.
        Err(error @ (ConnectError::Refused(_) | ConnectError::Frame(_) | ConnectError::NoAnswer)) => {
            let pid = match signal(&paths.socket(), None, Signal::TERM).await {
                Ok(pid) => pid,
                Err(error) => return complain(&error, err),
            };
            // One that hangs may not see it. Its records are made for a sudden end.
            let is_hung = matches!(error, ConnectError::NoAnswer);
            if is_hung
                && !wait_for_end(paths, HUNG_STOP_TIMEOUT_MS).await
                && let Err(error) = signal(&paths.socket(), Some(pid), Signal::KILL).await
            {
                return complain(&error, err);
            }
        }
        Err(error) => return complain(&error, err),
    }
    if wait_for_end(paths, STOP_TIMEOUT_MS).await {
        writeln!(out, "cohabd stopped")?;
        Ok(ExitCode::SUCCESS)
    } else {
        writeln!(err, "cohabd does not end\nHint: `cohab daemon logs` may say why")?;
        Ok(ExitCode::FAILURE)
    }
}

/// Sends a signal to the process that listens on the socket, which the kernel names; if `known` is given, only to that one.
async fn signal(socket: &Path, known: Option<Pid>, signal: Signal) -> Result<Pid, ConnectError> {
    let stream = cohab_protocol::socket::connect(socket).await?;
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(Pid::from_raw);
    let pid = pid.filter(|pid| known.is_none_or(|known| known == *pid)).ok_or(ConnectError::NotRunning)?;
    kill_process(pid, signal).map_err(|error| ConnectError::Start { program: "kill".into(), source: error.into() })?;
    Ok(pid)
}

/// Waits until the daemon's lock is free: it holds it to its very end.
async fn wait_for_end(paths: &Paths, limit_ms: u64) -> bool {
    let deadline = time::Instant::now() + Duration::from_millis(limit_ms);
    while fs::File::open(paths.lock_file()).is_ok_and(|file| file.try_lock_shared().is_err()) {
        if time::Instant::now() >= deadline {
            return false;
        }
        time::sleep(Duration::from_millis(STOP_POLL_MS)).await;
    }
    true
}

fn complain(error: &ConnectError, err: &mut impl Write) -> io::Result<ExitCode> {
    writeln!(err, "{error}\nHint: {}", error.hint())?;
    Ok(ExitCode::FAILURE)
}

fn logs(
    paths: &Paths,
    lines: usize,
    path_only: bool,
    out: &mut impl Write,
    err: &mut impl Write,
) -> io::Result<ExitCode> {
    let Some(newest) = newest_file(&paths.log_dir()) else {
        writeln!(err, "there is no log yet in {}", paths.log_dir().display())?;
        return Ok(ExitCode::FAILURE);
    };
    if path_only {
        writeln!(out, "{}", newest.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut file = fs::File::open(&newest)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
    out.write_all(last_lines(&bytes, lines))?;
    Ok(ExitCode::SUCCESS)
}

fn newest_file(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir).ok()?.flatten();
    let files = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((metadata.modified().ok()?, entry.path()))
    });
    files.max().map(|(_, path)| path)
}

fn last_lines(bytes: &[u8], count: usize) -> &[u8] {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = match count {
        0 => bytes.len(),
        _ => memchr::memrchr_iter(b'\n', body).nth(count - 1).map_or(0, |index| index + 1),
    };
    &bytes[start..]
}

/// A duration for people: `42 s`, `3 min`, `5 h 12 min`, `2 d 3 h`.
#[must_use]
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_whole_lines() {
        assert_eq!(last_lines(b"a\nb\nc\n", 2), b"b\nc\n");
        assert_eq!(last_lines(b"a\nb\nc", 1), b"c");
        assert_eq!(last_lines(b"a\n", 5), b"a\n");
        assert_eq!(last_lines(b"a\n", 0), b"");
        assert_eq!(last_lines(b"", 3), b"");
    }

    #[tokio::test]
    async fn the_log_is_shown_without_what_a_terminal_obeys() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| folder.path().into()), 1000);
        fs::create_dir_all(paths.log_dir()).unwrap();
        for row in cohab_text::terminal_attack_fixtures::HOSTILE {
            fs::write(paths.log_dir().join("cohabd.log"), format!("a{}b\n", row.bytes)).unwrap();
            let (mut out, mut err) = (Vec::new(), Vec::new());
            run(DaemonCommand::Logs { lines: 9, path: false }, &paths, &mut out, &mut err).await.unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("a{}b\n", row.left), "{}", row.name);
        }
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let rendered = [1_000, 61_000, 3_720_000, 180_000_000].map(duration);
        assert_eq!(rendered, ["1 s", "1 min", "1 h 2 min", "2 d 2 h"]);
    }
}
