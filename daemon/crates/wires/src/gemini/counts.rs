//! The counts of tokens in an answer.

use serde::Deserialize;

/// Tokens as the service counts them; an absent field keeps its last value.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Counts {
    #[serde(rename = "promptTokenCount")]
    pub(super) prompt: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    pub(super) cached: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    pub(super) candidates: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    pub(super) thoughts: Option<u64>,
}
