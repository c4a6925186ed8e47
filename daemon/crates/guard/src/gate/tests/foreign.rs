//! Tests of actions of other programs: who allows them, and for how long.

use super::*;

fn action(by: &str, action: &str, details: &str, has_rule: bool) -> PlannedCall {
    let effect = Effect::Foreign { by: by.into(), action: action.into(), details: details.into(), has_rule };
    PlannedCall { tool: "mcp_call".into(), intent: Intent { title: action.into(), effect }, ..planned("", "/") }
}

/// Whether the action may run, and the number of questions. The user says yes.
async fn judged(mode: ApprovalMode, has_rule: bool, is_tainted: bool) -> (bool, usize) {
    let (user, consents) = (user([yes(false)]), Consents::default());
    if is_tainted {
        consents.taint().raise("`curl`");
    }
    let gate = gate(mode, &user, &consents);
    let may_run = gate.before_tool(&mut action("MCP server time", "now", "", has_rule)).await.is_ok();
    let questions = user.questions.lock().unwrap().len();
    (may_run, questions)
}

#[tokio::test]
async fn modes_and_rules_decide_about_other_programs() {
    use ApprovalMode::{All, Ask, Auto, ReadOnly};
    for (mode, has_rule, is_tainted, expected) in [
        (ReadOnly, false, false, (false, 0)),
        (ReadOnly, true, false, (false, 0)),
        (Ask, false, false, (true, 1)),
        (Ask, true, false, (true, 0)),
        (Ask, true, true, (true, 1)),
        (Auto, false, false, (true, 1)),
        (Auto, true, false, (true, 0)),
        (Auto, true, true, (true, 1)),
        (All, false, false, (true, 0)),
        (All, false, true, (true, 1)),
        (All, true, true, (true, 1)),
    ] {
        assert_eq!(judged(mode, has_rule, is_tainted).await, expected, "{mode:?} {has_rule} {is_tainted}");
    }
}

#[tokio::test]
async fn consent_for_the_session_holds_for_that_action_of_that_program() {
    let (user, consents) = (user([yes(true), yes(false), yes(false)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let mut first = action("MCP server time", "now", "Rome", false);
    gate.before_tool(&mut first).await.unwrap();
    let again = PlannedCall { cwd: "/two".into(), ..action("MCP server time", "now", "Oslo", false) };
    gate.before_tool(&mut { again }).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 1);
    gate.before_tool(&mut action("MCP server time", "set", "Rome", false)).await.unwrap();
    gate.before_tool(&mut action("MCP server other", "now", "Rome", false)).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn consent_from_before_outside_text_is_asked_for_again() {
    let (user, consents) = (user([yes(true), yes(true)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let call = || action("MCP server time", "now", "Rome", false);
    gate.before_tool(&mut call()).await.unwrap();
    consents.taint().raise("MCP server time");
    gate.before_tool(&mut call()).await.unwrap();
    gate.before_tool(&mut call()).await.unwrap();
    let questions = user.questions.lock().unwrap();
    assert_eq!(questions.len(), 2, "the second yes knew of the text");
    assert!(questions[1].reasons.iter().any(|reason| reason.starts_with("asked again")), "{:?}", questions[1].reasons);
}

#[tokio::test]
async fn a_refused_action_is_not_asked_about_again_in_the_turn() {
    let (user, consents) = (user([no()]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    for _ in 0..2 {
        assert!(gate.before_tool(&mut action("MCP server time", "now", "Rome", false)).await.is_err());
    }
    assert_eq!(user.questions.lock().unwrap().len(), 1);
}
