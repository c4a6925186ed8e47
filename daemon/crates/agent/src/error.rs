//! Defines the results of a turn: stop reasons and errors.

use cohab_model_api::ProviderError;

/// The end of a turn that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model gave its answer.
    Answered,
    /// The user stopped the turn.
    Cancelled,
    /// The turn used up its steps; the last answer was given without tools.
    StepLimit,
    /// The model refused, or a filter stopped it.
    Refused,
    /// The length limit cut the answer.
    Length,
}

/// The reason for the failure of a turn. `Display` is a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// The model's service refused or failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The answer broke off; the text received so far was kept.
    #[error("the answer broke off: {reason}")]
    Incomplete {
        /// The cause.
        reason: String,
    },
    /// The model kept writing calls that cannot be run.
    #[error("the model wrote {answers} answers in a row whose tool calls cannot be run; the last error: {last}")]
    BrokenCalls {
        /// Number of such answers in a row.
        answers: u32,
        /// The error of the last call.
        last: String,
    },
    /// A limit or a rule of the user's ended the turn.
    #[error("{message}")]
    Stopped {
        /// The limit or rule, one sentence.
        message: String,
        /// Advice for the user.
        hint: Option<String>,
    },
    /// The turn was to continue another one, and none was interrupted.
    #[error("Nothing to resume: no answer was interrupted.")]
    NothingToResume {
        /// Advice for the user.
        hint: Option<String>,
    },
    /// The settings do not allow a turn.
    #[error("{message}")]
    Settings {
        /// The error and its place in the settings.
        message: String,
        /// Advice, if the message alone is not enough.
        hint: Option<String>,
    },
    /// A bug in the daemon.
    #[error("internal error")]
    Internal,
}

impl TurnError {
    /// Returns advice for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Provider(error) => error.hint.clone(),
            Self::Stopped { hint, .. } | Self::NothingToResume { hint } => hint.clone(),
            Self::Incomplete { .. } => Some("ask again; the part that was shown is kept".into()),
            Self::BrokenCalls { .. } => Some("try a model that is better at calling tools".into()),
            Self::Settings { hint, .. } => {
                hint.clone().or_else(|| Some("`cohab config check` shows what is wrong".into()))
            }
            Self::Internal => None,
        }
    }
}
