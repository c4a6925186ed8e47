//! Tests for status lines. The screens of these lines are in `app/tests/screens/turn.rs`.

use super::*;

#[test]
fn foreign_text_never_breaks_the_line() {
    let hostile = StepActivity::ToolCall { tool: "ba\nsh".into(), argument: "x".repeat(500) };
    let line = step_started(&hostile, 40).expect("a line");
    assert_eq!(line.width(), 40);
    assert!(!line.to_string().contains('\n'));
}
