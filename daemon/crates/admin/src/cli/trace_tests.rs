use cohab_store::sessions::steps::{AgentState, Checkpoint, Metadata};

use super::{
    super::testing::{Home, at, now},
    *,
};

fn step(number: u32, kind: StepType, status: StepStatus, metadata: Metadata) -> Checkpoint {
    Checkpoint::Step(Step {
        id: format!("{number:032x}"),
        session: "shell:2".into(),
        turn: "t2".into(),
        number,
        at: at(1_800 + 7 * i64::from(number)),
        kind,
        input: json!({"command": "x"}).into(),
        output: Some("It \u{1b}[31mretries".into()),
        status,
        duration_ms: Some(1_250),
        error: (status == StepStatus::Failed).then(|| "the user said no\u{7}".to_owned()),
        metadata,
    })
}

fn model(sent: u64) -> Metadata {
    let model = Some("openai-chat/large-4".to_owned());
    let first_token_ms = Some(420);
    Metadata { model, sent_tokens: Some(sent), received_tokens: Some(80), first_token_ms, ..Metadata::default() }
}

fn tool(parent: u32, title: &str, summary: &str) -> Metadata {
    Metadata {
        parent: Some(parent),
        tool: Some("bash".into()),
        title: title.into(),
        summary: summary.into(),
        has_effects: true,
        ..Metadata::default()
    }
}

/// A turn in which everything happens; of a daemon that is gone, or has ended it.
pub(in crate::cli) fn with_steps(status: AgentStatus) -> Home {
    let home = Home::with_sessions();
    let turn = Turn {
        turn: "t2".into(),
        session: "shell:2".into(),
        started: at(1_800),
        last_activity: at(1_863),
        question: "fix it and deploy".into(),
        resumed_from: None,
        // More than any system gives.
        pid: 1 << 30,
        state: AgentState {
            status,
            steps: 8,
            messages: 9,
            sent_tokens: 12_300,
            received_tokens: 512,
            cost_microusd: 0,
        },
        ended: (status == AgentStatus::Completed).then(|| "answered".to_owned()),
        error: None,
    };
    let refused =
        Metadata { outcome: Some(StepResult::Refused), waited_ms: Some(5_000), ..tool(1, "rm -rf /srv/old", "") };
    let claimed = Metadata { is_claimed: true, ..tool(1, "ls", "3 lines") };
    let checkpoints = [
        Checkpoint::Turn(turn),
        step(0, StepType::UserMessage, StepStatus::Completed, Metadata::default()),
        step(1, StepType::ModelInference, StepStatus::Completed, model(1_024)),
        step(
            2,
            StepType::ToolCall,
            StepStatus::Completed,
            Metadata { waited_ms: Some(3_000), ..tool(1, "chmod 755 ./deploy.sh", "no output") },
        ),
        step(3, StepType::ToolCall, StepStatus::Failed, refused),
        step(4, StepType::ToolCall, StepStatus::Completed, claimed),
        step(5, StepType::System, StepStatus::Completed, Metadata::default()),
        step(6, StepType::ModelInference, StepStatus::Completed, model(11_276)),
        step(7, StepType::ToolCall, StepStatus::Running, tool(6, "./deploy.sh --all", "")),
        step(8, StepType::ToolCall, StepStatus::Pending, tool(6, "./check", "")),
    ];
    home.store().checkpoint(&checkpoints).expect("they are kept");
    home
}

fn shown(home: &Home, id: &str) -> ShownTurns {
    read(
        &TraceArgs {
            id: id.into(),
            number: 5,
            json: false,
            picture: PictureArgs::default(),
            output: None,
            session: None,
        },
        &home.paths,
    )
    .expect("it is there")
}

#[test]
fn a_turn_is_told_as_a_tree() {
    let told = text(&shown(&with_steps(AgentStatus::Running), "last"), &now(), None, None);
    assert!(!told.contains(['\u{1b}', '\u{7}']), "{told:?}");
    insta::assert_snapshot!(told);
}

#[test]
fn in_a_narrow_terminal_the_tree_stays_one() {
    let told = text(&shown(&with_steps(AgentStatus::Running), "last"), &now(), Some(40), None);
    insta::assert_snapshot!(told);
}

#[test]
fn at_a_terminal_steps_have_bars_on_an_axis_of_time() {
    let told = [100, 80, 60]
        .map(|columns| text(&shown(&with_steps(AgentStatus::Completed), "last"), &now(), Some(columns), Some(columns)));
    insta::assert_snapshot!(told.join("---\n"));
}

#[test]
fn a_picture_has_a_chart_for_each_turn() {
    insta::assert_snapshot!(svg(&shown(&with_steps(AgentStatus::Completed), "last")));
}

#[test]
fn json_has_the_state_the_steps_and_what_came_of_it() {
    let text = json(&shown(&with_steps(AgentStatus::Completed), "last"));
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let (turn, result) = (&json["turns"][0]["turn"], &json["turns"][0]["result"]);
    assert_eq!((&turn["state"]["status"], &turn["question"]), (&json!("completed"), &json!("fix it and deploy")));
    assert_eq!((&result["success"], &result["duration_ms"]), (&json!(true), &json!(63_000)));
    assert_eq!(result["steps"].as_array().map(Vec::len), Some(9));
    assert_eq!((&result["steps"][3]["type"], &result["steps"][3]["status"]), (&json!("tool_call"), &json!("failed")));
    assert_eq!(result["steps"][7]["metadata"]["has_effects"], true);
}

#[test]
fn a_session_without_steps_says_so() {
    let home = Home::with_sessions();
    assert!(text(&shown(&home, "last"), &now(), None, None).contains("predates step recording"));
}
