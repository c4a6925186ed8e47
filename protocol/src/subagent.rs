//! Messages of the daemon about subagents.

use serde::{Deserialize, Serialize};

use crate::{StepActivity, StepOutcome, TurnId};

/// How far a subagent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentProgress {
    /// The turn that it works for.
    pub turn_id: TurnId,
    /// Its number in the turn, from 1.
    pub number: u32,
    /// Its kind in one word: `explore`.
    pub kind: String,
    /// Its task in a few words.
    pub label: String,
    /// What it does.
    pub state: SubagentState,
    /// Tokens that it took so far.
    pub tokens: u64,
    /// Time since it began, in milliseconds.
    pub elapsed_ms: u64,
}

/// What a subagent does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubagentState {
    /// It works.
    Working(StepActivity),
    /// It is over.
    Ended(StepOutcome),
}
