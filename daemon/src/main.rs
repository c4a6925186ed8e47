//! `cohabd`, the daemon. Runs in the foreground; the client starts it in a session of its own.

use std::{fmt::Display, process::ExitCode};

use anyhow::Context;
use cohab_protocol::Paths;
use cohabd::{lifecycle, log, wiring};
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;

/// Exit status for a wrong command line.
const USAGE_STATUS: u8 = 2;
/// Threads that run tasks: one may be busy with a long piece of work while the other serves.
const WORKER_THREADS: usize = 2;
/// Threads for calls that block, on demand.
const MAX_BLOCKING_THREADS: usize = 8;

fn main() -> ExitCode {
    // The slot for more commands: without one, and with `run`, the daemon runs in the foreground.
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if !arguments.is_empty() && arguments != ["run"] {
        complain(&"usage: cohabd [run]");
        return ExitCode::from(USAGE_STATUS);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the one place where the daemon speaks to whoever started it")]
fn complain(what: &dyn Display) {
    eprintln!("cohabd: {what}");
}

fn run() -> anyhow::Result<()> {
    let paths = Paths::from_env();
    if let Err(error) = log::start(&paths.log_dir(), LevelFilter::INFO) {
        // A full disk or a read-only home is no reason to leave the user without answers.
        complain(&error);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("the runtime could not start")?;
    let shutdown = CancellationToken::new();
    let assembler = wiring::assembler(&paths);
    runtime.block_on(async {
        lifecycle::end_on_signals(shutdown.clone())?;
        lifecycle::run(&paths, assembler, shutdown.clone()).await
    })?;
    Ok(())
}
