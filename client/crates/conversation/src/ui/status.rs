//! One-line facts around an answer: what happens now, steps, notices, errors, the end of a turn.

use cohab_protocol::{ApprovalMode, Notice, NoticeKind, StepActivity, StepOutcome, TurnEndReason, WireError};
use cohab_term::wrap::wrap_words;
use cohab_term::{ansi::cut_line, output_style::OutputStyle, theme};
use cohab_text::sanitize;
use cohab_types::refusal::UserRefusal;
use ratatui::{
    style::Style,
    text::{Line, Span},
};

/// Said when the user stops something.
pub(crate) const STOPPED: &str = "Stopped.";

/// Lines of a failed command that are shown, the last ones.
const FAILED_LINES: usize = 8;

/// The mark of a mode in which nothing is asked.
#[must_use]
pub(crate) fn approval_warning(approval: ApprovalMode) -> Option<Span<'static>> {
    match approval {
        ApprovalMode::All => Some(Span::styled("approves everything", theme::DANGER)),
        ApprovalMode::Auto => Some(Span::styled("asks about danger only", theme::WARNING)),
        ApprovalMode::Ask | ApprovalMode::ReadOnly => None,
    }
}

/// A step of the model that began, in one line; where nothing is painted twice the sentence of its beginning stands for it. Nothing is
/// shown for a call of the model itself.
#[must_use]
pub fn step_started(activity: &StepActivity, width: usize) -> Option<Line<'static>> {
    let StepActivity::ToolCall { tool, argument } = activity else { return None };
    let line = Line::from(vec![
        Span::styled("● ", theme::ACCENT),
        Span::styled(one_line(tool), theme::STRONG),
        Span::raw(format!("  {}", one_line(argument))),
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
    output_style: OutputStyle,
) -> Option<Line<'static>> {
    if let StepActivity::Attachment { path } = activity {
        return Some(attachment(path, outcome, summary, width));
    }
    let (glyph, word, style) = match outcome {
        StepOutcome::Done => ("  ✓ ", "Done: ", theme::GOOD),
        StepOutcome::Failed => ("  ✗ ", "Failed: ", theme::BAD),
        StepOutcome::Refused => ("  ✗ ", "Refused: ", theme::WARNING),
        StepOutcome::Cancelled => ("  ✗ ", "Cancelled: ", theme::DIM),
    };
    let refusal = UserRefusal::read(summary).filter(|_| outcome == StepOutcome::Refused);
    let summary = refusal.map_or_else(|| one_line(summary), |refusal| you_refused(&refusal));
    // A summary gives the reason; without one the outcome itself is said.
    let alone = match outcome {
        StepOutcome::Refused if summary.is_empty() => "refused",
        StepOutcome::Cancelled if summary.is_empty() => "cancelled",
        _ => "",
    };
    ended_line(activity, (glyph, word, style), [alone, &summary], elapsed_ms, width, output_style)
}

/// The summary of a step with the lines that are not shown, and the command that shows them, for example `412 lines · ? /output`.
#[must_use]
pub fn folded(summary: &str, lines: u32, command: &str, output_style: OutputStyle) -> String {
    let lines = format!("{lines} lines");
    let parts = [summary, &lines, command].into_iter().skip(usize::from(summary == lines || summary.is_empty()));
    parts.collect::<Vec<_>>().join(output_style.choose(" · ", ", "))
}

/// What was attached to the question: `attached: src/main.rs, 120 lines`; or why it was not.
fn attachment(path: &str, outcome: StepOutcome, summary: &str, width: usize) -> Line<'static> {
    let (label, separator) = if outcome == StepOutcome::Done { ("attached: ", ", ") } else { ("not attached: ", ": ") };
    let refusal = UserRefusal::read(summary).filter(|_| outcome == StepOutcome::Refused);
    let summary = refusal.map_or_else(|| one_line(summary), |refusal| you_refused(&refusal));
    let parts = match outcome {
        // The error names the file in full.
        StepOutcome::Failed => vec![summary],
        _ => vec![one_line(path), summary],
    };
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    fitted(&Line::styled(format!("{label}{}", parts.join(separator)), theme::DIM), width)
}

/// A command that the user suspended.
#[must_use]
pub(crate) fn step_suspended(
    activity: &StepActivity,
    elapsed_ms: u64,
    width: usize,
    output_style: OutputStyle,
) -> Option<Line<'static>> {
    let mark = ("  ⏸ ", "Suspended: ", theme::WARNING);
    let what = "stopped, now a job of your shell: `fg` continues it";
    ended_line(activity, mark, ["", what], elapsed_ms, width, output_style)
}

/// The user's own refusal, said to the user.
fn you_refused(refusal: &UserRefusal) -> String {
    match one_line(refusal.note()) {
        note if note.is_empty() => "you refused".to_owned(),
        note => format!("you refused: \"{note}\""),
    }
}

fn ended_line(
    activity: &StepActivity,
    (glyph, word, style): (&'static str, &'static str, Style),
    [alone, summary]: [&str; 2],
    elapsed_ms: u64,
    width: usize,
    output_style: OutputStyle,
) -> Option<Line<'static>> {
    let StepActivity::ToolCall { tool, .. } = activity else { return None };
    // What was not run took no time worth telling.
    let took = if elapsed_ms == 0 { String::new() } else { duration(elapsed_ms) };
    // The step's glyph stands above; without one, the tool's name says what this is about.
    let parts =
        [output_style.choose("", &one_line(tool)), output_style.choose(alone, ""), summary, &took].map(str::to_owned);
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join(output_style.choose(" · ", ", ")) + output_style.choose("", ".");
    let line = Line::from(vec![Span::styled(output_style.choose(glyph, word), style), Span::styled(text, theme::DIM)]);
    Some(fitted(&line, width))
}

/// The model's thoughts in one line, for example `● thought for 4.2 s`.
#[must_use]
pub(crate) fn thought(took_ms: u64, width: usize, output_style: OutputStyle) -> Line<'static> {
    let text = output_style
        .choose(format!("● thought for {}", duration(took_ms)), format!("Thought for {}.", duration(took_ms)));
    fitted(&Line::styled(text, theme::DIM), width)
}

/// The last lines of a command that has failed out of the user's sight, below its step.
#[must_use]
pub fn failed_output(output: &str, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let lines: Vec<&str> = output.lines().collect();
    let shown = &lines[lines.len().saturating_sub(FAILED_LINES)..];
    let line = |text: &&str| {
        fitted(&Line::styled(format!("{}{}", output_style.choose("    ", ""), one_line(text)), theme::DIM), width)
    };
    shown.iter().map(line).collect()
}

/// A notice of the daemon.
#[must_use]
pub fn notice(notice: &Notice, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let (glyph, word, style) = match notice.kind {
        NoticeKind::Info => ("", "", theme::DIM),
        NoticeKind::Warning => ("! ", "Warning: ", theme::WARNING),
        NoticeKind::Retry { .. } => ("↻ ", "", theme::WARNING),
    };
    let text = format!("{}{}", output_style.choose(glyph, word), notice_text(notice));
    let span = Span::styled(text, style);
    match notice.kind {
        // A line that is redrawn each second must not jump.
        NoticeKind::Retry { .. } if output_style == OutputStyle::Rich => vec![fitted(&Line::from(span), width)],
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
        TurnEndReason::Cancelled => Some(STOPPED),
        TurnEndReason::StepLimit => Some("Stopped at `limits.steps_per_turn`. Say \"continue\" to go on."),
        TurnEndReason::Length => Some("The answer reached the model's length limit. Say \"continue\" to go on."),
        TurnEndReason::Refused => Some("The model declined to answer."),
        TurnEndReason::Answered | TurnEndReason::Failed => None,
    }
}

/// A failure and what helps against it.
#[must_use]
pub fn error(error: &WireError, width: usize) -> Vec<Line<'static>> {
    let mut lines = wrapped(&[Span::styled("Error: ", theme::DANGER), Span::raw(one_line(&error.message))], width);
    lines.extend(error.hint.iter().flat_map(|text| hint(text, width)));
    lines
}

/// What the user can do.
#[must_use]
pub(crate) fn hint(text: &str, width: usize) -> Vec<Line<'static>> {
    wrapped(&[Span::styled("Hint: ", theme::STRONG), Span::raw(one_line(text))], width)
}

/// A line of the client's own, for example that the daemon is away.
#[must_use]
pub fn remark(text: &str, width: usize) -> Vec<Line<'static>> {
    wrapped(&[Span::styled(one_line(text), theme::DIM)], width)
}

/// `850 ms`, `1.2 s`, `12 s`, `3 min 5 s`.
#[must_use]
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        10_000..60_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `2 s`, `1 min 5 s`.
pub fn seconds(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

/// Foreign text as harmless text without line ends.
pub fn one_line(text: &str) -> String {
    sanitize::one_line(text, usize::MAX)
}

/// The line, cut with `…` if it is too wide.
pub fn fitted(line: &Line<'_>, width: usize) -> Line<'static> {
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
