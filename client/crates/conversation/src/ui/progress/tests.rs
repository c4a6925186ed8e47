use cohab_term::describe::styled;
use proptest::prelude::*;

use super::*;

fn usage(tokens: Option<u64>, cost_microusd: Option<u64>) -> Usage {
    Usage { input_tokens: tokens, output_tokens: tokens.map(|_| 200), cost_microusd, ..Usage::default() }
}

fn bash(argument: &str) -> StepActivity {
    StepActivity::ToolCall { tool: "bash".into(), argument: argument.into() }
}

const MODEL: &str = "anthropic/claude";

#[test]
fn the_line_and_the_sentence() {
    let model = StepActivity::ModelCall { model: MODEL.into() };
    let (known, tokens, nothing) = (usage(Some(3_000), Some(12_345)), usage(Some(3_000), None), usage(None, None));
    let of = |activity, step, elapsed_s, usage, approval| TurnStatus {
        activity,
        step,
        said: None,
        elapsed_s,
        usage,
        budget: None,
        approval,
    };
    let (test, long) = (bash("cargo test\n--all"), bash(&"x".repeat(200)));
    let cases = [
        of(&model, 0, 0, None, ApprovalMode::Ask),
        of(&model, 0, 12, None, ApprovalMode::Ask),
        of(&model, 2, 75, Some(&known), ApprovalMode::Ask),
        of(&test, 1, 12, Some(&tokens), ApprovalMode::Ask),
        of(&test, 1, 12, Some(&nothing), ApprovalMode::All),
        of(&long, 3, 12, Some(&known), ApprovalMode::All),
        of(&StepActivity::Compaction, 3, 12, Some(&known), ApprovalMode::Ask),
    ];
    let mut all = String::new();
    for status in cases {
        for width in [100, 60, 40, 20] {
            all += &styled(&[status.line(width, OutputStyle::Rich)]);
        }
        all += &format!("{}\n\n", status.sentence());
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_a_step_says_of_itself_stands_before_the_time() {
    let index = StepActivity::ToolCall { tool: "mcp_call".into(), argument: "docs · index".into() };
    let status = |said| TurnStatus {
        activity: &index,
        step: 1,
        said,
        elapsed_s: 12,
        usage: None,
        budget: None,
        approval: ApprovalMode::Ask,
    };
    let line = |said, width| status(said).line(width, OutputStyle::Rich).to_string();
    let said = Some("40 %, reading files");
    assert_eq!(line(said, 100), "● step 2 · mcp_call docs · index · 40 %, reading files · 12 s · Ctrl-C stops");
    assert_eq!(line(said, 60), "● mcp_call docs… · 40 %, reading files · 12 s · Ctrl-C stops");
    assert_eq!(line(said, 40), "● mcp_call docs · index · Ctrl-C stops");
    assert_eq!(line(None, 60), "● step 2 · mcp_call docs · index · 12 s · Ctrl-C stops");
}

proptest! {
    #[test]
    fn the_line_fits_and_says_how_to_stop_where_there_is_room(
        argument in "[a-z\u{1b}\n日👍\u{202e} ]{0,60}", step in 0u32..20, elapsed_s in 0u32..10_000, width in 1usize..120,
    ) {
        let (activity, usage) = (bash(&argument), usage(Some(99_000), Some(1)));
        let status = TurnStatus { activity: &activity, step, said: None, elapsed_s, usage: Some(&usage), budget: None, approval: ApprovalMode::Ask };
        let line = status.line(width, OutputStyle::Rich);
        prop_assert!(line.width() <= width, "{line}");
        prop_assert!(!line.to_string().chars().any(char::is_control), "{line}");
        prop_assert!(width < 32 || line.to_string().ends_with("Ctrl-C stops"), "{line}");
    }
}
