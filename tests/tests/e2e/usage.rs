//! Tests `cohab usage`: the tokens and cost of answers.

use std::os::unix::fs::PermissionsExt;

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually};
use serde_json::Value;

use super::ask::events;

const PRICES: &str = "[[model]]\nmatch = \"*\"\ninput_usd_per_mtok = 3\noutput_usd_per_mtok = 15\n";

#[test]
fn what_two_questions_took_is_told_afterwards_and_what_it_cost_at_once() {
    let server = ModelServer::start(
        Wire::Anthropic,
        [
            Answer::bash("echo x").usage(1_000, 100),
            Answer::text("One.").usage(2_000, 10),
            Answer::text("Two.").usage(500, 4),
        ],
    );
    let home = Home::with_model(&server);
    assert!(home.run(&["usage"]).stdout.starts_with("No model has answered since "));
    std::fs::create_dir_all(home.paths().config_dir).expect("a folder");
    std::fs::write(home.paths().models_file(), PRICES).expect("it can be written");

    let first = home.run(&["ask", "--json", "--approve", "all", "one"]);
    let usage = events(&first).pop().expect("an end")["usage"].clone();
    // 3,000 tokens in and 110 out: 0.009 and 0.00165 dollars.
    assert_eq!((usage["cost_usd"].as_f64(), usage["is_cost_partial"].as_bool()), (Some(0.01065), Some(false)));
    assert_eq!(home.run(&["ask", "two"]).status, Some(0));

    let mut total = Value::Null;
    eventually("both questions are kept", || {
        let told: Value = serde_json::from_str(&home.run(&["usage", "--json"]).stdout).expect("JSON");
        total = told["total"].clone();
        total["calls"] == 3
    });
    assert_eq!((total["questions"].as_u64(), total["input_tokens"].as_u64()), (Some(2), Some(3_500)));
    assert_eq!(total["cost_usd"].as_f64(), Some(0.01221));
    let table = home.run(&["usage", "--by", "model"]).stdout;
    assert!(table.contains("about $0.0122") && table.lines().any(|line| line.starts_with("context of ")), "{table}");
    let mode = std::fs::metadata(home.paths().usage_file()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_conversation_that_the_service_finds_too_long_is_answered_all_the_same() {
    let refusal = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.";
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::status(400, refusal), Answer::text("A short answer.")]);
    let home = Home::with_model(&server);
    let finished = home.run(&["ask", "--json", &format!("what is this? {}", "word ".repeat(6_000))]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let events = events(&finished);
    let notice = events.iter().find(|event| event["type"] == "notice").expect("a notice");
    assert!(
        notice["text"].as_str().is_some_and(|text| text.starts_with("The conversation was too long for ")),
        "{notice}"
    );
    let calls = server.wait_for_calls(2);
    assert!(calls[1].conversation().len() < calls[0].conversation().len());
    assert_eq!(events.last().expect("an end")["reason"], "answered");
}
