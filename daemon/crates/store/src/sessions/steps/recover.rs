//! Rebuilds the conversation of an interrupted turn from its steps. Pure.

use cohab_agent::port::Effect;
use cohab_model_api::{AssistantMessage, Message, ToolCall, ToolResult};

use super::{AgentStatus, Step, StepStatus, StepType, Turn};

/// The model's last text in a turn that was not continued.
const INTERRUPTED: &str = "[interrupted]";
/// The result of a call that was not begun.
pub const NOT_BEGUN: &str =
    "not run: the assistant's program ended before this call; make the call again if it is still needed";
/// The result of a call without effects that has no result.
const NOT_ENDED: &str = "no result: the assistant's program ended meanwhile; make the call again if it is still needed";
/// The result of a call with effects that was begun and has no result.
const UNKNOWN: &str = "unknown: the assistant's program ended suddenly while this call was on. It may or may not have run, in \
                       part or as a whole, and it is not run again by itself. Look first whether it did (read-only), and ask the \
                       user before you make the same call again.";

/// A turn that can be continued.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// The turn.
    pub turn: Turn,
    /// The whole question, as it was typed.
    pub question: String,
    /// Number of its finished steps, which are not repeated.
    pub done: usize,
    /// Model calls among them, which count towards the limit of steps.
    pub model_calls: u32,
    /// Steps of which it is unknown whether they were done.
    pub unknown: Vec<Step>,
    /// The whole answer, if it was complete and only its end was not reported.
    pub answer: Option<String>,
}

/// A conversation that every model accepts, and its interrupted turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovered {
    /// Complete: every call has a result. Ends with a text of the model, or is empty.
    pub conversation: Vec<Message>,
    /// The turn to continue. Unless it has its answer, the last message then only says that it was interrupted, and is removed before
    /// the turn continues.
    pub unfinished: Option<Unfinished>,
}

/// Completes a stored conversation from the steps of its newest turn.
#[must_use]
pub fn recover(mut conversation: Vec<Message>, turn: Option<Turn>, steps: &[Step]) -> Recovered {
    let calls = pending_calls(&conversation).to_vec();
    let mut unknown = Vec::new();
    if !calls.is_empty() {
        let results = calls.iter().map(|call| result(call, steps, &mut unknown)).collect();
        conversation.push(Message::ToolResults(results));
    }
    let answer = match conversation.last() {
        None => return Recovered::default(),
        Some(Message::Assistant(AssistantMessage { text, .. })) => Some(text.clone()),
        Some(Message::User { .. } | Message::ToolResults(_)) => None,
    };
    if answer.is_none() {
        let text = INTERRUPTED.to_owned();
        conversation.push(Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() }));
    }
    // Without a step of the model the last text answers the turn before: this one ended before its question was stored.
    let has_asked = steps.iter().any(|step| step.kind == StepType::ModelInference);
    let turn = turn.filter(|turn| turn.state.status == AgentStatus::Running && (has_asked || answer.is_none()));
    let is_done = |step: &&Step| is_work(step.kind) && is_over(step.status);
    let done = steps.iter().filter(is_done).count();
    let is_call = |step: &&Step| step.kind == StepType::ModelInference && is_over(step.status);
    let model_calls = u32::try_from(steps.iter().filter(is_call).count()).unwrap_or(u32::MAX);
    let asked = steps.first().filter(|step| step.kind == StepType::UserMessage).and_then(|step| step.input.text());
    let unfinished = turn.map(|turn| {
        // The row of a turn has only the beginning of its question.
        let question = asked.unwrap_or(&turn.question).to_owned();
        Unfinished { turn, question, done, model_calls, unknown, answer }
    });
    Recovered { conversation, unfinished }
}

/// Replaces the result "unknown" by a result that turned up.
pub fn put_result(conversation: &mut [Message], result: &ToolResult) {
    let batches = conversation.iter_mut().rev().filter_map(|message| match message {
        Message::ToolResults(results) => Some(results),
        _ => None,
    });
    for results in batches {
        if let Some(place) = results.iter_mut().find(|known| known.call_id == result.call_id) {
            return place.clone_from(result);
        }
    }
}

/// Whether it changes something, or may; the session's own notes do not count.
#[must_use]
pub fn has_effects(effect: &Effect) -> bool {
    matches!(effect, Effect::RunCommand { .. } | Effect::Write { .. } | Effect::Foreign { .. })
}

fn is_work(kind: StepType) -> bool {
    matches!(kind, StepType::ModelInference | StepType::ToolCall | StepType::MemoryUpdate)
}

fn is_over(status: StepStatus) -> bool {
    matches!(status, StepStatus::Completed | StepStatus::Failed)
}

fn pending_calls(conversation: &[Message]) -> &[ToolCall] {
    match conversation.last() {
        Some(Message::Assistant(message)) => &message.tool_calls,
        _ => &[],
    }
}

fn result(call: &ToolCall, steps: &[Step], unknown: &mut Vec<Step>) -> ToolResult {
    let row = steps.iter().rev().find(|step| step.metadata.call_id.as_ref() == Some(&call.id));
    let (content, is_error) = match row {
        Some(Step { status, output: Some(output), error, .. }) if is_over(*status) => (output.clone(), error.is_some()),
        Some(row @ Step { status: StepStatus::Running, .. }) if row.metadata.has_effects => {
            unknown.push(row.clone());
            (UNKNOWN.to_owned(), true)
        }
        Some(Step { status: StepStatus::Running, .. }) => (NOT_ENDED.to_owned(), true),
        _ => (NOT_BEGUN.to_owned(), true),
    };
    ToolResult { call_id: call.id.clone(), tool: call.name.clone(), content, is_error }
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
