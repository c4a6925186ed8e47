//! `cohab stats` prints counts and durations of turns, steps and model calls.

mod render;

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::{Database, StoreError, sessions::steps::CheckpointStore};
use jiff::{Timestamp, Zoned, civil::Date};

use super::{
    Failure,
    drawing::{self, PictureArgs},
    record,
    usage::Since,
};
use crate::stats::Stats;

/// Show how often things happened and how long they took
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    after_help = "Counts the records on this machine; nothing is sent. p50, p95, p99: 50, 95 and 99 percent took at \
        most this long. The time of a turn includes waiting for you; the time of a tool does not. `cohab trace` \
        shows the times of single turns. At a terminal bars show how many took how long. --json prints one object, with histograms: upper bounds and counts."
)]
pub struct StatsArgs {
    /// Start of the report: a number of days, or a date (`7d`, `2026-03-01`)
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    pub since: Since,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Where to draw it.
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// Runs it. Exit status: 0 done, 1 the store cannot be read, 3 the output is closed.
pub fn run(args: &StatsArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let now = Zoned::now();
    let since = args.since.date(now.date());
    let result = read(since, &now, paths).and_then(|stats| {
        let text = match (&args.picture.svg, args.json) {
            (Some(file), _) => drawing::write(file, &render::svg(since, &stats))?,
            (None, true) => render::json(since, &stats),
            (None, false) => render::text(since, &stats, record::terminal_columns(), drawing::columns()),
        };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

fn read(since: Date, now: &Zoned, paths: &Paths) -> Result<Stats, Failure> {
    let start = since.to_zoned(now.time_zone().clone()).map_or(Timestamp::MIN, |start| start.timestamp());
    let mut stats = Stats::default();
    if let Some(store) = record::open(paths)? {
        store.turns_since(start, &mut |turn, steps| stats.turn(turn, steps)).map_err(record::unreadable(paths))?;
    }
    let path = paths.usage_file();
    let unreadable = |error: StoreError| {
        Failure::Other(format!("{} cannot be read: {error}", path.display()), error.remedy().map(str::to_owned))
    };
    if let Some(database) = Database::open_existing(&path).map_err(unreadable)? {
        database.calls_since(start, |call| stats.model_call(&call)).map_err(unreadable)?;
    }
    Ok(stats)
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
