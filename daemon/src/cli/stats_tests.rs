use super::{super::testing::Home, *};
use crate::{
    agent::port::TokenUsage,
    store::{
        Store,
        row::{CallRow, ModelKey},
    },
};

fn show(home: &Home, is_json: bool) -> String {
    let args = StatsArgs { since: "2026-01-01".parse().expect("a date"), json: is_json };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let _ = run(&args, &home.paths, &mut output, &mut errors);
    String::from_utf8([output, errors].concat()).expect("UTF-8")
}

fn home() -> Home {
    let home = Home::with_sessions();
    let store = Store::at(home.paths.usage_file());
    for took_ms in [Some(900), Some(4_000), None] {
        store.record(CallRow {
            at: "2026-02-27T09:00:00Z".parse().expect("a time"),
            session: "shell:1".into(),
            turn: "t1".into(),
            wire: "w".into(),
            model: ModelKey { host: "h:1".into(), model: "large\u{1b}[2J-4".into() },
            usage: TokenUsage::default(),
            cost_source: None,
            took_ms,
        });
    }
    store.flush();
    home
}

#[test]
fn counts_and_times_are_one_table() {
    insta::assert_snapshot!(show(&home(), false));
    assert!(show(&Home::empty(), false).starts_with("Nothing was asked since 2026-01-01"));
}

#[test]
fn json_has_histograms_and_no_text_of_a_conversation() {
    let told = show(&home(), true);
    let value: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(value["questions"]["ends"]["answered"], 2);
    assert_eq!(value["models"][0]["took"]["buckets"][1], json!({"up_to_ms": 5_000, "count": 1}));
    let bash = &value["tools"][0];
    assert_eq!((&bash["tool"], &bash["refused"], &bash["failed"]), (&json!("bash"), &json!(1), &json!(1)));
    assert!(!told.contains("deploy") && !told.contains('\u{1b}'), "{told}");
}
