//! The built-in offline assistant: answers everyday questions about this machine by table, without a language model.
//!
//! A question is cut into tokens (`words`), its values are read (`slots`, `dates`), the patterns of all intents are tried
//! (`pattern`, `matching`), and the plan of the best one is run against the results that are already in the conversation (`run`).
//! One topic per file in `topic/`. Every answer says that no language model was involved.

mod answer;
mod context;
mod dates;
mod fallback;
mod intent;
mod matching;
mod pattern;
mod run;
mod shell_line;
mod slots;
#[cfg(test)]
mod tests;
mod topic;
mod vocabulary;
mod words;

use std::collections::VecDeque;

use futures::{StreamExt as _, stream, stream::BoxStream};

use self::{
    answer::LABEL,
    context::Question,
    matching::{Meant, understand},
    run::{Halt, Run},
};
use crate::agent::port::{
    JsonObject, Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolCall, ToolResult,
};

/// Name of the wire.
pub const WIRE: &str = "offline";

/// Answers without a language model.
#[derive(Clone, Debug)]
pub struct OfflineAssistant {
    origin: String,
}

impl OfflineAssistant {
    /// `origin` says for people why it answers: `no model configured`.
    #[must_use]
    pub fn new(origin: impl Into<String>) -> Self {
        Self { origin: origin.into() }
    }
}

impl ModelProvider for OfflineAssistant {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: WIRE.to_owned(), model: "builtin".to_owned(), origin: self.origin.clone(), is_offline: true }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        stream::iter(answer_events(&request)).boxed()
    }
}

/// What comes next: one tool call, or the answer.
enum Next {
    Call { tool: &'static str, args: JsonObject },
    Answer(String),
}

fn answer_events(request: &ModelRequest) -> Vec<ModelEvent> {
    let stop = |class| ModelEvent::Stop { class, provider_data: None };
    match decide(request) {
        Next::Call { tool, args } => {
            let id = format!("offline_{}", count_calls(&request.messages));
            let call = ToolCall { id, name: tool.to_owned(), args: Ok(args) };
            vec![ModelEvent::ToolCallDone(call), stop(StopClass::Tool)]
        }
        Next::Answer(text) => {
            let text = format!("{}\n\n{LABEL}\n", text.trim_end());
            // By paragraph, so that a reader sees it come in closed blocks.
            let deltas = text.split_inclusive("\n\n").map(|part| ModelEvent::TextDelta(part.to_owned()));
            deltas.chain([stop(StopClass::End)]).collect()
        }
    }
}

fn count_calls(messages: &[Message]) -> usize {
    messages.iter().map(|message| if let Message::Assistant(said) = message { said.tool_calls.len() } else { 0 }).sum()
}

fn decide(request: &ModelRequest) -> Next {
    let Some((question, after)) = Question::last_of(&request.messages) else {
        return Next::Answer(fallback::overview());
    };
    let results: VecDeque<&ToolResult> = request.messages[after..]
        .iter()
        .flat_map(|message| if let Message::ToolResults(results) = message { results.as_slice() } else { &[] })
        .collect();
    let tools =
        if request.allow_tools { request.tools.iter().map(|tool| tool.name.as_str()).collect() } else { Vec::new() };
    let meant = understand(&question.text);
    if meant.is_empty() {
        return Next::Answer(fallback::not_understood(&question.text));
    }
    follow(&meant, Run::new(&question, results, tools))
}

/// Runs the plans one after the other; what one found is "it" for the next.
fn follow(meant: &[Meant], mut run: Run<'_>) -> Next {
    let mut parts: Vec<String> = Vec::new();
    for (index, clause) in meant.iter().enumerate() {
        match (clause.intent.plan)(&clause.slots, &mut run) {
            Ok(reply) => {
                parts.push(reply.text);
                run.subject = reply.subject.or(run.subject);
            }
            Err(Halt::Call { tool, args }) => return Next::Call { tool, args },
            Err(Halt::Over(text)) => {
                parts.push(text);
                if index + 1 < meant.len() {
                    parts.push("I stopped there and did not do the rest.".to_owned());
                }
                break;
            }
        }
    }
    Next::Answer(parts.join("\n\n"))
}
