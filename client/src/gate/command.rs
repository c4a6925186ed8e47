//! `cohab gate`.

use std::process::ExitCode;

use clap::Args;

/// `cohab gate`.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// Judge each line of standard input: `shell` or `ai`, in order
    #[arg(long, conflicts_with = "explain", required_unless_present = "explain")]
    pub stdin: bool,
    /// Say what this line is, and why
    #[arg(long, value_name = "LINE")]
    pub explain: Option<String>,
}

/// Runs it.
#[must_use]
pub fn run(_args: &GateArgs) -> ExitCode {
    ExitCode::FAILURE
}
