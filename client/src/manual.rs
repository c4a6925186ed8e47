//! `cohab man`.

use std::process::ExitCode;

/// Runs it.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::FAILURE
}
