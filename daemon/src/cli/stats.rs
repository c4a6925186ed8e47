//! `cohab stats`: how often things happened and how long they took.

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_protocol::Paths;
use cohab_shell_relay::sanitize;
use jiff::{Timestamp, Zoned, civil::Date};
use serde_json::{Value, json};

use super::{Failure, record, usage::Since};
use crate::{
    stats::{Count, Stats, histogram::Histogram},
    store::{Database, StoreError, sessions::StateStore},
};

/// Widest first column.
const LABEL_MAX_COLUMNS: usize = 30;
/// Stands for what is not known.
const UNKNOWN: &str = "-";

/// `cohab stats`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "Counted from what is kept on this machine; nothing is sent. Half of the times are at\n\
    most `half`, 19 of 20 at most `most`; both are estimates. A question's time includes the\n\
    waits for you. --json prints one object, with histograms: upper bounds and counts.")]
pub struct StatsArgs {
    /// From here: so many days, or a date (`7d`, `2026-03-01`)
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    pub since: Since,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 the store cannot be read, 3 nobody reads the output.
pub fn run(args: &StatsArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let now = Zoned::now();
    let since = args.since.date(now.date());
    let result = read(since, &now, paths).and_then(|stats| {
        let text = if args.json { json(since, &stats) } else { table(since, &stats) };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

fn read(since: Date, now: &Zoned, paths: &Paths) -> Result<Stats, Failure> {
    let start = since.to_zoned(now.time_zone().clone()).map_or(Timestamp::MIN, |start| start.timestamp());
    let mut stats = Stats::default();
    if let Some(store) = record::open(paths)? {
        store.events_since(start, &mut |row| stats.event(row)).map_err(record::unreadable(paths))?;
    }
    let path = paths.usage_file();
    let unreadable = |error: StoreError| {
        Failure::Other(format!("{} cannot be read: {error}", path.display()), error.remedy().map(str::to_owned))
    };
    if let Some(database) = Database::open_existing(&path).map_err(unreadable)? {
        database.calls_since(start, |call| stats.model_call(call)).map_err(unreadable)?;
    }
    Ok(stats)
}

fn table(since: Date, stats: &Stats) -> String {
    if stats.questions.all == 0 && stats.models.is_empty() {
        return format!("Nothing was asked since {since}, or nothing is kept of it.\n");
    }
    let mut rows = vec![["", "count", "failed", "refused", "half", "most", "longest"].map(str::to_owned)];
    rows.push(row("questions", &stats.questions));
    // Of an answer that broke off before it took anything nothing is kept.
    rows.extend(stats.models.iter().map(|(key, count)| {
        let [label, all, _, _, half, most, longest] = row(&format!("model {}", key.model), count);
        [label, all, UNKNOWN.to_owned(), UNKNOWN.to_owned(), half, most, longest]
    }));
    rows.extend(stats.tools.iter().map(|(tool, count)| row(&format!("tool {tool}"), count)));
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = format!("since {since}\n");
    for [label, cells @ ..] in &rows {
        let [label_width, cell_widths @ ..] = widths;
        let cells: String = cells.iter().zip(cell_widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
        text += &format!("{label:label_width$}{cells}\n");
    }
    text
}

fn row(label: &str, count: &Count) -> [String; 7] {
    let took = |ms: Option<u64>| ms.map_or_else(|| UNKNOWN.to_owned(), record::time::took);
    let longest = (count.took.count() > 0).then(|| count.took.max_ms());
    [
        sanitize::one_line(label, LABEL_MAX_COLUMNS),
        count.all.to_string(),
        count.failed.to_string(),
        count.refused.to_string(),
        took(count.took.percentile_ms(50)),
        took(count.took.percentile_ms(95)),
        took(longest),
    ]
}

fn json(since: Date, stats: &Stats) -> String {
    let models: Vec<Value> = stats
        .models
        .iter()
        .map(
            |(key, count)| json!({"model": key.model, "host": key.host, "count": count.all, "took": took(&count.took)}),
        )
        .collect();
    let tools: Vec<Value> = stats
        .tools
        .iter()
        .map(|(tool, count)| {
            let Count { all, failed, refused, took: histogram } = count;
            json!({"tool": tool, "count": all, "failed": failed, "refused": refused, "took": took(histogram)})
        })
        .collect();
    let questions = &stats.questions;
    let whole = json!({
        "since": since.to_string(),
        "questions": {"count": questions.all, "failed": questions.failed, "ends": stats.ends, "took": took(&questions.took)},
        "models": models,
        "tools": tools,
    });
    sanitize::escaped_json(&whole.to_string()) + "\n"
}

fn took(histogram: &Histogram) -> Value {
    let buckets: Vec<Value> =
        histogram.buckets().map(|(bound, count)| json!({"up_to_ms": bound, "count": count})).collect();
    let max_ms = (histogram.count() > 0).then(|| histogram.max_ms());
    json!({
        "count": histogram.count(),
        "p50_ms": histogram.percentile_ms(50),
        "p95_ms": histogram.percentile_ms(95),
        "max_ms": max_ms,
        "buckets": buckets,
    })
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
