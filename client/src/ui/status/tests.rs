use cohab_protocol::{ErrorSubject, WireErrorKind};

use super::*;
use crate::ui::describe::styled;

fn bash() -> StepActivity {
    StepActivity::ToolCall { tool: "bash".into(), argument: "du -sh *\nls".into() }
}

fn both(make: impl Fn(Look) -> Vec<Line<'static>>) -> String {
    format!("{}---\n{}", styled(&make(Look::Glyphs)), styled(&make(Look::Sentences)))
}

#[test]
fn steps() {
    let lines = |look| {
        let finished = |outcome, summary| step_finished(&bash(), outcome, summary, 1_234, 80, look);
        [
            step_started(&bash(), 80, look),
            finished(StepOutcome::Done, "exit 0"),
            finished(StepOutcome::Failed, "exit 1"),
            finished(StepOutcome::Refused, ""),
            finished(StepOutcome::Cancelled, ""),
        ]
        .into_iter()
        .flatten()
        .collect()
    };
    insta::assert_snapshot!(both(lines));
}

#[test]
fn the_status_line() {
    let model = StepActivity::ModelCall { model: "anthropic/claude".into() };
    let lines = |look| {
        vec![
            status(&model, ApprovalMode::Ask, None, 80, look),
            status(&bash(), ApprovalMode::All, Some(12_000), 80, look),
            status(&bash(), ApprovalMode::All, Some(12_000), 30, look),
        ]
    };
    insta::assert_snapshot!(both(lines));
}

#[test]
fn notices_errors_and_the_end() {
    let lines = |look| {
        let say = |kind| notice(&Notice { turn_id: None, kind, text: "the server is overloaded".into() }, 80, look);
        let failed = WireError {
            about: ErrorSubject::Connection,
            kind: WireErrorKind::Provider,
            message: "401 from api.example.com".into(),
            hint: Some("check ANTHROPIC_API_KEY".into()),
        };
        let usage = Usage {
            input_tokens: Some(1_200),
            output_tokens: Some(345),
            cache_read_tokens: Some(40_000),
            cost_microusd: Some(12_345),
            ..Usage::default()
        };
        [
            say(NoticeKind::Info),
            say(NoticeKind::Warning),
            say(NoticeKind::Retry { after_ms: 2_000 }),
            error(&failed, 80),
            turn_ended(TurnEndReason::Answered, &usage, 12_345, 80, look),
            turn_ended(TurnEndReason::Cancelled, &Usage::default(), 65_000, 80, look),
        ]
        .concat()
    };
    insta::assert_snapshot!(both(lines));
}

#[test]
fn foreign_text_never_breaks_the_line() {
    let hostile = StepActivity::ToolCall { tool: "ba\nsh".into(), argument: "x".repeat(500) };
    let line = step_started(&hostile, 40, Look::Glyphs).expect("a line");
    assert_eq!(line.width(), 40);
    assert!(!line.to_string().contains('\n'));
}
