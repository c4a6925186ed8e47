//! The stored form of a session's events: JSON with a `type`. A later release reads the events of an earlier one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Longest stored output of a command, in bytes; of a longer one only the end.
pub const OUTPUT_TAIL_BYTES: usize = 16 * 1024;
/// Longest other stored text, in bytes; a longer one loses its middle.
pub const TEXT_BYTES: usize = 256 * 1024;

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The user asked.
    Question {
        /// As typed.
        text: String,
        /// The shell's folder.
        cwd: String,
        /// Name of the live shell, if there was one.
        shell: Option<String>,
        /// Piped input, in bytes. The text itself is in the conversation only.
        piped_bytes: u64,
    },
    /// The user added words to the turn.
    Added {
        /// As typed.
        text: String,
    },
    /// The user ran a command, which was reported to the model.
    Shell {
        /// Its line, if known.
        line: Option<String>,
        /// Exit status.
        exit_code: i32,
        /// The shell's folder afterwards.
        cwd: String,
        /// Its duration.
        duration_ms: u64,
        /// The end of its output.
        output_tail: String,
    },
    /// The model's visible reasoning.
    Reasoning {
        /// The text.
        text: String,
    },
    /// The model's text.
    Answer {
        /// The text.
        text: String,
    },
    /// The user was asked for consent.
    Approval {
        /// The subject, one line.
        subject: String,
        /// The reasons for the question.
        reasons: Vec<String>,
        /// Whether it was known to do harm.
        is_dangerous: bool,
        /// The decision.
        decision: Approval,
        /// The user's word, or the reason why the user could not be asked; may be empty.
        note: String,
    },
    /// A tool was called.
    Call(Call),
    /// The result of the call before.
    Result(CallResult),
    /// Something failed.
    Error {
        /// A sentence.
        message: String,
    },
    /// The usage of the turn.
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
        /// The summary that replaces them, if a model wrote one; may be empty.
        text: String,
        /// The number of messages.
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
    /// The exact command, if the call is one. A command longer than [`TEXT_BYTES`] is stored without its middle: the whole is in its
    /// step and in the conversation.
    pub command: Option<Arc<str>>,
    /// The model's command, if the user changed it; stored as the command is.
    pub proposed: Option<Arc<str>>,
    /// The folder.
    pub cwd: String,
    /// The consent to it.
    pub approval: Approval,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The end of the tool's result; of a command its output.
    pub output: String,
    /// Whether it failed or did not run at all. A command that ran and failed is a result.
    pub is_error: bool,
    /// Exit status of a command that ended.
    pub exit_code: Option<i32>,
    /// The shell's folder afterwards, for commands.
    pub cwd: Option<String>,
    /// Duration of the command.
    pub duration_ms: Option<u64>,
}

/// The consent to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// No question was needed.
    NotNeeded,
    /// The user, for this once.
    Once,
    /// The user, for the session.
    Session,
    /// A rule that the user has made.
    Rule,
    /// The user, after changing it.
    Edited,
    /// The mode without questions.
    Mode,
    /// None: it did not run.
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
            Self::Question { .. } => QUESTION,
            Self::Added { .. } => "added",
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

    /// The searchable text.
    #[must_use]
    pub fn searchable(&self) -> Option<&str> {
        match self {
            Self::Question { text, .. } | Self::Added { text } | Self::Answer { text } => Some(text),
            Self::Shell { line, .. } => line.as_deref(),
            Self::Call(call) => call.command.as_deref(),
            _ => None,
        }
    }
}

/// Kind of the user's questions.
pub(super) const QUESTION: &str = "question";
/// Kind of the assistant's commands.
pub(super) const COMMAND: &str = "command";
