//! The time of a turn as a picture: when a model answered, a tool ran, and cohab waited for the user. Pure.

use cohab_agent::port::StepResult;
use cohab_store::sessions::steps::{ExecutionResult, Step, StepType, Turn};
use cohab_text::sanitize::one_line;
use jiff::Timestamp;

use super::super::record::time;
use cohab_picture::{Bar, Chart, Column, Kind, Row, Span, scale, text};

/// Between two marks on the axis of a file: at least an eighth of it.
const MARKS_IN_FILE: u64 = 8;
/// Narrowest and widest bars at a terminal, in columns.
const BAR_COLUMNS: (usize, usize) = (12, 40);
/// Columns for each mark of the axis.
const MARK_COLUMNS: usize = 10;
/// Between bar and step.
const GAP: &str = "  ";

/// The measured times of a turn.
pub struct Times {
    started: Timestamp,
    /// From the beginning to the last event.
    pub total_ms: u64,
    /// The sum of each kind, in the order of the legend. Tools that run at the same time count one after the other.
    sums_ms: [(Kind, &'static str, u64); 3],
}

impl Times {
    /// Sums the times of a turn.
    pub fn of(turn: &Turn, result: &ExecutionResult) -> Self {
        let sums_ms = [(Kind::Main, "model", 0), (Kind::Tool, "tools", 0), (Kind::Waiting, "waiting for you", 0)];
        let mut times = Self { started: turn.started, total_ms: result.duration_ms, sums_ms };
        for (from, to, kind) in result.steps.iter().flat_map(|step| times.parts(step)).collect::<Vec<_>>() {
            times.total_ms = times.total_ms.max(to);
            let sums = times.sums_ms.iter_mut().filter(|(summed, ..)| *summed == kind);
            sums.for_each(|(.., sum)| *sum = sum.saturating_add(to - from));
        }
        times
    }

    /// The parts of a step: begin and end since the turn's beginning, in milliseconds. A call waits before it runs; a model's step waits
    /// after its answer if the user was asked about all of its calls together.
    fn parts(&self, step: &Step) -> Vec<(u64, u64, Kind)> {
        let begin = u64::try_from(step.at.as_millisecond() - self.started.as_millisecond()).unwrap_or(0);
        let waited = step.metadata.waited_ms.unwrap_or(0);
        let is_refused = step.metadata.outcome == Some(StepResult::Refused);
        let ran = step.duration_ms.filter(|_| !is_refused).unwrap_or(0);
        let parts = match step.kind {
            StepType::ModelInference | StepType::Compaction => [(ran, Kind::Main), (waited, Kind::Waiting)],
            StepType::ToolCall | StepType::MemoryUpdate => [(waited, Kind::Waiting), (ran, Kind::Tool)],
            StepType::UserMessage | StepType::System => return Vec::new(),
        };
        let mut at = begin;
        let mut part = |(took, kind): (u64, Kind)| {
            let from = at;
            at = at.saturating_add(took);
            (took > 0).then_some((from, at, kind))
        };
        parts.into_iter().filter_map(&mut part).collect()
    }

    fn bar(&self, step: &Step) -> Bar {
        let place = |ms: u64| ms as f64 / self.total_ms.max(1) as f64;
        let span = |(from, to, kind)| Span { from: place(from), to: place(to), kind };
        Bar::Spans(self.parts(step).into_iter().map(span).collect())
    }

    /// The kinds that occur, with their sums.
    fn legend(&self) -> Vec<(Kind, String)> {
        let used = self.sums_ms.iter().filter(|(.., sum)| *sum > 0);
        used.map(|(kind, word, sum)| (*kind, format!("{word} {}", time::took(*sum)))).collect()
    }

    /// The legend in words: `█ model 2.5 s, ▒ tools 5.0 s`.
    pub fn legend_words(&self) -> String {
        let words = self.legend().into_iter().map(|(kind, words)| format!("{} {words}", text::fill(kind)));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The turn as a chart: a row for each of these labelled steps.
    pub fn chart<'a>(&self, question: &str, steps: impl Iterator<Item = (String, &'a Step)>) -> Chart {
        let row = |(label, step): (String, &Step)| {
            let took = step.duration_ms.map(time::took).unwrap_or_default();
            let is_refused = step.metadata.outcome == Some(StepResult::Refused);
            let cells = vec![if is_refused { "refused".to_owned() } else { took }];
            Row { label, bar: self.bar(step), cells }
        };
        Chart {
            head: one_line(question, usize::MAX),
            axis: scale::time_axis(self.total_ms, MARKS_IN_FILE),
            columns: vec![Column::new("")],
            rows: steps.map(row).collect(),
            legend: self.legend(),
        }
    }
}

/// The bars before the steps at a terminal.
pub struct Gutter<'a> {
    times: &'a Times,
    columns: usize,
}

impl<'a> Gutter<'a> {
    /// Bars that leave most of a terminal with so many columns to the steps.
    pub fn new(times: &'a Times, terminal: usize) -> Self {
        Self { times, columns: (terminal * 3 / 10).clamp(BAR_COLUMNS.0, BAR_COLUMNS.1) }
    }

    /// The axis above the bars.
    pub fn axis(&self) -> String {
        let most = u64::try_from(self.columns / MARK_COLUMNS).unwrap_or(1);
        text::axis(&scale::time_axis(self.times.total_ms, most), self.columns)
    }

    /// The bar of a step, with the gap behind it.
    pub fn bar(&self, step: &Step) -> String {
        text::bar(&self.times.bar(step), self.columns) + GAP
    }

    /// As wide as a bar.
    pub fn blank(&self) -> String {
        " ".repeat(self.columns) + GAP
    }
}
