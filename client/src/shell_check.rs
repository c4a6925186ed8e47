//! `cohab shell-check`: tries out, in a hidden terminal, how the user's shell and its start-up files get on with cohab.
//!
//! `probe` and `trial` drive the shell and gather [`facts`]; [`findings`] judges them, [`report`] shows them. The shell in which
//! the command was typed is not touched.

pub mod facts;
pub mod findings;
mod hidden;
pub(crate) mod probe;
mod queries;
pub mod rc;
mod relay_findings;
pub mod report;
mod trial;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use cohab_daemon_link::config;
use cohab_protocol::Paths;
use cohab_term::{ansi::ColorSupport, window_size};
use cohab_text::terminal_safe_writer::HarmlessWriter;
use report::Report;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    cli::ShellCheckArgs,
    driver,
    real_shell::{self, Surroundings},
};

/// The width of a report that goes to no terminal.
pub(crate) const PLAIN_COLUMNS: usize = 100;
/// Exit status after Ctrl-C, as shells count it.
const CANCELLED: u8 = 130;

/// Checks and prints; 0 if the relay works.
pub async fn run(args: ShellCheckArgs, paths: Paths, surroundings: Surroundings) -> ExitCode {
    match check(&args, paths, surroundings).await {
        Ok(Some(report)) => match print(&report, args.json) {
            Ok(()) if report.works() => ExitCode::SUCCESS,
            Ok(()) | Err(_) => ExitCode::FAILURE,
        },
        Ok(None) => ExitCode::from(CANCELLED),
        Err(error) => {
            // With standard error gone, the exit status is all that is left.
            let _ = writeln!(HarmlessWriter::new(io::stderr()), "cohab: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Nothing if the user stopped it.
async fn check(args: &ShellCheckArgs, paths: Paths, surroundings: Surroundings) -> io::Result<Option<Report>> {
    let stop = Arc::new(AtomicBool::new(false));
    let start = start(args, paths);
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let seen = Arc::clone(&stop);
    let mut examination = tokio::task::spawn_blocking(move || probe::examine(&start, &surroundings, &seen));
    let facts = tokio::select! {
        facts = &mut examination => facts,
        _ = async { tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => (), _ = hangup.recv() => () } } => {
            stop.store(true, Ordering::Relaxed);
            // It ends the hidden shell first.
            examination.await
        }
    };
    Ok(facts.map_err(io::Error::other)?.ok().map(Report::new))
}

/// What `cohab` would open, unless told otherwise.
pub(crate) fn start(args: &ShellCheckArgs, paths: Paths) -> driver::Start {
    let config = config::load(&paths.config_file());
    // A shell that was asked for has no substitute.
    let shells = match &args.shell {
        Some(shell) => vec![std::path::absolute(shell).unwrap_or_else(|_| shell.clone())],
        None => {
            real_shell::candidates(config.client.shell.clone(), std::env::var_os("SHELL"), real_shell::passwd_shell())
        }
    };
    let model = Vec::new();
    driver::Start {
        shells,
        shell_args: Vec::new(),
        is_login: args.login || config.client.login,
        model,
        paths,
        config,
        session: None,
    }
}

fn print(report: &Report, as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        return out.write_all(report.json().as_bytes());
    }
    let (columns, colors) = if out.is_terminal() {
        (window_size::size_of(rustix::stdio::stdout()).0.into(), ColorSupport::from_env())
    } else {
        (PLAIN_COLUMNS, ColorSupport::None)
    };
    out.write_all(&report.text(columns, colors))
}
