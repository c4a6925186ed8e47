//! The state of an answer that has the place of the prompt, or waits for it.

use std::time::Instant;

/// The progress of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerStep {
    /// Key 1 is sent; at the end `AnswerReady` is due.
    Stashing { until: Instant },
    /// The line is away, its repaint is on its way.
    Repainting { until: Instant },
    /// The assistant may draw, as `AnswerReady` has reported.
    Ready,
    /// A command runs that the user had typed ahead.
    Waiting,
    /// The user typed into a command: the unread rest may be a command itself.
    Settling { until: Instant },
    /// The unread rest may also be the beginning of a line: it is asked for.
    Sweeping { until: Instant },
    /// The line is now among the held keys and on its way out of the editor.
    Clearing { until: Instant },
    /// Key 6 is sent; hidden until the next `D`.
    Leaving { until: Instant },
    /// The new prompt is being painted.
    Returning,
}

/// An answer in the place of the prompt.
#[derive(Debug)]
pub(super) struct Answer {
    pub step: AnswerStep,
    /// The answer is to end as soon as it may; the value says whether with the stashed line.
    pub leave: Option<bool>,
    /// A line that is not a question was put aside for the answer; it comes back in any case.
    pub keeps_line: bool,
    pub has_told_of_keys: bool,
}

/// An answer that is to begin as soon as the user leaves the prompt alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingAnswer {
    /// When to look again; absent while only a report of the shell can decide.
    pub look_at: Option<Instant>,
}
