//! The amount of reasoning that a model does.

use serde::Deserialize;

/// How much a model should think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// Not at all, where the model lets that be chosen.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}
