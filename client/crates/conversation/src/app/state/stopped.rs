//! A command that the lock has stopped.

use cohab_protocol::CommandExecutionResult;

/// A command that ran locked, and was probably stopped by that.
#[derive(Debug)]
pub(crate) struct Stopped {
    /// The result of that run, which was not sent yet.
    pub result: CommandExecutionResult,
    /// What probably stopped it, a clause.
    pub why: String,
}

impl Stopped {
    /// The result of that run, with a note about what happened since.
    pub(crate) fn told(self, what: &str) -> CommandExecutionResult {
        let Self { mut result, why } = self;
        if !result.output.is_empty() && !result.output.ends_with('\n') {
            result.output.push('\n');
        }
        result.output.push_str(&format!("[lock: {why}; {what}]\n"));
        result
    }
}
