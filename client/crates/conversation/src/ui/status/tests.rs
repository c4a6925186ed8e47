//! Tests for status lines. The screens of these lines are in `app/tests/screens/turn.rs`.

use super::*;

#[test]
fn foreign_text_never_breaks_the_line() {
    let hostile = StepActivity::ToolCall { tool: "ba\nsh".into(), argument: "x".repeat(500) };
    let line = step_started(&hostile, 40).expect("a line");
    assert_eq!(line.width(), 40);
    assert!(!line.to_string().contains('\n'));
}

#[test]
fn the_user_reads_the_refusal_as_the_users_own() {
    let step = StepActivity::ToolCall { tool: "bash".into(), argument: "touch a".into() };
    let shown =
        |outcome, summary: &str, style| step_finished(&step, outcome, summary, 0, 80, style).unwrap().to_string();
    for (outcome, reason, expected) in [
        (StepOutcome::Refused, UserRefusal::new("not in home").to_string(), "  ✗ you refused: \"not in home\""),
        (StepOutcome::Refused, UserRefusal::default().to_string(), "  ✗ you refused"),
        (StepOutcome::Refused, "the policy refuses it".to_owned(), "  ✗ the policy refuses it"),
        (StepOutcome::Failed, "the user refused: said a file".to_owned(), "  ✗ the user refused: said a file"),
    ] {
        assert_eq!(shown(outcome, &reason, OutputStyle::Rich), expected);
    }
    let reason = UserRefusal::new("no").to_string();
    assert_eq!(shown(StepOutcome::Refused, &reason, OutputStyle::Accessible), "Refused: bash, you refused: \"no\".");
}
