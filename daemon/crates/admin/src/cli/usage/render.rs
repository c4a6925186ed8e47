//! Renders a usage report as a table of at most 80 columns, or as JSON.

use cohab_model_api::calibration::Learned;
use cohab_protocol::amount;
use cohab_runtime::middleware::budget::LimitKind;
use cohab_store::row::ModelKey;
use cohab_text::sanitize;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{
    Grouping, ShownUsage,
    report::{Subject, Sum},
};

/// Widest first column.
const LABEL_MAX_COLUMNS: usize = 30;
/// Stands for what is not known.
const UNKNOWN: &str = "-";
/// Of a session's id, so many last characters are shown: its first ones are a time.
const ID_CHARS: usize = 4;

/// The table, with totals, or a sentence.
pub(super) fn table(shown: &ShownUsage) -> String {
    let report = &shown.report;
    if report.lines.is_empty() {
        return format!("No model has answered since {}.\n{}", shown.since, budgets(shown));
    }
    let mut rows = vec![[shown.grouping.word(), "questions", "in (cached)", "out", "cost"].map(str::to_owned)];
    rows.extend(report.lines.iter().map(|(subject, sum)| row(label(subject, &shown.zone), sum)));
    rows.push(row(format!("since {}", shown.since), &report.total));
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for [label, questions, sent, received, cost] in &rows {
        let [label_columns, questions_columns, sent_columns, received_columns, _] = widths;
        let line = format!(
            "{label:label_columns$}  {questions:>questions_columns$}  {sent:>sent_columns$}  \
             {received:>received_columns$}  {cost}"
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if shown.grouping == Grouping::Model {
        text.extend(windows(shown));
    }
    text + &budgets(shown)
}

/// What is left of today's budgets.
fn budgets(shown: &ShownUsage) -> String {
    let lines = shown.budgets.iter().map(|gauge| {
        let note = if gauge.kind == LimitKind::DayTokens { "; cached tokens do not count" } else { "" };
        format!("budget of today: {}{note}\n", gauge.line())
    });
    lines.collect()
}

fn row(label: String, sum: &Sum) -> [String; 5] {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| UNKNOWN.to_owned(), amount::count);
    let mut sent = count(sum.sent);
    if let Some(cached) = sum.cached.filter(|cached| *cached > 0) {
        sent.push_str(&format!(" ({})", amount::count(cached)));
    }
    let cost = sum.cost_microusd.map(|cost| amount::cost(cost, sum.is_cost_partial()));
    [label, sum.questions().to_string(), sent, count(sum.received), cost.unwrap_or_else(|| "unknown".to_owned())]
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
        let who = match in_use.source.word() {
            "default" => "not reported; default assumed".to_owned(),
            word => format!("by the {word}"),
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
