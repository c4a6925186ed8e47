//! `cohab stats`, `trace` and `usage` agree on the same turn.

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually};
use serde_json::Value;

fn told(home: &Home, arguments: &[&str]) -> Value {
    let finished = home.run(arguments);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("no JSON: {finished:?}"))
}

#[test]
fn times_counts_and_tokens_are_those_of_the_trace() {
    let answers = [Answer::bash("sh -c 'exit 3'").usage(1_000, 100), Answer::text("It fails.").usage(2_000, 10)];
    let server = ModelServer::start(Wire::Anthropic, answers);
    let home = Home::with_model(&server);
    assert!(home.run(&["stats"]).stdout.starts_with("No questions are recorded since "));
    assert_eq!(home.run(&["ask", "--approve", "all", "does it work"]).status, Some(1));
    eventually("the answer is kept", || told(&home, &["usage", "--json"])["total"]["calls"] == 2);

    let trace = told(&home, &["trace", "--json"]);
    let (turn, result) = (&trace["turns"][0]["turn"], &trace["turns"][0]["result"]);
    let steps = result["steps"].as_array().expect("steps");
    let of = |kind: &str, field: &str| -> Vec<u64> {
        let steps = steps.iter().filter(|step| step["type"] == kind);
        steps.filter_map(|step| step.pointer(field)?.as_u64()).collect()
    };
    let stats = told(&home, &["stats", "--json"]);
    let max = |path: &str| stats.pointer(&format!("{path}/max_ms")).and_then(Value::as_u64);
    assert_eq!(max("/turns/took"), result["duration_ms"].as_u64(), "{stats:#}");
    assert_eq!(max("/model_calls/took"), of("model_inference", "/duration_ms").into_iter().max(), "{stats:#}");
    assert_eq!(max("/models/0/first_token"), of("model_inference", "/metadata/first_token_ms").into_iter().max());
    assert_eq!(max("/tools/0/took"), of("tool_call", "/duration_ms").into_iter().max(), "{stats:#}");
    assert_eq!(
        (&stats["tools"][0]["tool"], &stats["tools"][0]["failed"]),
        (&"bash".into(), &1.into()),
        "exit 3 is a failure"
    );
    assert_eq!((&stats["model_calls"]["count"], &stats["steps"]["count"]), (&2.into(), &3.into()), "{stats:#}");

    let sent: u64 = of("model_inference", "/metadata/sent_tokens").into_iter().sum();
    let usage = told(&home, &["usage", "--json"]);
    assert_eq!(
        (Some(sent), turn["state"]["sent_tokens"].as_u64()),
        (usage["total"]["input_tokens"].as_u64(), Some(sent))
    );
    let table = home.run(&["stats"]).stdout;
    assert!(table.contains("p95") && table.lines().all(|line| line.chars().count() <= 80), "{table}");
}
