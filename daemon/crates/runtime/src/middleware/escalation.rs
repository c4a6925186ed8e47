//! Replaces a model that makes no progress by one for harder work: a model that repeats a call with the same result, or whose calls all
//! fail.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use cohab_agent::{
    Middleware, TurnState,
    hook::TurnResult,
    plan::{MAX_BAD_ANSWERS, StepKind},
    port::{EventSink, TurnEvent},
};
use cohab_model_api::{AssistantMessage, Escalate, Message, ToolCall, ToolResult};

/// Consecutive rounds with only failed calls that show a lack of progress.
const FAILED_ROUNDS: usize = 3;

/// Checks before each model call of one turn.
pub struct Escalation {
    models: Arc<dyn Escalate>,
    sink: Arc<dyn EventSink>,
    /// Number of messages when the current model began.
    since: AtomicUsize,
}

impl Escalation {
    /// Lets another of `models` take over, and tells `sink`.
    #[must_use]
    pub fn new(models: Arc<dyn Escalate>, sink: Arc<dyn EventSink>) -> Self {
        Self { models, sink, since: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Middleware for Escalation {
    async fn before_step(&self, step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        if !matches!(step, StepKind::ModelCall { .. }) {
            return ControlFlow::Continue(());
        }
        let messages = state.messages();
        let since = self.since.load(Ordering::Relaxed);
        // After a compaction the whole conversation is checked.
        let why = nowhere(messages.get(since..).unwrap_or(messages));
        let Some(why) = why.or_else(|| ends_soon(state)) else { return ControlFlow::Continue(()) };
        self.since.store(messages.len(), Ordering::Relaxed);
        if let Some((before, after)) = self.models.escalate().await {
            state.forgive_bad_answers();
            self.sink.emit(TurnEvent::Notice(format!("{before} {why}; {after} continues."))).await;
        }
        ControlFlow::Continue(())
    }
}

/// The reason why the turn would end with another bad answer.
fn ends_soon(state: &TurnState) -> Option<&'static str> {
    (state.bad_answers().0 + 1 >= MAX_BAD_ANSWERS).then_some("makes no valid tool calls")
}

/// The reason why the model of these messages makes no progress, if it makes none.
fn nowhere(messages: &[Message]) -> Option<&'static str> {
    let mut rounds = rounds(messages);
    let last: Vec<_> = rounds.by_ref().take(FAILED_ROUNDS).collect();
    if let [(calls, results), (calls_before, results_before), ..] = &last[..]
        && is_same(calls, calls_before)
        && outputs(results).eq(outputs(results_before))
    {
        return Some("repeats itself");
    }
    let all_failed = last.iter().all(|(_, results)| results.iter().all(|result| result.is_error));
    (last.len() == FAILED_ROUNDS && all_failed).then_some("makes no progress")
}

/// The calls of the turn with their results, newest first.
fn rounds(messages: &[Message]) -> impl Iterator<Item = (&[ToolCall], &[ToolResult])> {
    messages.rchunks(2).map_while(|round| match round {
        [Message::Assistant(AssistantMessage { tool_calls, .. }), Message::ToolResults(results)] => {
            Some((&tool_calls[..], &results[..]))
        }
        _ => None,
    })
}

fn is_same(calls: &[ToolCall], others: &[ToolCall]) -> bool {
    calls.len() == others.len()
        && calls.iter().zip(others).all(|(one, other)| one.name == other.name && one.args == other.args)
}

fn outputs(results: &[ToolResult]) -> impl Iterator<Item = &str> {
    results.iter().map(|result| result.content.as_str())
}

#[cfg(test)]
mod tests {
    use cohab_agent::state::Record;
    use cohab_model_api::{StopClass, TokenUsage};
    use serde_json::json;

    use super::*;

    fn round(id: &str, command: &str, output: &str, is_error: bool) -> [Message; 2] {
        let args = json!({"command": command}).as_object().cloned().unwrap_or_default();
        let call = ToolCall { id: id.into(), name: "bash".into(), args: Ok(args.into()) };
        let result = ToolResult { call_id: id.into(), tool: "bash".into(), content: output.into(), is_error };
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        [Message::Assistant(message), Message::ToolResults(vec![result])]
    }

    fn judged(rounds: &[[Message; 2]]) -> Option<&'static str> {
        let question = Message::user("q".into());
        nowhere(&std::iter::once(question).chain(rounds.iter().flatten().cloned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_same_call_with_the_same_result_is_a_loop() {
        let (one, again) = (round("1", "ls", "a", false), round("2", "ls", "a", false));
        assert_eq!(judged(&[one.clone(), again.clone()]), Some("repeats itself"));
        assert_eq!(judged(&[one.clone(), round("2", "ls", "a b", false)]), None, "something changed");
        assert_eq!(judged(&[one.clone(), round("2", "ls -l", "a", false)]), None);
        assert_eq!(judged(&[one.clone(), round("2", "pwd", "/", false), again]), None, "it looks again later");
        assert_eq!(judged(&[one]), None);
    }

    #[test]
    fn one_bad_answer_before_the_end_somebody_else_gets_its_chances() {
        let mut state = TurnState::new(Vec::new(), "q".into());
        for is_bad in [false, true] {
            assert_eq!(ends_soon(&state).is_some(), is_bad);
            for number in 1..MAX_BAD_ANSWERS {
                let [message, results] = round(&number.to_string(), "x", "no", true);
                let (Message::Assistant(message), Message::ToolResults(results)) = (message, results) else { panic!() };
                let answer = Record::Answer { message, class: StopClass::Tool, usage: TokenUsage::default() };
                state.apply(answer).expect("it goes on");
                state
                    .apply(Record::Tools { results, images: Vec::new(), complaint: Some("no".into()) })
                    .expect("it goes on");
            }
        }
        state.forgive_bad_answers();
        assert_eq!(ends_soon(&state), None);
    }

    #[test]
    fn calls_that_all_fail_three_times_are_enough() {
        let failed = |id: &str| round(id, &format!("cmd {id}"), &format!("no {id}"), true);
        assert_eq!(judged(&[failed("1"), failed("2")]), None);
        assert_eq!(judged(&[failed("1"), failed("2"), failed("3")]), Some("makes no progress"));
        assert_eq!(judged(&[failed("1"), round("2", "ls", "a", false), failed("3")]), None);
    }
}
