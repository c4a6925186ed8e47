//! Enforces the user's budgets: tokens and time of a turn, tokens and money of a day over all terminals. A used-up budget ends the turn
//! before its next step; the time budget ends it at once.

use std::{ops::ControlFlow, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    Fact, Middleware, TurnError, TurnObserver, TurnState, hook::TurnResult, plan::StepKind, port::Deadline,
};
use cohab_config::budget::Limits;
use cohab_protocol::amount;
use cohab_store::{Store, daily_spend::Spent};
use jiff::civil::Date;
use tokio::time::{Duration, sleep};

use super::turn_clock::TurnClock;

/// The amounts spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// By the turn.
    pub turn: Spent,
    /// On this day, over all terminals.
    pub day: Spent,
    /// Working time of the turn.
    pub time: Duration,
}

/// The kind of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Tokens of the turn.
    TurnTokens,
    /// Tokens of the day.
    DayTokens,
    /// Money of the day.
    DayCost,
    /// Time of the turn.
    TurnTime,
}

/// A budget with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    /// Its kind.
    pub kind: LimitKind,
    /// Tokens, millionths of a dollar or milliseconds.
    pub used: u64,
    /// The same unit; more than 0.
    pub limit: u64,
}

impl Gauge {
    /// The used share in percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u16 {
        u16::try_from(u128::from(self.used) * 100 / u128::from(self.limit.max(1))).unwrap_or(u16::MAX)
    }

    /// The rest.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    /// The state of a daily budget, in words: `12k of 1.0M tokens (1 %), 988k left`.
    #[must_use]
    pub fn line(&self) -> String {
        let shown: fn(u64) -> String = if self.kind == LimitKind::DayCost { dollars } else { amount::count };
        let unit = if self.kind == LimitKind::DayCost { "" } else { " tokens" };
        let (used, limit, left) = (shown(self.used), shown(self.limit), shown(self.left()));
        format!("{used} of {limit}{unit} ({} %), {left} left", self.percent())
    }

    /// The error that ends a turn with this budget used up.
    #[must_use]
    pub fn used_up(&self) -> TurnError {
        let (used, limit) = (amount::count(self.used), amount::count(self.limit));
        let (message, key, otherwise) = match self.kind {
            LimitKind::TurnTokens => (
                format!("this question has used {used} tokens; its budget is {limit}"),
                "tokens_per_turn",
                "ask again to continue with the results that were found",
            ),
            LimitKind::DayTokens => (
                format!("the budget of {limit} tokens a day is used up: {used} were used today"),
                "tokens_per_day",
                "`cohab usage --by session` shows what used them; the budget resets at midnight",
            ),
            LimitKind::DayCost => (
                format!(
                    "the budget of {} a day is used up: {} were spent today",
                    dollars(self.limit),
                    dollars(self.used)
                ),
                "cost_per_day_cents",
                "`cohab usage --by session` shows what used it; the budget resets at midnight",
            ),
            LimitKind::TurnTime => (
                format!("this question has run for {} s, its time limit", self.limit / 1_000),
                "seconds_per_turn",
                "ask again to continue with the results that were found",
            ),
        };
        let hint =
            format!("to continue now, run `cohab config set budget.{key} 0`, which removes the limit; {otherwise}");
        TurnError::Stopped { message, hint: Some(hint) }
    }
}

/// Compares budgets with their use.
pub trait Measured {
    /// The budgets with a limit.
    fn gauges(&self, used: Used) -> impl Iterator<Item = Gauge>;

    /// The first budget that is used up.
    fn exceeded(&self, used: Used) -> Option<Gauge> {
        self.gauges(used).find(|gauge| gauge.left() == 0)
    }

    /// The budget with the smallest rest.
    fn tightest(&self, used: Used) -> Option<Gauge> {
        self.gauges(used).max_by_key(Gauge::percent)
    }
}

impl Measured for Limits {
    fn gauges(&self, used: Used) -> impl Iterator<Item = Gauge> {
        let all = [
            (LimitKind::TurnTokens, used.turn.tokens, self.tokens_per_turn),
            (LimitKind::DayTokens, used.day.tokens, self.tokens_per_day),
            (LimitKind::DayCost, used.day.cost_microusd, self.cost_per_day_microusd),
            (LimitKind::TurnTime, millis(used.time), millis(self.time_per_turn)),
        ];
        let gauges = all.into_iter().filter(|(_, _, limit)| *limit > 0);
        gauges.map(|(kind, used, limit)| Gauge { kind, used, limit })
    }
}

/// Whole cents; below a dollar also fractions of them.
fn dollars(microusd: u64) -> String {
    let is_whole = microusd >= 1_000_000 || microusd.is_multiple_of(10_000);
    let (unit, digits) = if is_whole { (10_000, 2) } else { (100, 4) };
    let (rounded, whole) = (microusd.saturating_add(unit / 2) / unit, 10_u64.pow(digits));
    format!("${}.{:0width$}", rounded / whole, rounded % whole, width = digits as usize)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Receives the tightest budget after each model call.
pub type Tell = Box<dyn Fn(Gauge) + Send + Sync>;

/// Enforces the budgets of one turn.
pub struct Budget {
    /// The limits.
    pub limits: Limits,
    /// Knows the usage of all terminals.
    pub store: Arc<Store>,
    /// The working time of the turn.
    pub clock: Arc<TurnClock>,
    /// The current day.
    pub today: fn() -> Date,
    /// Receives the tightest budget.
    pub tell: Tell,
}

impl Budget {
    fn used(&self, state: &TurnState) -> Used {
        Used { turn: Spent::of(&state.usage()), day: self.store.spent_on((self.today)()), time: self.clock.worked() }
    }
}

#[async_trait]
impl Middleware for Budget {
    async fn before_step(&self, step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        // Calls of an answer that is paid for still run.
        let exceeded = matches!(step, StepKind::ModelCall { .. }).then(|| self.limits.exceeded(self.used(state)));
        exceeded.flatten().map_or(ControlFlow::Continue(()), |gauge| ControlFlow::Break(Err(gauge.used_up())))
    }
}

#[async_trait]
impl Deadline for Budget {
    async fn passed(&self) -> TurnError {
        if self.limits.time_per_turn.is_zero() {
            return std::future::pending().await;
        }
        loop {
            let left = self.limits.time_per_turn.saturating_sub(self.clock.worked());
            if left.is_zero() {
                let limit = millis(self.limits.time_per_turn);
                return Gauge { kind: LimitKind::TurnTime, used: limit, limit }.used_up();
            }
            sleep(left).await;
        }
    }
}

#[async_trait]
impl TurnObserver for Budget {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::StepEnded(state) = fact
            && let Some(gauge) = self.limits.tightest(self.used(state))
        {
            (self.tell)(gauge);
        }
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
