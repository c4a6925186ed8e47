//! `cohabd`, the daemon. It runs in the foreground; the client starts it in a separate session.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context;
use cohab_admin::cli;
use cohab_assembly::wiring;
use cohab_config::{self};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_system::process::{self, memory};
use cohab_text::sanitize::sanitize;
use cohabd::{lifecycle, log, telemetry::Telemetry};
use tokio_util::sync::CancellationToken;

/// Threads that run tasks: one may be busy with a long piece of work while the other serves.
const WORKER_THREADS: usize = 2;
/// Threads for calls that block, on demand.
const MAX_BLOCKING_THREADS: usize = 8;

#[expect(clippy::print_stderr, reason = "the one place where the daemon writes to the terminal that started it")]
fn main() -> ExitCode {
    process::guard_memory();
    memory::set_up();
    let paths = Paths::from_env();
    let detach = match cli::parse().execute(&paths) {
        Ok(status) => return status,
        Err(detach) => detach,
    };
    match run(&paths, detach) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cohabd: {}", sanitize(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

fn run(paths: &Paths, detach: bool) -> anyhow::Result<()> {
    if detach {
        // Fails only for the leader of a process group, which needs no detaching: no terminal started it.
        let _ = rustix::process::setsid();
    }
    let settings = cohab_config::load(paths).unwrap_or_default();
    let (telemetry, spans) = Telemetry::set_up(&settings.telemetry.otlp_endpoint);
    // Without a log the daemon is still useful.
    let _ = log::start(&paths.log_dir(), settings.log.level, spans);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("the runtime could not start")?;
    let shutdown = CancellationToken::new();
    let secrets = Arc::new(Secrets::of_this_process());
    let assembler = wiring::assembler(paths, &secrets);
    runtime.block_on(async {
        lifecycle::end_on_signals(shutdown.clone())?;
        let exporting = telemetry.start();
        let ended = lifecycle::run(paths, assembler, secrets, shutdown.clone()).await;
        exporting.finish().await;
        ended
    })?;
    Ok(())
}
