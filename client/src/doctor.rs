//! `cohab doctor`.

use std::process::ExitCode;

use clap::Args;
use cohab_protocol::Paths;

/// `cohab doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Measure how fast keys, answers, commands and the start are here
    #[arg(long)]
    pub latency: bool,
}

/// Runs it.
pub async fn run(_args: DoctorArgs, _paths: Paths) -> ExitCode {
    ExitCode::FAILURE
}
