//! Runs `cohabd` as a program, for what only it knows: settings, keys, models, its own command line.

use std::{
    io,
    process::{Output, Stdio},
    time::Duration,
};

use tokio::{process::Command, time};

use crate::connection;

/// For the whole answer. What `cohabd` itself waits for has shorter limits.
const LIMIT: Duration = Duration::from_secs(4);

/// Runs `cohabd` with these arguments, without input, to its end.
///
/// # Errors
/// It is missing, cannot be started, or takes too long; then it is killed.
pub async fn output(arguments: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(connection::daemon_program());
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    time::timeout(LIMIT, command.output()).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
