//! The ways a turn ends: stop reasons and errors.

use cohab_model_api::ProviderError;

/// How a turn ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model gave its answer.
    Answered,
    /// The user stopped it.
    Cancelled,
    /// It used up its steps; the last answer was given without tools.
    StepLimit,
    /// The model refused, or a filter stopped it.
    Refused,
    /// The length limit cut the answer.
    Length,
}

/// Why a turn failed. `Display` is a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// The model's service refused or failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The answer ended in the middle; what came of it was kept.
    #[error("the answer broke off: {reason}")]
    Incomplete {
        /// What happened.
        reason: String,
    },
    /// The model kept writing calls that cannot be run.
    #[error("the model wrote {answers} answers in a row whose tool calls cannot be run; the last error: {last}")]
    BrokenCalls {
        /// How many.
        answers: u32,
        /// What was wrong with the last call.
        last: String,
    },
    /// A limit or a rule that the user has set ended it.
    #[error("{message}")]
    Stopped {
        /// Which, one sentence.
        message: String,
        /// What the user can do.
        hint: Option<String>,
    },
    /// The settings do not allow a turn.
    #[error("{message}")]
    Settings {
        /// What is wrong, and where.
        message: String,
        /// What to do, if more is known than that.
        hint: Option<String>,
    },
    /// A bug in the daemon.
    #[error("internal error")]
    Internal,
}

impl TurnError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Provider(error) => error.hint.clone(),
            Self::Stopped { hint, .. } => hint.clone(),
            Self::Incomplete { .. } => Some("ask again; what was shown is kept".into()),
            Self::BrokenCalls { .. } => Some("try a model that is better at calling tools".into()),
            Self::Settings { hint, .. } => {
                hint.clone().or_else(|| Some("`cohab config check` shows what is wrong".into()))
            }
            Self::Internal => None,
        }
    }
}
