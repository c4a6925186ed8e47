//! `cohab usage` prints the tokens and cost of answers, by day, model or session.

mod render;
mod report;

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_config::{self};
use cohab_model_api::calibration::Learned;
use cohab_protocol::Paths;
use cohab_runtime::middleware::budget::{self, Gauge, Measured as _};
use cohab_store::{
    Database, StoreError,
    daily_spend::Spent,
    row::{CallRow, ModelKey},
};
use jiff::{Span, Timestamp, Zoned, civil::Date, tz::TimeZone};

use self::report::{Grouping, Report};
use super::{
    Failure,
    drawing::{self, PictureArgs},
};

/// Show what answers took: tokens and cost
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "Services count the tokens: sent (of these, from a cache) and received; `-` is\n\
    unknown. A cost is reported by the service, or computed from the prices in\n\
    models.toml; `at least` marks a line with answers of unknown cost.\n\
    At a terminal bars show the tokens. --json prints one object.")]
pub struct UsageArgs {
    /// Group by day, model or session
    #[arg(long, value_enum, value_name = "WHAT", default_value = "day", hide_possible_values = true)]
    pub by: Grouping,
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

/// The first day of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many days, today included.
    Days(u16),
    /// This day.
    Date(Date),
}

impl std::str::FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let days = text.strip_suffix('d').and_then(|days| days.parse().ok()).filter(|days| *days > 0);
        let date = || text.parse().map(Self::Date);
        days.map_or_else(date, |days| Ok(Self::Days(days)))
            .map_err(|_| "write it as a number of days, `7d`, or as a date, `2026-03-01`".to_owned())
    }
}

impl Since {
    /// The day itself.
    pub(super) fn date(self, today: Date) -> Date {
        match self {
            Self::Days(days) => today.saturating_sub(Span::new().days(i64::from(days) - 1)),
            Self::Date(date) => date,
        }
    }
}

/// A report with what stands around it.
struct ShownUsage {
    grouping: Grouping,
    zone: TimeZone,
    since: Date,
    report: Report,
    /// The same calls by model, for a report that is not.
    by_model: Option<Report>,
    models: Vec<(ModelKey, Learned)>,
    /// The budgets of today.
    budgets: Vec<Gauge>,
}

/// Runs it. Exit status: 0 done, 1 the store cannot be read, 3 the output is closed.
pub fn run(args: &UsageArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = read(args, paths, &Zoned::now()).and_then(|shown| {
        let text = match (&args.picture.svg, args.json) {
            (Some(file), _) => drawing::write(file, &render::svg(&shown))?,
            (None, true) => render::json(&shown),
            (None, false) => render::table(&shown, drawing::columns()),
        };
        Ok(output.write_all(text.as_bytes())?)
    });
    super::finish(result, output, errors)
}

fn read(args: &UsageArgs, paths: &Paths, now: &Zoned) -> Result<ShownUsage, Failure> {
    let path = paths.usage_file();
    let unreadable = |error: StoreError| {
        Failure::Other(format!("{} cannot be read: {error}", path.display()), error.remedy().map(str::to_owned))
    };
    let (zone, since) = (now.time_zone().clone(), args.since.date(now.date()));
    let start = since.to_zoned(zone.clone()).map_or(Timestamp::MIN, |start| start.timestamp());
    let mut report = Report::new(args.by, zone.clone());
    let mut by_model = (args.by != Grouping::Model).then(|| Report::new(Grouping::Model, zone.clone()));
    let (mut models, mut spent) = (Vec::new(), Spent::default());
    let midnight = now.start_of_day().map_or(Timestamp::MAX, |start| start.timestamp());
    if let Some(database) = Database::open_existing(&path).map_err(unreadable)? {
        let add = |call: CallRow| by_model.iter_mut().chain([&mut report]).for_each(|report| report.add(&call));
        database.calls_since(start, add).map_err(unreadable)?;
        database.calls_since(midnight, |call| spent.add(Spent::of(&call.usage))).map_err(unreadable)?;
        models = database.learned().map_err(unreadable)?;
    }
    // The usage is reported even if the settings are wrong.
    let limits = cohab_config::load(paths).map(|settings| settings.budget.limits()).unwrap_or_default();
    let of_day = |gauge: &Gauge| matches!(gauge.kind, budget::LimitKind::DayTokens | budget::LimitKind::DayCost);
    let budgets = limits.gauges(budget::Used { day: spent, ..budget::Used::default() }).filter(of_day).collect();
    Ok(ShownUsage { grouping: args.by, zone, since, report, by_model, models, budgets })
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
