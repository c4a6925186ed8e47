//! Uses all tools of a server once, as the official conformance suite wants a client to do.

use std::{fmt::Write as _, sync::Arc};

use cohab_agent::port::{Approver, NoSink};
use serde_json::{Map, Value, json};

use crate::{
    pool::{ServerPool, Surroundings},
    server::Server,
    sign_in::{Browser, SignInRequest},
    start_error,
};

/// Most sign-ins; a service that is never content ends the trial.
const MAX_SIGN_INS: usize = 3;

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
pub struct TrialCall {
    /// Its name.
    pub name: String,
    /// What it gets.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// Starts the server, lists its tools and makes these calls, or calls each tool once; signs in where the server wants that. Returns a
/// report of a line for each call.
///
/// # Errors
/// A sentence: it cannot be used.
pub async fn use_all(
    pool: &ServerPool,
    server: &Server,
    surroundings: &Surroundings,
    calls: &[TrialCall],
    browser: &dyn Browser,
    user: &Arc<dyn Approver>,
) -> Result<String, String> {
    for _ in 0..MAX_SIGN_INS {
        let (tried, challenge) = use_once(pool, server, surroundings, calls, user).await;
        let Some(challenge) = challenge else { return tried };
        let wanted = SignInRequest { scopes: Vec::new(), challenge: Some(challenge) };
        pool.sign_in(server, surroundings, &wanted, browser).await?;
    }
    let (tried, challenge) = use_once(pool, server, surroundings, calls, user).await;
    match challenge {
        None => tried,
        Some(_) => Err(format!("it still wants more after {MAX_SIGN_INS} sign-ins")),
    }
}

/// One trial, and what the server wants of a sign-in, if that ended it.
async fn use_once(
    pool: &ServerPool,
    server: &Server,
    surroundings: &Surroundings,
    calls: &[TrialCall],
    user: &Arc<dyn Approver>,
) -> (Result<String, String>, Option<String>) {
    let open = match pool.open(server, surroundings).await {
        Ok(open) => open,
        Err(reason) => return (Err(reason), pool.challenge(server)),
    };
    let samples = open.tools.tools.iter().map(|tool| {
        let schema = serde_json::from_str(&tool.schema).unwrap_or_default();
        TrialCall { name: tool.name.clone(), arguments: sample_arguments(&schema) }
    });
    let calls = if calls.is_empty() { samples.collect() } else { calls.to_vec() };
    let mut report = String::new();
    for TrialCall { name, arguments } in calls {
        let said = match open.call_for((server.by(), Arc::clone(user), &NoSink), &name, arguments).await {
            Ok(answer) if answer.is_error == Some(true) => "failed".to_owned(),
            Ok(_) => "ok".to_owned(),
            Err(reason) => match pool.challenge(server) {
                Some(challenge) => return (Err(reason), Some(challenge)),
                None => start_error::reason(&reason),
            },
        };
        // Writing to a text cannot fail.
        let _ = writeln!(report, "{name}: {said}");
    }
    (Ok(report), None)
}

/// Arguments that fit what a schema says plainly.
fn sample_arguments(schema: &Value) -> Map<String, Value> {
    let properties = schema["properties"].as_object();
    properties.into_iter().flatten().map(|(name, of)| (name.clone(), sample(of))).collect()
}

fn sample(schema: &Value) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "string" => json!("text"),
        "number" | "integer" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => Value::Object(sample_arguments(schema)),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_fit_plain_schemas() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "number"}, "b": {"type": "string", "default": "x"}, "c": {"enum": ["y"]},
            "d": {"type": "object", "properties": {"e": {"type": "boolean"}}}, "f": {"$ref": "#/x"}
        }});
        let expected = json!({"a": 1, "b": "x", "c": "y", "d": {"e": true}, "f": null});
        assert_eq!(Value::Object(sample_arguments(&schema)), expected);
    }
}
