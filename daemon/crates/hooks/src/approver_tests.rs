use std::sync::Mutex;

use cohab_agent::port::{Effect, Lasts};

use super::*;
use crate::turn::tests::Fixture;

/// Agrees to all, and notes what it was asked.
#[derive(Default)]
struct Agrees(Mutex<Vec<String>>);

#[async_trait]
impl Approver for Agrees {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        self.0.lock().unwrap().push(line(&question));
        ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once }
    }
}

fn line(question: &ApprovalQuestion) -> String {
    match &question.subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => command.to_string(),
        other => format!("{other:?}"),
    }
}

fn about(command: &str) -> ApprovalQuestion {
    let effect = Effect::RunCommand { command: command.into() };
    ApprovalQuestion::about(ApprovalSubject::Effect { tool: "bash".into(), effect })
}

fn hooked(command: &str) -> (HookedApprover, Arc<Agrees>, Fixture) {
    let fixture = Fixture::new(&[(HookEvent::PermissionRequest, command)]);
    let user = Arc::new(Agrees::default());
    (HookedApprover { inner: Arc::clone(&user) as _, hooks: Arc::clone(&fixture.hooks) }, user, fixture)
}

const NO_PUSH: &str = "grep -q push && { echo not on Friday >&2; exit 2; }; exit 0";

#[tokio::test]
async fn a_hook_refuses_before_the_user_is_asked() {
    let (approver, user, fixture) = hooked(NO_PUSH);
    let answer = approver.ask(about("git push")).await;
    assert!(matches!(answer, ApprovalAnswer::Refused { reason } if reason.ends_with("objects: not on Friday")));
    assert!(fixture.heard.take().contains(&"blocked PermissionRequest bash: not on Friday".to_owned()));
    assert!(matches!(approver.ask(about("make")).await, ApprovalAnswer::Approved { .. }));
    assert_eq!(*user.0.lock().unwrap(), ["make"]);
}

#[tokio::test]
async fn a_hook_that_allows_does_not_answer_for_the_user() {
    let allow = r#"echo '{"decision": "approve", "hookSpecificOutput": {"permissionDecision": "allow", "decision": {"behavior": "allow"}}}'"#;
    let (approver, user, _fixture) = hooked(allow);
    approver.ask(about("rm -rf x")).await;
    assert_eq!(*user.0.lock().unwrap(), ["rm -rf x"]);
}

#[tokio::test]
async fn of_several_questions_the_user_gets_those_without_an_objection() {
    let (approver, user, _fixture) = hooked(NO_PUSH);
    let answers = approver.ask_all(vec![about("a"), about("git push"), about("b")]).await;
    let is_refused = |answer: &ApprovalAnswer| matches!(answer, ApprovalAnswer::Refused { .. });
    assert_eq!(answers.iter().map(is_refused).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(*user.0.lock().unwrap(), ["a", "b"]);
    let answers = approver.ask_all(vec![about("git push"), about("push")]).await;
    assert_eq!((answers.len(), user.0.lock().unwrap().len()), (2, 2));
}

#[tokio::test]
async fn the_user_is_not_asked_in_a_cancelled_turn_whose_hooks_could_not_answer() {
    let (approver, user, fixture) = hooked("exit 0");
    fixture.cancel.cancel();
    assert!(matches!(approver.ask(about("ls")).await, ApprovalAnswer::CancelTurn));
    assert_eq!(*user.0.lock().unwrap(), Vec::<String>::new());
}
