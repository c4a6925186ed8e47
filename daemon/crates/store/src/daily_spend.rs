//! Sums up the usage of all terminals on one day. Pure.

use cohab_model_api::TokenUsage;
use jiff::civil::Date;

/// What was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens sent and received, without those that came from a service's cache: they were counted when they were first sent.
    pub tokens: u64,
    /// Millionths of a US dollar, as far as known.
    pub cost_microusd: u64,
}

impl Spent {
    /// What this usage is in a budget; what is unknown counts nothing.
    #[must_use]
    pub fn of(usage: &TokenUsage) -> Self {
        let tokens = [usage.input, usage.cache_write, usage.output];
        Self {
            tokens: tokens.into_iter().flatten().fold(0, u64::saturating_add),
            cost_microusd: usage.cost_microusd.unwrap_or(0),
        }
    }

    /// Adds more.
    pub fn add(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.cost_microusd = self.cost_microusd.saturating_add(more.cost_microusd);
    }
}

/// The sum of the newest day.
#[derive(Debug, Default)]
pub struct Today {
    date: Option<Date>,
    spent: Spent,
    has_loaded: bool,
}

impl Today {
    /// Takes in what was taken on a day. Of an earlier day than the newest it is old news.
    pub fn add(&mut self, date: Date, spent: Spent) {
        self.turn_to(date);
        if self.date == Some(date) {
            self.spent.add(spent);
        }
    }

    /// Takes in what was taken on a day in an earlier life; the first time only.
    pub fn load(&mut self, date: Date, spent: Spent) {
        if !std::mem::replace(&mut self.has_loaded, true) {
            self.add(date, spent);
        }
    }

    /// What was taken on this day, which is the newest.
    pub fn on(&mut self, date: Date) -> Spent {
        self.turn_to(date);
        if self.date == Some(date) { self.spent } else { Spent::default() }
    }

    fn turn_to(&mut self, date: Date) {
        if self.date.is_none_or(|newest| newest < date) {
            *self = Self { date: Some(date), spent: Spent::default(), has_loaded: self.has_loaded };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_nothing_and_old_news_changes_nothing() {
        let (day, next) = (Date::constant(2026, 3, 1), Date::constant(2026, 3, 2));
        let spent = |tokens| Spent { tokens, cost_microusd: 7 };
        let mut today = Today::default();
        today.add(day, spent(5));
        today.add(day, spent(u64::MAX));
        assert_eq!(today.on(day), Spent { tokens: u64::MAX, cost_microusd: 14 });
        assert_eq!(today.on(next), Spent::default());
        today.add(day, spent(9));
        today.add(next, spent(2));
        assert_eq!((today.on(next), today.on(day)), (spent(2), Spent::default()));
        (0..2).for_each(|_| today.load(next, spent(40)));
        assert_eq!(today.on(next).tokens, 42, "an earlier life counts once");
    }

    #[test]
    fn what_came_from_a_cache_was_counted_before() {
        let usage = TokenUsage {
            input: Some(10),
            cache_read: Some(1_000),
            cache_write: Some(200),
            output: Some(3),
            reasoning: Some(2),
            cost_microusd: None,
        };
        assert_eq!(Spent::of(&usage), Spent { tokens: 213, cost_microusd: 0 });
    }
}
