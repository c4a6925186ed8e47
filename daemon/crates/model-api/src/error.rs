//! Failures of a provider, sorted into families that callers decide on.

use std::time::Duration;

use super::Overflow;

/// A provider's failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// The family.
    pub kind: ProviderErrorKind,
    /// One sentence for the user: provider, host and cause; never a key, never JSON.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<String>,
    /// The wait that the provider asks for.
    pub retry_after: Option<Duration>,
    /// The sizes that the provider named, when the conversation is too long for the model.
    pub overflow: Option<Overflow>,
}

/// Families of provider failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The model wrote a call that the provider rejected: show the model, one retry.
    ToolUseFailed,
    /// The conversation is too long for the model.
    ContextOverflow,
    /// The account has no credit.
    Billing,
    /// Key missing or wrong.
    Auth,
    /// No such model, or a wrong base URL.
    ModelNotFound,
    /// Too many requests.
    RateLimit,
    /// The service is overloaded.
    Overloaded,
    /// The service failed.
    Server,
    /// No connection.
    Network,
    /// A time limit passed; the message names which.
    Timeout,
    /// The request is wrong.
    InvalidRequest,
    /// The answer breaks the protocol.
    Protocol,
    /// No text, no call.
    EmptyAnswer,
}

impl ProviderErrorKind {
    /// Whether another attempt may help.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded | Self::Server | Self::Network)
    }

    /// The name for programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ToolUseFailed => "tool_use_failed",
            Self::ContextOverflow => "context_overflow",
            Self::Billing => "billing",
            Self::Auth => "auth",
            Self::ModelNotFound => "model_not_found",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::InvalidRequest => "invalid_request",
            Self::Protocol => "protocol",
            Self::EmptyAnswer => "empty_answer",
        }
    }
}
