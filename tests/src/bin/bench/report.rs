//! The report holds figures and their bars, and prints the table of both.

use std::{
    io::{self, Write},
    time::Duration,
};

/// Samples of one figure, in milliseconds or another unit that the row names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1_000.0);
    }

    pub(crate) fn push_value(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The value that `share` of the samples do not exceed (nearest rank); NaN without samples.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The samples from `from` on, at most `count`.
    pub(crate) fn part(&self, from: usize, count: usize) -> Self {
        Self(self.0.iter().skip(from).take(count).copied().collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Whether a figure keeps its bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Kept,
    Missed,
    /// There is no bar.
    None,
}

struct Row {
    measure: &'static str,
    subject: String,
    figures: String,
    bar: String,
    verdict: Verdict,
}

/// Rows in the order they came.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Reports progress on stderr.
    pub(crate) fn note(&self, text: &str) {
        let _ = writeln!(io::stderr(), "bench: {text}");
    }

    /// p50, p95 and p99 of a contestant, without a bar.
    pub(crate) fn samples(&mut self, measure: &'static str, subject: &str, unit: &str, samples: &Samples) {
        let figures = format!(
            "p50 {:.3} {unit}, p95 {:.3} {unit}, p99 {:.3} {unit}, {} samples",
            samples.p50(),
            samples.quantile(0.95),
            samples.quantile(0.99),
            samples.len()
        );
        self.push(measure, subject, figures, String::new(), Verdict::None);
    }

    /// A figure without a bar.
    pub(crate) fn figure(&mut self, measure: &'static str, subject: &str, value: f64, unit: &str) {
        self.push(measure, subject, format!("{value:.3} {unit}"), String::new(), Verdict::None);
    }

    /// A figure that must not exceed its bar.
    pub(crate) fn at_most(&mut self, measure: &'static str, subject: &str, value: f64, bar: f64, unit: &str) {
        let verdict = if value <= bar { Verdict::Kept } else { Verdict::Missed };
        self.push(measure, subject, format!("{value:.3} {unit}"), format!("<= {bar:.3} {unit}"), verdict);
    }

    /// A figure that must reach its bar.
    pub(crate) fn at_least(&mut self, measure: &'static str, subject: &str, value: f64, bar: f64, unit: &str) {
        let verdict = if value >= bar { Verdict::Kept } else { Verdict::Missed };
        self.push(measure, subject, format!("{value:.3} {unit}"), format!(">= {bar:.3} {unit}"), verdict);
    }

    /// A figure that could not be measured counts as a miss.
    pub(crate) fn unmeasured(&mut self, measure: &'static str, subject: &str, why: &str) {
        self.push(measure, subject, format!("not measured: {why}"), String::new(), Verdict::Missed);
    }

    fn push(&mut self, measure: &'static str, subject: &str, figures: String, bar: String, verdict: Verdict) {
        self.rows.push(Row { measure, subject: subject.into(), figures, bar, verdict });
    }

    pub(crate) fn has_misses(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Missed)
    }

    pub(crate) fn table(&self) -> String {
        let mut out = format!("{:<8} {:<48} {:<60} {:<18} \n", "measure", "of", "figure", "bar");
        for row in &self.rows {
            let verdict = match row.verdict {
                Verdict::Kept => "ok",
                Verdict::Missed => "MISS",
                Verdict::None => "",
            };
            let line = format!("{:<8} {:<48} {:<60} {:<18} {verdict}", row.measure, row.subject, row.figures, row.bar);
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut samples = Samples::default();
        (1..=100).rev().for_each(|value| samples.push_value(f64::from(value)));
        assert_eq!((samples.p50(), samples.quantile(0.99), samples.quantile(1.0)), (50.0, 99.0, 100.0));
        assert!(Samples::default().p50().is_nan());
    }

    #[test]
    fn a_figure_beyond_its_bar_is_a_miss() {
        let mut report = Report::default();
        report.at_most("echo", "cohab", 1.0, 1.5, "ms");
        report.at_least("flood", "cohab", 0.9, 0.9, "x");
        assert!(!report.has_misses(), "{}", report.table());
        report.at_most("echo", "cohab", f64::NAN, 1.5, "ms");
        assert!(report.has_misses(), "a figure that is none keeps no bar");
    }
}
