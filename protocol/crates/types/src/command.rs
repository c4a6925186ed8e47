//! Types for a command for a shell, its outcome, and the reason for a command that did not run.

use std::{path::PathBuf, time::Duration};

use crate::refusal::Refusal;

/// Stands for the value of a variable that looks secret.
pub const MASKED: &str = "<masked>";

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    /// A unique id, `[0-9a-f]+`: it is part of marks and file names.
    pub id: String,
    /// The exact text, any number of lines.
    pub text: String,
    /// Counted from the start of the command; when it is over the outcome is `Ending::StillRunning`.
    pub timeout: Duration,
    /// Whether to report what changed in the exported environment.
    pub wants_env_delta: bool,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutcome {
    /// The reason for its end.
    pub ending: Ending,
    /// Exit status as the shell reports it, 0 to 255; absent if it did not end.
    pub status: Option<i32>,
    /// Working directory afterwards.
    pub cwd: PathBuf,
    /// Output as text for the model: progress bars collapsed, colours gone, head and tail kept.
    pub output: String,
    /// Bytes written by the command.
    pub total_bytes: u64,
    /// Bytes left out between head and tail.
    pub truncated_bytes: u64,
    /// Time from its start to its end.
    pub duration: Duration,
    /// The shell it ran in.
    pub mode: Mode,
    /// The state of its shell now.
    pub state_after: StateAfter,
    /// Changes in the exported environment, in order of name. Empty if not asked for.
    pub env_delta: Vec<EnvChange>,
    /// How a first run with the lock failed, a clause. Present if the user let the command run once more without the lock; the rest is about
    /// that second run.
    pub first_run: Option<String>,
}

/// One changed variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvChange {
    /// The variable's name.
    pub name: String,
    /// The new value; absent if the variable was unset.
    pub value: Option<String>,
}

/// The reason for the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The command ended by itself.
    Exited,
    /// SIGINT or a cancellation ended the command.
    Interrupted {
        /// The party that interrupted it.
        by: Interrupter,
    },
    /// Stopped by Ctrl-Z; a job of the shell now.
    Stopped,
    /// The timeout passed; the command still runs.
    StillRunning,
    /// The command ended the shell.
    ShellExited,
}

/// The party that interrupted a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupter {
    /// The user, with Ctrl-C in the command or by stopping the turn.
    User,
    /// cohab, because the turn ended without the user's doing.
    Turn,
    /// cohab, because a time limit had passed.
    TimeLimit,
}

/// The shell that ran a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the user's shell: `cd` and `export` stuck.
    Live,
    /// In a subshell of the user's shell: nothing stuck.
    Subshell,
    /// In a separate shell: nothing stuck.
    Isolated,
}

/// The state of a shell once the outcome of a command is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateAfter {
    /// The shell waits for the next command.
    Prompt,
    /// A program has the terminal: typed text goes there, and nothing else can run.
    InFront {
        /// The program's name, one line; the shell's own if one of its builtins runs.
        program: String,
        /// Whether it has the whole screen.
        is_full_screen: bool,
    },
    /// The shell has ended.
    Ended,
}

/// The reason why a command did not run, or why its fate is unknown. `Display` is a sentence for the model and the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelayError {
    /// Something else runs in the shell; see [`Refusal::is_busy`].
    #[error("{reason}")]
    Busy {
        /// For programs.
        refusal: Refusal,
        /// For people.
        reason: String,
    },
    /// The shell is not at its primary prompt, or the command may not run there.
    #[error("{reason}")]
    NotAtPrompt {
        /// For programs.
        refusal: Refusal,
        /// For people.
        reason: String,
    },
    /// There is no client with a live shell.
    #[error("no client with a live shell is connected")]
    NoClient,
    /// The shell did not answer in time; the command may run.
    #[error("the shell did not answer: {reason}")]
    TimedOut {
        /// The awaited event.
        reason: String,
    },
    /// The shell has ended.
    #[error("the shell has ended")]
    ShellGone,
    /// The operating system refused.
    #[error("the terminal failed: {0}")]
    Pty(String),
    /// The command may have run, but the connection to the client broke before its result came.
    #[error("the connection broke while the command ran; whether it finished is unknown")]
    Unknown,
}

impl RelayError {
    /// The sentence to report in addition to [`code`](Self::code), without the facts that the code states already.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::TimedOut { reason } | Self::Pty(reason) => reason.clone(),
            other => other.to_string(),
        }
    }

    /// Whether the command may have run, or may still run.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Unknown)
    }

    /// The reason, for programs.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::Busy { refusal, .. } | Self::NotAtPrompt { refusal, .. } => *refusal,
            Self::NoClient => Refusal::NoClient,
            Self::TimedOut { .. } => Refusal::TimedOut,
            Self::ShellGone => Refusal::ShellGone,
            Self::Pty(_) => Refusal::Pty,
            Self::Unknown => Refusal::Unknown,
        }
    }

    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.refusal().code()
    }
}
