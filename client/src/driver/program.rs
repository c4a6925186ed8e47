//! Runs a program of cohab's own next to the shell and captures its output, bounded in time and size.

use std::{path::Path, process::Stdio, time::Duration};

use cohab_conversation::slash::own_output::{MAX_BYTES, OwnOutput, ProgramEnding};
use cohab_system::process::surroundings::BESIDE_VARIABLE;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

/// A program that runs longer is ended.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A program that runs. Dropping it ends the program.
#[derive(Debug)]
pub(super) struct Program {
    task: JoinHandle<()>,
    output: oneshot::Receiver<OwnOutput>,
}

impl Program {
    /// Starts `cohab` with these arguments in `cwd`.
    pub fn start(args: &[String], cwd: &Path, columns: u16) -> Self {
        let own = std::env::current_exe().unwrap_or_else(|_| "cohab".into());
        let mut command = Command::new(own);
        command.args(args).current_dir(cwd).env("COLUMNS", columns.to_string()).env(BESIDE_VARIABLE, "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self::spawn(command, TIME_LIMIT)
    }

    fn spawn(command: Command, limit: Duration) -> Self {
        let (told, output) = oneshot::channel();
        let task = tokio::spawn(async move {
            // The receiver may be gone; then the output is not needed.
            let _ = told.send(run(command, limit).await);
        });
        Self { task, output }
    }

    /// What it printed, once it has ended. Cancel-safe; to be called until it answers, and then no more.
    pub async fn ended(&mut self) -> OwnOutput {
        (&mut self.output).await.unwrap_or_else(|_| OwnOutput { text: String::new(), ending: ProgramEnding::Ended })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The next program to end; never, without one.
pub(super) async fn next_ended(program: &mut Option<Program>) -> OwnOutput {
    match program {
        Some(program) => program.ended().await,
        None => std::future::pending().await,
    }
}

async fn run(mut command: Command, limit: Duration) -> OwnOutput {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return OwnOutput { text: String::new(), ending: ProgramEnding::NotStarted(error.to_string()) },
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ended = timeout(limit, async {
        tokio::join!(read(stdout, &mut out), read(stderr, &mut err));
        child.wait().await
    });
    let ending = match ended.await {
        Ok(Ok(status)) => ProgramEnding::Exited(status.code().unwrap_or(-1)),
        Ok(Err(_)) | Err(_) => ProgramEnding::Ended,
    };
    out.extend(err);
    OwnOutput { text: String::from_utf8_lossy(&out).into_owned(), ending }
}

/// Reads to the end, or to the bound: a program that writes on then gets a broken pipe.
async fn read(stream: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    if let Some(stream) = stream {
        // What came before an error counts.
        let _ = stream.take(MAX_BYTES as u64).read_to_end(into).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn output_of(script: &str, limit: Duration) -> OwnOutput {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        Program::spawn(command, limit).ended().await
    }

    #[tokio::test]
    async fn both_streams_and_the_status_are_told_and_nothing_waits_for_a_keyboard() {
        let output = output_of("read line; echo out; echo err >&2; exit 3", TIME_LIMIT).await;
        assert_eq!(output, OwnOutput { text: "out\nerr\n".into(), ending: ProgramEnding::Exited(3) });
    }

    #[tokio::test]
    async fn a_flood_is_cut() {
        let output = output_of("yes", TIME_LIMIT).await;
        assert_eq!(output.text.len(), MAX_BYTES);
    }

    #[tokio::test]
    async fn a_missing_program_is_told() {
        let mut command = Command::new("/nonexistent/cohab");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = Program::spawn(command, TIME_LIMIT).ended().await;
        assert!(matches!(output.ending, ProgramEnding::NotStarted(_)), "{output:?}");
    }

    #[tokio::test]
    async fn one_that_never_ends_is_ended() {
        let output = output_of("exec sleep 1000", Duration::from_millis(1)).await;
        assert_eq!(output.ending, ProgramEnding::Ended);
    }
}
