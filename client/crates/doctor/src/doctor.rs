//! `cohab doctor`: checks the installation. Each check is a file and a row in `examine`; it gathers what it
//! needs, then a pure function judges it. Nothing is started, changed or asked of a model; the one thing that may leave the machine
//! is the request for the list of models to the service that would answer, and its finding says so.

mod context;
mod daemon;
mod folders;
mod jobs;
mod latency;
mod model;
mod programs;
mod report;
mod rules;
mod sandbox;
mod settings;
mod shell;
mod start_up;
mod stores;
mod terminal;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::Args;
use cohab_protocol::Paths;
use cohab_system::process::surroundings::{BESIDE_VARIABLE, Surroundings};
use cohab_term::{ansi::ColorSupport, output_style::OutputStyle, window_size};
use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};

use crate::shell_check::{self, PLAIN_COLUMNS, Start, finding::Finding};
use context::Context;
use report::Report;

/// `cohab doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is started or changed. Of the service that would answer only the list of its models is asked for, and \
    the report says so. `cohab shell-check` tries your shell out.\n\
    --json prints one object: version, ok, findings (id, verdict, text, hint) and, with --latency, latency (id, verdict, \
    value_ms, spread_ms, p99_ms, budget_ms, text).\n\
    Exit status: 0 nothing fails, 1 something does, 2 wrong usage, 130 cancelled."
)]
pub struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Also measure keys, answers, commands and the start, in hidden terminals
    #[arg(long)]
    pub latency: bool,
}

/// Exit status after Ctrl-C, as shells count it.
const CANCELLED: u8 = 130;

/// Looks, prints, and ends with 0 if nothing fails. `start` is the shell that `cohab` would open.
pub async fn run(args: DoctorArgs, paths: Paths, start: Start, surroundings: Surroundings) -> ExitCode {
    let (examined, seen) = (start.clone(), surroundings.clone());
    let facts = tokio::task::spawn_blocking(move || shell_check::probe::look(&examined, &seen)).await.ok();
    let findings = examine(&Context { paths: paths.clone(), surroundings, facts }).await;
    let latency = match args.latency {
        true => match latency::measure(start).await {
            Ok(latency) => Some(latency),
            Err(latency::Stopped) => return ExitCode::from(CANCELLED),
        },
        false => None,
    };
    let report = Report { findings, latency };
    match print(&report, args.json) {
        Ok(()) if report.is_ok() => ExitCode::SUCCESS,
        Ok(()) | Err(_) => ExitCode::FAILURE,
    }
}

/// All checks at once, their findings in this order.
async fn examine(context: &Context) -> Vec<Finding> {
    let checks: [BoxFuture<'_, Vec<Finding>>; 12] = [
        terminal::check(context).boxed(),
        shell::check(context).boxed(),
        start_up::check(context).boxed(),
        daemon::check(context).boxed(),
        settings::check(context).boxed(),
        rules::check(context).boxed(),
        model::check(context).boxed(),
        jobs::check(context).boxed(),
        folders::check(context).boxed(),
        stores::check(context).boxed(),
        programs::check(context).boxed(),
        sandbox::check(context).boxed(),
    ];
    join_all(checks).await.into_iter().flatten().collect()
}

/// The width that `? /doctor` has for the report: the client shows it in its terminal.
fn columns_of_client() -> Option<usize> {
    std::env::var_os(BESIDE_VARIABLE)?;
    std::env::var("COLUMNS").ok()?.parse().ok()
}

fn print(report: &Report, as_json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if as_json {
        return out.write_all(report.json().as_bytes());
    }
    let (columns, colors) = match (out.is_terminal(), columns_of_client()) {
        (true, _) => (window_size::size_of(rustix::stdio::stdout()).0.into(), ColorSupport::from_env()),
        (false, Some(columns)) => (columns, ColorSupport::from_env()),
        (false, None) => (PLAIN_COLUMNS, ColorSupport::None),
    };
    out.write_all(&report.text(columns, colors, OutputStyle::from_env(colors)))
}
