//! The settings of the tools.

use std::{path::PathBuf, time::Duration};

use cohab_context::ignore_rules::IgnoreRules;

/// What the tools need to know of their user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOptions {
    /// What `~` stands for.
    pub home: PathBuf,
    /// How long a command may run unless the model says otherwise.
    pub command_timeout: Duration,
    /// Longest result of one call; the rest is left out and counted.
    pub output_max_bytes: usize,
    /// The files that the user keeps from the assistant.
    pub ignore: IgnoreRules,
}
