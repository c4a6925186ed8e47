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
            step_started(&bash(), 80),
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
fn notices_and_errors() {
    let lines = |look| {
        let say = |kind| notice(&Notice { turn_id: None, kind, text: "the server is overloaded".into() }, 80, look);
        let failed = WireError {
            about: ErrorSubject::Connection,
            kind: WireErrorKind::Provider,
            message: "401 from api.example.com".into(),
            hint: Some("check ANTHROPIC_API_KEY".into()),
        };
        [
            say(NoticeKind::Info),
            say(NoticeKind::Warning),
            say(NoticeKind::Retry { after_ms: 2_000 }),
            error(&failed, 80),
        ]
        .concat()
    };
    insta::assert_snapshot!(both(lines));
}

#[test]
fn foreign_text_never_breaks_the_line() {
    let hostile = StepActivity::ToolCall { tool: "ba\nsh".into(), argument: "x".repeat(500) };
    let line = step_started(&hostile, 40).expect("a line");
    assert_eq!(line.width(), 40);
    assert!(!line.to_string().contains('\n'));
}
