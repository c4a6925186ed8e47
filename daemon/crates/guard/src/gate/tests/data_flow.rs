//! Tests of the gate after untrusted text, and of commands that send data to another host.

use cohab_policy::assess_line;

use super::*;

#[tokio::test]
async fn what_was_agreed_to_before_a_text_from_elsewhere_came_is_asked_again_with_the_reason() {
    let (user, consents) =
        (user([yes(true), yes(true), yes(false), yes(false), yes(false), yes(false)]), Consents::default());
    let gate = gate(ApprovalMode::Ask, &user, &consents).with_remembered(allowed("ask b", None));
    gate.before_tool(&mut planned("ask a", "/")).await.unwrap();
    gate.before_tool(&mut planned("ask b", "/")).await.unwrap();
    assert_eq!(asked(&user), ["ask a"]);
    consents.taint().raise("`curl`");
    for command in ["ask a", "ask a", "ask b", "ask c"] {
        gate.before_tool(&mut planned(command, "/")).await.unwrap();
    }
    assert_eq!(asked(&user), ["ask a", "ask a", "ask b", "ask c"], "what is agreed to since then holds");
    let calls = ["ask b", "ask d"].map(|command| planned(command, "/"));
    assert!(gate.before_tools(&calls).await.is_continue());
    let questions = user.questions.lock().unwrap();
    let reasons: Vec<_> = questions[1..].iter().map(|question| question.reasons.get(1).map(String::as_str)).collect();
    let full = Some("asked again: careful: its input included text from `curl`, which you may not have written");
    let (again, read) = (Some("asked again: after outside text"), Some("after outside text"));
    assert_eq!(reasons, [full, again, read, again, read], "in full once");
}

#[tokio::test]
async fn after_a_text_from_elsewhere_the_card_says_so_and_encoders_and_other_folders_are_asked() {
    let (user, consents) = (user((0..4).map(|_| yes(false))), Consents::default());
    let policy: Policy = |effect, context| match effect {
        Effect::RunCommand { command } => assess_line(command, context),
        _ => Verdict::new(Level::Allow, Vec::new()),
    };
    let gate = Gate::new(
        policy,
        Arc::new(|| ApprovalMode::Auto),
        Arc::clone(&user) as _,
        consents.clone(),
        "/home/ann".into(),
        Shell::Bash,
    )
    .in_workspace("/home/ann/shop".into());
    let lines = ["cat a | base64", "cd /tmp", "cd /home/ann/shop/src", "git log"];
    for line in lines {
        gate.before_tool(&mut planned(line, "/home/ann/shop")).await.unwrap();
    }
    assert_eq!(asked(&user), [""; 0]);
    consents.taint().raise("`curl`");
    for line in lines {
        gate.before_tool(&mut planned(line, "/home/ann/shop")).await.unwrap();
    }
    assert_eq!(asked(&user), ["cat a | base64", "cd /tmp"]);
    let questions = user.questions.lock().unwrap();
    assert_eq!(
        questions[0].reasons.last().map(String::as_str),
        Some("careful: its input included text from `curl`, which you may not have written")
    );
    assert_eq!(
        questions[1].reasons.join("; "),
        "it leaves the workspace, and another folder may have hooks of its own; after outside text"
    );
}

#[tokio::test]
async fn what_tells_another_host_something_is_asked_in_every_mode_and_despite_every_rule() {
    let lasting = ApprovalAnswer::Approved { approval: None, lasts: Lasts::Rule };
    for mode in [ApprovalMode::Ask, ApprovalMode::Auto] {
        let (user, consents) = (user([lasting.clone(), lasting.clone()]), Consents::default());
        let gate = gate(mode, &user, &consents).with_remembered(allowed("cargo publish", None));
        for _ in 0..2 {
            gate.before_tool(&mut planned("cargo publish", "/home/ann")).await.unwrap();
        }
        assert_eq!(asked(&user).len(), 2, "{mode}");
        let reasons = user.questions.lock().unwrap()[0].reasons.join("; ");
        assert!(reasons.contains("sends data to another host"), "{reasons}");
    }
}

#[tokio::test]
async fn mode_all_tells_another_host_nothing_unasked_after_a_text_from_elsewhere() {
    for (source, command, questions) in
        [(None, "git push", 0), (Some("`curl`"), "git push", 2), (Some("`curl`"), "rm -rf x", 0)]
    {
        let (user, consents) = (user([yes(true), no()]), Consents::default());
        source.into_iter().for_each(|source| consents.taint().raise(source));
        let gate = gate(ApprovalMode::All, &user, &consents);
        let may_run = [
            gate.before_tool(&mut planned(command, "/")).await.is_ok(),
            gate.before_tool(&mut planned(command, "/")).await.is_ok(),
        ];
        assert_eq!((may_run, asked(&user).len()), ([true, questions == 0], questions), "{command} {source:?}");
    }
}
