//! Tests of commands that the sandbox would stop.

use super::*;

/// A gate whose sandbox lets commands write below `shop` in the home only.
fn confined(mode: ApprovalMode, user: &Arc<User>, home: &Path) -> Gate {
    let (writable, home) = (vec![home.join("shop")], home.to_owned());
    gate(mode, user, &Consents::default()).with_reach(Some(SandboxReach { writable, home }))
}

fn bash(command: &str, cwd: &Path) -> PlannedCall {
    PlannedCall { tool: "bash".into(), ..planned(command, cwd.to_str().expect("text")) }
}

#[tokio::test]
async fn a_command_that_the_sandbox_would_stop_is_agreed_to_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    std::fs::create_dir(home.join("shop")).expect("made");
    let shop = home.join("shop");
    for mode in [ApprovalMode::Ask, ApprovalMode::Auto] {
        let user = user(std::iter::repeat_with(|| yes(true)).take(3));
        let gate = confined(mode, &user, &home);
        let cases = [
            (
                "mkdir -p dir1",
                &home,
                "the sandbox will not let it write here: y runs it without the sandbox".to_owned(),
            ),
            (
                "mkdir -p dir1",
                &home,
                "the sandbox will not let it write here: y runs it without the sandbox".to_owned(),
            ),
            (
                "touch ../x",
                &shop,
                format!("the sandbox will not let it write in {}: y runs it without the sandbox", home.display()),
            ),
        ];
        for (command, cwd, reason) in cases {
            let mut call = bash(command, cwd);
            gate.before_tool(&mut call).await.expect("it may run");
            assert_eq!(call.tool, UNCONFINED, "{command}");
            assert!(call.note.is_some_and(|note| note.contains("without the sandbox")));
            let questions = user.questions.lock().unwrap();
            let question = questions.last().expect("a question");
            assert!(question.is_each_time && question.reasons.contains(&reason), "{:?}", question.reasons);
        }
        assert_eq!(user.questions.lock().unwrap().len(), 3, "a yes holds once");
    }
}

#[tokio::test]
async fn what_the_sandbox_allows_or_what_is_not_asked_stays_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    std::fs::create_dir(home.join("shop")).expect("made");
    for (mode, command, cwd) in [
        (ApprovalMode::Ask, "mkdir dir1", home.join("shop")),
        (ApprovalMode::Ask, "python3 x.py >/dev/null", home.clone()),
        (ApprovalMode::Ask, "allow >x", home.clone()),
        (ApprovalMode::All, "mkdir dir1", home.clone()),
    ] {
        let user = user([yes(false)]);
        let mut call = bash(command, &cwd);
        confined(mode, &user, &home).before_tool(&mut call).await.expect("it may run");
        assert_eq!((call.tool.as_str(), call.note), ("bash", None), "{command}");
    }
}

#[tokio::test]
async fn such_a_command_is_not_asked_about_together_with_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    let user = user([]);
    let gate = confined(ApprovalMode::Ask, &user, &home);
    let calls = [bash("mkdir one", &home), bash("mkdir two", &home)];
    assert_eq!(gate.before_tools(&calls).await, ControlFlow::Continue(()));
    assert!(user.questions.lock().unwrap().is_empty());
}
