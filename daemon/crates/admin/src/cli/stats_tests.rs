use cohab_agent::port::StepResult;
use cohab_model_api::TokenUsage;
use cohab_store::{
    Store,
    row::{CallRow, ModelKey},
    sessions::steps::{AgentStatus, Checkpoint, Metadata, Step, StepStatus, StepType},
};
use serde_json::{Value, json};

use super::super::{
    testing::Home,
    trace::{self, TraceArgs},
};
use super::*;

fn args(json: bool) -> StatsArgs {
    StatsArgs { since: "2026-01-01".parse().expect("a date"), json, picture: PictureArgs::default() }
}

fn show(home: &Home, json: bool) -> String {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let _ = run(&args(json), &home.paths, &mut output, &mut errors);
    String::from_utf8([output, errors].concat()).expect("UTF-8")
}

fn step(number: u32, kind: StepType, took_ms: u64, metadata: Metadata) -> Checkpoint {
    Checkpoint::Step(Step {
        id: format!("{number:032x}"),
        session: "shell:2".into(),
        turn: "t2".into(),
        number,
        at: super::super::testing::at(0),
        kind,
        input: json!({"command": "deploy"}).into(),
        output: Some("deploy".into()),
        status: StepStatus::Completed,
        duration_ms: Some(took_ms),
        error: None,
        metadata,
    })
}

/// A turn with everything that is counted, and a model call of a turn that is not on record.
fn home() -> Home {
    let home = trace::tests::with_steps(AgentStatus::Completed);
    let tool = |name: &str, outcome| {
        let tool = Some(name.to_owned());
        Metadata { parent: Some(9), tool, outcome: Some(outcome), ..Metadata::default() }
    };
    let model = Some("gemini/a-model-with-a-name-that-is-\u{1b}[2Jtoo-long".to_owned());
    let steps = [
        step(9, StepType::ModelInference, 12_345, Metadata { model, first_token_ms: Some(350), ..Metadata::default() }),
        step(10, StepType::ToolCall, 90_000, tool("bash", StepResult::Failed)),
        step(11, StepType::ToolCall, 0, tool("write", StepResult::Refused)),
        step(12, StepType::Compaction, 4_000, Metadata::default()),
    ];
    home.store().checkpoint(&steps).expect("they are kept");
    let store = Store::at(home.paths.usage_file());
    for (turn, took_ms) in [("t2", 1), ("gone", 9_000_000)] {
        store.record(CallRow {
            at: "2026-02-27T09:00:00Z".parse().expect("a time"),
            session: "shell:1".into(),
            turn: turn.into(),
            wire: "openai-chat".into(),
            model: ModelKey { host: "h:1".into(), model: "large-4".into() },
            usage: TokenUsage::default(),
            cost_source: None,
            took_ms: Some(took_ms),
        });
    }
    store.flush();
    home
}

#[test]
fn counts_and_times_are_one_table_of_80_columns() {
    let told = show(&home(), false);
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    insta::assert_snapshot!(told);
    assert!(show(&Home::empty(), false).starts_with("No questions are recorded since 2026-01-01"));
}

#[test]
fn in_a_narrow_terminal_they_are_a_list() {
    let since = "2026-01-01".parse().expect("a date");
    let stats = read(since, &Zoned::now(), &home().paths).expect("they can be read");
    let told = render::text(since, &stats, Some(40), Some(40));
    assert!(told.lines().all(|line| line.chars().count() <= 40), "{told}");
    insta::assert_snapshot!(told);
}

#[test]
fn at_a_terminal_histograms_share_a_scale() {
    let since = "2026-01-01".parse().expect("a date");
    let stats = read(since, &Zoned::now(), &home().paths).expect("they can be read");
    let told = [100, 80, 60].map(|columns| {
        let told = render::text(since, &stats, Some(columns), Some(columns));
        assert!(told.lines().all(|line| line.chars().count() <= columns), "{told}");
        told
    });
    insta::assert_snapshot!(told.join("---\n"));
}

#[test]
fn a_picture_is_written_where_it_is_wanted() {
    let home = home();
    let file = home.paths.state_dir.join("stats.svg");
    let args = StatsArgs { picture: PictureArgs { svg: Some(file.clone()) }, ..args(false) };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let _ = run(&args, &home.paths, &mut output, &mut errors);
    assert_eq!(String::from_utf8(errors).expect("text"), "");
    assert_eq!(
        String::from_utf8(output).expect("text"),
        format!("Wrote {}.\n", record::visible(&file.to_string_lossy()))
    );
    insta::assert_snapshot!(std::fs::read_to_string(&file).expect("it is there"));
}

#[test]
fn json_has_histograms_and_no_text_of_a_conversation() {
    let told = show(&home(), true);
    let value: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(value["turns"]["ends"]["answered"], 1);
    let model = &value["models"][0];
    assert_eq!((&model["first_token"]["p99_ms"], &model["took"]["max_ms"]), (&json!(350), &json!(12_345)));
    assert_eq!(model["took"]["buckets"], json!([{"up_to_ms": 20_000, "count": 1}]));
    let bash = &value["tools"][0];
    assert_eq!((&bash["tool"], &bash["count"], &bash["failed"]), (&json!("bash"), &json!(6), &json!(1)));
    assert!(!told.contains("deploy") && !told.contains('\u{1b}'), "{told}");
    let empty: Value = serde_json::from_str(&show(&Home::empty(), true)).expect("JSON");
    assert_eq!((&empty["turns"]["count"], &empty["turns"]["took"]["p50_ms"]), (&json!(0), &Value::Null));
}

#[test]
fn what_a_trace_shows_of_a_turn_is_what_is_counted_of_it() {
    let home = home();
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let of_last = TraceArgs {
        id: "last".into(),
        number: 1,
        json: true,
        picture: PictureArgs::default(),
        output: None,
        session: None,
    };
    let _ = trace::run(&of_last, &home.paths, &mut output, &mut errors);
    let trace: Value = serde_json::from_slice(&output).expect("JSON");
    let result = &trace["turns"][0]["result"];
    let stats: Value = serde_json::from_str(&show(&home, true)).expect("JSON");
    assert_eq!(stats["turns"]["took"]["max_ms"], result["duration_ms"]);
    let steps = result["steps"].as_array().expect("steps");
    let of = |kind: &str| steps.iter().filter(|step| step["type"] == kind).count() as u64;
    assert_eq!(stats["tool_calls"]["count"], of("tool_call"));
    // One is of a turn that is not on record.
    assert_eq!(stats["model_calls"]["count"], of("model_inference") + 1);
}
