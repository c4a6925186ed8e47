//! The row of a model call.

use cohab_model_api::TokenUsage;
use jiff::Timestamp;

/// A model and where it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelKey {
    /// Host and port.
    pub host: String,
    /// Model name as sent.
    pub model: String,
}

/// An answered model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// When the answer ended.
    pub at: Timestamp,
    /// The session's name.
    pub session: String,
    /// The turn's id.
    pub turn: String,
    /// Name of the wire.
    pub wire: String,
    /// Who answered.
    pub model: ModelKey,
    /// What it took.
    pub usage: TokenUsage,
    /// Who says what it cost; `None` with the cost.
    pub cost_source: Option<CostSource>,
    /// From the request to the end of the answer, in milliseconds; not known of what an earlier release kept.
    pub took_ms: Option<u64>,
}

/// Who says what a call cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The provider.
    Provider,
    /// The user's own prices.
    Prices,
}

impl CostSource {
    /// As it is kept.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Prices => "prices",
        }
    }

    /// The source of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Provider, Self::Prices].into_iter().find(|source| source.word() == word)
    }
}
