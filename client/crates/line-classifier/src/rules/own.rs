//! The rule for `cohab` with one of its subcommands: a command, however the rest reads.

use super::{Case, Opinion, shell_for};

/// The subcommands of `cohab`. A test of the client compares them with those that it has.
pub const SUBCOMMANDS: &[&str] = &[
    "setup",
    "ask",
    "sessions",
    "undo",
    "doctor",
    "daemon",
    "models",
    "config",
    "usage",
    "stats",
    "history",
    "why",
    "audit",
    "trace",
    "resume",
    "context",
    "tasks",
    "export",
    "trust",
    "policy",
    "gate",
    "scrub",
    "init",
    "shell-check",
    "probe-model",
    "completions",
    "man",
    "help",
];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let [program, subcommand, ..] = case.line.tokens.as_slice() else { return None };
    let is_own = program.text == "cohab" && SUBCOMMANDS.contains(&subcommand.text);
    is_own.then(|| shell_for(subcommand.text, "is a command of cohab's")).flatten()
}
