//! One-line facts around an answer: what happens now, steps, receipts, notices, errors, the end of a turn.

use cohab_protocol::{
    ApprovalMode, Notice, NoticeKind, StepActivity, StepOutcome, TurnEndReason, Usage, WireError, amount,
};
use cohab_shell_relay::sanitize;
use ratatui::text::{Line, Span};

use super::{ansi::cut_line, look::Look, theme};
use crate::markdown::wrap::wrap_words;

/// The line at the bottom while a turn runs, for example `thinking · anthropic/claude · 12 s`. It holds no clock: give `elapsed_ms`
/// when it is drawn anyway.
#[must_use]
pub fn status(
    activity: &StepActivity,
    approval: ApprovalMode,
    elapsed_ms: Option<u64>,
    width: usize,
    look: Look,
) -> Line<'static> {
    let mut parts = vec![match activity {
        StepActivity::ModelCall { model } => vec![
            Span::styled(look.choose("● ", ""), theme::ACCENT),
            Span::raw(look.choose("thinking", "Thinking")),
            Span::styled(format!(" · {}", one_line(model)), theme::DIM),
        ],
        StepActivity::ToolCall { tool, argument } => vec![
            Span::styled(look.choose("● ", "Running "), theme::ACCENT),
            Span::raw(one_line(tool)),
            Span::styled(format!(" {}", one_line(argument)), theme::DIM),
        ],
    }];
    parts.extend(elapsed_ms.map(|elapsed_ms| vec![Span::styled(format!(" · {}", duration(elapsed_ms)), theme::DIM)]));
    parts.push(vec![Span::styled(look.choose(" · Ctrl-C stops", ", Ctrl-C stops"), theme::DIM)]);
    let warning = approval_warning(approval);
    let warning_columns = warning.as_ref().map_or(0, |warning| warning.width() + 1);
    let mut line = cut_line(&Line::from(parts.concat()), width.saturating_sub(warning_columns));
    if let Some(warning) = warning {
        line.push_span(Span::raw(" "));
        line.push_span(warning);
    }
    cut_line(&line, width)
}

/// The mark of a mode in which nothing is asked.
#[must_use]
pub fn approval_warning(approval: ApprovalMode) -> Option<Span<'static>> {
    match approval {
        ApprovalMode::All => Some(Span::styled("approves everything", theme::DANGER)),
        ApprovalMode::Ask | ApprovalMode::ReadOnly => None,
    }
}

/// A step of the model that began, in one line. Nothing is shown for a call of the model itself.
#[must_use]
pub fn step_started(activity: &StepActivity, width: usize, look: Look) -> Option<Line<'static>> {
    let StepActivity::ToolCall { tool, argument } = activity else { return None };
    let line = Line::from(vec![
        Span::styled(look.choose("● ", "Tool "), theme::ACCENT),
        Span::styled(one_line(tool), theme::STRONG),
        Span::raw(format!("{}{}", look.choose("  ", ": "), one_line(argument))),
    ]);
    Some(fitted(&line, width))
}

/// How a step went, below its own line or its command's output, for example `  ✓ exit 0 · 1.2 s`.
#[must_use]
pub fn step_finished(
    activity: &StepActivity,
    outcome: StepOutcome,
    summary: &str,
    elapsed_ms: u64,
    width: usize,
    look: Look,
) -> Option<Line<'static>> {
    let StepActivity::ToolCall { tool, .. } = activity else { return None };
    let (glyph, word, style) = match outcome {
        StepOutcome::Done => ("  ✓ ", "Done: ", theme::GOOD),
        StepOutcome::Failed => ("  ✗ ", "Failed: ", theme::BAD),
        StepOutcome::Refused => ("  ✗ ", "Refused: ", theme::WARNING),
        StepOutcome::Cancelled => ("  ✗ ", "Cancelled: ", theme::DIM),
    };
    let summary = one_line(summary);
    let refused = match outcome {
        StepOutcome::Refused if !summary.contains("refused") => "refused",
        StepOutcome::Cancelled => "cancelled",
        _ => "",
    };
    // What was not run took no time worth telling.
    let took = if elapsed_ms == 0 { String::new() } else { duration(elapsed_ms) };
    // The step's glyph stands above; where there is none, the tool's name says what this is about.
    let parts = [look.choose("", &one_line(tool)), look.choose(refused, ""), &summary, &took].map(str::to_owned);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join(look.choose(" · ", ", "));
    let line = Line::from(vec![Span::styled(look.choose(glyph, word), style), Span::styled(text, theme::DIM)]);
    Some(fitted(&line, width))
}

/// A notice of the daemon.
#[must_use]
pub fn notice(notice: &Notice, width: usize, look: Look) -> Vec<Line<'static>> {
    let (glyph, word, style) = match notice.kind {
        NoticeKind::Info => ("", "", theme::DIM),
        NoticeKind::Warning => ("! ", "Warning: ", theme::WARNING),
        NoticeKind::Retry { .. } => ("↻ ", "", theme::WARNING),
    };
    let text = format!("{}{}", look.choose(glyph, word), notice_text(notice));
    let span = Span::styled(text, style);
    match notice.kind {
        // A line that is painted anew each second must not jump.
        NoticeKind::Retry { .. } => vec![fitted(&Line::from(span), width)],
        _ => wrapped(&[span], width),
    }
}

/// The words of a notice on one line; those of a repeated request begin with when it is repeated.
#[must_use]
pub fn notice_text(notice: &Notice) -> String {
    let text = one_line(&notice.text);
    match notice.kind {
        NoticeKind::Retry { after_ms: 0 } => format!("Trying again: {text}"),
        NoticeKind::Retry { after_ms } => format!("Trying again in {}: {text}", seconds(after_ms.div_ceil(1_000))),
        NoticeKind::Info | NoticeKind::Warning => text,
    }
}

/// Why a turn stopped that neither gave its answer nor failed with an error of its own.
#[must_use]
pub fn end_remark(reason: TurnEndReason) -> Option<&'static str> {
    match reason {
        TurnEndReason::Cancelled => Some("stopped"),
        TurnEndReason::StepLimit => Some("stopped: the limit of steps is reached"),
        TurnEndReason::Length => Some("the answer was cut by the model's length limit; ask it to continue"),
        TurnEndReason::Refused => Some("the model declined to answer"),
        TurnEndReason::Answered | TurnEndReason::Failed => None,
    }
}

/// A failure and what helps against it.
#[must_use]
pub fn error(error: &WireError, width: usize) -> Vec<Line<'static>> {
    let mut lines = wrapped(&[Span::styled("Error: ", theme::DANGER), Span::raw(one_line(&error.message))], width);
    if let Some(hint) = &error.hint {
        lines.extend(wrapped(&[Span::styled("Hint: ", theme::STRONG), Span::raw(one_line(hint))], width));
    }
    lines
}

/// The end of a turn: why it ended unless it was answered, tokens, cost and time as far as they are known.
#[must_use]
pub fn turn_ended(
    reason: TurnEndReason,
    usage: &Usage,
    elapsed_ms: u64,
    width: usize,
    look: Look,
) -> Vec<Line<'static>> {
    let (why, style) = match reason {
        TurnEndReason::Answered => ("", theme::DIM),
        TurnEndReason::Cancelled => ("cancelled", theme::WARNING),
        TurnEndReason::StepLimit => ("stopped: too many steps", theme::WARNING),
        TurnEndReason::Refused => ("refused by the model", theme::WARNING),
        TurnEndReason::Length => ("cut off by the model's length limit", theme::WARNING),
        TurnEndReason::Failed => ("failed", theme::BAD),
    };
    let cached = usage.cache_read_tokens.unwrap_or(0).saturating_add(usage.cache_write_tokens.unwrap_or(0));
    let sent = usage.input_tokens.map(|tokens| format!("{} tokens in", amount::count(tokens.saturating_add(cached))));
    let received = usage.output_tokens.map(|tokens| format!("{} out", amount::count(tokens)));
    let cost = usage.cost_microusd.map(|cost| amount::cost(cost, usage.is_cost_partial));
    let facts: Vec<String> = sent.into_iter().chain(received).chain(cost).chain([duration(elapsed_ms)]).collect();
    let separator = look.choose(" · ", ", ");
    let mut spans = Vec::new();
    if !why.is_empty() {
        spans.push(Span::styled(format!("{why}{separator}"), style));
    }
    spans.push(Span::styled(facts.join(separator), theme::DIM));
    wrapped(&spans, width)
}

/// A line of the client's own, for example that the daemon is away.
#[must_use]
pub fn remark(text: &str, width: usize) -> Vec<Line<'static>> {
    wrapped(&[Span::styled(one_line(text), theme::DIM)], width)
}

/// `850 ms`, `1.2 s`, `12 s`, `3 min 5 s`.
#[must_use]
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        10_000..60_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `2 s`, `1 min 5 s`: what is left of a wait.
fn seconds(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

/// Foreign text as harmless text without line ends.
pub(crate) fn one_line(text: &str) -> String {
    sanitize::one_line(text, usize::MAX)
}

/// The line, cut with `…` if it is too wide.
pub(crate) fn fitted(line: &Line<'_>, width: usize) -> Line<'static> {
    if line.width() <= width {
        return cut_line(line, width);
    }
    let mut cut = cut_line(line, width.saturating_sub(1));
    cut.push_span(Span::styled("…", theme::DIM));
    cut
}

fn wrapped(spans: &[Span<'_>], width: usize) -> Vec<Line<'static>> {
    wrap_words(spans, width).into_iter().map(Line::from).collect()
}

#[cfg(test)]
mod tests;
