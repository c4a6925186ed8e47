//! The amount of reasoning that a model does.

use serde::Deserialize;

/// The amount of reasoning that a model should do before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// No reasoning, if the model offers that choice.
    Off,
    /// A little.
    Low,
    /// A medium amount.
    Medium,
    /// A large amount.
    High,
}
