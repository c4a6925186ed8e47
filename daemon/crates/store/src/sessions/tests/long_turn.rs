//! A turn of maximal length survives a restart whole. `scripts/bench store` measures the time that takes.

use cohab_model_api::{AssistantMessage, ToolCall, ToolResult};

use super::{
    super::{steps::*, *},
    checkpoints::{a_step, a_turn},
    conformance::{LIMITS, user},
};

/// Steps of the long turn.
const STEPS: u32 = 1_000;

fn begin() -> Entry {
    let (session, title, cwd, model) = ("s".to_owned(), "t".to_owned(), "/".to_owned(), "w/m".to_owned());
    Entry::Turn { session, at: Timestamp::now(), title, cwd, model, limits: LIMITS }
}

fn checkpoint(checkpoint: Checkpoint) -> Entry {
    Entry::Checkpoint(Box::new(checkpoint))
}

fn call(number: u32) -> [Message; 2] {
    let id = format!("call-{number}");
    let call = ToolCall { id: id.clone(), name: "bash".into(), args: Ok(Default::default()) };
    let message = AssistantMessage { text: "Next.".into(), tool_calls: vec![call], provider_data: None };
    let content = format!("line of output {number}\n").repeat(20);
    let result = ToolResult { call_id: id, tool: "bash".into(), content, is_error: false };
    [Message::Assistant(message), Message::ToolResults(vec![result])]
}

/// Writes a turn as the daemon does: the answer, the intent, which is waited for, and the result.
async fn write_turn(archive: &Archive) {
    let _hold = archive.hold();
    archive.keep(begin());
    archive.keep(checkpoint(Checkpoint::Turn(a_turn("s", "t", AgentStatus::Running))));
    archive.keep(Entry::Conversation { session: "s".into(), from: 0, messages: vec![user("q")] });
    for number in 0..STEPS {
        let [asks, result] = call(number);
        let from = 1 + 2 * number as usize;
        archive.keep(Entry::Conversation { session: "s".into(), from, messages: vec![asks] });
        let intent = checkpoint(Checkpoint::Step(a_step("s", "t", number, StepStatus::Running)));
        assert!(archive.keep_now(intent).await, "it is written");
        archive.keep(checkpoint(Checkpoint::Step(a_step("s", "t", number, StepStatus::Completed))));
        if number + 1 < STEPS {
            archive.keep(Entry::Conversation { session: "s".into(), from: from + 1, messages: vec![result] });
        }
    }
}

#[tokio::test]
async fn a_turn_of_1000_steps_goes_on_with_all_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sessions.db");
    let archive = Archive::at(path.clone());
    write_turn(&archive).await;
    drop(archive);
    let stored = Archive::at(path).load("s").expect("it can be read").expect("it is there");
    let unfinished = stored.unfinished.expect("it can go on");
    assert_eq!((unfinished.done, unfinished.unknown.len()), (STEPS as usize, 0));
    assert_eq!(stored.conversation.len(), 2 * STEPS as usize + 2);
}
