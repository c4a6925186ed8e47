//! Failures of an agent, as the user reads them.

use cohab_model_api::{ProviderError, ProviderErrorKind};
use cohab_text::sanitize::one_line;

use crate::{
    known::Agent,
    wire::{self, RpcError},
};

/// Longest text of an agent in a message, in columns.
const TEXT_MAX: usize = 300;

/// A failure of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentFailure {
    pub kind: ProviderErrorKind,
    /// A sentence.
    pub message: String,
    pub hint: Option<String>,
}

impl AgentFailure {
    pub(crate) fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    #[must_use]
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<AgentFailure> for ProviderError {
    fn from(failure: AgentFailure) -> Self {
        let AgentFailure { kind, message, hint } = failure;
        Self { kind, message, hint, retry_after: None, overflow: None }
    }
}

/// A text of an agent for a message: one line, harmless, not long.
pub(crate) fn shown(text: &str) -> String {
    one_line(text.trim(), TEXT_MAX)
}

/// The failure of a prompt or of a session that an agent refused.
pub(crate) fn refused(agent: &Agent, error: &RpcError) -> AgentFailure {
    let text = shown(&error.text());
    if error.code == wire::AUTH_REQUIRED {
        let message = format!("@{} is not signed in: {text}", agent.name);
        let failure = AgentFailure::new(ProviderErrorKind::Auth, message);
        return match &agent.login {
            Some(login) => failure.with_hint(format!("sign in with `{login}`, then ask again")),
            None => failure,
        };
    }
    AgentFailure::new(ProviderErrorKind::Server, format!("@{}: {text}", agent.name))
}
