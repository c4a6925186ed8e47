//! `cohab trace --output` at a terminal: shows what the daemon's program prints in a pager.

use std::{
    ffi::OsString,
    io::IsTerminal,
    process::{ExitCode, Stdio},
};

use cohab_daemon_link::connection;
use tokio::process::Command;

use super::pager;

/// Whether these words ask for an output that a person reads.
pub(super) fn is_wanted(words: &[OsString]) -> bool {
    let is_output = words.first().is_some_and(|word| word == "trace") && words.iter().any(|word| word == "--output");
    let is_help = |word: &OsString| ["--help", "-h"].iter().any(|option| word == option);
    is_output && !words.iter().any(is_help) && std::io::stdout().is_terminal()
}

/// Shows it. `None` if there is none; then nothing was shown.
pub(super) async fn run(words: &[OsString]) -> Option<ExitCode> {
    let mut reader = Command::new(connection::daemon_program());
    let read = reader.args(words).stderr(Stdio::null()).output().await.ok().filter(|read| read.status.success())?;
    Some(if pager::show(&read.stdout).await.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
