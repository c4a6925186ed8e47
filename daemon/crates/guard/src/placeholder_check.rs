//! Refuses calls with a secret's placeholder outside the live shell. Only the client knows the secret, and fills it in only where it
//! types a command in its live shell. Any other use would do harm: a file, for example, would hold the placeholder instead of the
//! secret.

use async_trait::async_trait;
use cohab_agent::{Denial, Middleware, PlannedCall, builtin_tools::LIVE, port::Effect};
use cohab_model_api::JsonObject;
use cohab_secrets::{Placeholder, placeholders};
use serde_json::Value;

/// Refuses calls with placeholders in their arguments, but for commands of a live shell and the session's own notes.
pub struct Unfilled {
    /// Whether a client with a shell is there.
    pub has_live_shell: Box<dyn Fn() -> bool + Send + Sync>,
}

#[async_trait]
impl Middleware for Unfilled {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        if call.intent.effect == Effect::Internal {
            return Ok(());
        }
        let is_typed = call.tool == LIVE && (self.has_live_shell)();
        let stays = |placeholder: &Placeholder<'_>| !(is_typed && placeholder.can_be_filled());
        let Some(name) = in_args(&call.args, &stays) else { return Ok(()) };
        let reason = format!(
            "not done: {name} stands for a secret that is kept from you and cannot be filled in here. Let the command read it where it is \
             (a variable, a file), change other parts of the file only, or ask the user to do this. Only placeholders that the user's \
             terminal has written are filled in, and only in commands of the user's own shell"
        );
        Err(Denial::Refused { reason })
    }
}

/// The name of the first placeholder in `args` that satisfies `is_meant`.
fn in_args(args: &JsonObject, is_meant: &dyn Fn(&Placeholder<'_>) -> bool) -> Option<String> {
    args.values().find_map(|value| in_value(value, is_meant))
}

fn in_value(value: &Value, is_meant: &dyn Fn(&Placeholder<'_>) -> bool) -> Option<String> {
    match value {
        Value::String(text) => placeholders(text).find(is_meant).map(|found| found.name()),
        Value::Array(values) => values.iter().find_map(|value| in_value(value, is_meant)),
        Value::Object(object) => in_args(object, is_meant),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use cohab_agent::port::Intent;
    use cohab_model_api::ToolCall;
    use cohab_secrets::holds_placeholder;
    use serde_json::json;

    use super::*;

    async fn denial(tool: &str, is_live: bool, args: Value, effect: Effect) -> Result<(), Denial> {
        let args = args.as_object().expect("an object").clone();
        let call = ToolCall { id: "1".into(), name: tool.into(), args: Ok(args.clone().into()) };
        let intent = Intent { title: String::new(), effect };
        let unfilled = Unfilled { has_live_shell: Box::new(move || is_live) };
        unfilled.before_tool(&mut PlannedCall::new(&call, args, intent, "/".into())).await
    }

    fn run() -> Effect {
        Effect::RunCommand { command: "".into() }
    }

    #[tokio::test]
    async fn placeholders_are_not_written_to_files() {
        for placeholder in ["<secret:jwt#2>", "<secret:jwt#2-abcdefgh>"] {
            let args = json!({ "edits": [{ "new": format!("a {placeholder}") }] });
            let effect = Effect::Write { path: "/a".into(), diff: "".into() };
            let Err(Denial::Refused { reason }) = denial("edit", true, args, effect).await else {
                panic!("it would be written")
            };
            assert!(reason.starts_with("not done: jwt#2 stands for a secret"), "{reason}");
            assert!(!holds_placeholder(&reason));
        }
    }

    #[tokio::test]
    async fn only_a_command_of_the_live_shell_may_have_one_and_only_the_clients() {
        let command = |placeholder: &str| json!({ "command": format!("echo {placeholder}") });
        let (clients, own) = ("<secret:jwt#2-abcdefgh>", "<secret:jwt#2>");
        assert_eq!(denial("bash", true, command(clients), run()).await, Ok(()));
        for (tool, is_live, placeholder) in [
            ("bash", true, own),
            ("bash", true, "<quoted-secret:jwt#2-abcdefgh>"),
            ("bash", true, "<secret:jwt#2-abcdefgh> <secret:jwt#3>"),
            ("bash", false, clients),
            ("bash_unconfined", true, clients),
        ] {
            assert!(
                denial(tool, is_live, command(placeholder), run()).await.is_err(),
                "{tool} {is_live} {placeholder}"
            );
        }
    }

    #[tokio::test]
    async fn all_else_is_let_through() {
        let command = json!({ "command": "grep '<secret:' my-secret:jwt#2" });
        assert_eq!(denial("bash", true, command, run()).await, Ok(()));
        let note = json!({ "text": "look after <secret:jwt#2>" });
        assert_eq!(denial("todo_write", true, note, Effect::Internal).await, Ok(()));
    }
}
