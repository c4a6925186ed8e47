//! Sums the usage of model calls by day, model or session. Pure.

use std::collections::{BTreeMap, HashSet};

use cohab_store::row::{CallRow, ModelKey};
use jiff::{civil::Date, tz::TimeZone};

/// What stands in one line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Grouping {
    /// A day in local time
    Day,
    /// A model and where it runs
    Model,
    /// A shell, or a question of `cohab ask`
    Session,
}

impl Grouping {
    /// One word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Model => "model",
            Self::Session => "session",
        }
    }
}

/// The subject of a line. The order is that of the report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A day.
    Day(Date),
    /// A model.
    Model(ModelKey),
    /// A session: the time when it was first seen, and its name.
    Session(jiff::Timestamp, String),
}

/// The usage of some calls. Unknown figures are left out of sums; a sum of unknown ones only is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    turns: HashSet<String>,
    /// Model calls.
    pub calls: u64,
    /// Tokens sent, cached ones included.
    pub sent: Option<u64>,
    /// Tokens sent that came from the provider's cache.
    pub cached: Option<u64>,
    /// Tokens received.
    pub received: Option<u64>,
    /// Millionths of a US dollar.
    pub cost_microusd: Option<u64>,
    /// Model calls of unknown cost.
    unpriced_calls: u64,
}

impl Sum {
    /// The number of questions: one with several calls counts once.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.turns.len()
    }

    /// Whether an unknown amount was spent beyond `cost_microusd`.
    #[must_use]
    pub fn is_cost_partial(&self) -> bool {
        self.unpriced_calls > 0
    }

    fn add(&mut self, call: &CallRow) {
        let plus = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        if !self.turns.contains(&call.turn) {
            self.turns.insert(call.turn.clone());
        }
        self.calls += 1;
        plus(&mut self.sent, call.usage.sent());
        plus(&mut self.cached, call.usage.cache_read);
        plus(&mut self.received, call.usage.output);
        plus(&mut self.cost_microusd, call.usage.cost_microusd);
        self.unpriced_calls += u64::from(call.usage.cost_microusd.is_none());
    }
}

/// Sums by subject.
pub struct Report {
    grouping: Grouping,
    zone: TimeZone,
    session_starts: BTreeMap<String, jiff::Timestamp>,
    /// In the order of the report.
    pub lines: BTreeMap<Subject, Sum>,
    /// The sum of all lines.
    pub total: Sum,
}

impl Report {
    /// An empty report with days of the time zone `zone`.
    #[must_use]
    pub fn new(grouping: Grouping, zone: TimeZone) -> Self {
        let (session_starts, lines) = (BTreeMap::new(), BTreeMap::new());
        Self { grouping, zone, session_starts, lines, total: Sum::default() }
    }

    /// Adds a call; calls come in the order of time.
    pub fn add(&mut self, call: &CallRow) {
        let subject = match self.grouping {
            Grouping::Day => Subject::Day(call.at.to_zoned(self.zone.clone()).date()),
            Grouping::Model => Subject::Model(call.model.clone()),
            Grouping::Session => {
                let start = *self.session_starts.entry(call.session.clone()).or_insert(call.at);
                Subject::Session(start, call.session.clone())
            }
        };
        self.lines.entry(subject).or_default().add(call);
        self.total.add(call);
    }
}

#[cfg(test)]
mod tests {
    use cohab_model_api::TokenUsage;

    use super::*;

    fn call(at: &str, session: &str, turn: &str, model: &str, usage: TokenUsage) -> CallRow {
        CallRow {
            at: at.parse().expect("a time"),
            session: session.into(),
            turn: turn.into(),
            wire: "w".into(),
            model: ModelKey { host: "h".into(), model: model.into() },
            usage,
            cost_source: None,
            took_ms: None,
        }
    }

    fn calls() -> Vec<CallRow> {
        let priced = TokenUsage {
            input: Some(100),
            cache_read: Some(50),
            output: Some(7),
            cost_microusd: Some(300),
            ..TokenUsage::default()
        };
        let unpriced = TokenUsage { input: Some(1), ..TokenUsage::default() };
        vec![
            call("2026-03-01T21:00:00Z", "shell:a", "t1", "m1", priced),
            call("2026-03-01T23:30:00Z", "cli:b", "t2", "m2", unpriced),
            call("2026-03-01T23:31:00Z", "cli:b", "t2", "m2", unpriced),
            call("2026-03-02T09:00:00Z", "shell:a", "t3", "m2", TokenUsage::default()),
        ]
    }

    fn report(grouping: Grouping, zone: &str) -> Report {
        let mut report = Report::new(grouping, TimeZone::get(zone).expect("a zone"));
        calls().iter().for_each(|call| report.add(call));
        report
    }

    #[test]
    fn days_are_those_of_the_clock_on_the_wall() {
        let questions = |zone| {
            let lines = report(Grouping::Day, zone).lines;
            lines.into_iter().map(|(day, sum)| (day, sum.questions())).collect::<Vec<_>>()
        };
        let day = |day| Subject::Day(Date::constant(2026, 3, day));
        assert_eq!(questions("UTC"), [(day(1), 2), (day(2), 1)]);
        assert_eq!(questions("Europe/Berlin"), [(day(1), 1), (day(2), 2)]);
    }

    #[test]
    fn what_is_unknown_is_neither_zero_nor_hidden() {
        let report = report(Grouping::Model, "UTC");
        let sums: Vec<&Sum> = report.lines.values().collect();
        let figures = |sum: &Sum| (sum.questions(), sum.calls, sum.sent, sum.cached, sum.received, sum.cost_microusd);
        assert_eq!(figures(sums[0]), (1, 1, Some(150), Some(50), Some(7), Some(300)));
        assert_eq!(figures(sums[1]), (2, 3, Some(2), None, None, None));
        assert_eq!(figures(&report.total), (3, 4, Some(152), Some(50), Some(7), Some(300)));
        let partial = [sums[0], sums[1], &report.total].map(Sum::is_cost_partial);
        assert_eq!(partial, [false, true, true]);
    }

    #[test]
    fn sessions_come_in_the_order_of_their_first_question() {
        let names = report(Grouping::Session, "UTC").lines.into_keys();
        let names: Vec<String> = names
            .map(|subject| match subject {
                Subject::Session(_, name) => name,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, ["shell:a", "cli:b"]);
    }
}
