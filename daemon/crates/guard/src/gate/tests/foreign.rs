//! Tests of actions of other programs: who allows them, and for how long.

use super::*;

fn action(by: &str, action: &str, details: &str, agreed: Agreed) -> PlannedCall {
    let effect = Effect::Foreign { by: by.into(), action: action.into(), details: details.into(), agreed };
    PlannedCall { tool: "mcp_call".into(), intent: Intent { title: action.into(), effect }, ..planned("", "/") }
}

/// Whether the action may run, and the number of questions. The user says yes.
async fn judged(mode: ApprovalMode, agreed: Agreed, is_tainted: bool) -> (bool, usize) {
    let (user, consents) = (user([yes(false)]), Consents::default());
    if is_tainted {
        consents.taint().raise("`curl`");
    }
    let gate = gate_with(standard_policy, mode, &user, &consents);
    let may_run = gate.before_tool(&mut action("MCP server time", "now", "", agreed)).await.is_ok();
    let questions = user.questions.lock().unwrap().len();
    (may_run, questions)
}

#[tokio::test]
async fn modes_and_rules_decide_about_other_programs() {
    use ApprovalMode::{All, Ask, Auto, ReadOnly};

    use Agreed::{ByRule, InQuestion, No};
    for (mode, agreed, is_tainted, expected) in [
        (ReadOnly, No, false, (false, 0)),
        (ReadOnly, ByRule, false, (false, 0)),
        (Ask, No, false, (true, 1)),
        (Ask, ByRule, false, (true, 0)),
        (Ask, ByRule, true, (true, 1)),
        (Auto, No, false, (true, 1)),
        (Auto, ByRule, false, (true, 0)),
        (Auto, ByRule, true, (true, 1)),
        (All, No, false, (true, 0)),
        (All, No, true, (true, 1)),
        (All, ByRule, true, (true, 1)),
        (ReadOnly, InQuestion, false, (true, 0)),
        (Ask, InQuestion, true, (true, 0)),
        (Auto, InQuestion, true, (true, 0)),
    ] {
        assert_eq!(judged(mode, agreed, is_tainted).await, expected, "{mode:?} {agreed:?} {is_tainted}");
    }
}

#[tokio::test]
async fn consent_for_the_session_holds_for_that_action_of_that_program() {
    let (user, consents) = (user([yes(true), yes(false), yes(false)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let mut first = action("MCP server time", "now", "Rome", Agreed::No);
    gate.before_tool(&mut first).await.unwrap();
    let again = PlannedCall { cwd: "/two".into(), ..action("MCP server time", "now", "Oslo", Agreed::No) };
    gate.before_tool(&mut { again }).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 1);
    gate.before_tool(&mut action("MCP server time", "set", "Rome", Agreed::No)).await.unwrap();
    gate.before_tool(&mut action("MCP server other", "now", "Rome", Agreed::No)).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn consent_from_before_outside_text_is_asked_for_again() {
    let (user, consents) = (user([yes(true), yes(true)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let call = || action("MCP server time", "now", "Rome", Agreed::No);
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
        assert!(gate.before_tool(&mut action("MCP server time", "now", "Rome", Agreed::No)).await.is_err());
    }
    assert_eq!(user.questions.lock().unwrap().len(), 1);
}
