//! The row of a model call.

use cohab_model_api::TokenUsage;
use jiff::Timestamp;

/// A model and its host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelKey {
    /// Host and port.
    pub host: String,
    /// Model name as sent.
    pub model: String,
}

/// The record of an answered model call.
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
    /// The model that answered.
    pub model: ModelKey,
    /// Its usage.
    pub usage: TokenUsage,
    /// The source of the cost; `None` with the cost.
    pub cost_source: Option<CostSource>,
    /// From the request to the end of the answer, in milliseconds; unknown for rows of earlier releases.
    pub took_ms: Option<u64>,
}

/// The source of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The provider.
    Provider,
    /// The user's own prices.
    Prices,
}

impl CostSource {
    /// The stored word.
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
