use super::*;

fn listed(ids: &[&str], in_use: &str) -> Listed {
    let models = ids.iter().enumerate().map(|(number, id)| Model {
        id: (*id).into(),
        context_window_tokens: (number > 0).then_some(131_072),
        can_call_tools: Some(number == 1),
        is_loaded: (number == 1).then_some(true),
    });
    Listed {
        service: "Test".into(),
        host: "h:1".into(),
        url: "http://h:1/v1".into(),
        in_use: Some(in_use.into()),
        models: models.collect(),
    }
}

fn shown(listed: &Listed) -> String {
    let mut output = Vec::new();
    table(listed, &mut output).expect("memory takes all");
    String::from_utf8(output).expect("text")
}

#[test]
fn the_table_marks_the_model_in_use_and_fits_a_narrow_terminal() {
    let text = shown(&listed(&["small", "big"], "big"));
    assert_eq!(text, "Test (h:1): 2 models\n  small         no tools\n* big     128k  tools     loaded\n");
    let long = "x".repeat(200);
    let wide = shown(&listed(&[long.as_str(), "evil\u{1b}[2J"], "gone"));
    assert!(wide.lines().all(|line| line.chars().count() <= 80), "{wide}");
    assert!(!wide.contains('\u{1b}') && wide.contains("not in the list: gone"), "{wide}");
}

#[test]
fn programs_get_what_is_known_and_null_for_the_rest() {
    let json = as_json(Some(&listed(&["small", "big"], "big")), Some(&[]));
    assert_eq!((&json["service"], &json["in_use"]), (&json!("Test"), &json!("big")));
    assert_eq!(json["models"][0]["context_window_tokens"], Value::Null);
    assert_eq!(
        json["models"][1],
        json!({"id": "big", "context_window_tokens": 131_072, "can_call_tools": true, "is_loaded": true, "is_in_use": true})
    );
    assert_eq!(json["local"], json!([]));
    assert_eq!(as_json(None, None).get("local"), None);
}
