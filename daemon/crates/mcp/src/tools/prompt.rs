//! `mcp_prompt` fills in a prompt of a server. It is there in a turn whose question asks for one; only the user picks prompts.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    builtin_tools::PROMPT_TOOL,
    port::{Agreed, Effect, Intent, Tool, ToolContext, ToolOutput},
};
use cohab_context::{attachments::prompt_name, called::split_words};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_teams::outside_line;
use cohab_text::{nearest, sanitize::one_line};
use rmcp::model::{Prompt, PromptArgument};
use serde::Deserialize;
use serde_json::json;

use super::turn_servers::{SHOWN_COLUMNS, TurnServers, arguments, lines_of};
use crate::{contents::usage, render, server::Server};

const DESCRIPTION: &str =
    "Reads the prompt of an MCP server that the user asks for. It was read already: its text is in the question.";

pub(super) struct GetPrompt(pub(super) Arc<TurnServers>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptCall {
    server: String,
    prompt: String,
    #[serde(default)]
    words: String,
}

#[async_trait]
impl Tool for GetPrompt {
    fn spec(&self) -> ToolSpec {
        let text = |description: &str| json!({"type": "string", "description": description});
        ToolSpec {
            name: PROMPT_TOOL.into(),
            description: DESCRIPTION.into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "server": text("Name of the server"),
                    "prompt": text("Name of the prompt"),
                    "words": text("The words behind it"),
                },
                "required": ["server", "prompt"],
            }),
        }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let call: PromptCall = arguments(args)?;
        let server = self.0.find(&call.server)?;
        let title = one_line(&prompt_name(&server.name, &call.prompt), 2 * SHOWN_COLUMNS);
        let is_asked = self.0.asked_prompt().is_some_and(|asked| {
            (asked.server, asked.prompt, asked.words)
                == (call.server.as_str(), call.prompt.as_str(), call.words.as_str())
        });
        let effect = Effect::Foreign {
            by: server.by(),
            action: "read a prompt".into(),
            details: format!("{} {}", call.prompt, call.words).trim_end().into(),
            agreed: if is_asked { Agreed::InQuestion } else { Agreed::No },
        };
        Ok(Intent { title, effect })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let call: PromptCall = arguments(args)?;
        let server = self.0.find(&call.server)?;
        let (pool, surroundings) = (&self.0.pool, &self.0.surroundings);
        let reading = async {
            let prompts =
                pool.prompts(server, surroundings).await.map_err(|reason| format!("{}: {reason}", server.by()))?;
            let prompt = prompts.iter().find(|prompt| prompt.name == call.prompt);
            let prompt = prompt.ok_or_else(|| no_prompt(server, &prompts, &call.prompt))?;
            let values = values(prompt, &call.words)
                .ok_or_else(|| format!("it wants more words: `{}`", usage(server, prompt)))?;
            let user = Arc::clone(&self.0.user);
            let filled = pool.prompt((server, surroundings), user, &prompt.name, values).await;
            filled.map_err(|reason| format!("{}: {reason}", server.by()))
        };
        let result = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err("cancelled before it ended".into()),
            result = reading => result?,
        };
        let text = render::of_prompt(&result, self.0.output_max_bytes);
        let summary = lines_of(&text);
        Ok(ToolOutput::text(format!("{}\n{text}", outside_line(&server.by())), summary))
    }
}

/// The arguments of a prompt by the words of the user: `name=value` by name, the others in their order, the last one takes the rest.
/// `None` if a required one is missing.
fn values(prompt: &Prompt, words: &str) -> Option<JsonObject> {
    let wanted: &[PromptArgument] = prompt.arguments.as_deref().unwrap_or_default();
    let mut values = JsonObject::new();
    let mut others = Vec::new();
    for word in split_words(words) {
        match word.split_once('=').filter(|(name, _)| wanted.iter().any(|argument| argument.name == *name)) {
            Some((name, value)) => {
                values.insert(name.to_owned(), value.into());
            }
            None => others.push(word),
        }
    }
    let open: Vec<&str> =
        wanted.iter().map(|one| one.name.as_str()).filter(|name| !values.contains_key(*name)).collect();
    for (at, name) in open.iter().enumerate() {
        let rest = others.get(at..).unwrap_or_default();
        let value = if at + 1 == open.len() { rest.join(" ") } else { rest.first().cloned().unwrap_or_default() };
        if !value.is_empty() {
            values.insert((*name).to_owned(), value.into());
        }
    }
    let is_complete = |one: &PromptArgument| one.required != Some(true) || values.contains_key(&one.name);
    wanted.iter().all(is_complete).then_some(values)
}

fn no_prompt(server: &Server, prompts: &[Prompt], wanted: &str) -> String {
    let shown = one_line(wanted, SHOWN_COLUMNS);
    let advice = match nearest::to(wanted, prompts.iter().map(|prompt| prompt.name.as_str())) {
        Some(near) => format!("did you mean `{}`?", one_line(&prompt_name(&server.name, near), SHOWN_COLUMNS)),
        None => format!("`cohab mcp test {}` lists its prompts", server.name),
    };
    format!("{} has no prompt `{shown}`; {advice}", server.by())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(arguments: &[(&str, bool)]) -> Prompt {
        let argument = |(name, is_required): &(&str, bool)| PromptArgument::new(*name).with_required(*is_required);
        Prompt::new("sum", None::<String>, Some(arguments.iter().map(argument).collect()))
    }

    #[test]
    fn words_are_arguments_by_name_or_in_their_order() {
        let two = prompt(&[("page", true), ("length", false)]);
        for (words, expected) in [
            ("intro", Some(json!({"page": "intro"}))),
            ("intro very short", Some(json!({"page": "intro", "length": "very short"}))),
            ("length=2 'the first page'", Some(json!({"page": "the first page", "length": "2"}))),
            ("a=b", Some(json!({"page": "a=b"}))),
            ("", None),
            ("length=2", None),
        ] {
            assert_eq!(values(&two, words).map(serde_json::Value::Object), expected, "{words}");
        }
        assert_eq!(values(&prompt(&[]), "more words"), Some(JsonObject::new()));
    }
}
