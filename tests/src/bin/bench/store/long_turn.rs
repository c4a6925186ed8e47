//! Measures a long recorded turn: the wait of its steps for their intents, and the time to continue it in a new daemon.

use std::time::Instant;

use cohab_model_api::{AssistantMessage, Message, ToolCall, ToolResult};
use cohab_store::sessions::{
    Archive, Entry, Limits,
    steps::{AgentState, AgentStatus, Checkpoint, Metadata, Step, StepStatus, StepType, Turn},
};
use jiff::Timestamp;

use crate::report::{Report, Samples};

const MEASURE: &str = "store";
const SESSION: &str = "bench";
const TURN: &str = "long";
const STEPS: u32 = 1_000;
const INTENT_MS: f64 = 5.0;
const RESUME_MS: f64 = 100.0;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (Ok(runtime), Ok(folder)) = (built, tempfile::tempdir()) else {
        return report.unmeasured(MEASURE, "a long turn", "there is no runtime, or no folder");
    };
    let path = folder.path().join("sessions.db");
    let archive = Archive::at(path.clone());
    let Some(waits) = runtime.block_on(write(&archive)) else {
        return report.unmeasured(MEASURE, "a long turn", "it cannot be written");
    };
    drop(archive);
    report.samples(MEASURE, "an intent waited for", "ms", &waits);
    report.at_most(MEASURE, "an intent waited for, p99", waits.quantile(0.99), INTENT_MS, "ms");
    let mut resumes = Samples::default();
    for _ in 0..rounds {
        let started = Instant::now();
        let stored = Archive::at(path.clone()).load(SESSION).ok().flatten();
        resumes.push(started.elapsed());
        let unfinished = stored.and_then(|stored| stored.unfinished);
        if unfinished.is_none_or(|unfinished| unfinished.done != STEPS as usize || !unfinished.unknown.is_empty()) {
            return report.unmeasured(MEASURE, "resume", "not every step is known");
        }
    }
    report.at_most(MEASURE, &format!("resume of {STEPS} steps, p50"), resumes.p50(), RESUME_MS, "ms");
}

/// Writes a turn as the daemon does: the answer, the intent, which is waited for, and the result.
async fn write(archive: &Archive) -> Option<Samples> {
    let _hold = archive.hold();
    archive.keep(Entry::Turn {
        session: SESSION.into(),
        at: Timestamp::now(),
        title: "t".into(),
        cwd: "/".into(),
        model: "w/m".into(),
        limits: Limits::of_days(90),
    });
    keep(archive, Checkpoint::Turn(turn()));
    keep_messages(archive, 0, Message::user("go".into()));
    let mut waits = Samples::default();
    for number in 0..STEPS {
        let [asks, result] = call(number);
        let from = 1 + 2 * number as usize;
        keep_messages(archive, from, asks);
        let started = Instant::now();
        let intent = Checkpoint::Step(step(number, StepStatus::Running));
        if !archive.keep_now(Entry::Checkpoint(Box::new(intent))).await {
            return None;
        }
        waits.push(started.elapsed());
        keep(archive, Checkpoint::Step(step(number, StepStatus::Completed)));
        if number + 1 < STEPS {
            keep_messages(archive, from + 1, result);
        }
    }
    Some(waits)
}

fn keep(archive: &Archive, checkpoint: Checkpoint) {
    archive.keep(Entry::Checkpoint(Box::new(checkpoint)));
}

fn keep_messages(archive: &Archive, from: usize, message: Message) {
    archive.keep(Entry::Conversation { session: SESSION.into(), from, messages: vec![message] });
}

fn call(number: u32) -> [Message; 2] {
    let id = format!("call-{number}");
    let call = ToolCall { id: id.clone(), name: "bash".into(), args: Ok(Default::default()) };
    let message = AssistantMessage { text: "Next.".into(), tool_calls: vec![call], provider_data: None };
    let content = format!("line of output {number}\n").repeat(20);
    let result = ToolResult { call_id: id, tool: "bash".into(), content, is_error: false };
    [Message::Assistant(message), Message::ToolResults(vec![result])]
}

fn turn() -> Turn {
    let now = Timestamp::now();
    Turn {
        turn: TURN.into(),
        session: SESSION.into(),
        started: now,
        last_activity: now,
        question: "go".into(),
        resumed_from: None,
        pid: 1,
        state: AgentState { status: AgentStatus::Running, ..AgentState::default() },
        ended: None,
        error: None,
    }
}

fn step(number: u32, status: StepStatus) -> Step {
    let call_id = Some(format!("call-{number}"));
    let metadata =
        Metadata { tool: Some("bash".into()), call_id, title: "make".into(), has_effects: true, ..Metadata::default() };
    Step {
        id: format!("{TURN}{number}"),
        session: SESSION.into(),
        turn: TURN.into(),
        number,
        at: Timestamp::now(),
        kind: StepType::ToolCall,
        input: serde_json::json!({"command": "make"}).into(),
        output: (status == StepStatus::Completed).then(|| "done".to_owned()),
        status,
        duration_ms: Some(1),
        error: None,
        metadata,
    }
}
