//! The events of a session as they are stored: JSON with a `type`. A later release reads what an earlier one wrote.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Longest output of a command that is kept; of a longer one its end, in bytes.
pub const OUTPUT_TAIL_BYTES: usize = 16 * 1024;
/// Longest other text that is kept; of a longer one the middle is left out, in bytes.
pub const TEXT_BYTES: usize = 256 * 1024;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The user asked.
    Question {
        /// As typed.
        text: String,
        /// Where.
        cwd: String,
        /// Name of the live shell, if there was one.
        shell: Option<String>,
        /// What was piped in, in bytes. The text itself is in the conversation only.
        piped_bytes: u64,
    },
    /// The user ran a command, and the model was told.
    Shell {
        /// Its line, if known.
        line: Option<String>,
        /// Exit status.
        exit_code: i32,
        /// Where the shell was afterwards.
        cwd: String,
        /// How long it took.
        duration_ms: u64,
        /// The end of its output.
        output_tail: String,
    },
    /// The model thought aloud.
    Reasoning {
        /// What.
        text: String,
    },
    /// The model said something.
    Answer {
        /// What.
        text: String,
    },
    /// The user was asked for consent.
    Approval {
        /// To what, one line.
        subject: String,
        /// Why.
        reasons: Vec<String>,
        /// Whether it was known to do harm.
        is_dangerous: bool,
        /// What came of it.
        decision: Approval,
        /// The user's word, or why nobody could be asked; may be empty.
        note: String,
    },
    /// A tool was called.
    Call(Call),
    /// What came of the call before.
    Result(CallResult),
    /// Something failed.
    Error {
        /// A sentence.
        message: String,
    },
    /// What the turn took.
    Usage {
        /// Tokens sent, cached ones included.
        sent_tokens: Option<u64>,
        /// Tokens received.
        received_tokens: Option<u64>,
        /// Millionths of a US dollar.
        cost_microusd: Option<u64>,
    },
    /// Messages were left out of the conversation to make room. They are still on record here.
    Summary {
        /// What stands in their place, if a model wrote it; may be empty.
        text: String,
        /// How many.
        messages: u64,
    },
    /// The turn is over.
    Ended {
        /// `answered`, `cancelled`, `step_limit`, `refused`, `length`, `failed`.
        reason: String,
    },
}

/// A tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its name.
    pub tool: String,
    /// Its main argument in one line.
    pub title: String,
    /// The exact command, if it is one. Of one that is longer than [`TEXT_BYTES`] the middle is left out when it is kept: the whole
    /// stands in its step and in the conversation.
    pub command: Option<Arc<str>>,
    /// What the model wanted to run, if the user changed it; kept as the command is.
    pub proposed: Option<Arc<str>>,
    /// Where.
    pub cwd: String,
    /// Who agreed.
    pub approval: Approval,
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The end of what the tool gave back; the output, of a command.
    pub output: String,
    /// Whether it failed or did not run at all. A command that ran and failed is a result.
    pub is_error: bool,
    /// Exit status of a command that ended.
    pub exit_code: Option<i32>,
    /// Where the shell was afterwards, for commands.
    pub cwd: Option<String>,
    /// How long the command ran.
    pub duration_ms: Option<u64>,
}

/// Who agreed to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Nobody had to be asked.
    NotNeeded,
    /// The user, for this once.
    Once,
    /// The user, for the session.
    Session,
    /// A rule that the user has made.
    Rule,
    /// The user, having changed it.
    Edited,
    /// The mode in which nobody is asked.
    Mode,
    /// Nobody: it did not run.
    Refused,
}

impl Approval {
    /// A few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotNeeded => "not needed",
            Self::Once => "asked once",
            Self::Session => "for the session",
            Self::Rule => "by a rule",
            Self::Edited => "asked once, edited by you",
            Self::Mode => "mode all",
            Self::Refused => "refused",
        }
    }
}

impl Event {
    /// One word, by which events are found.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Question { .. } => "question",
            Self::Shell { .. } => "shell",
            Self::Reasoning { .. } => "reasoning",
            Self::Answer { .. } => "answer",
            Self::Approval { .. } => "approval",
            Self::Call(Call { command: Some(_), .. }) => COMMAND,
            Self::Call(_) => "call",
            Self::Result(_) => "result",
            Self::Error { .. } => "error",
            Self::Usage { .. } => "usage",
            Self::Summary { .. } => "summary",
            Self::Ended { .. } => "ended",
        }
    }

    /// What can be searched for.
    #[must_use]
    pub fn searchable(&self) -> Option<&str> {
        match self {
            Self::Question { text, .. } | Self::Answer { text } => Some(text),
            Self::Shell { line, .. } => line.as_deref(),
            Self::Call(call) => call.command.as_deref(),
            _ => None,
        }
    }
}

/// Kind of the assistant's commands.
pub(super) const COMMAND: &str = "command";
