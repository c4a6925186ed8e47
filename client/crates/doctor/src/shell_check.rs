//! `cohab shell-check`: tests in a hidden terminal how the user's shell and its start-up files work with cohab.
//!
//! `probe` and `trial` drive the shell and gather [`facts`]; [`findings`] judges them, [`report`] shows them. The shell in which
//! the command was typed is not touched.

pub mod facts;
pub mod finding;
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
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use clap::Args;
use cohab_shell_relay::live::StartOptions;
use cohab_system::process::surroundings::Surroundings;
use cohab_term::{ansi::ColorSupport, window_size};
use cohab_text::terminal_safe_writer::HarmlessWriter;
use report::Report;
use tokio::signal::unix::{SignalKind, signal};

/// The width of a report that goes to no terminal.
pub(crate) const PLAIN_COLUMNS: usize = 100;
/// Exit status after Ctrl-C, as shells count it.
const CANCELLED: u8 = 130;

/// `cohab shell-check`.
#[derive(Debug, Args)]
#[command(after_help = "Your shell is started with your own rc files in a hidden terminal, tried out and\n\
    ended. The shell you type in and your history stay as they are. At most 20 s.\n\
    --json gives version, works, mode, shell, start_ms, round_trip_ms, prompt_tools\n\
    and findings (id, verdict, text, hint). Readers skip fields they don't know.\n\
    Exit status: 0 it works, 1 it does not, 2 wrong usage, 130 cancelled.")]
pub struct ShellCheckArgs {
    /// The shell to check [default: the one that `cohab` opens]
    #[arg(long, value_name = "PATH")]
    pub shell: Option<PathBuf>,
    /// Start it as a login shell
    #[arg(long, short)]
    pub login: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The shell that is examined.
#[derive(Clone, Debug)]
pub struct Start {
    /// Candidates for the shell, best first.
    pub shells: Vec<PathBuf>,
    /// How it is started.
    pub options: StartOptions,
}

/// Checks and prints; 0 if the relay works.
pub async fn run(args: ShellCheckArgs, start: Start, surroundings: Surroundings) -> ExitCode {
    match check(start, surroundings).await {
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
async fn check(start: Start, surroundings: Surroundings) -> io::Result<Option<Report>> {
    let stop = Arc::new(AtomicBool::new(false));
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
