use cohab_agent::port::{Effect, Intent, Lasts};
use cohab_model_api::{JsonObject, ToolCall};
use cohab_store::sessions::steps::{Metadata, StepStatus, StepType};
use serde_json::json;

use super::*;

struct User {
    answer: ApprovalAnswer,
    asked: Mutex<Vec<ApprovalQuestion>>,
}

#[async_trait]
impl Approver for User {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        self.asked.lock().expect("one at a time").push(question);
        self.answer.clone()
    }
}

fn unknown(command: &str) -> Step {
    Step {
        id: "1".into(),
        session: "s".into(),
        turn: "t".into(),
        number: 1,
        at: jiff::Timestamp::UNIX_EPOCH,
        kind: StepType::ToolCall,
        input: json!({"command": command, "timeout_ms": 5}).into(),
        output: None,
        status: StepStatus::Running,
        duration_ms: None,
        error: None,
        metadata: Metadata { tool: Some("bash".into()), ..Metadata::default() },
    }
}

fn call(command: &str) -> PlannedCall {
    let args: JsonObject = json!({"command": command}).as_object().cloned().expect("an object");
    let intent = Intent { title: command.into(), effect: Effect::RunCommand { command: command.into() } };
    let wanted = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args.clone().into()) };
    PlannedCall::new(&wanted, args, intent, "/".into())
}

fn doubt(answer: ApprovalAnswer) -> (Doubt, Arc<User>) {
    let user = Arc::new(User { answer, asked: Mutex::default() });
    let doubts = Arc::new(UncertainCalls::of(&[unknown("make install")]));
    (Doubt { doubts, approver: Arc::clone(&user) as _ }, user)
}

fn asked(user: &User) -> usize {
    user.asked.lock().expect("nobody asks").len()
}

#[tokio::test]
async fn what_may_have_run_is_asked_about_once_and_nothing_else_is() {
    let (doubt, user) = doubt(ApprovalAnswer::Approved { approval: Some("7".into()), lasts: Lasts::Once });
    doubt.before_tool(&mut call("make")).await.expect("nothing is known of it");
    assert_eq!(asked(&user), 0);
    let mut again = call("make install ");
    doubt.before_tool(&mut again).await.expect("the user agrees");
    assert_eq!((asked(&user), again.approval.as_deref()), (1, Some("7")));
    doubt.before_tool(&mut call("make install")).await.expect("the answer is known");
    assert_eq!(asked(&user), 1);
}

#[tokio::test]
async fn without_a_yes_it_does_not_run() {
    for answer in [
        ApprovalAnswer::Refused { reason: "no client is attached".into() },
        ApprovalAnswer::Edited { command: "make -n".into(), approval: None },
        ApprovalAnswer::CancelTurn,
    ] {
        let (doubt, _) = doubt(answer);
        assert!(doubt.before_tool(&mut call("make install")).await.is_err());
    }
}

#[tokio::test]
async fn whoever_has_just_agreed_is_not_asked_twice() {
    for (approval, times) in [(Some("7"), 0), (Some(BY_RULE), 1), (None, 1)] {
        let (doubt, user) = doubt(ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once });
        let mut call = PlannedCall { approval: approval.map(str::to_owned), ..call("make install") };
        doubt.before_tool(&mut call).await.expect("it runs");
        assert_eq!((asked(&user), call.approval.as_deref()), (times, approval));
    }
}
