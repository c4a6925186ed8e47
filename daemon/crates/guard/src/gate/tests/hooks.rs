//! A hook of the user's wants a question.

use super::*;

fn objected(command: &str) -> PlannedCall {
    PlannedCall { must_ask: Some("your hook wants you to be asked".into()), ..planned(command, "/") }
}

#[tokio::test]
async fn what_a_hook_objects_to_is_asked_each_time_in_every_mode() {
    for mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::All] {
        let user = user([yes(true), yes(true)]);
        let gate = gate(mode, &user, &Consents::default()).with_remembered(allowed("allow", None));
        for _ in 0..2 {
            assert_eq!(gate.before_tool(&mut objected("allow")).await, Ok(()), "{mode:?}");
        }
        let questions = user.questions.lock().unwrap();
        assert_eq!(questions.len(), 2, "{mode:?}");
        assert!(questions[0].is_each_time && questions[0].reasons.iter().any(|reason| reason.contains("your hook")));
    }
    let user = user([]);
    let gate = gate(ApprovalMode::ReadOnly, &user, &Consents::default());
    assert!(gate.before_tool(&mut objected("allow")).await.is_err(), "no one is asked where only reading is allowed");
}

#[tokio::test]
async fn a_hook_does_not_lift_what_is_never_allowed() {
    let user = user([]);
    let gate = gate(ApprovalMode::All, &user, &Consents::default());
    assert!(gate.before_tool(&mut objected("deny")).await.is_err());
}
