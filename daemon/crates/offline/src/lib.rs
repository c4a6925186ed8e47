//! The built-in assistant: answers everyday questions about this machine from tables, without a language model.
//!
//! `words` cuts a question into tokens. `pattern` and `matching` try the patterns of the intents in code, one topic a file in `topic/`, with
//! the values that `slots` and `dates` read; `table` finds the nearest intents of the tables. `understanding` decides between the two, and
//! `follow_up` looks whether the question continues the turn before. `run` runs the plan against the results that are already in the
//! conversation.
//! Every answer says that no language model was involved.

mod agreement;
mod answer;
mod context;
mod credit;
mod dates;
mod explain;
mod fallback;
mod follow_up;
mod intent;
mod matching;
mod name_slots;
mod pattern;
mod pick;
mod references;
mod run;
mod shell_line;
mod slots;
mod table;
#[cfg(test)]
mod tests;
mod topic;
mod turns;
mod understanding;
mod values;
mod vocabulary;
mod words;

pub use self::explain::explain;
#[cfg(feature = "training")]
pub use self::table::{ranking, trial, weights};
use cohab_model_api::{Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolCall};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};

use self::{
    answer::LABEL,
    follow_up::understand_after,
    matching::Meant,
    references::points_back,
    run::{Halt, Next, Run, Subject, next},
    turns::{ID_PREFIX, PastTurn, last_turns},
    understanding::{Understood, understand},
};

/// Number of turns that "it" and "them" may refer to, including the current one.
const REMEMBERED_TURNS: usize = 4;

/// Name of the wire.
pub const WIRE: &str = "offline";

/// Answers without a language model.
#[derive(Clone, Debug)]
pub struct OfflineAssistant {
    origin: String,
}

impl OfflineAssistant {
    /// `origin` is the reason, for people, that this assistant answers: `no model configured`.
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

fn answer_events(request: &ModelRequest) -> Vec<ModelEvent> {
    let stop = |class| ModelEvent::Stop { class, provider_data: None };
    match decide(request) {
        Next::Call { tool, args } => {
            let id = format!("{ID_PREFIX}{}", count_calls(&request.messages));
            let call = ToolCall { id, name: tool.to_owned(), args: Ok(args.into()) };
            vec![ModelEvent::ToolCallDone(call), stop(StopClass::Tool)]
        }
        Next::Answer(text) => {
            let text = format!("{}\n\n{LABEL}\n", text.trim_end());
            // Splits the text by paragraph, so that a reader receives closed blocks.
            let deltas = text.split_inclusive("\n\n").map(|part| ModelEvent::TextDelta(part.to_owned()));
            deltas.chain([stop(StopClass::End)]).collect()
        }
    }
}

fn count_calls(messages: &[Message]) -> usize {
    messages.iter().map(|message| if let Message::Assistant(said) = message { said.tool_calls.len() } else { 0 }).sum()
}

fn decide(request: &ModelRequest) -> Next {
    let turns = last_turns(&request.messages, REMEMBERED_TURNS);
    let Some((turn, before)) = turns.split_last() else { return Next::Answer(fallback::overview()) };
    let tools: Vec<&str> =
        if request.allow_tools { request.tools.iter().map(|tool| tool.name.as_str()).collect() } else { Vec::new() };
    let text = &turn.question.text;
    let mut run = Run::new(&turn.question, &turn.exchanges, tools.clone());
    match understand_after(text, before) {
        Understood::Patterns(meant) => {
            let subject = if points_back(text) { subject_of(before, &tools) } else { Subject::Nothing };
            follow(&meant, &mut run.about(subject))
        }
        Understood::Table(request) => next(request.follow(&mut run)),
        Understood::Past => next(run.search_past(text)),
        Understood::Unsure(requests) => Next::Answer(fallback::not_understood(text, &requests)),
    }
}

/// The subject of the latest turn. The assistant keeps no state: the plans of the turns run once more on their stored results.
fn subject_of(turns: &[PastTurn<'_>], tools: &[&str]) -> Subject {
    turns.iter().fold(Subject::Nothing, |subject, turn| {
        let mut run = Run::new(&turn.question, &turn.exchanges, tools.to_vec()).about(subject);
        if let Understood::Patterns(meant) = understand(&turn.question.text) {
            follow(&meant, &mut run);
        }
        run.subject
    })
}

/// Runs the plans one after the other; the subject of one is "it" for the next.
fn follow(meant: &[Meant], run: &mut Run<'_>) -> Next {
    let mut parts: Vec<String> = Vec::new();
    for (index, clause) in meant.iter().enumerate() {
        match (clause.intent.plan)(&clause.slots, run) {
            Ok(reply) => {
                parts.push(reply.text);
                if reply.subject != Subject::Nothing {
                    run.subject = reply.subject;
                }
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
