//! The findings about a failed command, and the lines that they come from.

use super::super::super::run::{Halt, Output, Run, Subject};

/// A line that fixes the problem, and the sentence for afterwards.
#[derive(Debug)]
pub(super) struct Remedy {
    pub(super) line: String,
    pub(super) done: String,
}

/// The findings of a look.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Follows the explanation; begins with a space or a new paragraph.
    pub(super) text: String,
    /// The remedy, only if it is certain.
    pub(super) remedy: Option<Remedy>,
    /// The meaning of a following "it".
    pub(super) subject: Subject,
}

impl Seen {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Runs a line that only adds to the explanation: if the line may not run, the explanation omits its result.
pub(super) fn glance(run: &mut Run<'_>, line: &str) -> Result<Option<Output>, Halt> {
    match run.attempt(line) {
        Ok(output) => Ok(Some(output)),
        Err(Halt::Over(_)) => Ok(None),
        Err(call) => Err(call),
    }
}
