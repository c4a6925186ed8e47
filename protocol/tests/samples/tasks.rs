//! Samples of subagents, background tasks and watchers.

use cohab_protocol::{
    DaemonMessage, StepActivity, SubagentProgress, SubagentState, TaskDetails, TaskEnd, TaskEnded, TaskStatus,
    TaskSummary, WatcherFired,
};

use super::{TURN, path};

pub fn task_ends() -> Vec<TaskEnd> {
    use TaskEnd::{Cancelled, Done, Failed, Interrupted, Limit, Refused};
    vec![Done, Limit, Refused, Failed, Cancelled, Interrupted]
}

pub fn task_summary() -> TaskSummary {
    TaskSummary {
        id: 3,
        question: "fix the test".into(),
        folder: path("/w"),
        status: TaskStatus::Ended(TaskEnd::Done),
        created_ms: 1_000,
        ended_ms: Some(2_000),
        tokens: 3_100,
        has_changes: true,
        doing: None,
    }
}

pub fn task_details() -> TaskDetails {
    TaskDetails {
        summary: task_summary(),
        question: "fix the test".into(),
        answer: "done".into(),
        steps: vec!["bash cargo test".into()],
        error: None,
        diff: "--- a\n".into(),
        is_diff_whole: true,
        diff_file: Some(path("/s/3.diff")),
    }
}

pub fn team_messages() -> Vec<DaemonMessage> {
    vec![
        DaemonMessage::SubagentProgress(SubagentProgress {
            turn_id: TURN,
            number: 2,
            kind: "explore".into(),
            label: "build scripts".into(),
            state: SubagentState::Working(StepActivity::ToolCall { tool: "read".into(), argument: "a.rs".into() }),
            tokens: 3_100,
            elapsed_ms: 14_000,
        }),
        DaemonMessage::TaskEnded(TaskEnded {
            id: 3,
            question: "fix the test".into(),
            end: TaskEnd::Done,
            has_changes: true,
        }),
        DaemonMessage::WatcherFired(watcher_fired()),
        DaemonMessage::StepProgress { turn_id: TURN, text: "40 %".into() },
    ]
}

fn watcher_fired() -> WatcherFired {
    WatcherFired {
        watcher: 3,
        fired: 2,
        label: "build".into(),
        what: "build/app changed".into(),
        at: "14:02".into(),
        question: Some("test it".into()),
        detail: Some("ERROR".into()),
        folder: path("/src"),
    }
}
