//! `cohab init`.

use std::process::ExitCode;

use crate::cli::CompletionShell;

/// Runs it.
#[must_use]
pub fn run(_shell: CompletionShell) -> ExitCode {
    ExitCode::FAILURE
}
