//! Renders a usage report as a table of at most 80 columns, as bars, or as JSON.

use cohab_model_api::{calibration::Learned, window_size::WindowSource};
use cohab_protocol::amount;
use cohab_runtime::middleware::budget::LimitKind;
use cohab_store::row::ModelKey;
use cohab_text::sanitize;
use jiff::{civil::Date, tz::TimeZone};
use serde_json::{Value, json};

use super::{
    Grouping, ShownUsage,
    report::{Subject, Sum},
};
use cohab_picture::{Bar, Chart, Column, Row, svg, text};

/// Widest first column.
const LABEL_MAX_COLUMNS: usize = 30;
/// Stands for what is not known.
const UNKNOWN: &str = "-";
/// Of a session's id, so many last characters are shown: its first ones are a time.
const ID_CHARS: usize = 4;

/// Head of the column of questions.
const QUESTIONS: &str = "questions";
/// Columns of figures. A narrow terminal leaves the first ones out.
const COLUMNS: [Column; 4] = [
    Column::new(QUESTIONS).or_without(3),
    Column::new("in (cached)").or_without(2),
    Column::new("out").or_without(1),
    Column { is_left: true, ..Column::new("cost") },
];
/// So many days without an answer are one row.
const GAP_DAYS: i32 = 3;

/// The table, with totals, or a sentence. At a terminal with so many columns it has bars, and the share of each model.
pub(super) fn table(shown: &ShownUsage, columns: Option<usize>) -> String {
    let report = &shown.report;
    if report.lines.is_empty() {
        return format!("No model has answered since {}.\n{}", shown.since, budgets(shown));
    }
    let mut text = text::table(&chart(shown, columns.is_some()), columns);
    if let Some(shares) = shares(shown).filter(|_| columns.is_some()) {
        text.push('\n');
        text += &text::table(&shares, columns);
    }
    if shown.grouping == Grouping::Model {
        text.extend(windows(shown));
    }
    text + &budgets(shown)
}

/// The same as a file.
pub(super) fn svg(shown: &ShownUsage) -> String {
    let title = format!("Usage by {} since {}", shown.grouping.word(), shown.since);
    let charts: Vec<Chart> = std::iter::once(chart(shown, true)).chain(shares(shown)).collect();
    svg::document(&title, &charts)
}

/// The measure of the bars: tokens, or questions where no service counted tokens.
fn measure(total: &Sum) -> (&'static str, fn(&Sum) -> u64) {
    let tokens = |sum: &Sum| sum.sent.unwrap_or(0).saturating_add(sum.received.unwrap_or(0));
    if tokens(total) > 0 { ("tokens", tokens) } else { (QUESTIONS, |sum| sum.questions() as u64) }
}

fn chart(shown: &ShownUsage, has_gaps: bool) -> Chart {
    let report = &shown.report;
    let (word, amount) = measure(&report.total);
    let most = report.lines.values().map(amount).max().unwrap_or(0);
    let mut rows = Vec::new();
    let mut last = None;
    for (subject, sum) in &report.lines {
        if let (Subject::Day(day), true) = (subject, has_gaps) {
            rows.extend(gap(last.replace(*day), *day));
        }
        rows.push(row(label(subject, &shown.zone), Bar::of(amount(sum), most), sum));
    }
    let none = Bar::Spans(Vec::new());
    rows.push(row(format!("since {}", shown.since), none, &report.total));
    // The columns have a head for questions already.
    let axis = if word == QUESTIONS { Vec::new() } else { vec![(0.0, word.to_owned())] };
    Chart { head: shown.grouping.word().to_owned(), axis, columns: COLUMNS.to_vec(), rows, legend: Vec::new() }
}

/// The days without an answer between two days: a row each, or one for all.
fn gap(last: Option<Date>, day: Date) -> Vec<Row> {
    let Some(last) = last else { return Vec::new() };
    let empty = |label: String, cells| Row { label, bar: Bar::Spans(Vec::new()), cells };
    let days = last.until(day).map_or(0, |span| span.get_days()) - 1;
    if days >= GAP_DAYS {
        return vec![empty(format!("  {days} days without an answer"), Vec::new())];
    }
    let between = std::iter::successors(last.tomorrow().ok(), |day| day.tomorrow().ok());
    between.take_while(|between| *between < day).map(|day| empty(day.to_string(), vec![String::new(); 4])).collect()
}

/// The share of each model, if there are several and the report is not by model.
fn shares(shown: &ShownUsage) -> Option<Chart> {
    let by_model = shown.by_model.as_ref().filter(|by_model| by_model.lines.len() > 1)?;
    let (word, amount) = measure(&by_model.total);
    let whole = by_model.lines.values().map(amount).sum::<u64>().max(1);
    let mut lines: Vec<(&Subject, &Sum)> = by_model.lines.iter().collect();
    lines.sort_by_key(|(_, sum)| std::cmp::Reverse(amount(sum)));
    let row = |(subject, sum): (&Subject, &Sum)| Row {
        label: label(subject, &shown.zone),
        bar: Bar::of(amount(sum), whole),
        cells: vec![format!("{} %", amount(sum).saturating_mul(100).saturating_add(whole / 2) / whole)],
    };
    let axis = vec![(0.0, format!("share of {word}"))];
    let rows = lines.into_iter().map(row).collect();
    Some(Chart { head: "model".to_owned(), axis, columns: vec![Column::new("")], rows, legend: Vec::new() })
}

/// What is left of today's budgets.
fn budgets(shown: &ShownUsage) -> String {
    let lines = shown.budgets.iter().map(|gauge| {
        let note = if gauge.kind == LimitKind::DayTokens { "; cached tokens do not count" } else { "" };
        format!("budget of today: {}{note}\n", gauge.line())
    });
    lines.collect()
}

fn row(label: String, bar: Bar, sum: &Sum) -> Row {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| UNKNOWN.to_owned(), amount::count);
    let mut sent = count(sum.sent);
    if let Some(cached) = sum.cached.filter(|cached| *cached > 0) {
        sent.push_str(&format!(" ({})", amount::count(cached)));
    }
    let cost = sum.cost_microusd.map(|cost| amount::cost(cost, sum.is_cost_partial()));
    let cost = cost.unwrap_or_else(|| "unknown".to_owned());
    Row { label, bar, cells: vec![sum.questions().to_string(), sent, count(sum.received), cost] }
}

fn label(subject: &Subject, zone: &TimeZone) -> String {
    let label = match subject {
        Subject::Day(day) => day.to_string(),
        Subject::Model(key) => name(key),
        Subject::Session(start, session) => {
            let start = start.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
            let (kind, id) = session.split_once(':').unwrap_or(("", session));
            let skipped = id.chars().count().saturating_sub(ID_CHARS);
            format!("{start} {kind} {}", id.chars().skip(skipped).collect::<String>())
        }
    };
    sanitize::one_line(&label, LABEL_MAX_COLUMNS)
}

fn name(key: &ModelKey) -> String {
    if key.host.is_empty() { key.model.clone() } else { format!("{} at {}", key.model, key.host) }
}

/// A line for each model of the report whose context is known, with who says so.
fn windows(shown: &ShownUsage) -> impl Iterator<Item = String> {
    let lines = shown.report.lines.keys().filter_map(|subject| {
        let Subject::Model(key) = subject else { return None };
        let in_use = learned(shown, key)?.in_use?;
        let name = sanitize::one_line(&name(key), usize::MAX);
        let who = match in_use.source {
            WindowSource::Settings => "set in the settings",
            WindowSource::Server => "reported by the server",
            WindowSource::Refusal => "learned from a refused request",
            WindowSource::Table => "from the table of known models",
            WindowSource::Default => "not reported; default assumed",
        };
        Some(format!("context of {name}: {} tokens ({who})\n", amount::count(in_use.tokens)))
    });
    let lines: Vec<String> = lines.collect();
    let gap = (!lines.is_empty()).then(|| "\n".to_owned());
    gap.into_iter().chain(lines)
}

fn learned<'a>(shown: &'a ShownUsage, key: &ModelKey) -> Option<&'a Learned> {
    shown.models.iter().find(|(model, _)| model == key).map(|(_, learned)| learned)
}

/// One object.
pub(super) fn json(shown: &ShownUsage) -> String {
    let rows: Vec<Value> = shown
        .report
        .lines
        .iter()
        .map(|(subject, sum)| {
            let mut row = about(shown, subject);
            if let (Value::Object(row), Value::Object(figures)) = (&mut row, figures(sum)) {
                row.extend(figures);
            }
            row
        })
        .collect();
    let by = shown.grouping.word();
    let budget = |kind, amount: fn(u64) -> Value| {
        let gauge = shown.budgets.iter().find(|gauge| gauge.kind == kind);
        gauge.map(
            |gauge| json!({"used": amount(gauge.used), "limit": amount(gauge.limit), "left": amount(gauge.left())}),
        )
    };
    let dollars = |microusd| json!(microusd as f64 / 1e6);
    let budgets =
        json!({"tokens": budget(LimitKind::DayTokens, Value::from), "cost_usd": budget(LimitKind::DayCost, dollars)});
    let since = shown.since.to_string();
    let total = figures(&shown.report.total);
    let whole = json!({"by": by, "since": since, "rows": rows, "total": total, "budget_today": budgets});
    sanitize::escaped_json(&whole.to_string()) + "\n"
}

fn about(shown: &ShownUsage, subject: &Subject) -> Value {
    match subject {
        Subject::Day(day) => json!({"day": day.to_string()}),
        Subject::Session(start, session) => json!({"session": session, "first_at": start.to_string()}),
        Subject::Model(key) => {
            let learned = learned(shown, key);
            let in_use = learned.and_then(|learned| learned.in_use);
            json!({
                "model": key.model,
                "host": key.host,
                "context_window_tokens": in_use.map(|window| window.tokens),
                "context_window_from": in_use.map(|window| window.source.word()),
                "estimate_factor": learned.map(|learned| learned.factor),
            })
        }
    }
}

fn figures(sum: &Sum) -> Value {
    json!({
        "questions": sum.questions(),
        "calls": sum.calls,
        "input_tokens": sum.sent,
        "cached_tokens": sum.cached,
        "output_tokens": sum.received,
        "cost_usd": sum.cost_microusd.map(|cost| cost as f64 / 1e6),
        "is_cost_partial": sum.cost_microusd.is_some() && sum.is_cost_partial(),
    })
}
