use cohab_context::{analysis::Capacity, skills::Skill, text_file::Skipped};
use cohab_model_api::window_size::{ContextWindow, WindowSource};

use super::*;

fn shown(window_tokens: Option<u64>) -> ShownContext {
    let capacity = window_tokens.map(|tokens| Capacity {
        window: ContextWindow { tokens, source: WindowSource::Settings },
        max_output_tokens: None,
        factor: 1.0,
    });
    let fixed = Fixed { system: vec![("safety rules", 280)], tools_tokens: 1_273, capacity };
    let question = "<environment>\ncwd: /srv\n</environment>\n<question>\nwhy\n</question>".to_owned();
    let messages = [Message::user(question.clone())];
    let mut around = Surroundings::default();
    around.standing.identity = "Be brief.".into();
    around.skipped.push(Skipped { path: "/srv/SOUL.md".into(), reason: "is not text".into() });
    let skill = Skill { name: "x".into(), description: "y".into(), path: "/x".into(), ..Skill::default() };
    around.standing.skills.push(skill);
    let rows = rows(&fixed, &messages);
    ShownContext { session: None, fixed, rows, around: around.into(), question }
}

#[test]
fn sections_stand_with_their_tokens_and_what_is_skipped_is_named() {
    insta::assert_snapshot!(table(&shown(Some(8_192)), false));
    assert!(table(&shown(None), false).contains("tokens; no model is set up, in a new conversation\n"));
}

#[test]
fn the_text_is_what_would_be_sent() {
    let text = table(&shown(None), true);
    assert!(text.contains("--- system prompt ---\nYou are cohab") && text.contains("Be brief."), "{text}");
    assert!(text.ends_with("<question>\nwhy\n</question>\n"), "{text}");
    let value: Value = serde_json::from_str(&json(&shown(Some(8_192)), true)).expect("it is JSON");
    assert_eq!(value["sections"][0], json!({"part": "system", "name": "safety rules", "tokens": 280}));
    let sum: u64 = value["sections"].as_array().unwrap().iter().filter_map(|row| row["tokens"].as_u64()).sum();
    assert_eq!(
        (value["total_tokens"].as_u64(), value["skipped"][0]["reason"].as_str()),
        (Some(sum), Some("is not text"))
    );
    let analysis = &value["analysis"];
    let told = ["system", "messages", "response_reserve", "available"].map(|part| analysis[part].as_u64().unwrap());
    assert_eq!((analysis["max"].as_u64(), &analysis["fits"]), (Some(8_192), &json!(true)));
    assert_eq!((told.iter().sum::<u64>(), told[0]), (8_192, 280 + 1_273));
    let full = table(&shown(Some(1_000)), false);
    assert!(full.contains("(157 %)") && full.contains("does not fit"), "{full}");
    assert!(value["system"].as_str().is_some_and(|text| text.contains("- `x`: y")));
}
