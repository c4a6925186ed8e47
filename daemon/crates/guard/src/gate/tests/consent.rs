//! Tests of the user's consents, for the session or for good, and of their limits.

use super::*;
use crate::consents::MAX_REMEMBERED;

#[tokio::test]
async fn consent_for_the_session_holds_for_this_command_in_this_folder_only() {
    let (user, consents) = (user([yes(true), yes(true), yes(false)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    gate.before_tool(&mut planned("ask a", "/one")).await.unwrap();
    let mut again = planned("ask a", "/one");
    gate.before_tool(&mut again).await.unwrap();
    assert_eq!(again.approval.as_deref(), Some("id"));
    assert_eq!(user.questions.lock().unwrap().len(), 1);
    gate.before_tool(&mut planned("ask a", "/two")).await.unwrap();
    gate.before_tool(&mut planned("ask b", "/one")).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn consent_for_the_session_to_a_change_holds_for_further_changes_of_that_file() {
    let (user, consents) = (user([yes(true), yes(false)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let change = |path: &str, diff: &str, cwd: &str| {
        let effect = Effect::Write { path: path.into(), diff: diff.into() };
        PlannedCall { tool: "edit".into(), intent: Intent { title: path.into(), effect }, ..planned("", cwd) }
    };
    gate.before_tool(&mut change("/one/a", "+1", "/one")).await.unwrap();
    gate.before_tool(&mut change("/one/a", "+2", "/two")).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 1);
    gate.before_tool(&mut change("/one/b", "+1", "/one")).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn consent_to_danger_is_never_remembered() {
    let (user, consents) = (user([yes(true), yes(true)]), Consents::default());
    for _ in 0..2 {
        gate(ApprovalMode::Ask, &user, &consents).before_tool(&mut planned("danger", "/")).await.unwrap();
    }
    let questions = user.questions.lock().unwrap();
    assert_eq!(questions.iter().map(|question| question.is_dangerous).collect::<Vec<_>>(), [true, true]);
}

#[test]
fn what_is_remembered_is_bounded() {
    let consents = Consents::default();
    for n in 0..MAX_REMEMBERED + 10 {
        consents.remember(Effect::RunCommand { command: n.to_string().into() }, "/".into(), None);
    }
    assert_eq!(consents.agreed.lock().unwrap().len(), MAX_REMEMBERED);
    assert!(consents.recall(&Effect::RunCommand { command: "0".into() }, Path::new("/")).is_none());
}

#[tokio::test]
async fn what_runs_outside_of_the_sandbox_is_asked_about_each_time() {
    let (user, consents) = (user([yes(true), yes(true), yes(true)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let outside = |command| PlannedCall { tool: UNCONFINED.into(), ..planned(command, "/") };
    gate.before_tool(&mut planned("ask a", "/")).await.unwrap();
    gate.before_tool(&mut outside("ask a")).await.unwrap();
    gate.before_tool(&mut outside("allow a")).await.unwrap();
    let reasons: Vec<_> = user.questions.lock().unwrap().iter().map(|question| question.reasons.join(" ")).collect();
    assert!(reasons.len() == 3 && reasons[2].contains("outside of the sandbox"), "{reasons:?}");
    let refused = self::gate(ApprovalMode::ReadOnly, &user, &consents).before_tool(&mut outside("allow a")).await;
    assert!(matches!(refused, Err(Denial::Refused { .. })));
}

#[tokio::test]
async fn what_is_allowed_for_good_is_not_asked_in_its_folder_in_any_session() {
    for (folder, cwd, questions) in [(None, "/one", 0), (Some("/one"), "/one", 0), (Some("/one"), "/two", 1)] {
        let user = user([yes(false)]);
        let gate = gate(ApprovalMode::Ask, &user, &Consents::default()).with_remembered(allowed("ask a", folder));
        gate.before_tool(&mut planned("ask a", cwd)).await.unwrap();
        assert_eq!(user.questions.lock().unwrap().len(), questions, "{folder:?} {cwd}");
    }
}

#[tokio::test]
async fn a_rule_lowers_a_question_and_never_danger_denial_or_a_stricter_mode() {
    for (command, mode, may_run, questions) in [
        ("danger a", ApprovalMode::Ask, true, 1),
        ("deny a", ApprovalMode::Ask, false, 0),
        ("ask a", ApprovalMode::ReadOnly, false, 0),
        ("ask a; id", ApprovalMode::Ask, true, 1),
    ] {
        let user = user([yes(false)]);
        let rule = command.trim_end_matches("; id");
        let gate = gate(mode, &user, &Consents::default()).with_remembered(allowed(rule, None));
        assert_eq!(gate.before_tool(&mut planned(command, "/")).await.is_ok(), may_run, "{command}");
        assert_eq!(user.questions.lock().unwrap().len(), questions, "{command}");
    }
}

#[tokio::test]
async fn a_repeat_without_an_approver_is_not_the_users_refusal() {
    let (user, consents) = (user([ApprovalAnswer::Refused { reason: NO_APPROVER.into() }]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let mut refused = Vec::new();
    for _ in 0..2 {
        let denial = gate.before_tool(&mut planned("ask a", "/")).await;
        let Err(Denial::Refused { reason }) = denial else { panic!("it ran") };
        refused.push(reason);
    }
    assert_eq!(refused, [NO_APPROVER, "refused already: no one can approve here"]);
}
