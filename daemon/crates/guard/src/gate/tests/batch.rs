//! Tests of one question about several calls of one answer.

use super::*;

#[tokio::test]
async fn commands_of_one_answer_are_asked_about_beforehand_and_then_no_more() {
    let user = user([yes(false), no()]);
    let gate = gate(ApprovalMode::Ask, &user, &Consents::default());
    let mut calls = ["ask a", "allow b", "ask c"].map(|command| planned(command, "/"));
    assert!(gate.before_tools(&calls).await.is_continue());
    assert_eq!(asked(&user), ["ask a", "ask c"]);
    gate.before_tool(&mut calls[0]).await.unwrap();
    assert_eq!(calls[0].approval.as_deref(), Some("id"));
    gate.before_tool(&mut calls[1]).await.unwrap();
    let refused = gate.before_tool(&mut calls[2]).await;
    assert_eq!(refused, Err(Denial::Refused { reason: "not now".into() }));
    assert_eq!(asked(&user).len(), 2);
}

#[tokio::test]
async fn changes_of_one_answer_are_asked_about_beforehand_each_file_once() {
    let user = user([yes(false), no(), yes(false)]);
    let gate = gate(ApprovalMode::Ask, &user, &Consents::default());
    let change = |path: &str, diff: &str| {
        let effect = Effect::Write { path: path.into(), diff: diff.into() };
        PlannedCall { tool: "edit".into(), intent: Intent { title: path.into(), effect }, ..planned("", "/") }
    };
    let mut calls = [change("/a", "+1"), planned("allow b", "/"), change("/c", "+2"), change("/a", "+3")];
    assert!(gate.before_tools(&calls).await.is_continue());
    assert_eq!(user.questions.lock().unwrap().len(), 2);
    gate.before_tool(&mut calls[0]).await.unwrap();
    let refused = gate.before_tool(&mut calls[2]).await;
    assert_eq!(refused, Err(Denial::Refused { reason: "not now".into() }));
    assert_eq!(user.questions.lock().unwrap().len(), 2);
    gate.before_tool(&mut calls[3]).await.unwrap();
    let questions = user.questions.lock().unwrap();
    assert_eq!(questions.len(), 3);
    assert!(questions[2].reasons.contains(&"change 3 of 3 in this answer".to_owned()), "{:?}", questions[2].reasons);
}

#[tokio::test]
async fn danger_and_what_is_known_already_are_in_no_batch() {
    let (user, consents) = (user([yes(true), no()]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents).with_remembered(allowed("ask b", None));
    gate.before_tool(&mut planned("ask a", "/")).await.unwrap();
    gate.before_tool(&mut planned("ask n", "/")).await.unwrap_err();
    // Only one is left to be asked, and that when its turn comes.
    let calls =
        ["ask a", "ask b", "ask n", "danger d", "deny e", "ask c", "ask c"].map(|command| planned(command, "/"));
    assert!(gate.before_tools(&calls).await.is_continue());
    assert_eq!(asked(&user), ["ask a", "ask n"]);
}

#[tokio::test]
async fn a_command_whose_folder_has_changed_meanwhile_is_asked_again() {
    let user = user([yes(false), yes(false), yes(false)]);
    let gate = gate(ApprovalMode::Ask, &user, &Consents::default());
    let calls = ["ask cd", "ask b"].map(|command| planned(command, "/"));
    assert!(gate.before_tools(&calls).await.is_continue());
    gate.before_tool(&mut planned("ask cd", "/")).await.unwrap();
    gate.before_tool(&mut planned("ask b", "/elsewhere")).await.unwrap();
    assert_eq!(asked(&user), ["ask cd", "ask b", "ask b"]);
    // An answer counts once.
    gate.before_tool(&mut planned("ask b", "/")).await.unwrap();
    assert_eq!(asked(&user).len(), 3);
}

#[tokio::test]
async fn an_answer_can_change_one_command_of_a_batch_or_end_the_turn() {
    let edited = ApprovalAnswer::Edited { command: "ask mine".into(), approval: Some("e".into()) };
    let user = user([edited, yes(false), ApprovalAnswer::CancelTurn]);
    let gate = gate(ApprovalMode::Ask, &user, &Consents::default());
    let mut calls = ["ask a", "ask b"].map(|command| planned(command, "/"));
    assert!(gate.before_tools(&calls).await.is_continue());
    gate.before_tool(&mut calls[0]).await.unwrap();
    assert_eq!(calls[0].args["command"], json!("ask mine"));
    assert!(gate.before_tools(&["ask x", "ask y"].map(|command| planned(command, "/"))).await.is_break());
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_a_batch_is_asked_again_after_ten_minutes() {
    let user = user([yes(false), yes(false), yes(false)]);
    let gate = gate(ApprovalMode::Ask, &user, &Consents::default());
    let (mut first, mut second) = (planned("ask a", "/"), planned("ask b", "/"));
    assert!(gate.before_tools(&[first.clone(), second.clone()]).await.is_continue());
    gate.before_tool(&mut first).await.unwrap();
    assert_eq!(asked(&user).len(), 2);
    tokio::time::advance(std::time::Duration::from_secs(601)).await;
    gate.before_tool(&mut second).await.unwrap();
    assert_eq!(asked(&user).len(), 3);
    assert_eq!(second.agreed_at, Some(Instant::now()), "the time counts from the last yes");
}

#[tokio::test]
async fn nothing_is_asked_beforehand_where_nothing_is_asked() {
    for mode in [ApprovalMode::All, ApprovalMode::ReadOnly] {
        let user = user([]);
        let calls = ["ask a", "ask b"].map(|command| planned(command, "/"));
        assert!(gate(mode, &user, &Consents::default()).before_tools(&calls).await.is_continue());
    }
}

#[tokio::test]
async fn changes_that_are_too_large_to_be_asked_about_together_are_numbered() {
    let diff = "+".repeat(100 * 1024);
    let change = |path: &str| {
        let mut call = planned("write", "/");
        call.intent.effect = Effect::Write { path: path.into(), diff: diff.as_str().into() };
        call
    };
    let user = user([yes(false), yes(false), yes(false)]);
    let gate = gate(ApprovalMode::Ask, &user, &Consents::default());
    let mut calls = [change("/a"), planned("allow x", "/"), change("/b")];
    assert!(gate.before_tools(&calls).await.is_continue());
    for call in &mut calls {
        gate.before_tool(call).await.unwrap();
    }
    gate.before_tool(&mut change("/b")).await.unwrap();
    let numbers = |question: &ApprovalQuestion| question.reasons.get(1).cloned().unwrap_or_default();
    let said: Vec<String> = user.questions.lock().unwrap().iter().map(numbers).collect();
    let place = |number: usize| format!("change {number} of 2 in this answer");
    assert_eq!(said, [place(1), place(2), String::new()]);
}
