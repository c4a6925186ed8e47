//! A placeholder that the model would have typed or written is refused: nobody can fill it in, and as it stands it does harm, where a
//! file would lose what it stands for.

use async_trait::async_trait;
use cohab_shell_relay::scrub::holds_placeholder;
use serde_json::Value;

use crate::agent::{
    Denial, Middleware, PlannedCall,
    port::{Effect, JsonObject},
};

/// Refuses calls with placeholders in their arguments, but for the session's own notes.
pub struct Unfilled;

#[async_trait]
impl Middleware for Unfilled {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        if call.intent.effect == Effect::Internal {
            return Ok(());
        }
        let Some(name) = in_args(&call.args) else { return Ok(()) };
        let reason = format!(
            "not done: {name} stands for a secret that is kept from you and is not filled in. Let the command read it where it is \
             (a variable, a file), change other parts of the file only, or ask the user to do this"
        );
        Err(Denial::Refused { reason })
    }
}

fn in_args(args: &JsonObject) -> Option<&str> {
    args.values().find_map(in_value)
}

fn in_value(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => holds_placeholder(text),
        Value::Array(values) => values.iter().find_map(in_value),
        Value::Object(object) => in_args(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::port::{Intent, ToolCall};

    async fn denial(args: Value, effect: Effect) -> Result<(), Denial> {
        let args = args.as_object().expect("an object").clone();
        let call = ToolCall { id: "1".into(), name: "edit".into(), args: Ok(args.clone()) };
        let intent = Intent { title: String::new(), effect };
        Unfilled.before_tool(&mut PlannedCall::new(&call, args, intent, "/".into())).await
    }

    fn run() -> Effect {
        Effect::RunCommand { command: String::new() }
    }

    #[tokio::test]
    async fn placeholders_are_not_typed() {
        let Err(Denial::Refused { reason }) = denial(json!({ "edits": [{ "new": "a <secret:jwt#2>" }] }), run()).await
        else {
            panic!("it would be written")
        };
        assert!(reason.starts_with("not done: jwt#2 stands for a secret"), "{reason}");
        assert!(holds_placeholder(&reason).is_none());
    }

    #[tokio::test]
    async fn all_else_is_let_through() {
        assert_eq!(denial(json!({ "command": "grep '<secret:' my-secret:jwt#2" }), run()).await, Ok(()));
        assert_eq!(denial(json!({ "text": "look after <secret:jwt#2>" }), Effect::Internal).await, Ok(()));
    }
}
