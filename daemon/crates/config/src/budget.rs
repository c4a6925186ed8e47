//! The user's budget for tokens, money and time. Nothing is counted here.

use std::time::Duration;

/// Spending limits. Zero is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of one turn.
    pub tokens_per_turn: u64,
    /// Tokens of one day.
    pub tokens_per_day: u64,
    /// Cost of one day in millionths of a US dollar.
    pub cost_per_day_microusd: u64,
    /// Duration of one turn, without the time in which it waits for its user.
    pub time_per_turn: Duration,
}
