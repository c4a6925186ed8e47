//! Converts the agent's types to those of the wire, and back.

use std::{path::Path, time::Duration};

use cohab_agent::{
    StopReason, TurnError, builtin_tools,
    port::{
        Activity, ApprovalAnswer, ApprovalSubject, Effect, Lasts, StepDetail, StepResult, SubagentProgress,
        SubagentState,
    },
};
use cohab_context::{analysis::Analysis, query::PastCommand};
use cohab_model_api::{ModelInfo, TokenUsage};
use cohab_protocol as wire;
use cohab_runtime::middleware::budget::{self, Gauge};
use cohab_text::cut::{head, tail};
use cohab_types::refusal::UserRefusal;

/// What the client sees of who answers.
#[must_use]
pub fn model_identity(info: ModelInfo) -> wire::ModelIdentity {
    wire::ModelIdentity { provider: info.wire, model: info.model, origin: info.origin, is_offline: info.is_offline }
}

/// How full the context is.
#[must_use]
pub fn context_room(analysis: Analysis) -> wire::ContextRoom {
    let Analysis { max, system, messages, response_reserve, total, available, percent, fits } = analysis;
    wire::ContextRoom { max, system, messages, response_reserve, total, available, percent, fits }
}

/// A command of the user, as context.
#[must_use]
pub fn past_command(event: wire::ShellEvent) -> PastCommand {
    PastCommand {
        line: event.line.map(|line| head(&line, wire::MAX_OUTPUT_TAIL_BYTES).to_owned()),
        exit_code: event.exit_code,
        cwd: event.cwd.to_path_buf(),
        duration: Duration::from_millis(event.duration_ms),
        output_tail: tail(&event.output_tail, wire::MAX_OUTPUT_TAIL_BYTES).to_owned(),
    }
}

/// The subject of a question for consent.
#[must_use]
pub fn approval_subject(subject: ApprovalSubject, cwd: &Path, mode: wire::RunMode) -> wire::ApprovalSubject {
    match subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => {
            wire::ApprovalSubject::Command { command: command.as_ref().into(), cwd: cwd.into(), mode }
        }
        ApprovalSubject::Effect { tool, effect: Effect::Read { path, pattern: Some(pattern) } } => {
            wire::ApprovalSubject::Search { tool, path: path.into(), pattern }
        }
        ApprovalSubject::Effect { tool, effect: Effect::Read { path, pattern: None } } => {
            wire::ApprovalSubject::FileRead { tool, path: path.into() }
        }
        ApprovalSubject::Effect { tool, effect: Effect::Write { path, diff } } => {
            wire::ApprovalSubject::FileChange { tool, path: path.into(), diff: diff.as_ref().into() }
        }
        // The gate allows it; a policy that does not can show only its name.
        ApprovalSubject::Effect { tool, effect: Effect::Internal } => {
            wire::ApprovalSubject::FileRead { tool, path: cwd.into() }
        }
        ApprovalSubject::Effect { effect: Effect::Foreign { by, action, details, .. }, .. } => {
            wire::ApprovalSubject::Foreign { by, action, details: details.as_ref().into() }
        }
        ApprovalSubject::LocalServer { url, server, model } => {
            wire::ApprovalSubject::LocalServer { url, server, model }
        }
        ApprovalSubject::GoOn { what } => wire::ApprovalSubject::GoOn { what },
        ApprovalSubject::Input { by, message, label, value } => {
            wire::ApprovalSubject::Input { by, message, label, value }
        }
    }
}

/// The user's decision; `id` is the record of the consent.
#[must_use]
pub fn approval_answer(decision: wire::ApprovalDecision, id: wire::ApprovalId) -> ApprovalAnswer {
    let approval = Some(id.to_string());
    match decision {
        wire::ApprovalDecision::Once => ApprovalAnswer::Approved { approval, lasts: Lasts::Once },
        wire::ApprovalDecision::Session => ApprovalAnswer::Approved { approval, lasts: Lasts::Session },
        wire::ApprovalDecision::Folder | wire::ApprovalDecision::Always => {
            ApprovalAnswer::Approved { approval, lasts: Lasts::Rule }
        }
        wire::ApprovalDecision::Edited { command } => ApprovalAnswer::Edited { command, approval },
        wire::ApprovalDecision::Refused { note } => {
            ApprovalAnswer::Refused { reason: UserRefusal::new(&note).to_string() }
        }
        wire::ApprovalDecision::CancelTurn => ApprovalAnswer::CancelTurn,
    }
}

/// The activity of a step.
#[must_use]
pub fn activity(activity: Activity) -> wire::StepActivity {
    match activity {
        Activity::ModelCall { is_host: true, .. } => wire::StepActivity::Shared,
        Activity::ModelCall { model, is_host: false } => wire::StepActivity::ModelCall { model },
        Activity::ToolCall { tool, title } => wire::StepActivity::ToolCall { tool, argument: title },
        Activity::Compaction => wire::StepActivity::Compaction,
        Activity::Attachment { path } => wire::StepActivity::Attachment { path },
    }
}

/// How far a subagent is.
#[must_use]
pub fn subagent_progress(turn_id: wire::TurnId, progress: SubagentProgress) -> wire::SubagentProgress {
    let SubagentProgress { number, kind, label, state, tokens, elapsed } = progress;
    let state = match state {
        SubagentState::Working(doing) => wire::SubagentState::Working(activity(doing)),
        SubagentState::Ended(result) => wire::SubagentState::Ended(outcome(result)),
    };
    wire::SubagentProgress { turn_id, number, kind, label, state, tokens, elapsed_ms: millis(elapsed) }
}

/// More about a step for the user's screen.
#[must_use]
pub fn step_detail(detail: StepDetail) -> wire::StepDetail {
    match detail {
        StepDetail::Change(diff) => wire::StepDetail::Change(file_diff(&diff)),
        StepDetail::Failure(result) => {
            let output = builtin_tools::output_of(&result);
            wire::StepDetail::Output(tail(output, wire::MAX_STEP_OUTPUT_BYTES).to_owned())
        }
        StepDetail::Lines(count) => wire::StepDetail::Lines(count),
    }
}

/// The change to a file for the user's screen: as many of its first lines as a message may hold.
fn file_diff(diff: &str) -> wire::FileDiff {
    // The step names the file.
    let named = diff
        .strip_prefix("--- ")
        .and_then(|rest| rest.split_once("\n+++ "))
        .and_then(|(_, rest)| rest.split_once('\n'));
    let diff = named.map_or(diff, |(_, hunks)| hunks);
    let kept = match diff.len() > wire::MAX_STEP_DIFF_BYTES {
        true => head(diff, wire::MAX_STEP_DIFF_BYTES).rfind('\n').map_or(0, |end| end + 1),
        false => diff.len(),
    };
    let left_out_lines = u32::try_from(diff[kept..].lines().count()).unwrap_or(u32::MAX);
    wire::FileDiff { diff: diff[..kept].to_owned(), left_out_lines }
}

/// The outcome of a step.
#[must_use]
pub fn outcome(result: StepResult) -> wire::StepOutcome {
    match result {
        StepResult::Done => wire::StepOutcome::Done,
        StepResult::Failed => wire::StepOutcome::Failed,
        StepResult::Refused => wire::StepOutcome::Refused,
        StepResult::Cancelled => wire::StepOutcome::Cancelled,
    }
}

/// The reason for the end of a turn.
#[must_use]
pub fn end_reason(result: &Result<StopReason, TurnError>) -> wire::TurnEndReason {
    match result {
        Ok(StopReason::Answered) => wire::TurnEndReason::Answered,
        Ok(StopReason::Cancelled) => wire::TurnEndReason::Cancelled,
        Ok(StopReason::StepLimit) => wire::TurnEndReason::StepLimit,
        Ok(StopReason::Refused) => wire::TurnEndReason::Refused,
        Ok(StopReason::Length) => wire::TurnEndReason::Length,
        Err(_) => wire::TurnEndReason::Failed,
    }
}

/// The kind of a failure.
#[must_use]
pub fn error_kind(error: &TurnError) -> wire::WireErrorKind {
    match error {
        TurnError::Provider(_) | TurnError::Incomplete { .. } | TurnError::BrokenCalls { .. } => {
            wire::WireErrorKind::Provider
        }
        TurnError::Settings { .. } | TurnError::Stopped { .. } => wire::WireErrorKind::Settings,
        TurnError::NothingToResume { .. } => wire::WireErrorKind::NotFound,
        TurnError::Internal => wire::WireErrorKind::Internal,
    }
}

/// Tokens and money; `is_cost_partial` if the real cost is higher than the known one.
#[must_use]
pub fn usage(usage: TokenUsage, is_cost_partial: bool) -> wire::Usage {
    wire::Usage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
        reasoning_tokens: usage.reasoning,
        cost_microusd: usage.cost_microusd,
        is_cost_partial,
    }
}

/// The used part of a budget.
#[must_use]
pub fn budget_used(turn_id: wire::TurnId, gauge: Gauge) -> wire::DaemonMessage {
    let budget = match gauge.kind {
        budget::LimitKind::TurnTokens => wire::BudgetKind::TurnTokens,
        budget::LimitKind::DayTokens => wire::BudgetKind::DayTokens,
        budget::LimitKind::DayCost => wire::BudgetKind::DayCost,
        budget::LimitKind::TurnTime => wire::BudgetKind::TurnTime,
    };
    wire::DaemonMessage::BudgetUsed(wire::BudgetUsed { turn_id, budget, percent: gauge.percent() })
}

/// Adds `more` to `total`; unknown figures of one side are left out of the sum.
pub fn add_usage(total: &mut wire::Usage, more: &wire::Usage) {
    for (total, more) in [
        (&mut total.input_tokens, more.input_tokens),
        (&mut total.output_tokens, more.output_tokens),
        (&mut total.cache_read_tokens, more.cache_read_tokens),
        (&mut total.cache_write_tokens, more.cache_write_tokens),
        (&mut total.reasoning_tokens, more.reasoning_tokens),
        (&mut total.cost_microusd, more.cost_microusd),
    ] {
        *total = match (*total, more) {
            (Some(total), Some(more)) => Some(total.saturating_add(more)),
            (total, more) => more.or(total),
        };
    }
    total.is_cost_partial |= more.is_cost_partial;
}

/// An error about a turn.
#[must_use]
pub fn turn_error(
    id: wire::TurnId,
    kind: wire::WireErrorKind,
    message: String,
    hint: Option<String>,
) -> wire::WireError {
    wire::WireError { about: wire::ErrorSubject::Turn(id), kind, message, hint }
}

/// A notice.
#[must_use]
pub fn notice(turn_id: Option<wire::TurnId>, kind: wire::NoticeKind, text: String) -> wire::DaemonMessage {
    wire::DaemonMessage::Notice(wire::Notice { turn_id, kind, text })
}

/// Milliseconds, as the wire counts.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn request_error(
    id: wire::RequestId,
    kind: wire::WireErrorKind,
    message: String,
    hint: Option<String>,
) -> wire::WireError {
    wire::WireError { about: wire::ErrorSubject::Request(id), kind, message, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_asked_about_as_one() {
        let subject = |pattern: Option<&str>| {
            let effect = Effect::Read { path: "/home/ann".into(), pattern: pattern.map(str::to_owned) };
            let subject = ApprovalSubject::Effect { tool: "grep".into(), effect };
            approval_subject(subject, Path::new("/w"), wire::RunMode::Live)
        };
        let path: wire::WirePath = Path::new("/home/ann").into();
        let (tool, pattern) = ("grep".to_owned(), "price".to_owned());
        assert_eq!(
            subject(Some("price")),
            wire::ApprovalSubject::Search { tool: tool.clone(), path: path.clone(), pattern }
        );
        assert_eq!(subject(None), wire::ApprovalSubject::FileRead { tool, path });
    }

    #[test]
    fn what_a_failed_command_wrote_is_sent_without_the_models_notes() {
        let result = format!("{}no such file\n[exit 1; cwd /w; 0.04 s]", "x\n".repeat(10_000));
        let wire::StepDetail::Output(output) = step_detail(StepDetail::Failure(result)) else { panic!("no output") };
        assert!(output.ends_with("x\nno such file") && output.len() <= wire::MAX_STEP_OUTPUT_BYTES, "{}", output.len());
    }

    #[test]
    fn a_change_is_sent_without_names_and_in_whole_lines() {
        let diff = "--- /w/a\n+++ /w/a\n@@ -1,2 +1 @@\n--- x\n+++ y\n-z\n";
        let sent = file_diff(diff);
        assert_eq!((sent.diff.as_str(), sent.left_out_lines), ("@@ -1,2 +1 @@\n--- x\n+++ y\n-z\n", 0));
        let line = format!("+{}\n", "é".repeat(50));
        let sent = file_diff(&format!("--- /dev/null\n+++ /w/b\n@@ -0,0 +1,1000 @@\n{}", line.repeat(1_000)));
        assert!(sent.diff.len() <= wire::MAX_STEP_DIFF_BYTES && sent.diff.ends_with("é\n"), "{}", sent.diff.len());
        assert_eq!(sent.diff.lines().count() + sent.left_out_lines as usize, 1_001);
        let one_line = format!("+{}", "x".repeat(2 * wire::MAX_STEP_DIFF_BYTES));
        assert_eq!(file_diff(&one_line), wire::FileDiff { diff: String::new(), left_out_lines: 1 });
    }
}
