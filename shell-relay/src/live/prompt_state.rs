//! The state of the shell's prompt: where the shell is, what came to the line, and what comes back to it.

use std::time::{Duration, Instant};

use cohab_text::capture::Capture;

use super::limits::{QUIET, TYPING_WAIT};

/// The kept length of the end of a user's command's output.
pub(super) const USER_OUTPUT_TAIL_BYTES: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Boot,
    Prompt,
    Continuation,
    /// A command of the user's.
    Running,
    Precmd {
        /// The time to check whether the line editor reads although no prompt mark came.
        look_at: Option<Instant>,
        interval: Duration,
    },
    NotIntegrated,
    /// `exec` has replaced the shell by another program.
    Replaced,
    Dead,
}

/// The state of Ctrl-C as the last key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupted {
    No,
    /// The shell has reported nothing since: it may have lost the key, as fish does while it paints.
    Sent,
    /// The line is empty again, even if no new prompt is reported (fish).
    Answered,
}

/// Events at the current prompt.
#[derive(Debug)]
pub(super) struct PromptFacts {
    pub ready_at: Instant,
    pub last_key: Option<Instant>,
    /// The line may not be empty.
    pub typed: bool,
    pub interrupted: Interrupted,
    /// An incremental search may be open, in which our keys do not work.
    pub searched: bool,
    /// The next key is inserted as it is.
    pub quoting: bool,
    /// The time when Enter went to the shell, which has not yet reported the result.
    pub entered_at: Option<Instant>,
    /// That Enter came by itself, behind a line at this prompt.
    pub entered_alone: bool,
    /// The reported line was accepted and no key was sent since; later reports are stale.
    pub accepting: bool,
    /// Keys went in between the last command's start and this prompt.
    pub ahead: bool,
    /// Keys went in since the prompt before was left.
    pub keys_since_left: bool,
    /// Programs in the shell's own process group that ran already when the prompt came: a `tee`, a coprocess, a prompt's worker.
    /// `None` until fish has painted its prompt, which it marks before the functions of the prompt run.
    pub programs: Option<Vec<u32>>,
}

impl PromptFacts {
    pub fn new(now: Instant) -> Self {
        Self {
            ready_at: now,
            last_key: None,
            typed: false,
            interrupted: Interrupted::No,
            searched: false,
            quoting: false,
            entered_at: None,
            entered_alone: false,
            accepting: false,
            ahead: false,
            keys_since_left: false,
            programs: None,
        }
    }

    /// Whether there may be something in the line that is the user's.
    pub fn may_hold_a_line(&self) -> bool {
        self.typed && self.interrupted != Interrupted::Answered
    }

    /// Whether Enter may still take effect. After that time it may have closed a menu, or the shell gives no marks any more.
    pub fn enter_is_pending(&self, now: Instant) -> bool {
        self.entered_at.is_some_and(|at| now < at + TYPING_WAIT)
    }

    /// The time until which keys typed ahead may still be on their way through the line editor; `None` if none are.
    pub fn unsettled_until(&self) -> Option<Instant> {
        self.ahead.then_some(self.ready_at + QUIET)
    }
}

/// The user's command that runs or is about to.
#[derive(Debug)]
pub(super) struct UserTrack {
    pub line: Option<String>,
    pub started: Option<Instant>,
    pub capture: Capture,
    /// A row of ours for the time when the line starts; may be empty.
    pub row_above: Vec<u8>,
}

impl Default for UserTrack {
    fn default() -> Self {
        Self { line: None, started: None, row_above: Vec::new(), capture: Capture::new(0, USER_OUTPUT_TAIL_BYTES) }
    }
}

/// The user's line is to come back at the prompt, then the held keys.
#[derive(Debug)]
pub(super) struct Restore {
    pub line: bool,
    pub ends_answer: bool,
    /// An event has reported this prompt.
    pub prompt_told: bool,
}

impl Restore {
    pub fn at_next_prompt(line: bool, ends_answer: bool) -> Self {
        Self { line, ends_answer, prompt_told: false }
    }
}
