//! What the driver gets, and how its work ends.

use std::path::PathBuf;

use cohab_daemon_link::config::Config;
use cohab_protocol::Paths;
use cohab_shell_relay::live::StartOptions;

/// What is to be opened.
#[derive(Debug)]
pub struct Start {
    /// Candidates for the shell, best first.
    pub shells: Vec<PathBuf>,
    /// How it is started.
    pub options: StartOptions,
    /// Variables that choose a model, from the command line.
    pub model: Vec<(String, String)>,
    /// Our folders.
    pub paths: Paths,
    /// The settings.
    pub config: Config,
    /// Start of the id of an older conversation to go on with.
    pub session: Option<String>,
    /// The subcommands of `cohab`.
    pub subcommands: &'static [&'static str],
}

/// How it went.
#[derive(Debug)]
pub enum ShellOutcome {
    /// The shell ran and ended with this status.
    Exited(u8),
    /// A signal ended us, not the user; this is the status for it.
    Killed(u8),
    /// No shell ever got to its prompt; the terminal is as it was. The caller opens a plain one.
    NotStarted(String),
}
