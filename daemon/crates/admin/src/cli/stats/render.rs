//! Renders statistics as a table of at most 80 columns with small histograms, as a list where that is too wide, or as JSON.

use std::collections::BTreeMap;

use cohab_picture::{Bar, Chart, Column, Row, scale, svg, text};
use cohab_text::sanitize;
use jiff::civil::Date;
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use crate::stats::{
    Count, Stats,
    histogram::{BOUNDS_MS, Histogram},
};

/// Widest first column: with the others it fits 80 columns.
const LABEL_MAX_COLUMNS: usize = 24;
/// Replaces an unknown or impossible figure.
const UNKNOWN: &str = "-";
/// Columns of figures; a narrow terminal leaves some out, so that there is room for histograms.
const COLUMNS: [Column; 7] = [
    Column::new("count"),
    Column::new("failed").or_without(1),
    Column::new("refused").or_without(3),
    Column::new("p50"),
    Column::new("p95").or_without(2),
    Column::new("p99").or_without(4),
    Column::new("max"),
];
/// How many of them are counts; the others are times.
const COUNTS: usize = 3;

/// One line of the table.
struct TableLine<'a> {
    label: String,
    count: u64,
    failed: Option<u64>,
    refused: Option<u64>,
    took: &'a Histogram,
}

/// For people: at a terminal with so many columns a list if a table is too wide, and with histograms if they can be drawn.
pub(super) fn text(since: Date, stats: &Stats, columns: Option<usize>, drawn: Option<usize>) -> String {
    if stats.questions.all == 0 && stats.model_calls.all == 0 {
        return format!("No questions are recorded since {since}.\n");
    }
    let lines = lines(stats);
    let head = format!("since {since}\n");
    let table = text::table(&chart(&lines), drawn);
    let is_too_wide = |columns: usize| table.lines().any(|line| line.width() > columns);
    head + &if columns.is_some_and(is_too_wide) { list(&lines, columns.unwrap_or(usize::MAX)) } else { table }
}

/// The same as a file.
pub(super) fn svg(since: Date, stats: &Stats) -> String {
    svg::document(&format!("Counts and times since {since}"), &[chart(&lines(stats))])
}

/// All histograms have the same scale: from the shortest to the longest time of all.
fn chart(lines: &[TableLine<'_>]) -> Chart {
    let used = |counts: &[u64]| Some((counts.iter().position(|n| *n > 0)?, counts.iter().rposition(|n| *n > 0)?));
    let ranges = || lines.iter().filter_map(|line| used(line.took.counts()));
    let first = ranges().map(|(first, _)| first).min().unwrap_or(0);
    let last = ranges().map(|(_, last)| last).max().unwrap_or(0);
    let row = |line: &TableLine<'_>| {
        let counts = line.took.counts().get(first..=last).unwrap_or_default();
        Row { label: line.label.clone(), bar: Bar::Columns(counts.to_vec()), cells: line.cells() }
    };
    // The last bucket of all has no upper bound.
    let bound = |index: usize| BOUNDS_MS.get(index).map_or_else(|| "longer".to_owned(), |bound| scale::time(*bound));
    let axis = vec![(0.0, bound(first)), (1.0, bound(last))];
    let rows = lines.iter().map(row).collect();
    Chart { head: String::new(), axis, columns: COLUMNS.to_vec(), rows, legend: Vec::new() }
}

fn lines(stats: &Stats) -> Vec<TableLine<'_>> {
    let mut lines = vec![
        TableLine { refused: None, ..of("turns", &stats.questions) },
        of("steps", &stats.steps),
        TableLine { refused: None, ..of("model calls", &stats.model_calls) },
    ];
    lines.extend(stats.models.iter().map(|(name, count)| TableLine { refused: None, ..below(name, count) }));
    if stats.model_calls.first_token.count() > 0 {
        lines.push(first("first token".to_owned(), &stats.model_calls));
        // A single model needs no separate line.
        let several = stats.models.iter().filter(|(_, count)| stats.models.len() > 1 && count.first_token.count() > 0);
        lines.extend(several.map(|(name, count)| first(format!("  {}", plain(name)), count)));
    }
    if stats.tool_calls.all > 0 {
        lines.push(of("tool calls", &stats.tool_calls));
        lines.extend(stats.tools.iter().map(|(name, count)| below(name, count)));
    }
    if stats.compactions.all > 0 {
        lines.push(TableLine { failed: None, refused: None, ..of("conversation shortened", &stats.compactions) });
    }
    lines
}

fn of<'a>(label: &str, count: &'a Count) -> TableLine<'a> {
    let Count { all, failed, refused, took, .. } = count;
    TableLine { label: label.to_owned(), count: *all, failed: Some(*failed), refused: Some(*refused), took }
}

fn first(label: String, count: &Count) -> TableLine<'_> {
    let took = &count.first_token;
    TableLine { label, count: took.count(), failed: None, refused: None, took }
}

fn below<'a>(name: &str, count: &'a Count) -> TableLine<'a> {
    of(&format!("  {}", plain(name)), count)
}

/// Names come from models and services.
fn plain(name: &str) -> String {
    sanitize::one_line(name, LABEL_MAX_COLUMNS - 2)
}

impl TableLine<'_> {
    fn times(&self) -> [Option<u64>; 4] {
        let [p50, p95, p99] = self.took.percentiles_ms([50, 95, 99]);
        [p50, p95, p99, self.took.max_ms()]
    }

    fn cells(&self) -> Vec<String> {
        let count = |count: Option<u64>| count.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string());
        let [p50, p95, p99, max] = self.times().map(|ms| ms.map_or_else(|| UNKNOWN.to_owned(), brief));
        vec![self.count.to_string(), count(self.failed), count(self.refused), p50, p95, p99, max]
    }
}

/// A paragraph each: name and counts, then the times.
fn list(lines: &[TableLine<'_>], columns: usize) -> String {
    let mut text = String::new();
    for line in lines {
        let some = |count: Option<u64>, word: &str| {
            count.filter(|count| *count > 0).map(|count| format!("{count} {word}")).into_iter()
        };
        let mut words = vec![format!("{}: {}", line.label, line.count)];
        words.extend(some(line.failed, "failed").chain(some(line.refused, "refused")));
        text += &wrapped("", &words, columns);
        let indent = " ".repeat(line.label.len() - line.label.trim_start().len() + 2);
        let times = COLUMNS.iter().skip(COUNTS).zip(line.times());
        let times: Vec<String> = match line.took.count() {
            1 => line.took.max_ms().map(brief).into_iter().collect(),
            _ => times.filter_map(|(column, ms)| Some(format!("{} {}", column.head, brief(ms?)))).collect(),
        };
        if !times.is_empty() {
            text += &wrapped(&indent, &times, columns);
        }
    }
    text
}

/// Items with commas between them, on as many lines as they need.
fn wrapped(indent: &str, items: &[String], columns: usize) -> String {
    let mut text = String::new();
    let mut line = indent.to_owned();
    for (index, item) in items.iter().enumerate() {
        let item = if index + 1 < items.len() { format!("{item},") } else { item.clone() };
        let is_first = line.trim().is_empty();
        if !is_first && line.width() + 1 + item.width() > columns {
            text += &format!("{line}\n");
            line = format!("{indent}{item}");
        } else {
            line += &if is_first { item } else { format!(" {item}") };
        }
    }
    text + &format!("{line}\n")
}

/// A time of at most 6 columns.
fn brief(ms: u64) -> String {
    let (seconds, minutes) = (ms / 1_000, ms / 60_000);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..6_000_000 => format!("{minutes}m{:02}s", seconds % 60),
        _ => format!("{}h{:02}m", minutes / 60, minutes % 60),
    }
}

/// For programs: one object.
pub(super) fn json(since: Date, stats: &Stats) -> String {
    let whole = json!({
        "since": since.to_string(),
        "turns": with(&stats.questions, [("ends", json!(stats.ends))]),
        "steps": with(&stats.steps, []),
        "model_calls": with(&stats.model_calls, [first_token(&stats.model_calls)]),
        "models": each("model", &stats.models),
        "tool_calls": with(&stats.tool_calls, []),
        "tools": each("tool", &stats.tools),
        "compactions": with(&stats.compactions, []),
    });
    sanitize::escaped_json(&whole.to_string()) + "\n"
}

fn each(key: &'static str, counts: &BTreeMap<String, Count>) -> Vec<Value> {
    let row = |(name, count): (&String, &Count)| {
        let more = (key == "model").then(|| first_token(count));
        with(count, [(key, json!(name))].into_iter().chain(more))
    };
    counts.iter().map(row).collect()
}

fn first_token(count: &Count) -> (&'static str, Value) {
    ("first_token", took(&count.first_token))
}

fn with(count: &Count, more: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let Count { all, failed, refused, took: histogram, .. } = count;
    let counts = [("count", json!(all)), ("failed", json!(failed)), ("refused", json!(refused))];
    let fields = more.into_iter().chain(counts).chain([("took", took(histogram))]);
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

fn took(histogram: &Histogram) -> Value {
    let buckets: Vec<Value> =
        histogram.buckets().map(|(bound, count)| json!({"up_to_ms": bound, "count": count})).collect();
    let [p50, p95, p99] = histogram.percentiles_ms([50, 95, 99]);
    json!({
        "count": histogram.count(), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "max_ms": histogram.max_ms(),
        "buckets": buckets,
    })
}
