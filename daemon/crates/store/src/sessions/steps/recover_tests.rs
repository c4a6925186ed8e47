use super::{
    super::super::tests::checkpoints::{a_step, a_turn},
    *,
};

fn user(text: &str) -> Message {
    Message::user(text.into())
}

fn asks(calls: &[u32]) -> Message {
    let call =
        |number: &u32| ToolCall { id: format!("call-{number}"), name: "bash".into(), args: Ok(Default::default()) };
    Message::Assistant(AssistantMessage {
        text: "I look.".into(),
        tool_calls: calls.iter().map(call).collect(),
        provider_data: None,
    })
}

fn running() -> Option<Turn> {
    Some(a_turn("s", "t", AgentStatus::Running))
}

/// The results that the model gets, by their first word.
fn results(recovered: &Recovered) -> Vec<String> {
    let batch = recovered.conversation.iter().rev().find_map(|message| match message {
        Message::ToolResults(results) => Some(results),
        _ => None,
    });
    let first = |result: &ToolResult| result.content.split(':').next().unwrap_or_default().to_owned();
    batch.map(|results| results.iter().map(first).collect()).unwrap_or_default()
}

#[test]
fn each_call_gets_its_result_or_is_said_to_have_none() {
    let read = Step {
        metadata: super::super::Metadata { has_effects: false, ..a_step("s", "t", 4, StepStatus::Running).metadata },
        ..a_step("s", "t", 4, StepStatus::Running)
    };
    let call = |number, status| Step { kind: StepType::ModelInference, ..a_step("s", "t", number, status) };
    let steps = [
        call(0, StepStatus::Completed),
        call(6, StepStatus::Running),
        a_step("s", "t", 1, StepStatus::Completed),
        a_step("s", "t", 2, StepStatus::Running),
        a_step("s", "t", 3, StepStatus::Pending),
        read,
    ];
    let recovered = recover(vec![user("q"), asks(&[1, 2, 3, 4, 5])], running(), &steps);
    assert_eq!(results(&recovered), ["done", "unknown", "not run", "no result", "not run"]);
    let unfinished = recovered.unfinished.expect("it can go on");
    assert_eq!((unfinished.done, unfinished.unknown.len(), unfinished.model_calls), (2, 1, 1));
    assert_eq!(unfinished.unknown[0].number, 2);
    assert!(matches!(recovered.conversation.last(), Some(Message::Assistant(said)) if said.text == INTERRUPTED));
}

#[test]
fn of_what_is_answered_only_the_answer_is_told() {
    let answered = vec![user("q"), asks(&[])];
    let said = Step { kind: StepType::ModelInference, ..a_step("s", "t", 1, StepStatus::Running) };
    let recovered = recover(answered.clone(), running(), &[said]);
    assert_eq!(recovered.conversation, answered);
    assert_eq!(recovered.unfinished.and_then(|unfinished| unfinished.answer).as_deref(), Some("I look."));
    assert_eq!(recover(Vec::new(), running(), &[]), Recovered::default());
}

#[test]
fn the_answer_of_the_turn_before_is_not_the_answer_of_this_one() {
    let notice = Step { kind: StepType::System, ..a_step("s", "t", 1, StepStatus::Completed) };
    let recovered = recover(vec![user("q"), asks(&[])], running(), &[notice]);
    assert_eq!((recovered.unfinished, recovered.conversation.len()), (None, 2));
}

#[test]
fn a_turn_goes_on_with_its_whole_question() {
    let question = format!("/goal {} :: cargo test", "x".repeat(300));
    let input = serde_json::json!(question).into();
    let asked = Step { kind: StepType::UserMessage, input, ..a_step("s", "t", 0, StepStatus::Completed) };
    let found = |steps: &[Step]| recover(vec![user("q")], running(), steps).unfinished.expect("it goes on").question;
    assert_eq!(found(&[asked]), question);
    assert_eq!(found(&[a_step("s", "t", 1, StepStatus::Completed)]), running().expect("a turn").question);
}

#[test]
fn a_turn_that_has_ended_is_completed_and_does_not_go_on() {
    for turn in [None, Some(a_turn("s", "t", AgentStatus::Completed)), Some(a_turn("s", "t", AgentStatus::Idle))] {
        let recovered = recover(vec![user("q"), asks(&[1])], turn, &[]);
        assert_eq!((recovered.unfinished.is_none(), recovered.conversation.len()), (true, 4));
    }
}

#[test]
fn a_question_that_got_no_answer_goes_on() {
    let recovered = recover(vec![user("q")], running(), &[]);
    assert_eq!((recovered.unfinished.is_some(), recovered.conversation.len()), (true, 2));
}

#[test]
fn a_result_that_turns_up_takes_the_place_of_the_doubt() {
    let mut recovered = recover(vec![asks(&[1]), user("q"), asks(&[2])], running(), &[]);
    let content = "claimed: yes".to_owned();
    let result = ToolResult { call_id: "call-2".into(), tool: "bash".into(), content, is_error: false };
    put_result(&mut recovered.conversation, &result);
    assert_eq!(results(&recovered), ["claimed"]);
}
