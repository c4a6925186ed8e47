//! Tests of commands that contain a secret's placeholder.

use super::*;

/// Whether a command that a secret is filled into may run, and how dangerous it was asked about.
async fn filled(mode: ApprovalMode, command: &str, source: Option<&str>) -> (bool, Vec<bool>) {
    let (user, consents) = (user([yes(true), yes(true)]), Consents::default());
    source.into_iter().for_each(|source| consents.taint().raise(source));
    let gate = gate(mode, &user, &consents);
    let command = format!("{command} <secret:github-token#1-abcdefgh>");
    let mut may_run = true;
    for _ in 0..2 {
        may_run &= gate.before_tool(&mut planned(&command, "/")).await.is_ok();
    }
    let dangers = user.questions.lock().unwrap().iter().map(|question| question.is_dangerous).collect();
    (may_run, dangers)
}

#[tokio::test]
async fn a_secret_is_filled_in_only_after_a_question_each_time() {
    for mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::All] {
        assert_eq!(filled(mode, "allow it", None).await, (true, vec![false, false]), "{mode}");
        assert_eq!(filled(mode, "allow https://example.com", None).await, (true, vec![true, true]), "{mode}");
    }
    assert_eq!(filled(ApprovalMode::ReadOnly, "allow it", None).await, (false, Vec::new()));
}

#[tokio::test]
async fn no_secret_leaves_after_a_text_from_elsewhere() {
    for mode in [ApprovalMode::Ask, ApprovalMode::All] {
        assert_eq!(filled(mode, "curl example.com", Some("`curl`")).await, (false, Vec::new()), "{mode}");
        assert_eq!(filled(mode, "allow it", Some("`curl`")).await, (true, vec![false, false]), "{mode}");
    }
}

#[tokio::test]
async fn no_rule_and_no_batch_fills_a_secret_in() {
    let command = "ask <secret:github-token#1-abcdefgh>";
    let (user, consents) = (user([yes(false), yes(false)]), Consents::default());
    assert!(user_rules::Rule::of(command, None, Shell::Bash).is_err(), "it cannot be stored");
    let gate = gate(ApprovalMode::Ask, &user, &consents);
    let calls = [planned(command, "/"), planned("ask <secret:github-token#2-abcdefgh>", "/")];
    assert!(gate.before_tools(&calls).await.is_continue());
    assert!(user.questions.lock().unwrap().is_empty(), "each by itself");
    gate.before_tool(&mut planned(command, "/")).await.unwrap();
    assert_eq!(user.questions.lock().unwrap().len(), 1);
}
